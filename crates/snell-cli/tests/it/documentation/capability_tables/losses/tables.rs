//! The tables for people.

use snell::{AgentProduct, EvidenceLevel, HookCapability};

use super::super::MarkdownTable;
use super::ContractLosses;
use super::callers::EVENTS;
use super::real_runs::RealRun;

/// Products that tests run come first.
pub fn list_products() -> Vec<&'static AgentProduct> {
    let mut products = AgentProduct::all().to_vec();
    products.sort_by_key(|product| (product.evidence != EvidenceLevel::Run, product.title));
    products
}

fn capability_titles() -> Vec<String> {
    HookCapability::ALL.iter().map(|capability| capability.title()).collect()
}

/// Agents and capabilities, then the limits.
pub fn render_agents_table(runs: &[RealRun]) -> String {
    let titles = capability_titles();
    let head = ["agent"].into_iter().chain(titles.iter().map(String::as_str)).chain(["seen"]);
    let mut table = MarkdownTable::new(head);
    let mut limits = String::new();
    for product in list_products() {
        let accepted = product.capabilities();
        let cells = HookCapability::ALL.iter().map(|capability| accepted.support(*capability).to_string());
        table.push_row(product.title, cells.chain([describe_evidence(product, runs)]));
        for capability in HookCapability::ALL {
            if let Some(limit) = accepted.support(capability).limit() {
                limits += &format!("- {}, {}: {limit}.\n", product.title, capability.title());
            }
        }
    }
    format!("{}\nLimits:\n\n{limits}", table.to_markdown())
}

/// The version that tests ran.
pub fn describe_evidence(product: &AgentProduct, runs: &[RealRun]) -> String {
    let run = runs.iter().find(|run| run.product == product);
    match (run, product.evidence) {
        (Some(run), _) => format!("{}, {}", run.version, run.date),
        (None, EvidenceLevel::Run) => "yes".to_owned(),
        (None, EvidenceLevel::Documented) => "not run".to_owned(),
    }
}

/// The events on which the model of each agent reads context, and whether it goes on if its end is blocked.
pub fn render_context_table() -> String {
    let mut table = MarkdownTable::new(["agent"].into_iter().chain(EVENTS).chain(["a blocked Stop goes on"]));
    for product in list_products() {
        let accepted = product.capabilities();
        let cell = |event: &str| match product.fires_event(event) {
            true => accepted.context_support(event).to_string(),
            false => super::super::NOTHING.to_owned(),
        };
        let goes_on = if accepted.goes_on { "yes" } else { "no" }.to_owned();
        table.push_row(product.title, EVENTS.map(cell).into_iter().chain([goes_on]));
    }
    table.to_markdown()
}

/// Contracts and capabilities.
pub fn render_contracts_table(losses: &[ContractLosses]) -> String {
    let titles = capability_titles();
    let mut table = MarkdownTable::new(["contract"].into_iter().chain(titles.iter().map(String::as_str)));
    for contract in losses {
        let cells = HookCapability::ALL.map(|capability| match capability {
            HookCapability::Context if contract.can_express(capability) => contract.context_events().join(", "),
            _ if contract.can_express(capability) => "yes".to_owned(),
            _ => "no".to_owned(),
        });
        table.push_row(&format!("`{}`", contract.contract), cells);
    }
    table.to_markdown()
}
