//! `snell service`: runs the receiver in the background, with systemd or launchd.
//!
//! `unit_file` renders the file, `manager` has the commands of both managers as data, and this module runs them.

mod manager;
mod unit_file;

use std::path::Path;

use serde::Serialize;
use snell::UserMessage;

use super::serve::{PageScheme, format_page_url, resolve_address};
use super::{DONE, FAILED};
use crate::doctor::is_snell_receiver;
use crate::env::ConfigArgs;
use crate::install::atomic_file::{FileModePolicy, FileSnapshot};
use crate::install::exe_path::{ExeLocator, UNSTABLE_PATH_HINT, check_registrable, explain_unstable_path};
use crate::output::{self, CommandError};
use manager::{ManagerCommand, ServiceManager, ServiceState};
use unit_file::{ServiceFormat, UnitFacts, UnitFileOwner};

/// Run the receiver in the background, as a service of your user
///
/// Uses a systemd user unit on Linux and a launchd agent on macOS. The service runs `snell serve` with the settings of `[server]` in your own
/// snell.toml.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  snell service install\n  snell service status")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: ServiceAction,
}

#[derive(Debug, clap::Subcommand)]
enum ServiceAction {
    Install(ChangeArgs),
    Status(StatusArgs),
    Uninstall(RemovalArgs),
}

/// Write the service file, and start the service now and at every login
///
/// A second call changes nothing. If the manager cannot be reached, the file is written, and the commands to run are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell service install --dry-run\n  snell service install")]
struct ChangeArgs {
    /// Only print the file and the commands
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// Show whether the service is installed and runs, its page and its log
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell service status --json")]
struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// Stop the service and remove its file
///
/// A file that was changed after the installation is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell service uninstall --dry-run\n  snell service uninstall")]
struct RemovalArgs {
    /// Only print the commands and the file
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, clap::Args)]
struct FormatArgs {
    /// Use this service manager [default: the one of this system]
    #[arg(long, value_name = "MANAGER")]
    format: Option<ServiceFormat>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        ServiceAction::Install(args) => install_service(args),
        ServiceAction::Status(args) => show_status(args),
        ServiceAction::Uninstall(args) => uninstall_service(args),
    }
}

impl FormatArgs {
    fn locate_manager(&self) -> anyhow::Result<ServiceManager> {
        let around = ConfigArgs::new(None, None);
        let Some(home) = around.home_dir() else {
            return Err(CommandError::new("there is no home directory").with_hint("set HOME").into());
        };
        Ok(ServiceManager::new(self.format.unwrap_or(ServiceFormat::of_this_system()), &home))
    }
}

fn install_service(args: &ChangeArgs) -> anyhow::Result<u8> {
    let manager = args.format.locate_manager()?;
    let program = ExeLocator::from_env()?.stable_path();
    let facts = UnitFacts::from_env(check_registrable(&program)?, &manager.log_path);
    let text = unit_file::render_unit(manager.format, &facts)?;
    let path = manager.unit_path.as_path();
    let snapshot = FileSnapshot::load(path)?;
    refuse_changed_file(path, snapshot.text.as_deref(), "move it away, then run this command again")?;
    let is_same = snapshot.text.as_deref() == Some(text.as_str());
    let commands = if snapshot.exists() { manager.update_commands() } else { manager.start_commands() };
    if args.dry_run {
        output::print_line(&format!("Would write {}:", path.display()));
        output::print_line("");
        output::print_text(&text);
        output::print_line("");
        output::print_line("Would run:");
        print_commands(&commands);
        return Ok(DONE);
    }
    if is_same && manager.query_state() == ServiceState::Running {
        output::print_line(&format!("Nothing to do: {} is installed, and the service runs.", path.display()));
        return Ok(DONE);
    }
    if !is_same {
        snapshot.replace(&text, FileModePolicy::Usual)?;
        output::print_line(&format!("Wrote {}", path.display()));
    }
    if let Some(why) = explain_unstable_path(&program) {
        let warning = UserMessage::new(format!("{} {why}", program.display()));
        output::print_warning(warning.with_hint(UNSTABLE_PATH_HINT));
    }
    start_service(&manager, &commands)
}

/// Runs the commands that start the service. If the manager cannot be reached, shows them.
fn start_service(manager: &ServiceManager, commands: &[ManagerCommand]) -> anyhow::Result<u8> {
    if let Err(why) = manager.check_reachable() {
        output::print_note(format!("the service was not started: {why}"));
        output::print_line("To start it, run:");
        print_commands(commands);
        return Ok(DONE);
    }
    for command in commands {
        command.run().map_err(|why| {
            let problem = format!("cannot start the service: {why}");
            CommandError::new(problem).with_hint(format!("read its log: {}", manager.log_command()))
        })?;
    }
    output::print_line("Started the service: it runs now, and after every login.");
    let rows =
        [("Page", read_page_url()?), ("Log", manager.log_command()), ("To undo", "snell service uninstall".into())];
    print_rows(&rows);
    if let Some(command) = manager.linger_command() {
        print_rows(&[("Note", format!("it ends when you log out; to keep it running: {command}"))]);
    }
    Ok(DONE)
}

fn uninstall_service(args: &RemovalArgs) -> anyhow::Result<u8> {
    let manager = args.format.locate_manager()?;
    let path = manager.unit_path.as_path();
    let snapshot = FileSnapshot::load(path)?;
    if !snapshot.exists() {
        output::print_line(&format!("Nothing to do: {} does not exist.", path.display()));
        return Ok(DONE);
    }
    let by_hand =
        format!("to remove it anyway: {} && rm '{}'", format_commands(&manager.stop_commands()), path.display());
    refuse_changed_file(path, snapshot.text.as_deref(), &by_hand)?;
    if args.dry_run {
        output::print_line("Would run:");
        print_commands(&manager.stop_commands());
        output::print_line(&format!("Would remove {}", path.display()));
        return Ok(DONE);
    }
    let reachable = manager.check_reachable();
    if reachable.is_ok() {
        for command in manager.stop_commands() {
            // A service that does not run cannot be stopped, and must not keep its file.
            if let Err(why) = command.run() {
                output::print_warning(UserMessage::new(why));
            }
        }
    }
    snapshot.remove()?;
    output::print_line(&format!("Removed {}", path.display()));
    match reachable {
        Ok(()) => {
            for command in manager.reload_commands() {
                command.run().map_err(CommandError::new)?;
            }
        }
        Err(why) => {
            output::print_note(format!("the service was not stopped: {why}"));
            output::print_line("To stop it, run:");
            print_commands(&manager.stop_commands());
        }
    }
    Ok(DONE)
}

/// Fails if the file is not as `snell service install` wrote it.
fn refuse_changed_file(path: &Path, text: Option<&str>, hint: &str) -> anyhow::Result<()> {
    let problem = match text.map(unit_file::find_owner) {
        None | Some(UnitFileOwner::Snell) => return Ok(()),
        Some(UnitFileOwner::Edited) => "was changed after its installation",
        Some(UnitFileOwner::Other) => "was not written by Snell",
    };
    Err(CommandError::new(format!("{} {problem}, so it was not changed", path.display())).with_hint(hint).into())
}

/// The service, as JSON.
#[derive(Debug, Serialize)]
struct ServiceReport {
    manager: ServiceFormat,
    file: String,
    installed: bool,
    /// Whether the file is as `snell service install` wrote it.
    edited: bool,
    state: ServiceState,
    url: String,
    /// Whether a receiver answers at the address.
    answers: bool,
    log: String,
}

fn show_status(args: &StatusArgs) -> anyhow::Result<u8> {
    let manager = args.format.locate_manager()?;
    let snapshot = FileSnapshot::load(&manager.unit_path)?;
    let url = read_page_url()?;
    let report = ServiceReport {
        manager: manager.format,
        file: manager.unit_path.display().to_string(),
        installed: snapshot.exists(),
        edited: snapshot.text.as_deref().is_some_and(|text| unit_file::find_owner(text) != UnitFileOwner::Snell),
        state: if snapshot.exists() { manager.query_state() } else { ServiceState::Stopped },
        answers: is_snell_receiver(&url),
        url,
        log: manager.log_command(),
    };
    if args.json {
        output::print_json(&report)?;
    } else {
        print_report(&report);
    }
    let is_running = report.installed && report.state == ServiceState::Running;
    Ok(if is_running { DONE } else { FAILED })
}

fn print_report(report: &ServiceReport) {
    let file = match (report.installed, report.edited) {
        (false, _) => "not installed; to install it: snell service install".to_owned(),
        (true, true) => format!("installed, and changed since: {}", report.file),
        (true, false) => format!("installed: {}", report.file),
    };
    let answer = if report.answers { "answers" } else { "does not answer" };
    let mut rows = vec![("Service", file)];
    if report.installed {
        rows.push(("State", report.state.title().to_owned()));
    }
    rows.push(("Page", format!("{} ({answer})", report.url)));
    if report.installed {
        rows.push(("Log", report.log.clone()));
    }
    print_rows(&rows);
}

/// The address of the page by the user's settings.
fn read_page_url() -> anyhow::Result<String> {
    let (engine, _) = ConfigArgs::new(Some("/".into()), None).engine_builder()?.load();
    let server = &engine.settings().server;
    Ok(format_page_url(resolve_address(server.addr.as_deref())?, PageScheme::from_settings(server)))
}

fn print_rows(rows: &[(&str, String)]) {
    for (label, value) in rows {
        output::print_line(&format!("  {label:<10} {value}"));
    }
}

fn print_commands(commands: &[ManagerCommand]) {
    for command in commands {
        output::print_line(&format!("  {command}"));
    }
}

fn format_commands(commands: &[ManagerCommand]) -> String {
    commands.iter().map(ToString::to_string).collect::<Vec<_>>().join(" && ")
}
