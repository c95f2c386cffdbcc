//! What surrounds a command: project, home, configuration, environment, clock. The library is handed all of it.

mod project_held;

use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Once, OnceLock};

use anyhow::{Context, bail};
use jiff::Timestamp;
use snell::{Background, ConfigFile, EngineBuilder, did_you_mean};

use crate::caller::Caller;
use crate::install::script::quoted;
use crate::install::signs::own_hooks;
use crate::pins::Pins;
use crate::{faults, output};
use project_held::is_held_by_project;

/// Environment variables that Snell reads.
mod variables {
    pub(super) const HOME: &str = "HOME";
    pub(super) const USER: &str = "USER";
    /// Where Snell keeps what it records.
    pub(super) const SNELL_HOME: &str = "SNELL_HOME";
    /// Sets the clock, for tests and replays.
    pub(super) const SNELL_NOW: &str = "SNELL_NOW";
    pub(super) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
    pub(super) const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
}

/// A value that cannot be understood is shown up to this width.
const MAX_SHOWN_CELLS: usize = 60;

/// A place at which nothing is and nothing can be made.
const NOWHERE: &str = "/dev/null/snell";

/// Where hook files are looked for
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct Around {
    /// The project whose hooks apply [default: the nearest directory upwards with a snell.toml or .git]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
    /// Whether the project is the current directory if none was named, whatever lies above.
    #[arg(skip)]
    stays_here: bool,
    /// Whether an agent started this process, with variables that its settings may name.
    #[arg(skip)]
    is_guest: bool,
}

/// Where hook files of a host are looked for
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct HostAround {
    /// The project whose hooks apply [default: the current directory]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
}

impl HostAround {
    /// The surroundings of a host: it knows its project, so nobody else looks for one.
    pub(crate) fn around(&self) -> Around {
        Around {
            project: self.project.clone(),
            given: self.given.clone(),
            stays_here: true,
            is_guest: false,
        }
    }
}

/// What is named beside the project
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Where to look")]
struct Given {
    /// The home directory whose hooks apply [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Read only this file; may be repeated, and may name its contract (whale:FILE)
    #[arg(long = "config", value_name = "FILE")]
    configs: Vec<String>,
}

/// Whether trust is required
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct RequireTrust {
    /// Let hooks of the project's files run only if `snell trust` was run on them
    #[arg(long)]
    require_trust: bool,
}

impl RequireTrust {
    /// An engine for these surroundings, in the making, that looks at pins only if trust is required.
    pub(crate) fn engine(&self, around: &Around) -> anyhow::Result<EngineBuilder> {
        if self.require_trust {
            Ok(around.engine_with_pins()?.require_trust())
        } else {
            around.engine()
        }
    }

    /// An engine in the making that knows pins, with trust required if that was said.
    pub(crate) fn demand(&self, builder: EngineBuilder) -> EngineBuilder {
        if self.require_trust {
            builder.require_trust()
        } else {
            builder
        }
    }
}

impl Around {
    /// This project and this home directory, each as it was named, if it was.
    pub(crate) fn of(project: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        Self {
            project,
            given: Given {
                home,
                configs: Vec::new(),
            },
            stays_here: false,
            is_guest: false,
        }
    }

    /// The surroundings of a process that an agent started for this project: variables do not lead into it.
    pub(crate) fn of_guest(project: PathBuf) -> Self {
        Self {
            is_guest: true,
            ..Self::of(Some(project), None)
        }
    }

    /// The same, but with the current directory as the project if none was named.
    pub(crate) fn staying_here(mut self) -> Self {
        self.stays_here = true;
        self
    }

    /// An engine for these surroundings, in the making, that knows which files of projects are trusted. What is a guest
    /// adds [`EngineBuilder::guest`] to it.
    pub(crate) fn engine_with_pins(&self) -> anyhow::Result<EngineBuilder> {
        let (data, project) = (self.data_dir(), self.guest_project().map(Path::to_owned));
        Ok(self
            .engine()?
            .trust_from(move || pins_in(&data, project.as_deref()).read()))
    }

    /// The file that says which files of projects are trusted.
    pub(crate) fn pins(&self) -> Pins {
        pins_in(&self.data_dir(), self.guest_project())
    }

    /// The project of the agent that started this process.
    fn guest_project(&self) -> Option<&Path> {
        self.project.as_deref().filter(|_| self.is_guest)
    }

    /// Where Snell keeps what it records.
    pub(crate) fn data_dir(&self) -> PathBuf {
        data_dir(self.home().as_deref())
    }

    /// The home directory, if there is one.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let home = self.given.home.clone().or_else(|| directory_from(variables::HOME))?;
        Some(std::path::absolute(&home).unwrap_or(home))
    }

    /// That the home directory is there, if it was named: a typing mistake must not read as one without hooks.
    pub(crate) fn check_home(&self) -> anyhow::Result<()> {
        match self.given.home.as_ref().filter(|home| !home.is_dir()) {
            Some(home) => bail!("the home directory {} is not a directory", home.display()),
            None => Ok(()),
        }
    }

    /// Where the user's own `snell.toml` is, and what stands beside it.
    pub(crate) fn config_dir(&self) -> Option<PathBuf> {
        self.config_dir_beside(self.own_home())
    }

    fn config_dir_beside(&self, home: Option<PathBuf>) -> Option<PathBuf> {
        let base = match directory_from(variables::XDG_CONFIG_HOME) {
            Some(named) => self.unless_held(named)?,
            None => home?.join(".config"),
        };
        Some(base.join("snell"))
    }

    /// The home directory, if what lies in it can be the user's.
    fn own_home(&self) -> Option<PathBuf> {
        self.home().and_then(|home| self.unless_held(home))
    }

    /// A directory that should be the user's, unless it lies in the project, which is reported.
    fn unless_held(&self, directory: PathBuf) -> Option<PathBuf> {
        let project = self.guest_project();
        if project.is_some_and(|project| is_held_by_project(&directory, project)) {
            faults::report(format!(
                "{} lies in the project, so no settings or hooks there count as yours; check HOME and XDG_CONFIG_HOME",
                directory.display()
            ));
            return None;
        }
        Some(directory)
    }

    /// An engine for these surroundings, in the making.
    pub(crate) fn engine(&self) -> anyhow::Result<EngineBuilder> {
        let project = self.project()?;
        let mut builder = snell::Engine::builder()
            .project(project.clone())
            .env(std::env::vars_os());
        self.check_home()?;
        let own_home = self.own_home();
        if let Some(home) = &own_home {
            builder = builder.home(home.clone());
        }
        if let Some(home) = self.home() {
            builder = builder.leave_out(own_hooks(home, project.clone()));
        }
        if let Some(config) = self.config_dir_beside(own_home) {
            builder = builder.config_dir(config);
        }
        if !self.given.configs.is_empty() {
            builder = builder.files(named_files(&self.given.configs)?);
        }
        if let Some(directory) = unless_here(&project) {
            builder = builder.trusted_as(directory);
        }
        if let Some(now) = now() {
            builder = builder.now(now);
        }
        Ok(builder.background(detached(self.data_dir())))
    }

    /// The project's directory, in full: the one that was named, else the one around here, as `snell hook` finds it. One that
    /// is gone must not read as one without hooks.
    pub(crate) fn project(&self) -> anyhow::Result<PathBuf> {
        let Some(project) = &self.project else {
            let here = std::env::current_dir().context("the current directory is gone; name another one")?;
            return Ok(if self.stays_here {
                here
            } else {
                Caller::project_at(&here)
            });
        };
        if !project.is_dir() {
            bail!("the project {} is not a directory", project.display());
        }
        let steps_up = project.components().any(|part| part == Component::ParentDir);
        if steps_up {
            return project.canonicalize().context("cannot find the project");
        }
        std::path::absolute(project).context("cannot find the project")
    }
}

/// The file of pins in this directory. One that lies in the project could have been written by its authors: it trusts nothing.
fn pins_in(data: &Path, project: Option<&Path>) -> Pins {
    if project.is_some_and(|project| is_held_by_project(data, project)) {
        faults::report(format!(
            "{} lies in the project, so the pins there do not count; check SNELL_HOME, XDG_DATA_HOME and HOME",
            data.display()
        ));
        return Pins::in_directory(NOWHERE.into());
    }
    Pins::in_directory(data.to_owned())
}

/// A project as it is to be named to whoever types a command here; nothing if that command finds it by itself.
pub(crate) fn unless_here(project: &Path) -> Option<String> {
    let in_full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let here = std::env::current_dir().ok().map(|here| Caller::project_at(&here));
    // Every hook asks this, and mostly they are the same to the letter.
    let leads_there = here.is_some_and(|here| here == project || in_full(&here) == in_full(project));
    (!leads_there).then(|| as_word(project))
}

/// A path as one word of shell.
fn as_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        quoted(&text)
    }
}

/// Says to whoever reads it which project was looked at, if that is not the directory that they are in.
pub(crate) fn tell_project(around: &Around) {
    let here = std::env::current_dir().ok();
    if around.project.is_some() || !around.given.configs.is_empty() {
        return;
    }
    if let Some(project) = around.project().ok().filter(|project| Some(project) != here.as_ref()) {
        output::note(&format!("the project is {}", project.display()));
    }
}

/// What to type to see what is wrong with the configuration of a project.
pub(crate) fn lint_of(project: &Path) -> String {
    match unless_here(project) {
        Some(directory) => format!("snell lint --project {directory}"),
        None => "snell lint".into(),
    }
}

/// What to type to have a project trusted, or not any more.
pub(crate) fn trust_of(project: &Path, flags: &str) -> String {
    let directory = unless_here(project).map(|directory| format!(" {directory}"));
    format!("snell trust{flags}{}", directory.unwrap_or_default())
}

/// Files named on the command line must be there: a typing mistake there must not read as "no hooks".
fn named_files(written: &[String]) -> anyhow::Result<Vec<ConfigFile>> {
    let mut files = Vec::new();
    for written in written {
        let mut file = ConfigFile::parse(written);
        let shown = file.path.display().to_string();
        let metadata = std::fs::metadata(&file.path);
        if metadata.is_err() {
            named_contract(written)?;
        }
        let metadata = metadata.with_context(|| format!("cannot read --config {shown}"))?;
        if metadata.is_dir() {
            bail!("--config {shown} is a directory; name a file");
        }
        if let Ok(absolute) = std::path::absolute(&file.path) {
            file.path = absolute;
        }
        files.push(file);
    }
    Ok(files)
}

/// That a file which is not there was not meant to name a contract that does not exist.
fn named_contract(written: &str) -> anyhow::Result<()> {
    let named = written.split_once(':').filter(|(name, _)| !name.contains(['/', '.']));
    let Some((name, _)) = named.filter(|(name, _)| !ConfigFile::contracts().any(|known| known == *name)) else {
        return Ok(());
    };
    let near = did_you_mean(name, ConfigFile::contracts());
    let near = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
    let known: Vec<_> = ConfigFile::contracts().collect();
    bail!(
        "cannot read --config {written}: there is no contract \"{name}\"{near}, and no file of that name; write one of {}, or \
         the file alone",
        known.join(", ")
    )
}

/// A variable of the environment, if it says something.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The same, also if it is no UTF-8: what cannot be read is not the same as nothing.
pub(crate) fn variable_as_said(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// The user's name, for events that do not tell it.
pub(crate) fn user_name() -> Option<String> {
    variable(variables::USER)
}

/// The clock that tests and replays set. A value that is no time does not count, which is reported.
pub(crate) fn now() -> Option<Timestamp> {
    let text = variable_as_said(variables::SNELL_NOW)?;
    let fault = |error| {
        faults::report(format!(
            "SNELL_NOW is \"{}\", so the real clock counts; write an RFC 3339 time such as 2025-12-31T10:30:00Z: {error}",
            output::in_brief(&text, MAX_SHOWN_CELLS)
        ));
    };
    text.parse().map_err(fault).ok()
}

/// This program, as the one that stays with background hooks. Without its path they end with this process.
fn detached(data_dir: PathBuf) -> Background {
    match std::env::current_exe() {
        Ok(program) => Background::Detached {
            record: data_dir.join("background.jsonl"),
            supervisor: vec![program.into(), "supervise".into(), data_dir.into()],
        },
        Err(_) => Background::InProcess,
    }
}

/// Where Snell keeps what it records.
fn data_dir(home: Option<&Path>) -> PathBuf {
    std::env::var_os(variables::SNELL_HOME)
        .filter(|directory| !directory.is_empty())
        .and_then(|directory| in_full(Path::new(&directory)))
        .or_else(|| directory_from(variables::XDG_DATA_HOME).map(|data| data.join("snell")))
        .or_else(|| home.map(|home| home.join(".local/share/snell")))
        .unwrap_or_else(without_a_home)
}

/// What `SNELL_HOME` says, in full. That a relative path leads elsewhere from every directory is said once: an agent calls from
/// anywhere, and must be judged all the same.
fn in_full(directory: &Path) -> Option<PathBuf> {
    static TOLD: Once = Once::new();
    let whole = std::path::absolute(directory).ok()?;
    if directory.is_relative() {
        TOLD.call_once(|| {
            output::note(&format!(
                "SNELL_HOME is \"{}\", which leads elsewhere from every directory, here to {}; write its whole path",
                directory.display(),
                whole.display()
            ));
        });
    }
    Some(whole)
}

/// Where Snell keeps what it records if there is no home: beside what others keep, so it must be ours. It is made here and
/// now, because a name that is free could be taken by anybody. Where it is not ours, nothing is kept.
fn without_a_home() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let look = || {
        let user = rustix::process::geteuid().as_raw();
        let directory = std::env::temp_dir().join(format!("snell-{user}"));
        match make_own(&directory, user) {
            Ok(()) => directory,
            Err(error) => {
                let shown = directory.display();
                output::note(&format!(
                    "cannot use {shown} ({error}); nothing is recorded or kept: set HOME or SNELL_HOME"
                ));
                NOWHERE.into()
            }
        }
    };
    FOUND.get_or_init(look).clone()
}

/// Makes a directory that only this user can use, or sees that it is one. A link is none, whoever made it.
fn make_own(directory: &Path, user: u32) -> io::Result<()> {
    let foreign = |why| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let metadata = std::fs::symlink_metadata(directory)?;
    if !metadata.is_dir() {
        return foreign("it is not a directory");
    }
    if metadata.uid() != user {
        return foreign("it belongs to somebody else");
    }
    if metadata.mode() & 0o022 != 0 {
        return foreign("others may write to it");
    }
    Ok(())
}

/// The system takes no longer path, with its end mark.
const MAX_PATH_BYTES: usize = 4096;

/// A directory from the environment. As the XDG rules say, one that is not absolute does not count; one that is too long for a
/// path does not either.
pub(crate) fn directory_from(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    (path.is_absolute() && path.as_os_str().len() < MAX_PATH_BYTES).then_some(path)
}
