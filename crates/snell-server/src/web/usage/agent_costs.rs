//! The cost of agents, for their cards and pages.

use std::collections::BTreeMap;

use maud::{Markup, html};
use snell_store::usage::{PriceList, UsagePart};
use snell_store::{Result, Store};

use super::describe_usage;

/// The requests of each agent.
#[derive(Clone, Debug, Default)]
pub(in crate::web) struct AgentCosts(BTreeMap<i64, UsagePart>);

impl AgentCosts {
    /// Loads the costs of one agent, or of every agent that has not ended.
    pub(in crate::web) fn load(store: &mut Store, prices: &PriceList, agent_id: Option<i64>) -> Result<Self> {
        Ok(Self(UsagePart::by_agent(&store.list_agent_usage(agent_id)?, prices)))
    }

    /// The cost of an agent in a word.
    pub(in crate::web) fn render_short(&self, agent_id: i64) -> Markup {
        html! {
            @if let Some(total) = self.0.get(&agent_id) {
                " " span.cost title=(describe_usage(total)) { span.label { "cost " } (total.cost.to_string()) }
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
