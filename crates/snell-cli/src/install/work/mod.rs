//! Installing and removing, step by step. Nothing is written before everything is known, and what cannot be finished is
//! taken back.

mod forwarding;
mod install;
mod uninstall;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

pub(crate) use install::{Installation, Request, install};
pub(crate) use uninstall::{Removal, uninstall};

use super::agents::{Agent, Scope, Surroundings};
use super::disk::Seen;
use super::document::{self, Document, Fault};
use super::entry::Way;
use super::survey;
use crate::around::{self, Around};

/// One file of one agent, and what surrounds it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) agent: &'static Agent,
    pub(crate) scope: Scope,
    pub(crate) around: Surroundings,
    /// Where Snell keeps what it records.
    pub(crate) data: PathBuf,
    /// The program, as it is registered.
    pub(crate) program: PathBuf,
}

/// What surrounds a command that looks into an agent's files.
pub(crate) fn surroundings(agent: &Agent, project: Option<PathBuf>) -> anyhow::Result<Surroundings> {
    let around = Around::of(project, None);
    Ok(Surroundings {
        home: around
            .home()
            .context("HOME says nothing; set it to your home directory")?,
        project: around.project()?,
        directory: around::directory_from(agent.directory_variable()),
    })
}

impl Target {
    fn path(&self) -> PathBuf {
        self.agent.place_of(self.scope, &self.around)
    }

    /// Other files of the agent here in which Snell is installed, and how.
    fn elsewhere(&self) -> Vec<(Scope, PathBuf, Way)> {
        let own = self.path();
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut found = Vec::new();
        for (scope, path) in self.agent.places(&self.around) {
            if real(&path) != real(&own)
                && let Some(way) = self.way_in(&path)
            {
                found.push((scope, path, way));
            }
        }
        found
    }

    /// What to do to remove Snell from another file here.
    pub(crate) fn to_undo(&self, scope: Scope) -> String {
        let (agent, project) = (self.agent.name, self.around.project.display());
        match scope {
            Scope::User => format!("snell uninstall {agent}"),
            Scope::Project => format!("snell uninstall {agent} --project '{project}'"),
            Scope::Local => format!("snell uninstall {agent} --local --project '{project}'"),
            Scope::Managed => "ask whoever manages this machine".to_owned(),
        }
    }

    /// How Snell is installed in a file, if it is. What cannot be read says nothing.
    fn way_in(&self, path: &Path) -> Option<Way> {
        let seen = Seen::look(path).ok()?;
        let document = Document::parse(seen.text.as_deref()?).ok()?;
        let own = survey::own(&document, &self.program.to_string_lossy());
        own.first().and_then(|handler| handler.way)
    }
}

/// A fault in a file, as `path:line:column: what is wrong`.
fn faulty(seen: &Seen, fault: &Fault) -> anyhow::Error {
    let (line, column) = document::position(seen.text.as_deref().unwrap_or_default(), fault.at);
    anyhow!("{}:{line}:{column}: {}", seen.path.display(), fault.message)
}

/// What changes in a file, as a unified diff; nothing if nothing does.
fn difference(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    let shown = path.display().to_string();
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| shown.as_str()).to_owned();
    similar::TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default())
        .unified_diff()
        .context_radius(3)
        .header(&name(old), &name(new))
        .to_string()
}
