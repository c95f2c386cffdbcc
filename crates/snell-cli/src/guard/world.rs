//! What surrounds a judgement: directories, variables, and Snell's own places.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use snell::{GuardAuthor, Settings, read_text_file};
use snell_guard::paths::is_system;
use snell_guard::{Own, Owned, World};

use super::links::Links;
use crate::around::{Around, directory_from, user_name, variable};
use crate::caller::Caller;
use crate::install::agents::{Agent, Scope, Surroundings};

/// Variables whose values commands may use, as far as they are set.
const VARIABLES: &[&str] = &[
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "CARGO_HOME",
    "SNELL_HOME",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CONFIG_DIR",
];

/// What a project's own file is called.
const PROJECTS_FILE: &str = "snell.toml";

/// What a settings file of an agent holds if Snell is registered in it.
const REGISTERED: &str = "snell";
/// A larger settings file is taken for one in which it is.
const MAX_SETTINGS: u64 = 1 << 20;

/// What is known here, for a call that starts in this project.
pub(super) fn around(settings: &Settings, project: &Path) -> World {
    let around = Around::of(None, None);
    let user = user_name().or_else(|| variable("LOGNAME"));
    let home = around.home().unwrap_or_else(|| usual_home(user.as_deref()));
    let project = tidy(project);
    World {
        cwd: project.clone(),
        user: user.unwrap_or_else(|| name_of(&home)),
        temp: temporary(directory_from("TMPDIR").iter().map(|temp| tidy(temp))),
        own: own(settings, &around, &home, Path::new(&project)),
        project: if is_a_project(&project, &home) {
            project
        } else {
            NO_PROJECT.into()
        },
        home: tidy(&home),
        variables: VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), variable(name)?)))
            .collect(),
        links: Vec::new(),
        ignores_case: false,
        agent_pid: None,
    }
}

/// What the guard takes for no project at all.
const NO_PROJECT: &str = "/";

/// Where nobody keeps a project, whatever else lies there.
const NEVER: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/lib",
    "/usr/sbin",
    "/System",
    "/Library",
];

/// Where people keep projects, although it is the system's.
const OFTEN: &[&str] = &["/opt", "/srv", "/usr/local/src", "/usr/src", "/var/www"];

/// Directories in which everything is temporary have one of these in a name. An agent's settings can set `TMPDIR` to any other
/// directory, for example to a home directory, and everything in it could be deleted.
const TEMPORARY_NAMES: &[&str] = &["tmp", "temp", "temporary", "scratch", "cache", "t"];

/// Those of the directories that are temporary by their names.
fn temporary(directories: impl Iterator<Item = String>) -> Vec<String> {
    let has_name = |directory: &String| {
        let mut words = directory.split(|c: char| !c.is_alphanumeric());
        words.any(|word| {
            let word = word.to_ascii_lowercase();
            word.contains("tmp") || TEMPORARY_NAMES.contains(&word.as_str())
        })
    };
    directories.filter(has_name).collect()
}

/// Whether an agent that was started here may do as it likes here. A directory of the system is a project only where
/// people keep them, or if something in it says so; and so is one that holds the home directory.
fn is_a_project(directory: &str, home: &Path) -> bool {
    let path = Path::new(directory);
    if NEVER.iter().any(|never| path.starts_with(never)) {
        return false;
    }
    if home != path && home.starts_with(path) && !Caller::is_marked(path) {
        return false;
    }
    let is_deep = path.components().count() > 2;
    let is_usual = OFTEN
        .iter()
        .any(|often| path.starts_with(often) && path != Path::new(often));
    !is_system(directory) || is_usual || (is_deep && Caller::is_marked(path))
}

/// Where people's homes usually are, for when nobody says.
fn usual_home(user: Option<&str>) -> PathBuf {
    match user {
        Some(user) if user != "root" => Path::new("/home").join(user),
        _ => "/root".into(),
    }
}

fn name_of(home: &Path) -> String {
    home.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A path without `.`, `..` or a slash at the end, as far as that can be told without looking.
pub(crate) fn tidy(path: &Path) -> String {
    let mut tidy = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                tidy.pop();
            }
            Component::Normal(name) => tidy.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    tidy.to_string_lossy().into_owned()
}

/// What is Snell's own here, each place as it is named.
fn own(settings: &Settings, around: &Around, home: &Path, project: &Path) -> Vec<Own> {
    let mut places: Vec<(PathBuf, Owned)> = vec![(around.data_dir(), Owned::Data)];
    places.extend(around.config_dir().map(|path| (path, Owned::Config)));
    // Variables may lead this process elsewhere, and not the next one.
    places.push((home.join(".local/share/snell"), Owned::Data));
    places.push((home.join(".config/snell"), Owned::Config));
    let named = [&settings.comms.contacts, &settings.server.token_file];
    places.extend(named.into_iter().flatten().map(|path| (path.clone(), Owned::Config)));
    let database = settings.server.db.as_deref().and_then(|db| db.strip_prefix("sqlite:"));
    places.extend(database.map(|path| (path.into(), Owned::Data)));
    // The program itself, and what it was called as: a link that stays, while what is behind it is replaced.
    let called = std::env::args_os().next().map(PathBuf::from);
    let programs = [std::env::current_exe().ok(), called];
    places.extend(programs.into_iter().flatten().map(|path| (path, Owned::Program)));
    places.extend(registrations(home, project));
    places.extend(projects_own(settings));
    // What else it says is its hooks. Where there is none, nobody relies on it.
    let hooks = project.join(PROJECTS_FILE);
    places.extend(hooks.exists().then_some((hooks, Owned::Hooks)));
    let mut own: Vec<Own> = Vec::new();
    for (path, what) in places.into_iter().filter(|(path, _)| path.is_absolute()) {
        let path = tidy(&path);
        if !own.iter().any(|known| known.path == path) {
            own.push(Own { path, what });
        }
    }
    own
}

/// Where agents are told to call Snell, and where they could be told not to.
fn registrations(home: &Path, project: &Path) -> Vec<(PathBuf, Owned)> {
    let mut places = Vec::new();
    for agent in Agent::all() {
        let mut around = Surroundings {
            home: home.to_owned(),
            project: project.to_owned(),
            directory: directory_from(agent.directory_variable()),
        };
        for file in agent.files {
            let path = agent.place(file, &around);
            let is_registered = match file.scope {
                Scope::User | Scope::Managed => true,
                Scope::Project | Scope::Local => mentions_snell(&path),
            };
            let what = if is_registered {
                Owned::Registration
            } else {
                Owned::Settings
            };
            places.push((path, what));
        }
        places.push((agent.script(&around), Owned::Registration));
        if around.directory.take().is_some() {
            places.push((agent.place_of(Scope::User, &around), Owned::Registration));
            places.push((agent.script(&around), Owned::Registration));
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
fn projects_own(settings: &Settings) -> Vec<(PathBuf, Owned)> {
    let guard = &settings.guard;
    let rules = guard.rules.iter().map(|rule| (&rule.origin, rule.author));
    let paths = guard.protect.iter().chain(&guard.secrets);
    let paths = paths.map(|path| (&path.origin, path.author));
    let files = rules.chain(paths).filter(|(_, author)| *author != GuardAuthor::User);
    let mut places: Vec<(PathBuf, Owned)> = Vec::new();
    for (origin, _) in files {
        if !places.iter().any(|(path, _)| *path == origin.path) {
            places.push((origin.path.clone(), Owned::Settings));
        }
    }
    places
}

/// Where links lead that stand in the way to the home directory and to the project; nothing where there are none.
#[derive(Clone, Debug)]
pub(super) struct Real {
    home: Option<String>,
    project: Option<String>,
    temp: Vec<String>,
}

impl Real {
    pub(super) fn of(world: &World, links: &mut Links) -> Self {
        Self {
            home: links.followed(&world.home),
            project: links.followed(&world.project),
            temp: temporary(world.temp.iter().filter_map(|temp| links.followed(temp))),
        }
    }

    /// Where links lead on the way to the directory from which the world is seen.
    pub(super) fn cwd(&self, world: &World, links: &mut Links) -> Option<String> {
        if world.cwd == world.project {
            self.project.clone()
        } else {
            links.followed(&world.cwd)
        }
    }

    /// The world with links followed, seen from this directory.
    pub(super) fn world(&self, world: &World, cwd: Option<String>) -> World {
        let mut real = world.clone();
        real.cwd = cwd.unwrap_or(real.cwd);
        real.home = self.home.clone().unwrap_or(real.home);
        real.project = self.project.clone().unwrap_or(real.project);
        real.temp.extend(self.temp.iter().cloned());
        real
    }

    /// A directory that is in the project although its name does not say so, by the name that the project itself has:
    /// agents take both ways.
    pub(super) fn as_the_project_has_it(&self, cwd: &str, world: &World, links: &mut Links) -> Option<String> {
        let real = links.followed(cwd);
        let project = self.project.as_deref().unwrap_or(&world.project);
        let inside = Path::new(real.as_deref().unwrap_or(cwd)).strip_prefix(project).ok()?;
        Some(tidy(&Path::new(&world.project).join(inside)))
    }
}
