//! Installing and removing, step by step. Nothing is written before everything is known, and what cannot be finished is
//! taken back.

mod forwarding;
mod install;
mod uninstall;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

pub(crate) use install::{Installation, Request, install};
pub(crate) use uninstall::{Removal, uninstall};

use super::agents::{Agent, Scope, Surroundings};
use super::disk::Seen;
use super::document::{self, Document, Fault};
use super::entry::Way;
use super::remembered::Installed;
use super::script;
use super::signs::Signs;
use super::survey;
use crate::around::Around;

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
    let around = Around::of(project, None).staying_here();
    Ok(Surroundings {
        home: around
            .home()
            .context("HOME says nothing; set it to your home directory")?,
        project: around.project()?,
        directory: directory_of(agent)?,
    })
}

/// The directory that the agent's variable names.
fn directory_of(agent: &Agent) -> anyhow::Result<Option<PathBuf>> {
    let name = agent.directory_variable();
    let named = std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    if let Some(relative) = named.as_ref().filter(|path| path.is_relative()) {
        // The agent takes it from wherever it is started, so nobody can say which directory that is.
        bail!(
            "{name} is \"{}\"; write an absolute path, or unset it",
            relative.display()
        );
    }
    Ok(named)
}

/// Another file in which Snell is installed.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) path: PathBuf,
    pub(crate) way: Way,
    /// What to do to remove it there.
    pub(crate) undo: String,
}

impl Target {
    fn path(&self) -> PathBuf {
        self.agent.place_of(self.scope, &self.around)
    }

    /// By what entries of ours are known now.
    fn signs(&self) -> Signs {
        Signs::of(self.agent, &self.around, &self.program)
    }

    /// Other files of the agent in which Snell is installed, and that are read where this one is: those around here, and
    /// those elsewhere that are remembered.
    pub(crate) fn elsewhere(&self, installed: &Installed) -> Vec<Elsewhere> {
        let own = self.path();
        let nearby = self.agent.places(&self.around).into_iter();
        let nearby = nearby.map(|(scope, path)| (path, self.to_undo(scope)));
        let remembered = installed.of_others(&own).into_iter().filter_map(|known| {
            let scope = known.scope.filter(|scope| self.scope.overlaps(*scope))?;
            let undo = self.to_undo_at(scope, &known.path);
            Some((known.path, undo))
        });
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut seen = vec![real(&own)];
        let mut found = Vec::new();
        for (path, undo) in nearby.chain(remembered) {
            if !seen.contains(&real(&path)) {
                seen.push(real(&path));
                found.extend(self.way_in(&path).map(|way| Elsewhere { path, way, undo }));
            }
        }
        found
    }

    /// What to do to remove Snell from another file here.
    pub(crate) fn to_undo(&self, scope: Scope) -> String {
        self.to_undo_at(scope, &self.agent.place_of(scope, &self.around))
    }

    /// What to do to remove Snell from this file.
    fn to_undo_at(&self, scope: Scope, path: &Path) -> String {
        let (agent, directory) = (self.agent.name, path.parent().unwrap_or(path));
        let quoted = |path: &Path| script::quoted(&path.to_string_lossy());
        let project = quoted(directory.parent().unwrap_or(directory));
        // Whoever does it later may do it in a shell that knows nothing of a variable.
        let needs_variable =
            directory != self.agent.directory(&self.around) || directory != self.agent.usual_directory(&self.around);
        match scope {
            Scope::User if needs_variable => {
                let variable = self.agent.directory_variable();
                format!("{variable}={} snell uninstall {agent}", quoted(directory))
            }
            Scope::User => format!("snell uninstall {agent}"),
            Scope::Project => format!("snell uninstall {agent} --project {project}"),
            Scope::Local => format!("snell uninstall {agent} --local --project {project}"),
            Scope::Managed => "ask whoever manages this machine".to_owned(),
        }
    }

    /// How Snell is installed in a file, if it is. What cannot be read says nothing.
    fn way_in(&self, path: &Path) -> Option<Way> {
        let seen = Seen::look(path).ok()?;
        let document = Document::parse(seen.text.as_deref()?).ok()?;
        let own = survey::own(&document, &self.signs());
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
    // Behind a name with blanks in it a tab says where it ends.
    let end = if shown.contains(' ') { "\t" } else { "" };
    let name = |text: Option<&str>| text.map_or("/dev/null".to_owned(), |_| format!("{shown}{end}"));
    // To those who read a diff, nothing else ends a line.
    let lines = [old, new].map(|text| text.unwrap_or_default().split_inclusive('\n').collect::<Vec<_>>());
    similar::TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&lines[0], &lines[1])
        .unified_diff()
        .context_radius(3)
        .header(&name(old), &name(new))
        .to_string()
}
