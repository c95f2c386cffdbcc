//! Where calls would be made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::guards::{Guards, Known, Policy};
use crate::caller::Caller;
use crate::guard::{self, Guard};
use crate::output;

/// How many directories are remembered. Beyond that they are looked at again.
const REMEMBERED: usize = 1024;

/// Where it would run
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where and how it is judged")]
pub(super) struct Place {
    /// The directory in which it would run; need not be there [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The project that the agent works on [default: the nearest one from that directory upwards]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    policy: Policy,
}

impl Place {
    /// Where calls are made, with the guards that judge them there.
    pub(super) fn look(&self) -> anyhow::Result<Places> {
        let here = match &self.cwd {
            Some(cwd) => in_full(cwd)?,
            None => std::env::current_dir().context("the current directory is gone; name another one with --cwd")?,
        };
        let home = match &self.project {
            Some(project) => Home::Always(in_full(project)?),
            None => Home::Around(Caller::project_at(&here)),
        };
        if let Home::Always(project) = &home
            && !project.is_dir()
        {
            let shown = project.display();
            output::note(&format!(
                "{shown} is no directory; it is taken for a project without settings"
            ));
        }
        Ok(Places {
            home,
            here,
            guards: self.policy.guards()?,
            known: HashMap::new(),
        })
    }

    /// The same, for whoever judges calls now: they are told if the guard that agents meet there is switched off.
    pub(super) fn look_and_tell(&self) -> anyhow::Result<Places> {
        let mut places = self.look()?;
        places.here()?.tell_if_off();
        Ok(places)
    }
}

/// Which project an agent works on.
enum Home {
    /// This one, wherever it makes a call.
    Always(PathBuf),
    /// This one if it makes a call in it, else the one in which it does.
    Around(PathBuf),
}

/// The directories in which calls are made.
pub(super) struct Places {
    home: Home,
    /// Where calls are made that do not say where.
    here: PathBuf,
    guards: Guards,
    /// By the names that calls have for them.
    known: HashMap<String, Directory>,
}

/// A directory, and the project that it counts for.
#[derive(Clone)]
struct Directory {
    path: PathBuf,
    project: PathBuf,
}

impl Places {
    /// The guard for a call that is made in this directory, and the directory without detours.
    pub(super) fn at(&mut self, cwd: Option<&str>) -> anyhow::Result<(&Guard, &Path)> {
        // No directory has an empty name: this is where calls are made that do not say where.
        let named = cwd.unwrap_or_default();
        if !self.known.contains_key(named) {
            if self.known.len() >= REMEMBERED {
                self.known.clear();
            }
            self.known.insert(named.to_owned(), self.directory(cwd));
        }
        let directory = self.known.get(named).context("a directory was forgotten")?;
        let known = self.guards.of(&directory.project)?;
        Ok((&known.guard, &directory.path))
    }

    /// What is known of the project in which calls are made that do not say where.
    pub(super) fn here(&mut self) -> anyhow::Result<&Known> {
        let project = self.directory(None).project;
        self.guards.of(&project)
    }

    fn directory(&self, cwd: Option<&str>) -> Directory {
        let path = cwd.map_or_else(|| self.here.clone(), |cwd| guard::tidy(Path::new(cwd)).into());
        let project = match &self.home {
            Home::Always(project) => project.clone(),
            Home::Around(project) if path.starts_with(project) => project.clone(),
            Home::Around(_) => Caller::project_at(&path),
        };
        Directory { path, project }
    }
}

fn in_full(path: &Path) -> anyhow::Result<PathBuf> {
    let absolute = std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()))?;
    Ok(guard::tidy(&absolute).into())
}
