//! `snell guard test`: runs the cases that stand beside entries of the settings.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use serde_json::{Value, json};
use snell::{
    ConfigFile, Diagnostic, GuardCase, GuardEntry, Severity, SnellSettings, Timestamp, ToolCall, UserMessage,
    read_guard_cases,
};

use super::wire;
use crate::commands::{DONE, FAILED};
use crate::env::{ConfigArgs, read_clock_override};
use crate::guard::ProjectGuard;
use crate::output;

/// The tool of a case that is only a command.
const SHELL_TOOL: &str = "Bash";

/// A larger file is not read as settings either.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Run the `match` and `not_match` cases of your own rules
///
/// A case is a command line, or the name of a tool and its input as JSON: 'Write {"file_path": "secrets/key"}'. Each case
/// is compared with the conditions of its entry alone. No call runs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell guard test\n  snell guard test ./snell.toml --json\n\nAn entry with cases:\n  \
    [[guard.deny]]\n  command = \"git push --force **\"\n  match = [\"sh -c 'git push --force origin main'\"]\n  \
    not_match = [\"git push origin main\"]"
)]
pub(crate) struct Args {
    /// A snell.toml [default: all that apply to the project]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    around: ConfigArgs,
}

/// The result as JSON.
#[derive(Debug, Default, Serialize)]
struct GuardTestReport {
    entries: usize,
    cases: usize,
    /// Cases with another result.
    failures: Vec<Diagnostic>,
    /// Faults of the settings and of the cases themselves.
    errors: Vec<Diagnostic>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let (settings, findings) = load_settings(args)?;
    let project = args.around.resolve_project()?;
    let now = read_clock_override().unwrap_or_else(Timestamp::now);
    let guard = ProjectGuard::from_settings(&settings, &project, now);
    let mut report = GuardTestReport::default();
    report.errors.extend(findings.into_iter().filter(|found| found.severity == Severity::Error));
    let mut files: Vec<_> = settings.guard.entries.iter().map(|entry| &entry.origin).collect();
    files.dedup_by_key(|origin| &origin.path);
    for file in files {
        let text = snell::read_text_file(&file.path, MAX_FILE_BYTES)
            .with_context(|| format!("cannot read {}", file.path.display()))?;
        let (cases, problems) = read_guard_cases(&file.display_path, &text);
        report.errors.extend(problems);
        for tested in cases {
            let is_tested = |entry: &&GuardEntry| {
                let (origin, wanted) = (&entry.origin, &tested.entry);
                origin.path == file.path && (origin.line, origin.column) == (wanted.line, wanted.column)
            };
            let Some(entry) = settings.guard.entries.iter().find(is_tested) else {
                continue;
            };
            report.entries += 1;
            run_cases(&guard, entry, &tested.matches, CaseExpectation::Match, &mut report);
            run_cases(&guard, entry, &tested.not_match, CaseExpectation::NoMatch, &mut report);
        }
    }
    print_report(args, &report)?;
    Ok(if report.failures.is_empty() && report.errors.is_empty() { DONE } else { FAILED })
}

/// The settings with the entries to test. Relative paths of a file that applies start where its owner is at home.
fn load_settings(args: &Args) -> anyhow::Result<(SnellSettings, Vec<Diagnostic>)> {
    let (engine, findings) = args.around.engine_builder()?.load();
    let Some(file) = &args.file else {
        return Ok((engine.settings(), findings));
    };
    anyhow::ensure!(file.is_file(), "{} is not a file", file.display());
    let is_same = |path: &Path| path.canonicalize().ok() == file.canonicalize().ok();
    if engine.files().iter().any(|path| is_same(path)) {
        let mut settings = engine.settings();
        settings.guard.entries.retain(|entry| is_same(&entry.origin.path));
        return Ok((settings, findings));
    }
    let alone = ConfigFile::parse(&format!("snell:{}", file.display()));
    let (engine, findings) = args.around.engine_builder()?.files([alone]).load();
    Ok((engine.settings(), findings))
}

/// The expected result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseExpectation {
    Match,
    NoMatch,
}

fn run_cases(
    guard: &ProjectGuard,
    entry: &GuardEntry,
    cases: &[GuardCase],
    expected: CaseExpectation,
    report: &mut GuardTestReport,
) {
    for case in cases {
        report.cases += 1;
        let (tool, input) = parse_case(&case.text);
        let call = ToolCall { name: tool, input: Some(input.clone()), ..ToolCall::default() };
        let is_met = entry.applies_to(&call, entry.agents.first().map(String::as_str))
            && guard.matches_entry(entry, &call.name, &input);
        let verb = match (expected, is_met) {
            (CaseExpectation::Match, false) => "does not match",
            (CaseExpectation::NoMatch, true) => "matches",
            _ => continue,
        };
        let message =
            format!("[[guard.{}]] in line {} {verb} \"{}\"", entry.action.name(), entry.origin.line, case.text);
        let hint = "run `snell guard explain` with the call to see what would run";
        let found = case.origin.make_warning(UserMessage::new(message).with_hint(hint));
        report.failures.push(Diagnostic { severity: Severity::Error, ..found });
    }
}

/// The call of a case: a tool and its input as JSON, or a command.
fn parse_case(text: &str) -> (String, Value) {
    let named = text.split_once(' ').filter(|(tool, input)| {
        let is_name = !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        is_name && input.trim_start().starts_with('{')
    });
    let parsed = named.and_then(|(tool, input)| Some((tool.to_owned(), wire::parse_json::<Value>(input).ok()?)));
    parsed.unwrap_or_else(|| (SHELL_TOOL.to_owned(), json!({ "command": text })))
}

fn print_report(args: &Args, report: &GuardTestReport) -> anyhow::Result<()> {
    if args.json {
        return output::print_json(report);
    }
    report.errors.iter().chain(&report.failures).for_each(output::print_diagnostic);
    let cases = output::format_count(report.cases, "case");
    let entries = match report.entries {
        1 => "1 entry".to_owned(),
        number => format!("{number} entries"),
    };
    let result = match (report.cases, report.failures.len()) {
        (0, 0) => format!("No cases in {entries}. To add some: match = [\"…\"] and not_match = [\"…\"] in an entry."),
        (_, 0) => format!("{cases} of {entries}: all pass."),
        (_, failed) => format!("{cases} of {entries}: {}.", output::format_count(failed, "failure")),
    };
    output::print_line(&match report.errors.len() {
        0 => result,
        errors => format!("{result} {} in the settings.", output::format_count(errors, "error")),
    });
    Ok(())
}
