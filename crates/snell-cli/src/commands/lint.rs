//! `snell lint`: checks the configuration.

use serde::Serialize;
use snell::{AgentProduct, Diagnostic, ServerSettings, Severity, Timestamp, UserMessage};

use super::hook::agent_names;
use super::{DONE, FAILED};
use crate::env::{ConfigArgs, print_project_note, read_clock_override};
use crate::guard::lint_guard_settings;
use crate::install::found_agents::find_agents_here;
use crate::output;
use crate::output::hook::note_own_hooks;
use crate::record::http_delivery;

/// Check all hook files, and show problems with their positions
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell lint --config whale:hooks.json\n  snell lint --agent qwen")]
pub(crate) struct Args {
    /// Include hooks that only call Snell itself
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also warn about answers that this agent does not accept; may be repeated [default: the agents of this machine]
    #[arg(long = "agent", value_name = "NAME", value_parser = agent_names())]
    agents: Vec<String>,
    #[command(flatten)]
    around: ConfigArgs,
}

impl Args {
    /// The agents whose losses are reported.
    fn relevant_agents(&self) -> Vec<&'static AgentProduct> {
        if self.agents.is_empty() {
            return self.around.home_dir().map(|home| find_agents_here(&home)).unwrap_or_default();
        }
        self.agents.iter().filter_map(|name| AgentProduct::find_by_name(name)).collect()
    }
}

/// The findings, as JSON.
#[derive(Serialize)]
struct LintReport<'a> {
    files: usize,
    hooks: usize,
    errors: usize,
    warnings: usize,
    diagnostics: &'a [Diagnostic],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (engine, mut diagnostics) = args.around.engine_builder()?.load();
    diagnostics.extend(engine.check_hooks());
    diagnostics.extend(engine.check_answers(&args.relevant_agents()));
    let now = read_clock_override().unwrap_or_else(Timestamp::now);
    let guard_findings = lint_guard_settings(&engine.settings(), &args.around.resolve_project()?, now);
    diagnostics.extend(guard_findings.iter().map(|finding| finding.to_diagnostic()));
    diagnostics.extend(check_token_file(&engine.settings().server));
    let hooks = engine.hooks();
    let own: Vec<_> = hooks.iter().filter(|hook| hook.is_excluded && !args.all).collect();
    diagnostics.retain(|found| !own.iter().any(|hook| hook.has_position_of(found)));
    sort_diagnostics(&mut diagnostics);
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let linted = LintReport {
        files: engine.files().len(),
        hooks: hooks.len() - own.len(),
        errors,
        warnings: diagnostics.len() - errors,
        diagnostics: &diagnostics,
    };
    if args.json {
        output::print_json(&linted)?;
    } else {
        output::start_paging();
        print_project_note(&args.around);
        print_report(&linted);
        note_own_hooks(&own, Some("to include them, add --all"));
    }
    Ok(if errors > 0 { FAILED } else { DONE })
}

/// A warning if the token file of the user's settings cannot be used.
fn check_token_file(server: &ServerSettings) -> Option<Diagnostic> {
    let (path, origin) = server.token_file.as_deref().zip(server.token_file_origin.as_ref())?;
    let UserMessage { text, hint } = http_delivery::load_token(path).err()?;
    Some(origin.make_warning(UserMessage { text: format!("cannot use the token: {text}"), hint }))
}

/// Sorts by file, in the order of loading, then by position.
fn sort_diagnostics(diagnostics: &mut [Diagnostic]) {
    let mut files: Vec<String> = Vec::new();
    for found in diagnostics.iter() {
        if !files.contains(&found.path) {
            files.push(found.path.clone());
        }
    }
    let file = |found: &Diagnostic| files.iter().position(|path| *path == found.path);
    diagnostics.sort_by_key(|found| (file(found), found.line, found.column));
}

fn print_report(linted: &LintReport<'_>) {
    for diagnostic in linted.diagnostics {
        output::print_diagnostic(diagnostic);
    }
    let files = output::format_count(linted.files, "file");
    let hooks = output::format_count(linted.hooks, "hook");
    if linted.files == 0 {
        output::print_line("No hook files here. To write one: snell docs write-hooks");
    } else if linted.diagnostics.is_empty() {
        output::print_line(&format!("No problems in {files} ({hooks})."));
    } else {
        let errors = output::format_count(linted.errors, "error");
        let warnings = output::format_count(linted.warnings, "warning");
        output::print_line(&format!("{errors}, {warnings} in {files} ({hooks} loaded)."));
    }
}
