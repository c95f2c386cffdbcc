//! The query parameters of the view of hooks.

use super::columns::{self, COLUMNS, HookColumn};
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::web::page_url::build_url;

/// The hours of the chart, including the current one.
pub(super) const CHART_HOURS: u32 = 24;

/// The periods: their parameter values, hours and labels.
pub(super) const PERIODS: &[(&str, u32, &str)] =
    &[("day", CHART_HOURS, "24 hours"), ("week", 7 * 24, "7 days"), ("month", 30 * 24, "30 days")];

/// The query parameters.
#[derive(Clone, Copy)]
pub(super) struct HooksParams {
    pub(super) column: &'static HookColumn,
    pub(super) period: &'static (&'static str, u32, &'static str),
    /// The hook of the chart; all hooks if none is chosen.
    pub(super) hook_id: Option<i64>,
}

impl HooksParams {
    pub(super) fn parse(query: Option<&str>) -> Result<Self, HttpError> {
        let query = QueryParams::parse(query, &["sort", "period", "hook"])?;
        let column = query.choice_from("sort", COLUMNS, |column| column.name)?;
        let period = query.choice_from("period", PERIODS, |period| period.0)?;
        Ok(Self {
            column: column.unwrap_or_else(columns::default_column),
            period: period.unwrap_or(&PERIODS[0]),
            hook_id: query.id("hook")?,
        })
    }

    pub(super) fn url_for(&self, path: &str) -> String {
        let default = |word: &'static str, default: &str| if word == default { "" } else { word };
        let hook = self.hook_id.map(|hook| hook.to_string()).unwrap_or_default();
        let parameters = [
            ("sort", default(self.column.name, columns::default_column().name)),
            ("period", default(self.period.0, PERIODS[0].0)),
            ("hook", hook.as_str()),
        ];
        build_url(path, parameters)
    }
}
