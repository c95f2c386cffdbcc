//! `snell list --agents`: the agents, and the parts of a hook's answer that each accepts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use snell::{AgentCapabilities, AgentProduct, EvidenceLevel, HookCapability};

use crate::install::found_agents::find_agents_here;
use crate::output::{self, TableColumn, TextTable};

/// The columns: the agent, whether it is here and was run, and the capabilities.
const COLUMNS: [TableColumn; 11] = [
    TableColumn::new("AGENT"),
    TableColumn::new("HERE").with_drop_rank(2),
    TableColumn::new("SEEN").with_drop_rank(1),
    TableColumn::new("BLOCK"),
    TableColumn::new("REASON"),
    TableColumn::new("ASK").with_drop_rank(8),
    TableColumn::new("INPUT").with_drop_rank(7),
    TableColumn::new("OUTPUT").with_drop_rank(5),
    TableColumn::new("CONTEXT").with_drop_rank(6),
    TableColumn::new("STOP").with_drop_rank(4),
    TableColumn::new("FAIL CLOSED").with_drop_rank(3),
];

/// An agent as JSON.
#[derive(Serialize)]
struct AgentJsonView {
    name: &'static str,
    title: &'static str,
    here: bool,
    evidence: &'static str,
    capabilities: BTreeMap<&'static str, &'static str>,
    limits: BTreeMap<&'static str, &'static str>,
    context_events: Vec<&'static str>,
    late_context_events: Vec<&'static str>,
    goes_on: bool,
}

/// An agent, and whether it is on this machine.
struct ListedAgent {
    product: &'static AgentProduct,
    accepted: AgentCapabilities,
    is_here: bool,
}

pub(super) fn print_agents(home: Option<&Path>) {
    let agents = list_agents(home);
    let mut table = TextTable::new(COLUMNS);
    for agent in &agents {
        let [block, reason, ask, input, out, context, stop, closed] =
            HookCapability::ALL.map(|capability| agent.accepted.support(capability).to_string());
        let here = if agent.is_here { "yes" } else { "-" }.to_owned();
        let seen = if agent.product.evidence == EvidenceLevel::Run { "yes" } else { "not run" }.to_owned();
        let title = agent.product.title.to_owned();
        table.add_row([title, here, seen, block, reason, ask, input, out, context, stop, closed]);
    }
    table.print();
    output::print_line("");
    output::print_line("denied: the call is denied instead, and the reason has the question or the changed input.");
    output::print_line("message: the user reads a message instead. limited:");
    for agent in &agents {
        for (capability, limit) in agent.list_limits() {
            output::print_line(&format!("  {}, {}: {limit}", agent.product.title, capability.title()));
        }
    }
    output::print_line("The events on which a model reads context: snell docs losses");
}

pub(super) fn print_agents_as_json(home: Option<&Path>) -> anyhow::Result<()> {
    let agents = list_agents(home);
    output::print_json(&agents.iter().map(ListedAgent::to_json_view).collect::<Vec<_>>())
}

/// All agents: those of this machine first, then those that tests run.
fn list_agents(home: Option<&Path>) -> Vec<ListedAgent> {
    let here = home.map(find_agents_here).unwrap_or_default();
    let listed = |product: &&'static AgentProduct| ListedAgent {
        product,
        accepted: product.capabilities(),
        is_here: here.contains(product),
    };
    let mut agents: Vec<_> = AgentProduct::all().iter().map(listed).collect();
    agents.sort_by_key(|agent| (!agent.is_here, agent.product.evidence != EvidenceLevel::Run, agent.product.title));
    agents
}

impl ListedAgent {
    fn list_limits(&self) -> impl Iterator<Item = (HookCapability, &'static str)> {
        let limit = |capability| Some((capability, self.accepted.support(capability).limit()?));
        HookCapability::ALL.into_iter().filter_map(limit)
    }

    fn to_json_view(&self) -> AgentJsonView {
        let cell = |capability: HookCapability| (capability.name(), self.accepted.support(capability).name());
        AgentJsonView {
            name: self.product.name,
            title: self.product.title,
            here: self.is_here,
            evidence: match self.product.evidence {
                EvidenceLevel::Run => "run",
                EvidenceLevel::Documented => "documented",
            },
            capabilities: HookCapability::ALL.into_iter().map(cell).collect(),
            limits: self.list_limits().map(|(capability, limit)| (capability.name(), limit)).collect(),
            context_events: self.accepted.context_events.clone(),
            late_context_events: self.accepted.late_context_events.clone(),
            goes_on: self.accepted.goes_on,
        }
    }
}
