//! The query parameters of the view of usage.

use snell_store::UsageFilter;
use snell_store::usage::UsageBreakdown;

use super::columns::{self, COLUMNS, UsageColumn};
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::web::page_url::build_url;

/// The periods: their parameter values, days and labels.
pub(super) const PERIODS: &[(&str, u32, &str)] =
    &[("month", 30, "30 days"), ("week", 7, "7 days"), ("day", 1, "today")];

/// The breakdowns and their labels.
pub(super) const BREAKDOWNS: &[(UsageBreakdown, &str)] = &[
    (UsageBreakdown::Project, "project"),
    (UsageBreakdown::Agent, "agent"),
    (UsageBreakdown::Product, "product"),
    (UsageBreakdown::Model, "model"),
    (UsageBreakdown::Session, "session"),
    (UsageBreakdown::Turn, "turn"),
    (UsageBreakdown::Day, "day"),
];

/// The query parameters.
#[derive(Clone, Debug)]
pub(super) struct UsageParams {
    pub(super) by: UsageBreakdown,
    pub(super) column: &'static UsageColumn,
    pub(super) period: &'static (&'static str, u32, &'static str),
    /// The agent of the requests; all agents if none is chosen.
    pub(super) agent_id: Option<i64>,
    /// The project of the requests.
    pub(super) project: Option<String>,
}

impl Default for UsageParams {
    fn default() -> Self {
        Self {
            by: BREAKDOWNS[0].0,
            column: columns::default_column(),
            period: &PERIODS[0],
            agent_id: None,
            project: None,
        }
    }
}

impl UsageParams {
    pub(super) fn parse(query: Option<&str>) -> Result<Self, HttpError> {
        let query = QueryParams::parse(query, &["by", "sort", "period", "agent_id", "project"])?;
        let default = Self::default();
        let by = query.choice_from("by", BREAKDOWNS, |row| row.0.as_str())?;
        Ok(Self {
            by: by.map_or(default.by, |row| row.0),
            column: query.choice_from("sort", COLUMNS, |column| column.name)?.unwrap_or(default.column),
            period: query.choice_from("period", PERIODS, |period| period.0)?.unwrap_or(default.period),
            agent_id: query.agent_id("agent_id")?,
            project: query.owned_text("project"),
        })
    }

    pub(super) fn url_for(&self, path: &str) -> String {
        let default = |word: &'static str, default: &str| if word == default { "" } else { word };
        let agent = self.agent_id.map(|agent| agent.to_string()).unwrap_or_default();
        let parameters = [
            ("by", default(self.by.as_str(), BREAKDOWNS[0].0.as_str())),
            ("sort", default(self.column.name, columns::default_column().name)),
            ("period", default(self.period.0, PERIODS[0].0)),
            ("agent_id", agent.as_str()),
            ("project", self.project.as_deref().unwrap_or_default()),
        ];
        build_url(path, parameters)
    }

    pub(super) fn to_filter(&self) -> UsageFilter {
        UsageFilter { agent_id: self.agent_id, project: self.project.clone(), ..UsageFilter::default() }
    }
}
