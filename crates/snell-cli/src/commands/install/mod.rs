//! `snell install`: adds Snell to the settings of agents.

mod guard_preview;
mod targets;

use std::path::PathBuf;

use snell::{GuardPreset, WorkProfile, normalize_receiver_url};

use super::{DONE, FAILED};
use crate::config_edit::ConfigFileChange;
use crate::doctor;
use crate::install::agents::InstallAgent;
use crate::install::apply::{self, InstallReport, InstallRequest};
use crate::install::audit_preset;
use crate::install::forwarding::plan_forwarding;
use crate::install::handler::InstallMode;
use crate::install::profile::{self, ProfileReport};
use crate::output::{self, CommandError, Spinner};
use crate::process::question;
pub(crate) use targets::{AgentTargets, InstallTargetArgs};

/// Add Snell to agents' settings, so that their hooks call Snell
///
/// Without an agent's name, finds the agents on this machine, shows what it would change, and asks. With names or --all, it does not ask.
///
/// Adds only Snell's own entries or files. Everything else stays as it is, and `snell uninstall` restores the old content. A file has one
/// kind of installation: installing with --notify replaces one without --notify, and vice versa.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell install\n  snell install claude codex\n  snell install --all --dry-run\n  \
    snell install claude --audit\n  snell install claude --profile claude-os\n  \
    snell install claude --notify --url http://tower:7433")]
pub(crate) struct Args {
    #[command(flatten)]
    place: InstallTargetArgs,
    /// Only forward events to a receiver (only claude)
    ///
    /// Installs the script notify-headspace.sh for the eight events that a receiver needs. Nothing is judged or recorded here.
    #[arg(long, help_heading = "Forward events")]
    notify: bool,
    /// Forward to this receiver
    ///
    /// [default: $SNELL_URL, else `server.url` of your snell.toml, else http://127.0.0.1:7433]
    #[arg(long, value_name = "URL", requires = "notify", help_heading = "Forward events")]
    url: Option<String>,
    /// Also send all that Snell records here to this receiver
    ///
    /// Writes `url` under `[server]` of your snell.toml, which `snell uninstall` leaves there. Events wait on disk while the receiver does
    /// not answer.
    #[arg(long, value_name = "URL", conflicts_with_all = ["notify", "project", "local"], help_heading = "Forward events")]
    forward: Option<String>,
    /// The file with the token for --forward
    ///
    /// Writes `token_file` under `[server]`. Only the owner of the file may have access to it.
    #[arg(long, value_name = "FILE", requires = "forward", help_heading = "Forward events")]
    token_file: Option<PathBuf>,
    /// Also switch on a way of working: `profile` in your own snell.toml
    ///
    /// "claude-os" gives sessions files at their start, reminders, and rules for messages to people. `snell uninstall` removes the line
    /// again.
    #[arg(long, value_name = "NAME", value_parser = profile_names(), conflicts_with_all = ["notify", "project", "local"])]
    profile: Option<String>,
    /// Only judge and record tool calls, and stop none
    ///
    /// Writes preset = "audit" under `[guard]` of your snell.toml, also if all agents call Snell already. It replaces preset = "standard"
    /// until `snell uninstall`; another preset there is an error. Later, `snell guard replay` shows which calls would have been stopped.
    #[arg(long, conflicts_with = "notify")]
    audit: bool,
    /// Install despite a conflict
    ///
    /// A conflict is another file of the agent that already calls Snell, or a script of that name that Snell did not write.
    #[arg(long)]
    force: bool,
}

fn profile_names() -> clap::builder::PossibleValuesParser {
    WorkProfile::names().collect::<Vec<_>>().into()
}

/// The end of an installation.
struct InstallOutcome {
    code: u8,
    has_changes: bool,
}

/// Installs in the named agents, as `snell install NAME…` does.
pub(crate) fn install_named_agents(place: InstallTargetArgs) -> anyhow::Result<u8> {
    let args = Args {
        place,
        notify: false,
        url: None,
        forward: None,
        token_file: None,
        profile: None,
        audit: false,
        force: false,
    };
    Ok(install_snell(&args)?.code)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let outcome = install_snell(args)?;
    if outcome.has_changes && !args.place.json {
        output::print_line(&format!("  {:<10} snell doctor", "To check"));
    }
    Ok(outcome.code)
}

fn install_snell(args: &Args) -> anyhow::Result<InstallOutcome> {
    // A URL that `snell notify` would refuse is not registered.
    let normalize = |option: &str, url: Option<&str>| {
        let refuse = |fault| CommandError::new(format!("{option} {fault}")).with_hint("use http://HOST:PORT");
        url.map(normalize_receiver_url).transpose().map_err(refuse)
    };
    let forward = normalize("--forward", args.forward.as_deref())?;
    let request = InstallRequest {
        way: if args.notify { InstallMode::Notify } else { InstallMode::Hook },
        url: normalize("--url", args.url.as_deref())?,
        force: args.force,
        dry_run: args.place.dry_run,
    };
    let Some(agents) = choose_agents(args, &request)? else {
        output::print_line("Nothing was changed.");
        return Ok(InstallOutcome { code: DONE, has_changes: false });
    };
    if let Some(other) = agents.iter().find(|one| args.notify && one.agent.forwarded.is_empty()) {
        let problem = format!("Snell cannot forward events of {} with --notify", other.agent.title());
        return Err(CommandError::new(problem).with_hint("leave out --notify").into());
    }
    if !args.place.dry_run {
        doctor::skip_reports_in_new_setup();
    }
    if args.audit {
        write_audit_preset(args)?;
    }
    if let Some(url) = forward {
        let change = plan_forwarding(&url, args.token_file.as_deref())?;
        write_setting(
            args,
            &change,
            &format!("url = \"{url}\" under [server], so what Snell records here is sent there"),
        )?;
    }
    // A snell.toml that cannot be changed must not leave a half installation.
    let profile = args.profile.as_deref().and_then(WorkProfile::from_name);
    let profile = profile.map(profile::prepare_profile).transpose()?;
    install_in_agents(args, &request, &agents, profile.as_ref())
}

impl Args {
    /// Whether the user chooses after a preview.
    fn asks_user(&self) -> bool {
        self.place.agent.is_empty() && !self.place.all && !self.place.dry_run
    }
}

/// Writes the preset before the installation, so that no call is stopped in between.
fn write_audit_preset(args: &Args) -> anyhow::Result<()> {
    let change = audit_preset::plan_audit_preset()?;
    write_setting(args, &change, "preset = \"audit\" under [guard], so the guard stops no calls")
}

/// Writes a setting, or shows it.
fn write_setting(args: &Args, change: &ConfigFileChange, setting: &str) -> anyhow::Result<()> {
    if args.place.dry_run {
        output::print_diff(&change.diff());
    } else if change.has_effect() {
        change.write()?;
        if !args.place.json {
            let verb = if change.text_before().is_none() { "Created" } else { "Changed" };
            let path = change.path().display();
            output::print_line(&format!("{verb} {path}: {setting}."));
        }
    } else if !args.place.json {
        let (setting, _) = setting.split_once(" under ").unwrap_or((setting, ""));
        output::print_line(&format!("{} already has {setting}.", change.path().display()));
    }
    Ok(())
}

/// The agents to install in; nothing if the user does not want it.
fn choose_agents(args: &Args, request: &InstallRequest) -> anyhow::Result<Option<Vec<AgentTargets>>> {
    if !args.place.agent.is_empty() {
        return args.place.resolve_named().map(Some);
    }
    let found = args.place.resolve_found()?;
    if found.is_empty() {
        let names: Vec<_> = InstallAgent::all().map(|agent| agent.name).collect();
        let hint = format!("name one of: {}", names.join(", "));
        return Err(CommandError::new("no known agent was found on this machine").with_hint(hint).into());
    }
    if args.place.all || args.place.dry_run {
        return Ok(Some(found));
    }
    let preview = InstallRequest { dry_run: true, url: request.url.clone(), ..*request };
    let is_installed = |one: &AgentTargets| apply::install_snell(&one.files, &preview).is_ok_and(|done| !done.changed);
    let needs_answer = !args.audit || !found.iter().all(is_installed);
    if args.place.json || (needs_answer && !question::can_ask()) {
        let names: Vec<_> = found.iter().map(|one| one.agent.name).collect();
        let problem = "no agent is named, and there is no terminal to ask";
        let hint = format!("run `snell install {}`, or pass --all", names.join(" "));
        return Err(CommandError::new(problem).with_hint(hint).into());
    }
    let chosen = preview_agents(found, &preview);
    if chosen.is_empty() {
        // The preset changes for the agents that call Snell already.
        return Ok(args.audit.then_some(chosen));
    }
    if !args.notify {
        let agents: Vec<_> = chosen.iter().map(|one| one.agent).collect();
        guard_preview::print_guard_preview(&agents, args.audit.then_some(GuardPreset::Audit))?;
    }
    let count = output::format_count(chosen.len(), "agent");
    Ok(question::ask_yes_or_no(&format!("Install Snell in {count}?"))?.then_some(chosen))
}

/// Shows the change for each agent. Returns the agents that do not call Snell yet.
fn preview_agents(found: Vec<AgentTargets>, preview: &InstallRequest) -> Vec<AgentTargets> {
    let mut chosen = Vec::new();
    for one in found {
        match apply::install_snell(&one.files, preview) {
            Ok(report) if !report.changed => {
                output::print_line(&format!("{:<14} already calls Snell", one.agent.title()));
            }
            Ok(report) => {
                output::print_line(&format!("{:<14} {}", one.agent.title(), describe_change(&report)));
                chosen.push(one);
            }
            Err(error) => output::print_error(&error),
        }
    }
    chosen
}

fn describe_change(report: &InstallReport) -> String {
    let place = match (report.more_files.len(), report.file.parent()) {
        (0, _) | (_, None) => report.file.display().to_string(),
        (more, Some(directory)) => format!("{} in {}", output::format_count(more + 1, "file"), directory.display()),
    };
    let verb = if report.created { "create" } else { "change" };
    format!("would {verb} {place}, to call Snell on {}", output::format_count(report.events.len(), "event"))
}

/// Installs in each agent. A failure in one does not keep the others from it.
fn install_in_agents(
    args: &Args,
    request: &InstallRequest,
    agents: &[AgentTargets],
    profile: Option<&ConfigFileChange>,
) -> anyhow::Result<InstallOutcome> {
    let spinner = Spinner::start("installing");
    let mut reports = Vec::new();
    let mut changed = Vec::new();
    let mut has_failed = false;
    for one in agents {
        spinner.set_text(format!("installing in {}", one.agent.title()));
        match apply::install_snell(&one.files, request) {
            Ok(report) => {
                if !args.place.json {
                    print_installation(one, &report);
                }
                changed.extend(Some(one.agent).filter(|_| report.changed));
                reports.push(report);
            }
            Err(error) if agents.len() == 1 => return Err(error),
            Err(error) => {
                has_failed = true;
                output::print_error(&error.context(format!("cannot install Snell in {}", one.agent.title())));
            }
        }
    }
    drop(spinner);
    if let Some(change) = profile
        && let (Some(report), Some(target)) = (reports.first_mut(), agents.iter().find_map(|one| one.files.first()))
    {
        if !request.dry_run {
            profile::write_profile(change, &target.data, report.agent)?;
        }
        let done = ProfileReport::from_change(change);
        if !args.place.json {
            print_profile(&done, request);
        }
        report.profile = Some(done);
    }
    let has_changes = !args.place.dry_run && !changed.is_empty();
    if has_changes && !args.notify && !args.place.json && !args.asks_user() {
        guard_preview::print_guard_preview(&changed, None)?;
    }
    match reports.as_slice() {
        [report] if args.place.json && args.place.names_one_agent() => output::print_json(report)?,
        reports if args.place.json => output::print_json(&reports)?,
        _ => {}
    }
    Ok(InstallOutcome { code: if has_failed { FAILED } else { DONE }, has_changes })
}

fn print_installation(target: &AgentTargets, done: &InstallReport) {
    let (title, file) = (target.agent.title(), done.file.display());
    if done.dry_run && done.changed {
        output::print_diff(&done.diff);
        print_script_results([&done.removed_script, &done.restored_script], ["Would remove", "Would restore"]);
    } else if !done.changed {
        output::print_line(&format!("Nothing to do: {file} already calls Snell."));
    } else {
        let events = output::format_count(done.events.len(), "event");
        output::print_line(&format!("{title} now calls Snell on {events}: {}", format_hook_command(done)));
        let files = done.more_files.iter().map(|file| ("", Some(file)));
        let rows = [
            ("Backup", done.backup.as_ref()),
            ("Script", done.script.as_ref()),
            ("Removed", done.removed_script.as_ref()),
            ("Restored", done.restored_script.as_ref()),
        ];
        for (label, path) in std::iter::once(("Settings", Some(&done.file))).chain(files).chain(rows) {
            if let Some(path) = path {
                output::print_line(&format!("  {label:<10} {}", path.display()));
            }
        }
        if let Some(file) = target.files.first() {
            output::print_line(&format!("  {:<10} {}", "To undo", file.undo_hint(target.scope)));
        }
    }
    for note in done.notes.iter().filter(|_| !done.dry_run && done.changed) {
        output::print_line(&format!("  {:<10} {note}", "Note"));
    }
    for warning in &done.warnings {
        output::print_warning(warning);
    }
}

fn print_profile(done: &ProfileReport, request: &InstallRequest) {
    match (done.changed, request.dry_run) {
        (true, true) => output::print_diff(&done.diff),
        (true, false) => output::print_line(&format!("  {:<10} {}", "Profile", done.file.display())),
        (false, _) => output::print_line(&format!("{} already has the profile.", done.file.display())),
    }
}

fn format_hook_command(done: &InstallReport) -> String {
    match done.way {
        InstallMode::Hook => format!("{} hook", done.command),
        InstallMode::Notify => done.command.clone(),
    }
}

/// Reports a script that is removed or restored.
pub(super) fn print_script_results(scripts: [&Option<PathBuf>; 2], results: [&str; 2]) {
    for (script, result) in scripts.into_iter().zip(results) {
        if let Some(script) = script {
            output::print_line(&format!("{result} {}", script.display()));
        }
    }
}
