//! `snell install`: Snell in an agent's own settings.

use std::path::PathBuf;

use snell::normalize_receiver_url;

use super::DONE;
use crate::env::ConfigArgs;
use crate::install::agents::{InstallAgent, SettingsScope};
use crate::install::apply::{self, InstallReport, InstallRequest, InstallTarget};
use crate::install::exe_path::ExeLocator;
use crate::install::handler::InstallMode;
use crate::output;

/// Install Snell in an agent: its settings then call Snell on all events but two
///
/// Only Snell's own entries are put into the file; everything else in it stays as it is, and `snell uninstall` puts back
/// what was there. Installing it one way replaces the other.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell install claude --dry-run\n  snell install claude\n  \
    snell install claude --notify --url http://tower:7433")]
pub(crate) struct Args {
    #[command(flatten)]
    place: InstallTargetArgs,
    /// Only forward the eight events that a receiver needs, by the script notify-headspace.sh; judge and record nothing here
    #[arg(long)]
    notify: bool,
    /// The receiver that the script forwards to [default: $SNELL_URL, else `server.url` of your snell.toml, else http://127.0.0.1:7433]
    #[arg(long, value_name = "URL", requires = "notify")]
    url: Option<String>,
    /// Install although another file of the agent calls Snell already, or a script of that name is somebody else's
    #[arg(long)]
    force: bool,
}

/// Which file of which agent
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTargetArgs {
    /// The agent: claude
    #[arg(value_name = "AGENT")]
    agent: String,
    /// In the settings of a project, by default the current directory, instead of the user's
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// In the project's settings that are not shared (settings.local.json)
    #[arg(long)]
    local: bool,
    /// Change nothing; show what would be changed
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
    // What `snell notify` would refuse is not registered.
    let url = args.url.as_deref().map(|url| {
        normalize_receiver_url(url).map_err(|fault| anyhow::anyhow!("--url {fault}; write http://HOST:PORT"))
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
        print_script_results(
            [&done.removed_script, &done.restored_script],
            ["would be removed", "would be again what it was before Snell"],
        );
    } else if !done.changed {
        output::print_line(&format!("Nothing to do: {file} has all of it."));
    } else {
        let events = output::format_count(done.events.len(), "event");
        output::print_line(&format!("{title} now calls Snell on {events}: {}", format_hook_command(done)));
        let rows = [
            ("Settings", Some(&done.file)),
            ("As before", done.backup.as_ref()),
            ("Script", done.script.as_ref()),
            ("Removed", done.removed_script.as_ref()),
            ("Put back", done.restored_script.as_ref()),
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

/// What became of the script: whether it was removed, or put back.
pub(super) fn print_script_results(scripts: [&Option<PathBuf>; 2], results: [&str; 2]) {
    for (script, result) in scripts.into_iter().zip(results) {
        if let Some(script) = script {
            output::print_line(&format!("{} {result}.", script.display()));
        }
    }
}
