//! What surrounds a judgement: directories, variables, and Snell's own places.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use snell::{GuardAuthor, ProjectMarkers, SnellSettings, has_project_marker, read_text_file};
use snell_guard::judge::context::filter_temp_dirs;
use snell_guard::paths::{is_system_path, normalize_path};
use snell_guard::{JudgeContext, SelfFile, SelfPath};

use crate::env::{ConfigArgs, read_dir_variable, read_user_name, read_variable};
use crate::install::agents::{AgentDirs, InstallAgent, SettingsScope};

include!(concat!(env!("OUT_DIR"), "/judge_context_lists.rs"));

/// What a project's own file is called.
const PROJECTS_FILE: &str = "snell.toml";

/// What a settings file of an agent holds if Snell is registered in it.
const REGISTERED: &str = "snell";
/// A larger settings file is taken for one in which it is.
const MAX_SETTINGS: u64 = 1 << 20;

/// What is known here, for a call that starts in this project.
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
        ignores_case: false,
        agent_pid: None,
    }
}

/// What the guard takes for no project at all.
const NO_PROJECT: &str = "/";

/// Whether an agent that was started here may do as it likes here. A directory of the system is a project only where
/// people keep them, or if something in it says so; and so is one that holds the home directory.
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

/// Where people's homes usually are, for when nobody says.
fn guess_home(user: Option<&str>) -> PathBuf {
    match user {
        Some(user) if user != "root" => Path::new("/home").join(user),
        _ => "/root".into(),
    }
}

/// What is Snell's own here, each place as it is named.
fn collect_self_paths(
    settings: &SnellSettings,
    config_args: &ConfigArgs,
    home: &Path,
    project: &Path,
) -> Vec<SelfPath> {
    let mut places: Vec<(PathBuf, SelfFile)> = vec![(config_args.data_dir(), SelfFile::Data)];
    places.extend(config_args.config_dir().map(|path| (path, SelfFile::Config)));
    // Variables may lead this process elsewhere, and not the next one.
    places.push((home.join(".local/share/snell"), SelfFile::Data));
    places.push((home.join(".config/snell"), SelfFile::Config));
    let named = [&settings.comms.contacts, &settings.server.token_file];
    places.extend(named.into_iter().flatten().map(|path| (path.clone(), SelfFile::Config)));
    let database = settings.server.db.as_deref().and_then(|db| db.strip_prefix("sqlite:"));
    places.extend(database.map(|path| (path.into(), SelfFile::Data)));
    // The program itself, and what it was called as: a link that stays, while what is behind it is replaced.
    let called = std::env::args_os().next().map(PathBuf::from);
    let programs = [std::env::current_exe().ok(), called];
    places.extend(programs.into_iter().flatten().map(|path| (path, SelfFile::Program)));
    places.extend(collect_registrations(home, project));
    places.extend(collect_project_files(settings));
    // What else it says is its hooks. Where there is none, nobody relies on it.
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

/// Where agents are told to call Snell, and where they could be told not to.
fn collect_registrations(home: &Path, project: &Path) -> Vec<(PathBuf, SelfFile)> {
    let mut places = Vec::new();
    for agent in InstallAgent::all() {
        let mut around = AgentDirs {
            home: home.to_owned(),
            project: project.to_owned(),
            directory: read_dir_variable(agent.directory_variable()),
        };
        for file in agent.files {
            let path = agent.settings_path(file, &around);
            let is_registered = match file.scope {
                SettingsScope::User | SettingsScope::Managed => true,
                SettingsScope::Project | SettingsScope::Local => mentions_snell(&path),
            };
            let what = if is_registered { SelfFile::Registration } else { SelfFile::Settings };
            places.push((path, what));
        }
        places.push((agent.script_path(&around), SelfFile::Registration));
        if around.directory.take().is_some() {
            places.push((agent.settings_path_in_scope(SettingsScope::User, &around), SelfFile::Registration));
            places.push((agent.script_path(&around), SelfFile::Registration));
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

/// A project's file that has a say about the guard: whoever changes it could take that back.
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
