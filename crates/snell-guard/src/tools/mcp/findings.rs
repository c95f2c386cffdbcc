//! Collects the findings of a request, in whatever form it was judged.

use crate::effects::{Effect, PathAction};
use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;
use crate::policy::entries::EntryPattern;
use crate::rules::{RuleFinding, RuleTier, collect_findings};
use crate::tools::{
    add_fetch_effects, add_file_effects, analyze_command, analyze_program, analyze_remote_command, locate_tool_path,
};
use snell_shell::ByteSpan;

/// How many commands or statements of one call are judged.
pub(super) const MAX_REQUEST_TEXTS: usize = 256;

/// Which findings apply to a text that may not run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingFilter {
    /// All of them.
    Any,
    /// Those about permanent loss, and about Snell itself.
    Gravest,
}

/// The context of a request, and its findings.
pub(super) struct FindingSink<'a> {
    /// The commands that the user allows.
    permits: &'a [Option<EntryPattern>],
    pub(super) world: &'a JudgeContext,
    analysis: &'a mut CallAnalysis,
}

impl<'a> FindingSink<'a> {
    pub(super) fn new(
        permits: &'a [Option<EntryPattern>],
        context: &'a JudgeContext,
        analysis: &'a mut CallAnalysis,
    ) -> Self {
        Self { permits, world: context, analysis }
    }

    /// Adds an effect that one rule judges.
    pub(super) fn mark_rule(&mut self, rule: &str) {
        self.analysis.add_rule_effect(rule, ByteSpan::default());
    }

    /// Records that a limit was reached.
    pub(super) fn mark_limited(&mut self) {
        self.analysis.mark_limit_exceeded("texts");
    }

    /// The texts within the limit; records it if there are more.
    pub(super) fn limit_texts<'t, T>(&mut self, texts: &'t [T]) -> &'t [T] {
        if texts.len() > MAX_REQUEST_TEXTS {
            self.mark_limited();
        }
        texts.get(..MAX_REQUEST_TEXTS).unwrap_or(texts)
    }

    /// Judges a literal command.
    pub(super) fn analyze_command(&mut self, text: &str, cwd: Option<&str>) {
        match cwd.and_then(|cwd| locate_tool_path(cwd, self.world)) {
            Some(cwd) => {
                let world = JudgeContext { cwd, ..self.world.clone() };
                analyze_command(text, self.permits, &world, self.analysis);
            }
            None => analyze_command(text, self.permits, self.world, self.analysis),
        }
    }

    /// Judges a command that is equivalent to the call. It is not in the call's text, so it has no span.
    pub(super) fn analyze_equivalent_command(&mut self, text: &str, cwd: Option<&str>) {
        let first = (self.analysis.effects.len(), self.analysis.invocations.len());
        self.analyze_command(text, cwd);
        self.clear_spans(first);
    }

    /// Whether commands were found already.
    pub(super) fn has_commands(&self) -> bool {
        !self.analysis.invocations.is_empty()
    }

    /// Judges a text that may run as a command. Gaps in its analysis do not affect the call.
    pub(super) fn analyze_possible_command(&mut self, text: &str, gravity: FindingFilter) {
        let mut guessed = CallAnalysis::default();
        analyze_command(text, self.permits, self.world, &mut guessed);
        let is_grave =
            |finding: &RuleFinding<'_>| matches!(finding.rule.tier, RuleTier::Catastrophic | RuleTier::OwnGuard);
        let counts = |effect: &Effect| {
            let found = collect_findings(std::slice::from_ref(effect));
            let is_about_the_guard = found.iter().any(|finding| finding.rule.id.starts_with("guard."));
            match gravity {
                FindingFilter::Any => !is_about_the_guard,
                FindingFilter::Gravest => found.iter().any(is_grave),
            }
        };
        let effects = guessed.effects.into_iter().filter(counts);
        self.analysis.effects.extend(effects.map(|effect| Effect { by: None, span: ByteSpan::default(), ..effect }));
    }

    /// Judges a command on another machine.
    pub(super) fn analyze_remote_command(&mut self, text: &str) {
        let first = (self.analysis.effects.len(), self.analysis.invocations.len());
        analyze_remote_command(text, self.world, self.analysis);
        self.clear_spans(first);
    }

    /// Removes the spans of everything found since then.
    fn clear_spans(&mut self, (effects, invocations): (usize, usize)) {
        let effects = self.analysis.effects.iter_mut().skip(effects);
        effects.for_each(|effect| effect.span = ByteSpan::default());
        let invocations = self.analysis.invocations.iter_mut().skip(invocations);
        invocations.for_each(|invocation| invocation.span = ByteSpan::default());
    }

    /// Judges a program with these arguments. Returns whether a rule may match.
    pub(super) fn analyze_program(&mut self, argv: &[&str]) -> bool {
        let found = analyze_program(argv, self.world);
        let any = !found.is_empty();
        self.analysis.effects.extend(found);
        any
    }

    /// Adds this effect for all these files.
    pub(super) fn add_file_effects(&mut self, kind: PathAction, paths: Vec<&str>) {
        let first = self.analysis.effects.len();
        add_file_effects(kind, paths, self.world, self.analysis);
        for effect in self.analysis.effects.iter_mut().skip(first) {
            effect.recursive = kind == PathAction::Delete;
        }
    }

    /// Adds the effect of fetching a URL.
    pub(super) fn add_fetch_effects(&mut self, address: &str) {
        add_fetch_effects(address, self.world, self.analysis);
    }
}
