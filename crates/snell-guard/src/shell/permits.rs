//! Whether a command is one that the user lets through. What it is must be beyond doubt: the words alone do not say which
//! program runs, where, and with which surroundings.

use std::rc::Rc;

use super::{Call, Flow, Walker};
use crate::allowed::Permit;
use crate::paths::{fits, is_within};

/// Programs that run others just as they are. Behind any other, a command is no longer the one that was meant.
const TRANSPARENT: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "env", "nice", "ionice", "nohup", "timeout", "time", "setsid", "stdbuf",
    "command", "builtin", "exec",
];

/// Variables that an environment may have, and that change which program runs or what it works on.
const SURROUNDINGS: &[&str] = &[
    "PATH",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "LD_*",
    "DYLD_*",
    "GIT_*",
    "SSH_*",
    "SUDO_*",
    "NODE_*",
    "PYTHON*",
    "PERL*",
    "RUBY*",
    "JAVA_*",
    "DOCKER_*",
    "COMPOSE_*",
    "KUBE*",
    "HELM_*",
    "AWS_*",
    "GOOGLE_*",
    "CLOUDSDK_*",
    "AZURE_*",
    "ARM_*",
    "TF_*",
    "PG*",
    "MYSQL_*",
    "REDIS*",
    "VAULT_*",
];

/// Variables that follow from where the shell is.
const FOLLOWING: &[&str] = &["PWD", "OLDPWD"];

impl<'t> Walker<'t> {
    /// Follows a command as one that is let through, if it is.
    pub(super) fn permitting(&mut self, call: Call, run: impl FnOnce(&mut Self, Call) -> Flow) -> Flow {
        let Some(permit) = self.permit(&call) else {
            return run(self, call);
        };
        self.permitted(Some(permit), |walker| run(walker, call))
    }

    /// Does something as part of an allowed command, or of none.
    pub(super) fn permitted<T>(&mut self, permit: Option<usize>, run: impl FnOnce(&mut Self) -> T) -> T {
        let around = Rc::clone(&self.around);
        if around.allowed != permit {
            Rc::make_mut(&mut self.around).allowed = permit;
        }
        let result = run(self);
        self.around = around;
        result
    }

    fn permit(&mut self, call: &Call) -> Option<usize> {
        if self.permits.is_empty() || self.around.allowed.is_some() {
            return None;
        }
        self.spend(self.permits.len());
        let fits = |permit: &Option<Permit>| {
            permit
                .as_ref()
                .is_some_and(|permit| permit.fits(&call.argv, &call.variables))
        };
        let found = self.permits.iter().position(fits)?;
        (self.is_here() && self.is_undisturbed(call) && !self.is_made_up(call)).then_some(found)
    }

    /// Whether it runs on this machine, as this user, and in a directory where it was meant to run.
    fn is_here(&self) -> bool {
        let around = &self.around;
        let transparent = |via: &String| {
            let name = via.split(' ').next().unwrap_or_default();
            TRANSPARENT.contains(&name)
        };
        let meant = |cwd: &str| cwd == self.world.cwd || is_within(cwd, &self.world.project);
        !around.privileged
            && !around.elsewhere
            && around.via.iter().all(transparent)
            && self.scope.cwd.len() == 1
            && self.scope.cwd().is_some_and(meant)
    }

    /// Whether names of programs mean what they meant before, and programs find the surroundings that they found before.
    fn is_undisturbed(&self, call: &Call) -> bool {
        let matters = |name: &str| SURROUNDINGS.iter().any(|known| fits(name, known)) && !self.is_given(name);
        let unchanged = |name: &str| !self.is_changed(name) && !matters(name);
        let variables = self.scope.variables.keys().map(String::as_str);
        let renamed = call.name().is_some_and(|name| self.scope.aliases.contains_key(name));
        !renamed && !self.scope.unsettled && variables.filter(|name| !FOLLOWING.contains(name)).all(unchanged)
    }

    /// Whether a file that it names was written by the same text: then it is not the one that was meant.
    fn is_made_up(&mut self, call: &Call) -> bool {
        call.argv.iter().any(|word| self.written(word).is_some())
    }
}
