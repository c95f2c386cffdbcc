//! What is looked at: this program, the agents' files around here, and what the user's own file says.

use std::path::{Path, PathBuf};

use anyhow::Context;
use snell::{Diagnostic, Engine, ServerSettings};

use crate::around::Around;
use crate::caller::Caller;
use crate::install::agents::{Agent, Scope, Surroundings};
use crate::install::disk::{self, Seen};
use crate::install::document::{self, Document};
use crate::install::entry::Way;
use crate::install::program::Started;
use crate::install::script;
use crate::install::signs::Signs;
use crate::install::survey::{self, Registered};
use crate::install::work;

/// What is looked at.
#[derive(Debug)]
pub(crate) struct Patient {
    pub(super) started: Started,
    /// This program, as it would be registered.
    pub(super) program: PathBuf,
    /// The project whose hooks and settings count here.
    pub(super) project: PathBuf,
    /// Where an agent would be started: it looks for its own settings there, not above.
    pub(super) directory: PathBuf,
    /// Where Snell keeps what it records.
    pub(super) data: PathBuf,
    pub(super) agents: Vec<Inhabited>,
    /// What the user's own file says about the receiver.
    pub(super) server: ServerSettings,
}

/// An agent, and the files here that it reads.
#[derive(Debug)]
pub(super) struct Inhabited {
    pub(super) agent: &'static Agent,
    pub(super) around: Surroundings,
    pub(super) files: Vec<File>,
}

/// A settings file.
#[derive(Debug)]
pub(super) struct File {
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Missing,
    /// It cannot be read, or means nothing.
    Faulty(String),
    Settings {
        document: Document,
        handlers: Vec<Registered>,
    },
}

impl Patient {
    pub(crate) fn look(project: Option<PathBuf>) -> anyhow::Result<Self> {
        let around = Around::of(project, None);
        let data = around.data_dir();
        let project = around.project()?;
        let directory = around.staying_here().project()?;
        let started = Started::look()?;
        let program = started.stable_path();
        let agents = Agent::all().iter().map(|agent| {
            let around = work::surroundings(agent, Some(directory.clone()))?;
            Ok(Inhabited {
                files: files(agent, &around, &Signs::of(agent, &around, &program)),
                agent,
                around,
            })
        });
        let agents = agents
            .collect::<anyhow::Result<_>>()
            .context("cannot look at the agents")?;
        let (engine, _) = engine(&project)?;
        Ok(Self {
            server: engine.settings().server.clone(),
            data,
            started,
            program,
            project,
            directory,
            agents,
        })
    }

    /// The files in which Snell is, with the agents whose they are.
    pub(super) fn homes(&self) -> Vec<(&Inhabited, &File)> {
        let all = self
            .agents
            .iter()
            .flat_map(|one| one.files.iter().map(move |file| (one, file)));
        all.filter(|(_, file)| file.own().next().is_some()).collect()
    }

    /// Whether any agent calls Snell.
    pub(crate) fn is_installed(&self) -> bool {
        !self.homes().is_empty()
    }

    /// The receivers that scripts here forward to: the address, or nothing for the usual one.
    pub(super) fn scripts(&self) -> Vec<Option<String>> {
        let mut found = Vec::new();
        for (_, file) in self.homes() {
            let calls = file.own().filter(|handler| handler.way == Some(Way::Notify));
            for handler in calls {
                let text = disk::read_text(handler.program().as_ref()).unwrap_or_default();
                let url = script::assigned(&text, "url").filter(|url| !url.is_empty());
                if !found.contains(&url) {
                    found.push(url);
                }
            }
        }
        found
    }
}

/// The engine of a guest in this project.
pub(super) fn engine(project: &Path) -> anyhow::Result<(Engine, Vec<Diagnostic>)> {
    Ok(Caller::engine(project.to_owned())?.survey().load())
}

/// The agent's files around here, each once: in a home directory the user's file is the project's too.
fn files(agent: &Agent, around: &Surroundings, signs: &Signs) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for (scope, path) in agent.places(around) {
        let same = |file: &File| match (file.path.canonicalize(), path.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => file.path == path,
        };
        if !files.iter().any(same) {
            files.push(File::read(scope, path, signs));
        }
    }
    files
}

impl File {
    fn read(scope: Scope, path: PathBuf, signs: &Signs) -> Self {
        let content = match Seen::look(&path) {
            Err(error) => Content::Faulty(format!("{error:#}")),
            Ok(seen) => match seen.text {
                None => Content::Missing,
                Some(text) => Self::understand(&path, &text, signs),
            },
        };
        Self { scope, path, content }
    }

    fn understand(path: &Path, text: &str, signs: &Signs) -> Content {
        match Document::parse(text) {
            Ok(document) => Content::Settings {
                handlers: survey::handlers(&document, signs),
                document,
            },
            Err(fault) => {
                let (line, column) = document::position(text, fault.at);
                Content::Faulty(format!("{}:{line}:{column}: {}", path.display(), fault.message))
            }
        }
    }

    pub(super) fn handlers(&self) -> &[Registered] {
        match &self.content {
            Content::Settings { handlers, .. } => handlers,
            Content::Missing | Content::Faulty(_) => &[],
        }
    }

    /// Snell's own handlers.
    pub(super) fn own(&self) -> impl Iterator<Item = &Registered> {
        self.handlers().iter().filter(|handler| handler.way.is_some())
    }

    #[cfg(test)]
    pub(super) fn saying(scope: Scope, path: &str, text: &str) -> Self {
        let path = PathBuf::from(path);
        let content = Self::understand(&path, text, &Signs::sample("/bin/snell"));
        Self { scope, path, content }
    }
}
