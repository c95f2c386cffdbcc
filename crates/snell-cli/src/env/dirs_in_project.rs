//! Detects a user's directory that is inside the project.
//!
//! An agent starts hooks with the variables in its settings, and a project has settings too. A project that could set the
//! user's directories would bring its own `snell.toml`, and could disable the guard with it.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use snell::{ProjectMarkers, has_project_marker, read_text_file};

/// The users of this system: `name:password:user id:group id:comment:home directory:shell`.
const USER_DATABASE: &str = "/etc/passwd";
const MAX_USER_DATABASE_BYTES: u64 = 4 * 1024 * 1024;
const USER_ID_FIELD: usize = 2;
const HOME_FIELD: usize = 5;

/// The directory of a project's settings for Claude Code, which can set variables.
const AGENT_SETTINGS: &str = ".claude";

/// Whether a directory is inside the project. The user's home directory is not, even if it is a project as a whole; and a
/// current directory without project markers is no project.
pub(super) fn is_inside_project(directory: &Path, project: &Path) -> bool {
    // Several parts of a hook check the same directory, and following symlinks is slow.
    static LAST: Mutex<Option<(PathBuf, PathBuf, bool)>> = Mutex::new(None);
    let Ok(mut last) = LAST.lock() else {
        return is_inside_project_uncached(directory, project);
    };
    match &*last {
        Some((known, of, is_held)) if known == directory && of == project => *is_held,
        _ => {
            let is_held = is_inside_project_uncached(directory, project);
            *last = Some((directory.to_owned(), project.to_owned(), is_held));
            is_held
        }
    }
}

fn is_inside_project_uncached(directory: &Path, project: &Path) -> bool {
    let (Some(directory), Ok(project)) = (resolve_existing(directory), project.canonicalize()) else {
        return false;
    };
    directory.starts_with(&project)
        && (has_project_marker(&project, ProjectMarkers::Configuration) || project.join(AGENT_SETTINGS).exists())
        && !is_in_home_below_project(&directory, &project)
}

/// The existing part of the path with symlinks resolved.
fn resolve_existing(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find_map(|part| part.canonicalize().ok())
}

/// Whether the user's home directory, from the user database, contains this directory and is inside the project.
fn is_in_home_below_project(directory: &Path, project: &Path) -> bool {
    let users = read_text_file(Path::new(USER_DATABASE), MAX_USER_DATABASE_BYTES);
    let home =
        users.ok().and_then(|users| parse_home_dir(&users, rustix::process::geteuid().as_raw())?.canonicalize().ok());
    home.is_some_and(|home| home.starts_with(project) && directory.starts_with(home))
}

fn parse_home_dir(users: &str, user_id: u32) -> Option<PathBuf> {
    let user_id = user_id.to_string();
    let mut users = users.lines().map(|line| line.split(':'));
    let user = users.find(|fields| fields.clone().nth(USER_ID_FIELD) == Some(&user_id));
    user.and_then(|mut fields| fields.nth(HOME_FIELD)).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_directory_of_a_user_is_found_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nshort:x:7\nme:x:1000:1000::/home/me:/bin/sh\n";
        let cases = [(0, Some("/root")), (1000, Some("/home/me")), (7, None), (1, None)];
        for (user_id, home) in cases {
            assert_eq!(parse_home_dir(users, user_id), home.map(PathBuf::from), "{user_id}");
        }
    }
}
