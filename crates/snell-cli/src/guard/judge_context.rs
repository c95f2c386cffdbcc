//! The context of a judgement: directories, variables, and Snell's own files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use snell::{AgentSettingsFile, GuardAuthor, ProjectMarkers, SnellSettings, has_project_marker, read_text_file};
use snell_guard::judge::context::filter_temp_dirs;
use snell_guard::paths::{is_system_path, normalize_path};
use snell_guard::{JudgeContext, SelfFile, SelfPath};

use crate::env::{ConfigArgs, read_dir_variable, read_user_name, read_variable};
use crate::install::agents::{InstallAgent, SettingsScope, is_directory_of_files, list_json_files};
use crate::install::notify_script::{SCRIPT_DIR, SCRIPT_NAME};

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
    let home_path = normalize_path(&home);
    JudgeContext {
        cwd: project.clone(),
        user: user.unwrap_or_else(|| home.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        temp: filter_temp_dirs(read_dir_variable("TMPDIR").iter().map(|temp| normalize_path(temp))),
        self_paths: collect_self_paths(settings, &around, &home_path, &project),
        project: if is_project_dir(&project, &home) { project } else { NO_PROJECT.into() },
        home: home_path,
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

/// Snell's own files here, as named (symlinks are resolved later). The first entry of a path counts.
fn collect_self_paths(settings: &SnellSettings, config_args: &ConfigArgs, home: &str, project: &str) -> Vec<SelfPath> {
    let mut files: Vec<(PathBuf, SelfFile)> = vec![(config_args.data_dir(), SelfFile::Data)];
    files.extend(config_args.config_dir().map(|path| (path, SelfFile::Config)));
    let server = &settings.server;
    let named = [&settings.comms.contacts, &server.token_file, &server.answer_token_file];
    files.extend(named.into_iter().flatten().map(|path| (path.clone(), SelfFile::Config)));
    let database = settings.server.db.as_deref().and_then(|db| db.strip_prefix("sqlite:"));
    files.extend(database.map(|path| (path.into(), SelfFile::Data)));
    // The program, and the path that it was called by: it may be a symlink whose target is replaced.
    let called = std::env::args_os().next().map(PathBuf::from);
    let programs = [std::env::current_exe().ok(), called];
    files.extend(programs.into_iter().flatten().map(|path| (path, SelfFile::Program)));
    let files = files.iter().filter(|(path, _)| path.is_absolute());
    let mut own: Vec<SelfPath> = files.map(|(path, kind)| SelfPath::new(normalize_path(path), *kind)).collect();
    // Variables may give this process other directories than the next one.
    own.push(SelfPath::new(join_path(home, ".local/share/snell"), SelfFile::Data));
    own.push(SelfPath::new(join_path(home, ".config/snell"), SelfFile::Config));
    collect_registrations(home, project, &mut own);
    own.extend(collect_project_files(settings));
    // The rest of the project's file are hooks. A file that does not exist needs no protection.
    let hooks = join_path(project, PROJECTS_FILE);
    if Path::new(&hooks).exists() && !own.iter().any(|known| known.path == hooks) {
        own.push(SelfPath::new(hooks, SelfFile::Hooks));
    }
    own
}

/// Adds the settings files of agents that call Snell, or that could turn it off. Every tool call pays for this, so it does
/// not look at these files.
fn collect_registrations(home: &str, project: &str, own: &mut Vec<SelfPath>) {
    let projects = [project.to_owned()];
    for agent in InstallAgent::all() {
        let named = agent.directory_variable().and_then(read_dir_variable);
        let named = named.map(|named| join_path(&normalize_path(&named), agent.directory.below));
        let users: Vec<_> = named.into_iter().chain([join_path(home, agent.directory.default)]).collect();
        for file in agent.files {
            let (directories, kind): (&[String], _) = match file.scope {
                SettingsScope::User => (&users, SelfFile::Registration),
                SettingsScope::Project | SettingsScope::Local => (&projects, SelfFile::Settings),
                SettingsScope::Managed => (&[String::new()], SelfFile::Registration),
            };
            for directory in directories {
                let paths = list_settings_paths(&agent, file, directory).into_iter();
                own.extend(paths.map(|path| SelfPath::new(path, kind)));
            }
        }
        if !agent.forwarded.is_empty() {
            let scripts = users.iter().map(|directory| join_path(&join_path(directory, SCRIPT_DIR), SCRIPT_NAME));
            own.extend(scripts.map(|path| SelfPath::new(path, SelfFile::Registration)));
        }
    }
}

/// The paths of an agent's file in the directory of its scope.
fn list_settings_paths(agent: &InstallAgent, file: &AgentSettingsFile, directory: &str) -> Vec<String> {
    if is_directory_of_files(file) {
        let files = list_json_files(Path::new(&join_path(directory, file.path)));
        return files.iter().map(|path| normalize_path(path)).collect();
    }
    agent.expand_events(file).iter().map(|(path, _)| join_path(directory, path)).collect()
}

/// The settings files of agents in the project that mention Snell.
pub(super) fn find_project_registrations(project: &Path) -> Vec<String> {
    let project = normalize_path(project);
    let is_in_project = |file: &&AgentSettingsFile| matches!(file.scope, SettingsScope::Project | SettingsScope::Local);
    let mut found = Vec::new();
    for agent in InstallAgent::all() {
        for file in agent.files.iter().filter(is_in_project) {
            // One look decides about a directory with a file for each event.
            let is_there = Path::new(&project).join(file.path).parent().is_some_and(Path::is_dir);
            let paths = if is_there { list_settings_paths(&agent, file, &project) } else { Vec::new() };
            found.extend(paths.into_iter().filter(|path| mentions_snell(Path::new(path))));
        }
    }
    found
}

/// A path in a directory. Both are normalized.
fn join_path(directory: &str, path: &str) -> String {
    let directory = directory.trim_end_matches('/');
    let path = path.trim_start_matches('/');
    if path.is_empty() { directory.to_owned() } else { [directory, "/", path].concat() }
}

fn mentions_snell(path: &Path) -> bool {
    match read_text_file(path, MAX_SETTINGS) {
        Ok(text) => text.contains(REGISTERED),
        Err(error) => error.kind() == ErrorKind::FileTooLarge,
    }
}

/// Project files that affect the guard: changing one could undo its settings.
fn collect_project_files(settings: &SnellSettings) -> Vec<SelfPath> {
    let guard = &settings.guard;
    let rules = guard.rules.iter().map(|rule| (&rule.origin, rule.author));
    let paths = guard.protect.iter().chain(&guard.secrets);
    let paths = paths.map(|path| (&path.origin, path.author));
    let files = rules.chain(paths).filter(|(_, author)| *author != GuardAuthor::User);
    let mut paths: Vec<&Path> = Vec::new();
    for (origin, _) in files {
        if origin.path.is_absolute() && !paths.contains(&origin.path.as_path()) {
            paths.push(&origin.path);
        }
    }
    paths.into_iter().map(|path| SelfPath::new(normalize_path(path), SelfFile::Settings)).collect()
}
