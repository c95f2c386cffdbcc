//! Collects the effects of one program.

use crate::effects::EffectDepth;
use std::borrow::Cow;

use super::remote::{is_container_internal, locate_for_invocation};
use super::{AnalysisScope, Effect, EffectKind, MAX_EFFECTS, PathAction, find_rule_index};
use crate::invocation::{Invocation, StdinSource, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, locate_path};
use crate::programs::argv::ParsedArgs;
use crate::programs::{ProgramCall, ProgramSpec};
use crate::rules::{GuardRule, RULES};
use crate::wrappers::find_privileged_wrapper;

/// The effects of one program, while they are collected.
pub(super) struct EffectCollector<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) context: &'a JudgeContext,
    pub(super) args: ParsedArgs<'a>,
    /// The directory in which the program works.
    pub(super) cwd: Option<Cow<'a, str>>,
    program_call: Option<ProgramCall<'a>>,
    /// Whether a flag before the subcommand asks for a dry run.
    dry_run: bool,
    /// Whether a flag asks the program for a preview, a list or a test.
    idle: bool,
    scope: AnalysisScope,
    /// Index of the policy's allowed command that this program is part of.
    pub(super) allowed: Option<usize>,
    effects: &'a mut Vec<Effect>,
    /// The number of effects before this program.
    initial_len: usize,
}

impl<'a> EffectCollector<'a> {
    pub(super) fn new(
        invocation: &'a Invocation,
        world: &'a JudgeContext,
        called: Option<ProgramCall<'a>>,
        view: AnalysisScope,
        list: &'a mut Vec<Effect>,
    ) -> Self {
        let args =
            called.as_ref().map(|called| ParsedArgs::parse(called.program, called.arguments)).unwrap_or_default();
        let mut collector = Self {
            invocation,
            context: world,
            args,
            cwd: invocation.cwd.as_deref().map(Cow::Borrowed),
            program_call: None,
            dry_run: false,
            idle: false,
            scope: view,
            allowed: None,
            initial_len: list.len(),
            effects: list,
        };
        if let Some(called) = &called {
            collector.idle = collector.args.only_previews(called.program.idle_flags);
            for (outer, before) in &called.outer {
                let line = ParsedArgs::parse(outer, before);
                collector.dry_run |= line.only_previews(outer.idle_flags);
                collector.apply_cwd_flags(outer, &line);
            }
            let line = std::mem::take(&mut collector.args);
            collector.apply_cwd_flags(called.program, &line);
            collector.args = line;
        }
        collector.program_call = called;
        collector
    }

    /// `-C directory`, as often as it is given.
    fn apply_cwd_flags(&mut self, program: &ProgramSpec, line: &ParsedArgs<'_>) {
        for spellings in program.cwd_flags {
            for value in line.flag_values(spellings) {
                self.cwd = locate_path(&value, self.cwd.as_deref(), self.context).path.map(Cow::Owned);
            }
        }
    }

    /// The program's name in the tables.
    pub(super) fn name(&self) -> &'static str {
        self.program_call.as_ref().map_or("the shell", |called| called.name)
    }

    pub(super) fn program(&self) -> Option<&'static ProgramSpec> {
        self.program_call.as_ref().map(|called| called.program)
    }

    /// Whether the program does not show its standard input.
    pub(super) fn keeps_stdin_private(&self) -> bool {
        self.program_call
            .as_ref()
            .is_some_and(|called| called.program.discreet || called.outer.iter().any(|(outer, _)| outer.discreet))
    }

    /// Whether a flag before the subcommand asks for a dry run: `docker compose --dry-run down`.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Whether the program only previews, lists or tests: `rsync -n`.
    pub(super) fn is_idle(&self) -> bool {
        self.dry_run || self.idle
    }

    /// The arguments without the program's name, and without the name of a subcommand that has its own entry.
    pub(super) fn arguments(&self) -> &'a [SymbolicText] {
        match &self.program_call {
            Some(called) => called.arguments,
            None => self.invocation.arguments(),
        }
    }

    /// Whether the program's input is analysed too.
    pub(super) fn includes_input(&self) -> bool {
        self.scope == AnalysisScope::WithInput
    }

    /// The program's standard input, if it is analysed.
    pub(super) fn stdin(&self) -> &'a StdinSource {
        match self.scope {
            AnalysisScope::WithInput => &self.invocation.stdin,
            AnalysisScope::ProgramOnly => &StdinSource::Inherited,
        }
    }

    pub(super) fn locate_path(&self, value: &SymbolicText) -> ClassifiedPath {
        locate_for_invocation(value, self.cwd.as_deref(), self.invocation, self.context)
    }

    /// Adds an effect on a path.
    pub(super) fn push_path_effect(&mut self, kind: PathAction, path: ClassifiedPath, depth: EffectDepth) {
        self.push_effect(EffectKind::Path(kind), Some(path), depth);
    }

    /// Adds an effect on the path that a value names.
    pub(super) fn add_path_effect(&mut self, kind: PathAction, value: &SymbolicText, depth: EffectDepth) {
        if self.effects.len() <= MAX_EFFECTS {
            let place = self.locate_path(value);
            // Other copied files are read, and judged as such.
            if kind != PathAction::Copy || place.classes.contains(PathClass::OwnProgram) {
                self.push_path_effect(kind, place, depth);
            }
        }
    }

    /// Adds an effect on the path that a value names, relative to the directory in which the program starts.
    pub(super) fn add_effect_from_start_dir(&mut self, kind: PathAction, value: &SymbolicText) {
        if self.effects.len() <= MAX_EFFECTS {
            let place = locate_for_invocation(value, self.invocation.cwd.as_deref(), self.invocation, self.context);
            self.push_path_effect(kind, place, EffectDepth::Single);
        }
    }

    /// Adds an effect on a new file. A new file in the project or in a temporary directory is not a secret yet.
    pub(super) fn add_new_file_effect(&mut self, kind: PathAction, value: &SymbolicText) {
        let mut place = self.locate_path(value);
        if place.classes.intersects([PathClass::Project, PathClass::Temp].into()) {
            place.classes = place.classes.difference([PathClass::Secret].into());
        }
        self.push_path_effect(kind, place, EffectDepth::Single);
    }

    /// The path of Snell's program, if this program reads it.
    pub(super) fn find_self_program_read(&self) -> Option<ClassifiedPath> {
        let reads = |effect: &&Effect| effect.kind == EffectKind::Path(PathAction::Read);
        let mut places =
            self.effects.iter().skip(self.initial_len).filter(reads).filter_map(|effect| effect.place.as_ref());
        places.find(|place| place.classes.contains(PathClass::OwnProgram)).cloned()
    }

    /// The rules that the program's entry names.
    pub(super) fn own_rules(&self) -> impl Iterator<Item = &'static GuardRule> {
        self.effects.iter().skip(self.initial_len).filter_map(|effect| match effect.kind {
            EffectKind::Rule(number) => RULES.get(number),
            EffectKind::Path(_) | EffectKind::Watched(_) => None,
        })
    }

    /// Whether the program already has an effect on a path: this one, or any if `kind` is `None`.
    pub(super) fn has_effect_on(&self, path: &ClassifiedPath, kind: Option<PathAction>) -> bool {
        let fits = |effect: &&Effect| kind.is_none_or(|kind| effect.kind == EffectKind::Path(kind));
        let mut found = self.effects.iter().skip(self.initial_len).filter(fits);
        found.any(|effect| effect.place.as_ref().is_some_and(|other| other.shape == path.shape))
    }

    /// Adds an effect that one rule judges.
    pub(super) fn add_rule_effect(&mut self, id: &str) {
        self.push_effect(EffectKind::Rule(find_rule_index(id)), None, EffectDepth::Single);
    }

    pub(super) fn push_effect(&mut self, what: EffectKind, path: Option<ClassifiedPath>, depth: EffectDepth) {
        if matches!(what, EffectKind::Rule(rule) if is_container_internal(self.invocation, rule)) {
            return;
        }
        self.effects.push(Effect {
            kind: what,
            place: path,
            recursive: depth == EffectDepth::Recursive,
            program: self.name(),
            command: None,
            by: None,
            allowed: self.allowed,
            span: self.invocation.span.clone(),
            session: None,
        });
    }

    /// Adds the effect of the wrapper that runs the program as another user.
    pub(super) fn add_raised_effect(&mut self) {
        let before = self.effects.len();
        self.add_rule_effect("privilege.raise");
        if let Some(effect) = self.effects.get_mut(before)
            && let Some(wrapper) = find_privileged_wrapper(&self.invocation.via)
        {
            effect.program = wrapper;
            effect.command = self.invocation.name().map(str::to_owned);
        }
    }
}
