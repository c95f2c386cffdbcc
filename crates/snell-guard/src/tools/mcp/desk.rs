//! Where requests are judged: what is found lands here, whatever it was turned into.

use crate::allowed::Permit;
use crate::effects::{Effect, Kind};
use crate::judge::Seen;
use crate::rules::{Finding, Tier, findings};
use crate::syntax::Span;
use crate::tools::{as_program, command_elsewhere, command_in, fetch_address, files, located};
use crate::world::World;

/// More commands or statements of one call are not looked at.
pub(super) const MAX_TEXTS: usize = 256;

/// Which findings count about a text that may not run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gravity {
    /// All of them.
    Any,
    /// Those about lasting loss, and about Snell itself.
    Gravest,
}

/// What surrounds a request, and what is found.
pub(super) struct Desk<'a> {
    /// Commands that the user lets through.
    permits: &'a [Option<Permit>],
    pub(super) world: &'a World,
    seen: &'a mut Seen,
}

impl<'a> Desk<'a> {
    pub(super) fn new(permits: &'a [Option<Permit>], world: &'a World, seen: &'a mut Seen) -> Self {
        Self { permits, world, seen }
    }

    /// Something that a rule judges by itself.
    pub(super) fn mark(&mut self, rule: &str) {
        self.seen.mark(rule, Span::default());
    }

    /// There is more than can be looked at.
    pub(super) fn limit(&mut self) {
        self.seen.limit("texts");
    }

    /// A command that was written as it stands.
    pub(super) fn command(&mut self, text: &str, cwd: Option<&str>) {
        match cwd.and_then(|cwd| located(cwd, self.world)) {
            Some(cwd) => {
                let world = World {
                    cwd,
                    ..self.world.clone()
                };
                command_in(text, self.permits, &world, self.seen);
            }
            None => command_in(text, self.permits, self.world, self.seen),
        }
    }

    /// A command that does the same as the call. Nobody wrote it, so it has no place in what was written.
    pub(super) fn same_as(&mut self, text: &str, cwd: Option<&str>) {
        let first = (self.seen.effects.len(), self.seen.invocations.len());
        self.command(text, cwd);
        self.unplace(first);
    }

    /// Whether commands were found already.
    pub(super) fn has_commands(&self) -> bool {
        !self.seen.invocations.is_empty()
    }

    /// A text that would do this if it ran. How much of it was understood says nothing about the call.
    pub(super) fn guess(&mut self, text: &str, gravity: Gravity) {
        let mut guessed = Seen::default();
        command_in(text, self.permits, self.world, &mut guessed);
        let is_grave = |finding: &Finding<'_>| matches!(finding.rule.tier, Tier::Catastrophic | Tier::OwnGuard);
        let counts = |effect: &Effect| {
            let found = findings(std::slice::from_ref(effect));
            let is_about_the_guard = found.iter().any(|finding| finding.rule.id.starts_with("guard."));
            match gravity {
                Gravity::Any => !is_about_the_guard,
                Gravity::Gravest => found.iter().any(is_grave),
            }
        };
        let effects = guessed.effects.into_iter().filter(counts);
        self.seen.effects.extend(effects.map(|effect| Effect {
            by: None,
            span: Span::default(),
            ..effect
        }));
    }

    /// A command on another machine.
    pub(super) fn elsewhere(&mut self, text: &str) {
        let first = (self.seen.effects.len(), self.seen.invocations.len());
        command_elsewhere(text, self.world, self.seen);
        self.unplace(first);
    }

    /// What was found since then stands nowhere.
    fn unplace(&mut self, (effects, invocations): (usize, usize)) {
        let effects = self.seen.effects.iter_mut().skip(effects);
        effects.for_each(|effect| effect.span = Span::default());
        let invocations = self.seen.invocations.iter_mut().skip(invocations);
        invocations.for_each(|invocation| invocation.span = Span::default());
    }

    /// A program with these arguments. True if a rule may judge it.
    pub(super) fn program(&mut self, argv: &[&str]) -> bool {
        let found = as_program(argv, self.world);
        let any = !found.is_empty();
        self.seen.effects.extend(found);
        any
    }

    /// The same to all these files.
    pub(super) fn files(&mut self, kind: Kind, paths: Vec<&str>) {
        let first = self.seen.effects.len();
        files(kind, paths, self.world, self.seen);
        for effect in self.seen.effects.iter_mut().skip(first) {
            effect.recursive = kind == Kind::Delete;
        }
    }

    /// An address is fetched.
    pub(super) fn fetch(&mut self, address: &str) {
        fetch_address(address, self.world, self.seen);
    }
}
