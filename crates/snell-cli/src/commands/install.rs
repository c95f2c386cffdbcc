//! `snell install`: adds Snell to an agent's settings.

use std::path::PathBuf;

use snell::normalize_receiver_url;

use super::DONE;
use crate::env::ConfigArgs;
use crate::install::agents::{InstallAgent, SettingsScope};
use crate::install::apply::{self, InstallReport, InstallRequest, InstallTarget};
use crate::install::exe_path::ExeLocator;
use crate::install::handler::InstallMode;
use crate::output::{self, CommandError};

/// Add Snell to an agent's settings, so that its hooks call Snell
///
/// Adds only Snell's own entries, for all events except WorktreeCreate and MessageDisplay. Everything else in the file stays as it is, and `snell uninstall`
/// restores the old content. A file has one kind of installation: installing with --notify replaces one without --notify, and vice versa.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell install claude --dry-run\n  snell install claude\n  \
    snell install claude --notify --url http://tower:7433")]
pub(crate) struct Args {
    #[command(flatten)]
    place: InstallTargetArgs,
    /// Only forward events to a receiver
    ///
    /// Installs the script notify-headspace.sh for the eight events that a receiver needs. Nothing is judged or recorded here.
    #[arg(long)]
    notify: bool,
    /// Forward to this receiver
    ///
    /// [default: $SNELL_URL, else `server.url` of your snell.toml, else http://127.0.0.1:7433]
    #[arg(long, value_name = "URL", requires = "notify")]
    url: Option<String>,
    /// Install despite a conflict
    ///
    /// A conflict is another file of the agent that already calls Snell, or a script of that name that Snell did not write.
    #[arg(long)]
    force: bool,
}

/// The agent and its file.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTargetArgs {
    /// Name of the agent: claude
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Use the settings of a project [default: the current directory]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Use the project's local settings (settings.local.json)
    #[arg(long)]
    local: bool,
    /// Only show the changes
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl InstallTargetArgs {
    pub(crate) fn resolve_target(&self) -> anyhow::Result<InstallTarget> {
        let agent = InstallAgent::find_by_name(&self.agent)?;
        Ok(InstallTarget {
            agent,
            scope: match (&self.project, self.local) {
                (_, true) => SettingsScope::Local,
                (Some(_), false) => SettingsScope::Project,
                (None, false) => SettingsScope::User,
            },
            dirs: apply::locate_agent_dirs(agent, self.project.clone())?,
            data: ConfigArgs::new(None, None).data_dir(),
            program: ExeLocator::from_env()?.stable_path(),
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    // A URL that `snell notify` would refuse is not registered.
    let url = args.url.as_deref().map(|url| {
        let refuse = |fault| CommandError::new(format!("--url {fault}")).with_hint("use http://HOST:PORT");
        normalize_receiver_url(url).map_err(refuse)
    });
    let request = InstallRequest {
        way: if args.notify { InstallMode::Notify } else { InstallMode::Hook },
        url: url.transpose()?,
        force: args.force,
        dry_run: args.place.dry_run,
    };
    let target = args.place.resolve_target()?;
    let done = apply::install_snell(&target, &request)?;
    if args.place.json {
        output::print_json(&done)?;
    } else {
        print_installation(&target, &done);
    }
    Ok(DONE)
}

fn print_installation(target: &InstallTarget, done: &InstallReport) {
    let (title, file) = (target.agent.title(), done.file.display());
    if done.dry_run && done.changed {
        output::print_diff(&done.diff);
        print_script_results([&done.removed_script, &done.restored_script], ["Would remove", "Would restore"]);
    } else if !done.changed {
        output::print_line(&format!("Nothing to do: {file} already calls Snell."));
    } else {
        let events = output::format_count(done.events.len(), "event");
        output::print_line(&format!("{title} now calls Snell on {events}: {}", format_hook_command(done)));
        let rows = [
            ("Settings", Some(&done.file)),
            ("Backup", done.backup.as_ref()),
            ("Script", done.script.as_ref()),
            ("Removed", done.removed_script.as_ref()),
            ("Restored", done.restored_script.as_ref()),
        ];
        for (label, path) in rows {
            if let Some(path) = path {
                output::print_line(&format!("  {label:<10} {}", path.display()));
            }
        }
        output::print_line(&format!("  {:<10} {}", "To undo", target.undo_hint(target.scope)));
        output::print_line(&format!("  {:<10} snell doctor", "To check"));
    }
    for warning in &done.warnings {
        output::print_warning(warning);
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
