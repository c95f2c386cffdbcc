//! The context of a judgement: directories, variables, and Snell's own files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use snell::{GuardAuthor, ProjectMarkers, SnellSettings, has_project_marker, read_text_file};
use snell_guard::judge::context::filter_temp_dirs;
use snell_guard::paths::{is_system_path, normalize_path};
use snell_guard::{JudgeContext, SelfFile, SelfPath};

use crate::env::{ConfigArgs, read_dir_variable, read_user_name, read_variable};
use crate::install::agents::{AgentDirs, InstallAgent, SettingsScope};

include!(concat!(env!("OUT_DIR"), "/judge_context_lists.rs"));

/// The name of a project's configuration file.
const PROJECTS_FILE: &str = "snell.toml";

/// An agent's settings file with this text has Snell registered.
const REGISTERED: &str = "snell";
/// Snell is assumed to be registered in a larger settings file.
const MAX_SETTINGS: u64 = 1 << 20;

/// The context of calls in this project.
pub(super) fn build_judge_context(settings: &SnellSettings, project: &Path) -> JudgeContext {
    let around = ConfigArgs::new(None, None);
    let user = read_user_name().or_else(|| read_variable("LOGNAME"));
    let home = around.home_dir().unwrap_or_else(|| guess_home(user.as_deref()));
    let project = normalize_path(project);
    JudgeContext {
        cwd: project.clone(),
        user: user.unwrap_or_else(|| home.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        temp: filter_temp_dirs(read_dir_variable("TMPDIR").iter().map(|temp| normalize_path(temp))),
        self_paths: collect_self_paths(settings, &around, &home, Path::new(&project)),
        project: if is_project_dir(&project, &home) { project } else { NO_PROJECT.into() },
        home: normalize_path(&home),
        variables: VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), read_variable(name)?))).collect(),
        links: Vec::new(),
        current_push: None,
        ignores_case: false,
        agent_pid: None,
    }
}

/// The guard's value for "no project".
const NO_PROJECT: &str = "/";

/// Whether the agent may change files in the directory that it was started in. A system directory, or a parent of the
/// home directory, is a project only if people usually keep projects there or if it has a project marker.
fn is_project_dir(directory: &str, home: &Path) -> bool {
    let path = Path::new(directory);
    if NON_PROJECT_DIRS.iter().any(|never| path.starts_with(never)) {
        return false;
    }
    if home != path && home.starts_with(path) && !has_project_marker(path, ProjectMarkers::Configuration) {
        return false;
    }
    let is_deep = path.components().count() > 2;
    let is_usual = USUAL_PROJECT_DIRS.iter().any(|often| path.starts_with(often) && path != Path::new(often));
    !is_system_path(directory) || is_usual || (is_deep && has_project_marker(path, ProjectMarkers::Configuration))
}

/// The usual home directory, if no variable names it.
fn guess_home(user: Option<&str>) -> PathBuf {
    match user {
        Some(user) if user != "root" => Path::new("/home").join(user),
        _ => "/root".into(),
    }
}

/// Snell's own files here, as named (symlinks are resolved later).
fn collect_self_paths(
    settings: &SnellSettings,
    config_args: &ConfigArgs,
    home: &Path,
    project: &Path,
) -> Vec<SelfPath> {
    let mut places: Vec<(PathBuf, SelfFile)> = vec![(config_args.data_dir(), SelfFile::Data)];
    places.extend(config_args.config_dir().map(|path| (path, SelfFile::Config)));
    // Variables may give this process other directories than the next one.
    places.push((home.join(".local/share/snell"), SelfFile::Data));
    places.push((home.join(".config/snell"), SelfFile::Config));
    let named = [&settings.comms.contacts, &settings.server.token_file];
    places.extend(named.into_iter().flatten().map(|path| (path.clone(), SelfFile::Config)));
    let database = settings.server.db.as_deref().and_then(|db| db.strip_prefix("sqlite:"));
    places.extend(database.map(|path| (path.into(), SelfFile::Data)));
    // The program, and the path that it was called by: it may be a symlink whose target is replaced.
    let called = std::env::args_os().next().map(PathBuf::from);
    let programs = [std::env::current_exe().ok(), called];
    places.extend(programs.into_iter().flatten().map(|path| (path, SelfFile::Program)));
    places.extend(collect_registrations(home, project));
    places.extend(collect_project_files(settings));
    // The rest of the project's file are hooks. A file that does not exist needs no protection.
    let hooks = project.join(PROJECTS_FILE);
    places.extend(hooks.exists().then_some((hooks, SelfFile::Hooks)));
    let mut own: Vec<SelfPath> = Vec::new();
    for (path, what) in places.into_iter().filter(|(path, _)| path.is_absolute()) {
        let path = normalize_path(&path);
        if !own.iter().any(|known| known.path == path) {
            own.push(SelfPath { path, kind: what });
        }
    }
    own
}

/// The settings files of agents that call Snell, or that could turn it off.
fn collect_registrations(home: &Path, project: &Path) -> Vec<(PathBuf, SelfFile)> {
    let mut places = Vec::new();
    for agent in InstallAgent::all() {
        let mut around = AgentDirs {
            home: home.to_owned(),
            project: project.to_owned(),
            directory: agent.directory_variable().and_then(read_dir_variable),
        };
        for file in agent.all_settings_files(&around) {
            let is_registered = match file.scope {
                SettingsScope::User | SettingsScope::Managed => true,
                SettingsScope::Project | SettingsScope::Local => mentions_snell(&file.path),
            };
            let what = if is_registered { SelfFile::Registration } else { SelfFile::Settings };
            places.push((file.path, what));
        }
        let script = |around: &AgentDirs| (!agent.forwarded.is_empty()).then(|| agent.script_path(around));
        places.extend(script(&around).map(|path| (path, SelfFile::Registration)));
        if around.directory.take().is_some() {
            let files = agent.files_in_scope(SettingsScope::User, &around).into_iter();
            places.extend(files.map(|file| (file.path, SelfFile::Registration)));
            places.extend(script(&around).map(|path| (path, SelfFile::Registration)));
        }
    }
    places
}

fn mentions_snell(path: &Path) -> bool {
    match read_text_file(path, MAX_SETTINGS) {
        Ok(text) => text.contains(REGISTERED),
        Err(error) => error.kind() == ErrorKind::FileTooLarge,
    }
}

/// Project files that affect the guard: changing one could undo its settings.
fn collect_project_files(settings: &SnellSettings) -> Vec<(PathBuf, SelfFile)> {
    let guard = &settings.guard;
    let rules = guard.rules.iter().map(|rule| (&rule.origin, rule.author));
    let paths = guard.protect.iter().chain(&guard.secrets);
    let paths = paths.map(|path| (&path.origin, path.author));
    let files = rules.chain(paths).filter(|(_, author)| *author != GuardAuthor::User);
    let mut places: Vec<(PathBuf, SelfFile)> = Vec::new();
    for (origin, _) in files {
        if !places.iter().any(|(path, _)| *path == origin.path) {
            places.push((origin.path.clone(), SelfFile::Settings));
        }
    }
    places
}
