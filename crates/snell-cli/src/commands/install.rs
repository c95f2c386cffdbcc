//! `snell install`: Snell in an agent's own settings.

use std::path::PathBuf;

use snell::receiver_url;

use super::DONE;
use crate::around::Around;
use crate::install::agents::{Agent, Scope};
use crate::install::entry::Way;
use crate::install::program::Started;
use crate::install::work::{self, Installation, Request, Target};
use crate::output;

/// Install Snell in an agent: its settings then call Snell on all events but two
///
/// Only Snell's own entries are put into the file; everything else in it stays as it is, and `snell uninstall` puts back
/// what was there. Installing it one way replaces the other.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell install claude --dry-run\n  snell install claude\n  \
    snell install claude --notify --url http://tower:7433"
)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
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
pub(crate) struct Place {
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

impl Place {
    pub(crate) fn target(&self) -> anyhow::Result<Target> {
        let agent = Agent::named(&self.agent)?;
        Ok(Target {
            agent,
            scope: match (&self.project, self.local) {
                (_, true) => Scope::Local,
                (Some(_), false) => Scope::Project,
                (None, false) => Scope::User,
            },
            around: work::surroundings(agent, self.project.clone())?,
            data: Around::of(None, None).data_dir(),
            program: Started::look()?.stable_path(),
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    // What `snell notify` would refuse is not registered.
    let url = args
        .url
        .as_deref()
        .map(|url| receiver_url(url).map_err(|fault| anyhow::anyhow!("--url {fault}; write http://HOST:PORT")));
    let request = Request {
        way: if args.notify { Way::Notify } else { Way::Hook },
        url: url.transpose()?,
        force: args.force,
        dry_run: args.place.dry_run,
    };
    let target = args.place.target()?;
    let done = work::install(&target, &request)?;
    if args.place.json {
        output::json(&done)?;
    } else {
        show(&target, &done);
    }
    Ok(DONE)
}

fn show(target: &Target, done: &Installation) {
    let (title, file) = (target.agent.title(), done.file.display());
    if done.dry_run && done.changed {
        output::diff(&done.diff);
        let scripts = [
            (&done.removed_script, "would be removed"),
            (&done.restored_script, "would be again what it was before Snell"),
        ];
        for (script, what) in scripts {
            if let Some(script) = script {
                output::line(&format!("{} {what}.", script.display()));
            }
        }
    } else if !done.changed {
        output::line(&format!("Nothing to do: {file} has all of it."));
    } else {
        let events = output::count(done.events.len(), "event");
        output::line(&format!("{title} now calls Snell on {events}: {}", call(done)));
        let rows = [
            ("Settings", Some(&done.file)),
            ("As before", done.backup.as_ref()),
            ("Script", done.script.as_ref()),
            ("Removed", done.removed_script.as_ref()),
            ("Put back", done.restored_script.as_ref()),
        ];
        for (label, path) in rows {
            if let Some(path) = path {
                output::line(&format!("  {label:<10} {}", path.display()));
            }
        }
        output::line(&format!("  {:<10} {}", "To undo", target.to_undo(target.scope)));
        output::line(&format!("  {:<10} snell doctor", "To check"));
    }
    for warning in &done.warnings {
        output::note(warning);
    }
}

fn call(done: &Installation) -> String {
    match done.way {
        Way::Hook => format!("{} hook", done.command),
        Way::Notify => done.command.clone(),
    }
}
