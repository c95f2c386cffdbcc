//! Matches the `command` of hooks as the guard reads commands: after `sudo`, `sh -c`, `xargs` and the like.

use std::path::{Path, PathBuf};

use snell::CommandMatcher;
use snell_guard::{JudgeContext, WordPattern};

use super::catch_panic;

/// Finds the commands that a line would run.
#[derive(Clone, Debug)]
pub(crate) struct UnwrappedCommandMatcher {
    home: Option<PathBuf>,
}

impl UnwrappedCommandMatcher {
    pub(crate) fn new(home: Option<PathBuf>) -> Self {
        Self { home }
    }
}

impl CommandMatcher for UnwrappedCommandMatcher {
    fn runs_command(&self, pattern: &str, line: &str, cwd: &Path) -> bool {
        let Ok(pattern) = WordPattern::parse(pattern) else {
            return false;
        };
        let cwd = snell_guard::paths::normalize_path(cwd);
        let context = JudgeContext {
            project: cwd.clone(),
            cwd,
            home: self.home.as_deref().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default(),
            user: String::new(),
            temp: Vec::new(),
            self_paths: Vec::new(),
            ignores_case: false,
            agent_pid: None,
            variables: Vec::new(),
            links: Vec::new(),
            current_push: None,
        };
        // A hook that runs too often is better than one that is missing.
        catch_panic::catch_panic(|| pattern.matches_script(line, &context)).unwrap_or(true)
    }
}
