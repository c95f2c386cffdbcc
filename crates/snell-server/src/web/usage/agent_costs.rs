//! The cost of agents, for their cards and pages.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use maud::{Markup, html};
use snell_store::usage::{PriceList, UsageBreakdown, UsagePart, UsageSummary};
use snell_store::{Result, Store};

use super::{describe_usage, format_cost};

/// The requests of each agent.
#[derive(Clone, Debug, Default)]
pub(in crate::web) struct AgentCosts(BTreeMap<i64, UsagePart>);

impl AgentCosts {
    /// Loads the costs of one agent, or of every agent that has not ended.
    pub(in crate::web) fn load(store: &mut Store, prices: &PriceList, agent_id: Option<i64>) -> Result<Self> {
        let sums = store.list_agent_usage(agent_id)?;
        let mut costs = BTreeMap::new();
        // An agent that changed its product has several parts.
        for of_agent in sums.iter().filter_map(|sum| sum.agent_id).collect::<std::collections::BTreeSet<_>>() {
            let sums: Vec<_> = sums.iter().filter(|sum| sum.agent_id == Some(of_agent)).cloned().collect();
            let summary = UsageSummary::new(UsageBreakdown::Agent, &sums, prices, &TimeZone::UTC);
            costs.extend(summary.total.map(|total| (of_agent, total)));
        }
        Ok(Self(costs))
    }

    /// The cost of an agent in a word.
    pub(in crate::web) fn render_short(&self, agent_id: i64) -> Markup {
        html! {
            @if let Some(total) = self.0.get(&agent_id) {
                " " span.cost title=(describe_usage(total)) { span.label { "cost " } (format_cost(&total.cost)) }
            }
        }
    }

    /// The cost and the tokens of an agent, as a fact.
    pub(in crate::web) fn render_long(&self, agent_id: i64) -> Markup {
        html! {
            @if let Some(total) = self.0.get(&agent_id) {
                dt { "Cost" }
                dd { (describe_usage(total)) }
            }
        }
    }
}
