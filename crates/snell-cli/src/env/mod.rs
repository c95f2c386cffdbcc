//! The environment of a command: project, home, configuration, variables, clock. The library gets all of it as arguments.

pub(crate) mod caller;
mod dirs_in_project;
pub(crate) mod env_vars;
pub(crate) mod live_settings;
pub(crate) mod once_markers;
pub(crate) mod sender;
pub(crate) mod transcripts;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Once, OnceLock};

use anyhow::{Context, bail};
use jiff::Timestamp;
use snell::{BackgroundMode, ConfigFile, EngineBuilder, ProjectMarkers, UserMessage, did_you_mean, find_project_root};

use crate::guard::command_matcher::UnwrappedCommandMatcher;
use crate::install::notify_script::shell_quote;
use crate::install::recognize::build_own_hook_filter;
use crate::output;
use crate::process::faults;
use crate::trust_file::TrustFile;
use dirs_in_project::is_inside_project;

/// Environment variables that Snell reads.
mod variables {
    pub(super) const HOME: &str = "HOME";
    pub(super) const USER: &str = "USER";
    /// The data directory.
    pub(super) const SNELL_HOME: &str = "SNELL_HOME";
    /// Sets the clock, for tests and replays.
    pub(super) const SNELL_NOW: &str = "SNELL_NOW";
    pub(super) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
    pub(super) const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
}

/// An invalid value is shown up to this width.
const MAX_SHOWN_CELLS: usize = 60;

/// A path that does not exist and cannot be created.
const NOWHERE: &str = "/dev/null/snell";

/// Where hook files are looked for
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct ConfigArgs {
    /// The project whose hooks apply [default: the nearest directory upwards with a snell.toml or .git]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    given: ConfigSourceArgs,
    /// Whether the current directory is the project if none was given, without a search upwards.
    #[arg(skip)]
    stays_here: bool,
    /// Whether an agent started this process, with variables from its settings.
    #[arg(skip)]
    is_guest: bool,
}

/// Where hook files of a host are looked for
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct HostConfigArgs {
    /// The project whose hooks apply [default: the current directory]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    given: ConfigSourceArgs,
}

impl HostConfigArgs {
    /// The environment of a host: it knows its project, so Snell does not search for one.
    pub(crate) fn to_config_args(&self) -> ConfigArgs {
        ConfigArgs { project: self.project.clone(), given: self.given.clone(), stays_here: true, is_guest: false }
    }
}

/// Options beside the project
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Where to look")]
struct ConfigSourceArgs {
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
pub(crate) struct TrustArgs {
    /// Let hooks of the project's files run only if `snell trust` was run on them
    #[arg(long)]
    require_trust: bool,
}

impl TrustArgs {
    /// Returns an engine builder. It reads pins only if trust is required.
    pub(crate) fn engine_builder(&self, config_args: &ConfigArgs) -> anyhow::Result<EngineBuilder> {
        if self.require_trust {
            Ok(config_args.engine_builder_with_trust()?.require_trust())
        } else {
            config_args.engine_builder()
        }
    }

    /// Requires trust in a builder that has pins, if --require-trust was given.
    pub(crate) fn apply_to_builder(&self, builder: EngineBuilder) -> EngineBuilder {
        if self.require_trust { builder.require_trust() } else { builder }
    }
}

impl ConfigArgs {
    /// The environment with this project and this home directory, if given.
    pub(crate) fn new(project: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        Self { project, given: ConfigSourceArgs { home, configs: Vec::new() }, stays_here: false, is_guest: false }
    }

    /// The environment of a process that an agent started for this project. Variables must not point into it.
    pub(crate) fn for_guest(project: PathBuf) -> Self {
        Self { is_guest: true, ..Self::new(Some(project), None) }
    }

    /// The same, but with the current directory as the project if none was given.
    pub(crate) fn with_current_dir_as_project(mut self) -> Self {
        self.stays_here = true;
        self
    }

    /// Returns an engine builder that knows which files of projects are trusted. A guest adds [`EngineBuilder::guest`].
    pub(crate) fn engine_builder_with_trust(&self) -> anyhow::Result<EngineBuilder> {
        let (data, project) = (self.data_dir(), self.guest_project().map(Path::to_owned));
        Ok(self.engine_builder()?.trust_from(move || locate_trust_file(&data, project.as_deref()).load_or_empty()))
    }

    /// The file of trusted project files.
    pub(crate) fn trust_file(&self) -> TrustFile {
        locate_trust_file(&self.data_dir(), self.guest_project())
    }

    /// The project of the agent that started this process.
    fn guest_project(&self) -> Option<&Path> {
        self.project.as_deref().filter(|_| self.is_guest)
    }

    /// The data directory.
    pub(crate) fn data_dir(&self) -> PathBuf {
        resolve_data_dir(self.home_dir().as_deref())
    }

    /// The home directory, if there is one.
    pub(crate) fn home_dir(&self) -> Option<PathBuf> {
        let home = self.given.home.clone().or_else(|| read_dir_variable(variables::HOME))?;
        Some(std::path::absolute(&home).unwrap_or(home))
    }

    /// Checks that a given home directory exists: with a typing mistake there would be no hooks.
    pub(crate) fn check_home_dir(&self) -> anyhow::Result<()> {
        match self.given.home.as_ref().filter(|home| !home.is_dir()) {
            Some(home) => bail!("the home directory {} is not a directory", home.display()),
            None => Ok(()),
        }
    }

    /// The directory of the user's own `snell.toml`.
    pub(crate) fn config_dir(&self) -> Option<PathBuf> {
        self.config_dir_for_home(self.trusted_home_dir())
    }

    /// The user's own `snell.toml`, which may be missing.
    pub(crate) fn user_config_file(&self) -> Option<PathBuf> {
        Some(self.config_dir()?.join("snell.toml"))
    }

    fn config_dir_for_home(&self, home: Option<PathBuf>) -> Option<PathBuf> {
        let base = match read_dir_variable(variables::XDG_CONFIG_HOME) {
            Some(named) => self.reject_if_in_project(named)?,
            None => home?.join(".config"),
        };
        Some(base.join("snell"))
    }

    /// The home directory, unless it is inside the project.
    fn trusted_home_dir(&self) -> Option<PathBuf> {
        self.home_dir().and_then(|home| self.reject_if_in_project(home))
    }

    /// Returns the directory, or reports that it is inside the project.
    fn reject_if_in_project(&self, directory: PathBuf) -> Option<PathBuf> {
        let project = self.guest_project();
        if project.is_some_and(|project| is_inside_project(&directory, project)) {
            let problem = format!("{} is inside the project; its settings and hooks are ignored", directory.display());
            faults::report_fault(UserMessage::new(problem).with_hint("check HOME and XDG_CONFIG_HOME"));
            return None;
        }
        Some(directory)
    }

    /// Returns an engine builder.
    pub(crate) fn engine_builder(&self) -> anyhow::Result<EngineBuilder> {
        let project = self.resolve_project()?;
        let commands = UnwrappedCommandMatcher::new(self.home_dir());
        let builder = snell::Engine::builder().project(project.clone()).env(std::env::vars_os());
        let mut builder = builder.command_matcher(Arc::new(commands));
        self.check_home_dir()?;
        let own_home = self.trusted_home_dir();
        if let Some(home) = &own_home {
            builder = builder.home(home.clone());
        }
        if let Some(home) = self.home_dir() {
            builder = builder.exclude_hooks(build_own_hook_filter(home, project.clone()));
        }
        if let Some(config) = self.config_dir_for_home(own_home) {
            builder = builder.config_dir(config);
        }
        if !self.given.configs.is_empty() {
            builder = builder.files(parse_config_files(&self.given.configs)?);
        }
        if let Some(directory) = project_arg_if_elsewhere(&project) {
            builder = builder.trust_command_argument(directory);
        }
        if let Some(profile) = sender::read_launcher_profile() {
            builder = builder.launcher_profile(profile);
        }
        if let Some(now) = read_clock_override() {
            builder = builder.now(now);
        }
        Ok(builder.background(build_background(self.data_dir())))
    }

    /// The project's absolute path: the given one, or else the nearest one upwards, as in `snell hook`. A directory that does not
    /// exist is an error, because it would seem to have no hooks.
    pub(crate) fn resolve_project(&self) -> anyhow::Result<PathBuf> {
        let Some(project) = &self.project else {
            let here = std::env::current_dir().context("cannot find the current directory")?;
            return Ok(if self.stays_here { here } else { find_config_project(&here) });
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

/// The project whose configuration applies in a directory.
pub(crate) fn find_config_project(directory: &Path) -> PathBuf {
    find_project_root(directory, ProjectMarkers::Configuration).to_owned()
}

/// The file of pins in this directory. If it is inside the project, the project's authors could have written it: it is ignored.
fn locate_trust_file(data: &Path, project: Option<&Path>) -> TrustFile {
    if project.is_some_and(|project| is_inside_project(data, project)) {
        let problem = format!("{} is inside the project; the trust file there is ignored", data.display());
        faults::report_fault(UserMessage::new(problem).with_hint("check SNELL_HOME, XDG_DATA_HOME and HOME"));
        return TrustFile::in_data_dir(NOWHERE.into());
    }
    TrustFile::in_data_dir(data.to_owned())
}

/// The project as an argument for a command here; nothing if the command finds the project by itself.
pub(crate) fn project_arg_if_elsewhere(project: &Path) -> Option<String> {
    let in_full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let here = std::env::current_dir().ok().map(|here| find_config_project(&here));
    // Every hook calls this, and usually the paths are equal.
    let leads_there = here.is_some_and(|here| here == project || in_full(&here) == in_full(project));
    (!leads_there).then(|| shell_quote_path(project))
}

/// A path as one shell word.
pub(crate) fn shell_quote_path(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    if text.chars().all(is_plain) { text } else { shell_quote(&text) }
}

/// Prints the project, if it is not the current directory.
pub(crate) fn print_project_note(config_args: &ConfigArgs) {
    let here = std::env::current_dir().ok();
    if config_args.project.is_some() || !config_args.given.configs.is_empty() {
        return;
    }
    if let Some(project) = config_args.resolve_project().ok().filter(|project| Some(project) != here.as_ref()) {
        output::print_note(format!("the project is {}", project.display()));
    }
}

/// The command that checks a project's configuration.
pub(crate) fn format_lint_command(project: &Path) -> String {
    match project_arg_if_elsewhere(project) {
        Some(directory) => format!("snell lint --project {directory}"),
        None => "snell lint".into(),
    }
}

/// The command that trusts a project, or revokes trust.
pub(crate) fn format_trust_command(project: &Path, flags: &str) -> String {
    let directory = project_arg_if_elsewhere(project).map(|directory| format!(" {directory}"));
    format!("snell trust{flags}{}", directory.unwrap_or_default())
}

/// Files on the command line must exist: with a typing mistake there would be no hooks.
fn parse_config_files(written: &[String]) -> anyhow::Result<Vec<ConfigFile>> {
    let mut files = Vec::new();
    for written in written {
        let mut file = ConfigFile::parse(written);
        let shown = file.path.display().to_string();
        let metadata = std::fs::metadata(&file.path);
        if metadata.is_err() {
            check_contract_name(written)?;
        }
        let metadata = metadata.with_context(|| format!("cannot read --config {shown}"))?;
        if metadata.is_dir() {
            bail!("--config {shown} is a directory, not a file");
        }
        if let Ok(absolute) = std::path::absolute(&file.path) {
            file.path = absolute;
        }
        files.push(file);
    }
    Ok(files)
}

/// Fails if the prefix of a missing file looks like the name of an unknown contract.
fn check_contract_name(written: &str) -> anyhow::Result<()> {
    let named = written.split_once(':').filter(|(name, _)| !name.contains(['/', '.']));
    let Some((name, _)) = named.filter(|(name, _)| !ConfigFile::contract_names().any(|known| known == *name)) else {
        return Ok(());
    };
    let known: Vec<_> = ConfigFile::contract_names().collect();
    let hint = match did_you_mean(name, ConfigFile::contract_names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("use one of {}, or the file without a prefix", known.join(", ")),
    };
    let problem = format!("cannot read --config {written}: unknown contract \"{name}\", and no such file");
    Err(output::CommandError::new(problem).with_hint(hint).into())
}

/// An environment variable that is set and not empty.
pub(crate) fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The same, with U+FFFD in place of bytes that are not UTF-8.
pub(crate) fn read_variable_lossy(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// The user's name, for events without one.
pub(crate) fn read_user_name() -> Option<String> {
    read_variable(variables::USER)
}

/// The clock that tests and replays set. An invalid time is reported and ignored.
pub(crate) fn read_clock_override() -> Option<Timestamp> {
    let text = read_variable_lossy(variables::SNELL_NOW)?;
    let fault = |error| {
        let shown = output::shorten_to_one_line(&text, MAX_SHOWN_CELLS);
        let problem = format!("invalid SNELL_NOW \"{shown}\": {error}; using the real time");
        faults::report_fault(UserMessage::new(problem).with_hint("write a time such as 2025-12-31T10:30:00Z"));
    };
    text.parse().map_err(fault).ok()
}

/// Background hooks run under a supervisor, which is this program. Without its path they end with this process.
fn build_background(data_dir: PathBuf) -> BackgroundMode {
    match std::env::current_exe() {
        Ok(program) => BackgroundMode::Detached {
            record: data_dir.join("background.jsonl"),
            supervisor: vec![program.into(), "supervise".into(), data_dir.into()],
        },
        Err(_) => BackgroundMode::InProcess,
    }
}

/// The data directory.
fn resolve_data_dir(home: Option<&Path>) -> PathBuf {
    std::env::var_os(variables::SNELL_HOME)
        .filter(|directory| !directory.is_empty())
        .and_then(|directory| resolve_snell_home(Path::new(&directory)))
        .or_else(|| read_dir_variable(variables::XDG_DATA_HOME).map(|data| data.join("snell")))
        .or_else(|| home.map(|home| home.join(".local/share/snell")))
        .unwrap_or_else(fallback_data_dir)
}

/// The absolute path of `SNELL_HOME`. A relative path is reported once, because it depends on the current directory.
fn resolve_snell_home(directory: &Path) -> Option<PathBuf> {
    static REPORTED: Once = Once::new();
    let whole = std::path::absolute(directory).ok()?;
    if directory.is_relative() {
        REPORTED.call_once(|| {
            let problem = format!("SNELL_HOME is relative (\"{}\"); using {}", directory.display(), whole.display());
            output::print_warning(UserMessage::new(problem).with_hint("use an absolute path"));
        });
    }
    Some(whole)
}

/// The data directory if there is no home directory. It is in a shared directory, so it must belong to this user. It is created
/// at once, because another user could take the name. If it is not this user's, nothing is recorded.
fn fallback_data_dir() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let look = || {
        let user = rustix::process::geteuid().as_raw();
        let directory = std::env::temp_dir().join(format!("snell-{user}"));
        match create_private_dir(&directory, user) {
            Ok(()) => directory,
            Err(error) => {
                let shown = directory.display();
                let problem = format!("cannot use {shown} ({error}); nothing is recorded");
                output::print_warning(UserMessage::new(problem).with_hint("set HOME or SNELL_HOME"));
                NOWHERE.into()
            }
        }
    };
    FOUND.get_or_init(look).clone()
}

/// Creates a directory that only this user can use, or checks that it is one. A symlink is not.
fn create_private_dir(directory: &Path, user: u32) -> io::Result<()> {
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
        return foreign("it belongs to another user");
    }
    if metadata.mode() & 0o022 != 0 {
        return foreign("other users can write to it");
    }
    Ok(())
}

/// The system's limit for a path, with its NUL byte.
const MAX_PATH_BYTES: usize = 4096;

/// A directory from the environment. As in the XDG rules, a relative path is ignored. So is one that is too long.
pub(crate) fn read_dir_variable(variable: &str) -> Option<PathBuf> {
    as_usable_dir(std::env::var_os(variable)?)
}

fn as_usable_dir(value: OsString) -> Option<PathBuf> {
    let path = PathBuf::from(value);
    (path.is_absolute() && path.as_os_str().len() < MAX_PATH_BYTES).then_some(path)
}
