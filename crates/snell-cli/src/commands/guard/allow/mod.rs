//! `snell guard allow`: writes the narrowest entry that covers a call which the user allowed.

mod asked_call;
mod narrow_entry;

use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::civil::Date;
use snell::{Severity, read_user_guard_entries};
use snell_guard::rules::RULES;
use snell_guard::{GuardDecision, GuardJudgement};

use super::project_guards::{GuardPolicyArgs, GuardedProject};
use crate::commands::DONE;
use crate::env::ConfigArgs;
use crate::guard::{ProjectGuard, lint_guard_settings};
use crate::install::atomic_file::{FileModePolicy, FileSnapshot};
use crate::output::{self, CommandError};
use crate::record::open_store::StoreHandle;
use asked_call::AskedCall;
use narrow_entry::NarrowEntry;

/// The name of the user's own file.
const CONFIG_FILE: &str = "snell.toml";

/// Allow in future what you have allowed once
///
/// Finds the last call that the guard asked about and that then ran, and adds the narrowest [[guard.allow]] entry for it to
/// your own snell.toml. All other bytes of the file stay. Locked rules cannot be allowed. The guard denies this command to
/// agents.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard allow --last --dry-run\n  \
    snell guard allow --last --until 2027-01-31 --reason 'the release'\n  snell guard allow --event 4711")]
pub(crate) struct Args {
    #[command(flatten)]
    which: AskedCallArgs,
    /// The reason in the entry [default: that you allowed the call, and when]
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The last day of the entry [default: none]
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    /// Show the entry, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Which call
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct AskedCallArgs {
    /// The last call that was asked about and then ran
    #[arg(long, conflicts_with = "event")]
    last: bool,
    /// The last one of the session whose id starts with this
    #[arg(long, value_name = "ID", conflicts_with = "event")]
    session: Option<String>,
    /// The call with this id, as the page and `snell log --json` show it
    #[arg(long, value_name = "ID")]
    event: Option<i64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let call = AskedCall::find(args.which.session.as_deref(), args.which.event, &mut store_handle)?;
    let mut guards = GuardPolicyArgs::default().new_project_cache();
    let known = guards.get_or_load(Path::new(&call.project))?;
    let guard = known.guard.for_agent(call.agent.as_deref());
    let judgement = guard.judge(&call.tool, &call.input, Some(Path::new(&call.cwd)));
    check_judgement(&judgement)?;
    let reason = args.reason.clone().unwrap_or_else(|| format!("I allowed this call on {}.", call.day()));
    let entry = NarrowEntry::for_call(&call, &judgement)?;
    let text = entry.to_toml(&reason, args.until);
    let path = locate_user_file()?;
    let file = FileSnapshot::load(&path)?;
    let whole = append_entry(file.text.as_deref().unwrap_or_default(), &text);
    check_entry(&call, known, &whole, &path)?;
    if args.dry_run {
        print_addition(&format!("{} would get:", path.display()), &text);
        return Ok(DONE);
    }
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    file.replace(&whole, FileModePolicy::Private)?;
    print_addition(&format!("Added to {}:", path.display()), &text);
    Ok(DONE)
}

/// Prints a title, a blank line and an entry.
fn print_addition(title: &str, entry: &str) {
    output::print_line(title);
    output::print_text(&format!("\n{entry}"));
}

/// Refuses calls that an entry cannot help.
fn check_judgement(judgement: &GuardJudgement) -> anyhow::Result<()> {
    if !judgement.coverage.is_full() {
        let gaps = judgement.coverage.describe_gaps().join("; ");
        return Err(refuse(&format!("the guard does not know all of this call: {gaps}"), "run it in parts"));
    }
    if judgement.unaudited == GuardDecision::Allow {
        return Err(refuse("the guard allows this call already", "no entry is needed"));
    }
    if let Some(entry) = &judgement.entry {
        let hint = format!("change the entry at {entry}");
        return Err(refuse("an entry of your own stops this call, and no other entry can allow it", &hint));
    }
    match RULES.iter().find(|rule| Some(rule.id) == judgement.rule) {
        Some(rule) if rule.locked => {
            let what = format!("rule {} is locked, so no entry can allow the call", rule.id);
            Err(refuse(&what, &format!("run `snell guard rules {}` for details", rule.id)))
        }
        _ => Ok(()),
    }
}

fn refuse(what: &str, hint: &str) -> anyhow::Error {
    CommandError::new(what).with_hint(hint).into()
}

/// The user's own `snell.toml`.
fn locate_user_file() -> anyhow::Result<PathBuf> {
    let directory = ConfigArgs::new(None, None).config_dir();
    Ok(directory.context("there is no home directory, so there is no snell.toml of your own")?.join(CONFIG_FILE))
}

/// The text with an entry at its end. All bytes before stay.
fn append_entry(text: &str, entry: &str) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{entry}")
}

/// Checks in memory that the file stays valid, that the call is allowed then, and that the entry has no fault.
fn check_entry(call: &AskedCall, known: &GuardedProject, whole: &str, path: &Path) -> anyhow::Result<()> {
    let home = ConfigArgs::new(None, None).home_dir();
    let shown = path.display().to_string();
    let (entries, problems) = read_user_guard_entries(&shown, whole, home.as_deref());
    if let Some(problem) = problems.iter().find(|found| found.severity == Severity::Error) {
        return Err(refuse(&format!("the entry does not fit into {problem}"), "add the entry by hand"));
    }
    let added = entries.last().context("the entry is missing in the new text")?;
    let mut settings = known.settings.clone();
    settings.guard.entries.push(added.clone());
    let guard = ProjectGuard::from_settings(&settings, Path::new(&call.project), call.at);
    let judgement = guard.for_agent(call.agent.as_deref()).judge(&call.tool, &call.input, Some(Path::new(&call.cwd)));
    if judgement.unaudited != GuardDecision::Allow {
        let rule = judgement.rule_id().unwrap_or("guard");
        let what = format!("no single entry can allow this call: {rule} still stops it");
        return Err(refuse(&what, "write an entry by hand; `snell guard explain` shows what would help"));
    }
    let is_added = |origin: &snell::SourceLocation| *origin == added.origin;
    let findings = lint_guard_settings(&settings, Path::new(&call.project), call.at);
    match findings.into_iter().find(|finding| is_added(&finding.origin)) {
        Some(finding) => Err(refuse(&finding.what, &finding.remedy)),
        None => Ok(()),
    }
}
