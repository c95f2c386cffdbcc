//! Which entries of the settings a command matches. For a command that the user allows, its words alone are not enough:
//! the program, the directory and the environment must be certain too.

use crate::programs::words::shell as words;
use std::rc::Rc;

use super::{ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::paths::{is_within_directory, matches_glob};
use crate::policy::entries::EntryPattern;

/// Variables that depend on the working directory.
const CWD_VARIABLES: &[&str] = &["PWD", "OLDPWD"];

impl<'t> ShellInterpreter<'t> {
    /// Runs a command as an allowed one, if it is.
    pub(super) fn run_with_permit_check(
        &mut self,
        command: ExpandedCommand,
        run: impl FnOnce(&mut Self, ExpandedCommand) -> ShellFlow,
    ) -> ShellFlow {
        if self.permits.is_empty() {
            return run(self, command);
        }
        let around = Rc::clone(&self.context);
        self.watch_command(&command);
        let flow = match self.find_permit(&command) {
            Some(permit) => self.with_permit(Some(permit), |walker| run(walker, command)),
            None => run(self, command),
        };
        self.context = around;
        flow
    }

    /// Runs something as part of an allowed command, or of none.
    pub(super) fn with_permit<T>(&mut self, permit: Option<usize>, run: impl FnOnce(&mut Self) -> T) -> T {
        let around = Rc::clone(&self.context);
        if around.allowed != permit {
            Rc::make_mut(&mut self.context).allowed = permit;
        }
        let result = run(self);
        self.context = around;
        result
    }

    /// Records the entries that deny a command or ask about it. They also count for everything that it runs.
    fn watch_command(&mut self, command: &ExpandedCommand) {
        self.spend_steps(self.permits.len());
        let watches =
            |pattern: &Option<EntryPattern>| pattern.as_ref().is_some_and(|pattern| pattern.watches_command(command));
        let matched: Vec<usize> =
            self.permits.iter().enumerate().filter(|(_, pattern)| watches(pattern)).map(|(number, _)| number).collect();
        if matched.is_empty() {
            return;
        }
        let span = self.context.span.clone().unwrap_or_else(|| command.span.clone());
        for number in &matched {
            self.report_watched_command(*number, span.clone());
        }
        Rc::make_mut(&mut self.context).watched_by.extend(matched);
    }

    fn find_permit(&mut self, command: &ExpandedCommand) -> Option<usize> {
        if self.context.allowed.is_some() {
            return None;
        }
        self.spend_steps(self.permits.len());
        // An entry for certain paths must not hide one for all paths.
        let find = |has_path: bool| {
            let fits = |permit: &EntryPattern| permit.has_path == has_path && permit.permits_command(command);
            self.permits.iter().position(|permit| permit.as_ref().is_some_and(fits))
        };
        let found = find(false).or_else(|| find(true))?;
        (self.is_expected_location() && self.is_environment_unchanged(command) && !self.has_written_argument(command))
            .then_some(found)
    }

    /// Whether it runs on this machine, as this user, and in an expected directory.
    fn is_expected_location(&self) -> bool {
        let around = &self.context;
        let transparent = |via: &String| {
            let name = via.split(' ').next().unwrap_or_default();
            words::TRANSPARENT_COMMANDS.contains(&name)
        };
        let meant = |cwd: &str| cwd == self.world.cwd || is_within_directory(cwd, &self.world.project);
        !around.privileged
            && !around.elsewhere
            && around.via.iter().all(transparent)
            && self.scope.cwd.len() == 1
            && self.scope.cwd().is_some_and(meant)
    }

    /// Whether program names and the environment are the same as at the start.
    fn is_environment_unchanged(&self, command: &ExpandedCommand) -> bool {
        let matters = |name: &str| {
            words::BEHAVIOR_VARIABLES.iter().any(|known| matches_glob(name, known)) && !self.is_inherited_variable(name)
        };
        let unchanged = |name: &str| !self.is_changed_variable(name) && !matters(name);
        let variables = self.scope.variables.keys().map(String::as_str);
        let renamed = command.name().is_some_and(|name| self.scope.aliases.contains_key(name));
        !renamed
            && !self.scope.builtins_replaced
            && variables.filter(|name| !CWD_VARIABLES.contains(name)).all(unchanged)
    }

    /// Whether the same text wrote a file that the command names: the user did not allow that file.
    fn has_written_argument(&mut self, command: &ExpandedCommand) -> bool {
        command.argv.iter().any(|word| self.find_written_content(word).is_some())
    }
}
