//! The project of an event: the directory that the agent names, or else the nearest one that looks like a project.

use std::path::{Path, PathBuf};

use snell::{AgentProduct, Event, ProjectMarkers, has_project_marker};
use snell_guard::paths::normalize_path;

use crate::env::env_vars::EnvVars;
use crate::env::{ConfigArgs, find_config_project};

pub(super) fn find_event_project(event: &Event, product: &AgentProduct, vars: &EnvVars) -> PathBuf {
    let cwd = event.cwd.as_deref().unwrap_or(Path::new("/"));
    let home = || ConfigArgs::new(None, None).home_dir();
    let named = product.variables.project_dir.and_then(|name| vars.dir(name));
    let named = named.filter(|named| is_credible_project(named, cwd, home().as_deref()));
    named.or_else(|| event.project_dir.clone()).unwrap_or_else(|| find_config_project(cwd))
}

/// Whether a directory from the variable can be the project of an agent that works in `cwd`. An agent may delete files in its
/// project, so the variable cannot make every directory a project. It can be the project if
/// - `cwd` lies in it, and the home directory does not, or
/// - it has `.git` or `snell.toml`.
fn is_credible_project(named: &Path, cwd: &Path, home: Option<&Path>) -> bool {
    let holds = |outer: &Path, inner: &Path| Path::new(&normalize_path(inner)).starts_with(normalize_path(outer));
    let is_around_agent = |named: &Path, cwd: &Path| holds(named, cwd) && !home.is_some_and(|home| holds(named, home));
    if is_around_agent(named, cwd) || has_project_marker(named, ProjectMarkers::Configuration) {
        return true;
    }
    // Agents name a project behind a symlink by either path.
    match (named.canonicalize(), cwd.canonicalize()) {
        (Ok(named), Ok(cwd)) => is_around_agent(&named, &cwd),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_is_around_the_agent_or_has_the_marks_of_one() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for made in ["docs", "plain/sub", "mono/.git", "mono/part", "me/proj", "dotfiles/.git", "dotfiles/x"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("plain"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("me"), root.join("link-to-me")).unwrap();
        // The directory that the variable names, where the agent works, the home directory, and the answer.
        let cases = [
            ("plain", "plain", "me", true),
            ("plain", "plain/sub", "me", true),
            ("plain", "gone", "me", false),
            ("link", "plain/sub", "me", true),
            ("plain", "link/sub", "me", true),
            ("mono", "docs", "me", true),
            ("mono", "mono/part", "me", true),
            ("docs", "plain", "me", false),
            ("me/docs", "me/proj", "me", false),
            ("me/proj/../docs", "me/proj", "me", false),
            ("me/proj", "me/proj/gone", "me", true),
            ("me", "me", "me", false),
            ("me", "me/proj", "me", false),
            ("link-to-me", "me/proj", "me", false),
            ("me/proj/..", "me/proj", "me", false),
            (".", "me/proj", "me", false),
            ("dotfiles", "dotfiles/x", "dotfiles", true),
        ];
        for (named, cwd, home, expected) in cases {
            let [at, cwd, home] = [named, cwd, home].map(|path| root.join(path));
            assert_eq!(is_credible_project(&at, &cwd, Some(&home)), expected, "{named} {}", cwd.display());
        }
    }
}
