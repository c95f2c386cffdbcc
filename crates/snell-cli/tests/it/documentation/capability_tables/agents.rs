//! Agents: whose hook files are run, in which Snell can be installed, and which can call Snell.

use serde_json::json;
use snell::AgentProduct;

use super::losses::{GuestProbe, create_hook_project, describe_evidence, list_products, read_real_runs};
use super::{MarkdownTable, NOTHING, render_yes};
use crate::support::CliSandbox;

/// Formats of products that do not call Snell.
const OTHER_FORMATS: &[(&str, &str)] =
    &[("Wave", "wave"), ("whale", "whale"), ("the flat format (`microai`)", "microai")];

/// Whether the hooks of a contract's file are found, if the file is in a project as its users write it.
fn is_hook_file_read(contract: &str) -> bool {
    let project = create_hook_project(contract, "true");
    project.run_snell(&["list", "--json"], "").json() != json!([])
}

/// Whether Snell can be put into its settings.
fn can_install(product: &AgentProduct) -> bool {
    let ran = CliSandbox::new().run_snell(&["install", product.name, "--dry-run"], "");
    ran.code == 0 && ran.stdout.contains("+++")
}

pub fn render_agents_table() -> String {
    let head = ["product", "runs its hook files", "`snell install`", "as a guest", "seen with the real program"];
    let mut table = MarkdownTable::new(head);
    let runs = read_real_runs();
    let probe = GuestProbe::new();
    for product in list_products() {
        let cells = [
            render_yes(product.contract.is_some_and(is_hook_file_read)),
            render_yes(can_install(product)),
            render_yes(probe.is_call_denied(product)),
            describe_evidence(product, &runs),
        ];
        table.push_row(product.title, cells);
    }
    for (title, contract) in OTHER_FORMATS {
        let others = [NOTHING; 3].map(str::to_owned);
        table.push_row(title, [render_yes(is_hook_file_read(contract))].into_iter().chain(others));
    }
    table.to_markdown()
}
