//! Whether a command is one that the user allows. Its words alone are not enough: the program, the directory and the
//! environment must be certain too.

use crate::programs::words::shell as words;
use std::rc::Rc;

use super::{ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::paths::{is_within_directory, matches_glob};
use crate::policy::allow_list::CommandPattern;

/// Variables that depend on the working directory.
const CWD_VARIABLES: &[&str] = &["PWD", "OLDPWD"];

impl<'t> ShellInterpreter<'t> {
    /// Runs a command as an allowed one, if it is.
    pub(super) fn run_with_permit_check(
        &mut self,
        command: ExpandedCommand,
        run: impl FnOnce(&mut Self, ExpandedCommand) -> ShellFlow,
    ) -> ShellFlow {
        let Some(permit) = self.find_permit(&command) else {
            return run(self, command);
        };
        self.with_permit(Some(permit), |walker| run(walker, command))
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

    fn find_permit(&mut self, command: &ExpandedCommand) -> Option<usize> {
        if self.permits.is_empty() || self.context.allowed.is_some() {
            return None;
        }
        self.spend_steps(self.permits.len());
        let fits = |permit: &Option<CommandPattern>| {
            permit.as_ref().is_some_and(|permit| permit.matches_command(&command.argv, &command.variables))
        };
        let found = self.permits.iter().position(fits)?;
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
