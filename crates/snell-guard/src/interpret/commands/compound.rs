//! Compound commands: the manual's section of that name. Every branch may run.

use super::conditions::TestOutcome;
use crate::interpret::expansion::parameter_operations::mark_nonempty;
use std::rc::Rc;

use crate::interpret::interpreter::FileReader;
use crate::interpret::limits;
use crate::interpret::merge::ScopeMerge;
use crate::interpret::result::CoverageGap;
use crate::interpret::scope::{ShellScope, ShellVariable};
use crate::interpret::{ShellFlow, ShellInterpreter};
use crate::invocation::{SymbolicText, UnknownKind};
use snell_shell::{ShellCommandKind, ShellScript, ShellWord, WordPart};

impl<'t> ShellInterpreter<'t> {
    pub(crate) fn run_compound(&mut self, kind: &'t ShellCommandKind) -> ShellFlow {
        match kind {
            ShellCommandKind::Simple { .. } => {}
            ShellCommandKind::Subshell(script) => self.run_in_subshell(|walker| walker.run_script(script)),
            ShellCommandKind::Group(script) => return self.run_script(script),
            ShellCommandKind::If { branches, otherwise } => return self.run_branches(branches, otherwise.as_ref()),
            ShellCommandKind::While { condition, body, .. } => return self.run_while(condition, body),
            ShellCommandKind::For { variable, words, body, select } => {
                return self.run_for_each(variable, words.as_deref(), body, *select);
            }
            ShellCommandKind::ArithmeticFor { expressions, body } => return self.run_arithmetic_for(expressions, body),
            ShellCommandKind::Case { word, arms } => return self.run_case(word, arms),
            ShellCommandKind::Function { name, body } => self.define_function(name, body),
            ShellCommandKind::Coprocess { body } => {
                self.concurrency += 1;
                self.run_in_subshell(|walker| walker.run_command(body));
                self.concurrency -= 1;
                let path = format!("/dev/fd/{}", 63 + self.invocation_count());
                self.coprocess = Some(SymbolicText::from_text(path.clone()));
                self.readers.push((path, FileReader::Coprocess(body), Rc::default()));
            }
            ShellCommandKind::Test(words) => {
                // The comparison does not matter, but its command substitutions run.
                for word in words {
                    self.run_all_readings(|walker| {
                        walker.expand_pattern(word);
                        ShellFlow::Next
                    });
                }
            }
            ShellCommandKind::Arithmetic(word) => {
                self.evaluate_word(word);
            }
        }
        ShellFlow::Next
    }

    fn run_branches(
        &mut self,
        branches: &'t [(ShellScript, ShellScript)],
        otherwise: Option<&'t ShellScript>,
    ) -> ShellFlow {
        let mut join = ScopeMerge::default();
        for (condition, body) in branches {
            let flow = self.run_script(condition);
            if flow != ShellFlow::Next {
                return flow;
            }
            let before = self.scope.clone();
            self.assume_condition(condition, TestOutcome::True);
            let flow = self.run_script(body);
            join.add_path(self, flow);
            self.scope = before;
            self.assume_condition(condition, TestOutcome::False);
        }
        let flow = otherwise.map_or(ShellFlow::Next, |script| self.run_script(script));
        join.add_path(self, flow);
        join.finish(self)
    }

    fn run_case(&mut self, word: &'t ShellWord, arms: &'t [(Vec<ShellWord>, ShellScript)]) -> ShellFlow {
        self.expand_text(word);
        let before = self.scope.clone();
        let mut join = ScopeMerge::default();
        let mut always = false;
        for (patterns, body) in arms {
            self.scope = before.clone();
            for pattern in patterns {
                self.expand_pattern(pattern);
                always |= matches!(pattern.parts.as_slice(), [snell_shell::WordPart::Wildcard('*')]);
            }
            self.assume_arm(word, patterns);
            let flow = self.run_script(body);
            join.add_path(self, flow);
        }
        if !always {
            self.scope = before;
            join.add_path(self, ShellFlow::Next);
        }
        join.finish(self)
    }

    /// Runs one iteration. Returns the flow after it if it was the last one.
    fn run_iteration(&mut self, body: &'t ShellScript) -> Option<ShellFlow> {
        match self.run_script(body) {
            ShellFlow::Next | ShellFlow::Continue(0 | 1) => None,
            ShellFlow::Break(0 | 1) => Some(ShellFlow::Next),
            ShellFlow::Break(levels) => Some(ShellFlow::Break(levels - 1)),
            ShellFlow::Continue(levels) => Some(ShellFlow::Continue(levels - 1)),
            flow @ (ShellFlow::Return | ShellFlow::Exit) => Some(flow),
        }
    }

    /// Runs a loop, and merges the scopes of early exits.
    fn run_loop(&mut self, run: impl FnOnce(&mut Self) -> ShellFlow) -> ShellFlow {
        let outer = std::mem::take(&mut self.early_exits);
        self.enclosing.loops += 1;
        let flow = run(self);
        self.enclosing.loops -= 1;
        let early = std::mem::replace(&mut self.early_exits, outer);
        if flow == ShellFlow::Next {
            early.release_into(self);
        }
        flow
    }

    fn run_for_each(
        &mut self,
        variable: &'t str,
        words: Option<&'t [ShellWord]>,
        body: &'t ShellScript,
        select: bool,
    ) -> ShellFlow {
        self.run_all_readings(|walker| {
            let values = match words {
                Some(words) => walker.expand_words(words),
                None => walker.scope.positional.to_vec(),
            };
            let splits = words.is_some_and(|words| words.iter().all(is_unquoted));
            let item: fn(SymbolicText) -> SymbolicText = if splits { mark_nonempty } else { std::convert::identity };
            walker.run_loop(|walker| match select {
                true => walker.run_select(variable, values, body),
                false => walker.run_for_values(variable, values, body, item),
            })
        })
    }

    fn run_select(&mut self, variable: &str, mut values: Vec<SymbolicText>, body: &'t ShellScript) -> ShellFlow {
        values.truncate(limits::VALUES);
        if !values.is_empty() {
            self.set_variable(variable, ShellVariable::Values(values));
        }
        self.run_unbounded_loop(body, None)
    }

    fn run_for_values(
        &mut self,
        variable: &str,
        mut values: Vec<SymbolicText>,
        body: &'t ShellScript,
        item: fn(SymbolicText) -> SymbolicText,
    ) -> ShellFlow {
        if values.len() > limits::ROUNDS {
            // Plain names are alike, so values that lead elsewhere come first.
            values.sort_by_key(is_plain_name);
            if values.get(limits::ROUNDS).is_some_and(|value| !is_plain_name(value)) {
                self.mark_partial(CoverageGap::Limit("rounds"));
            }
            values.truncate(limits::ROUNDS);
            values.push(SymbolicText::from_unknown(UnknownKind::Anything));
        }
        let may_be_none = values.iter().all(|value| value.can_be_empty() && !value.is_empty());
        let mut none = ScopeMerge::default();
        if may_be_none {
            none.merge_scope(self);
        }
        for value in values {
            if self.is_stopped() {
                return ShellFlow::Exit;
            }
            self.set_variable(variable, ShellVariable::from_value(item(value)));
            match self.run_iteration(body) {
                None => {}
                Some(ShellFlow::Next) => break,
                Some(flow) => return flow,
            }
        }
        none.release_into(self);
        ShellFlow::Next
    }

    fn run_while(&mut self, condition: &'t ShellScript, body: &'t ShellScript) -> ShellFlow {
        self.run_loop(|walker| {
            while walker.stdin_text().is_some() && !walker.is_stopped() {
                let input = std::rc::Rc::clone(&walker.scope.io.stdin);
                walker.scope.at_end = false;
                let flow = walker.run_script(condition);
                if flow != ShellFlow::Next || std::mem::take(&mut walker.scope.at_end) {
                    return flow;
                }
                if let Some(flow) = walker.run_iteration(body) {
                    return flow;
                }
                // The loop's input is not replaced, so it is a loop like any other.
                if std::rc::Rc::ptr_eq(&input, &walker.scope.io.stdin) {
                    break;
                }
            }
            walker.run_unbounded_loop(body, Some(condition))
        })
    }

    /// Runs a loop with an unknown number of iterations until nothing changes, or until the changing values are
    /// unknown.
    fn run_unbounded_loop(&mut self, body: &'t ShellScript, condition: Option<&'t ShellScript>) -> ShellFlow {
        let mut join = ScopeMerge::default();
        let first = self.invocation_count();
        for round in 0..=limits::OPEN_ROUNDS {
            let before = self.scope.clone();
            let from = self.invocation_count();
            if let Some(flow) = condition.map(|condition| self.run_script(condition))
                && flow != ShellFlow::Next
            {
                return flow;
            }
            self.scope.at_end = false;
            join.merge_scope(self);
            let ended = self.run_iteration(body);
            self.drop_repeated_invocations(first, from);
            if matches!(ended, None | Some(ShellFlow::Next)) {
                join.merge_scope(self);
            }
            if ended.is_some() {
                break;
            }
            if self.is_stopped() || is_same_scope(&before, &self.scope) {
                break;
            }
            if round + 1 == limits::OPEN_ROUNDS {
                self.forget_changes(&before);
            }
        }
        join.finish(self)
    }

    /// Marks everything that has changed as unknown.
    fn forget_changes(&mut self, before: &ShellScope<'t>) {
        let changed: Vec<String> = self
            .scope
            .variables
            .iter()
            .filter(|(name, value)| before.variables.get(*name) != Some(value))
            .map(|(name, _)| name.clone())
            .collect();
        for name in changed {
            self.set_variable(&name, ShellVariable::unknown());
        }
        if before.cwd != self.scope.cwd {
            self.scope.cwd = std::rc::Rc::new(vec![None]);
        }
    }

    /// `for ((a; b; c))`
    fn run_arithmetic_for(&mut self, expressions: &'t ShellWord, body: &'t ShellScript) -> ShellFlow {
        let value = self.expand_text(expressions);
        let parts: Vec<SymbolicText> = match value.as_text() {
            Some(text) => text.split(';').map(SymbolicText::from_text).collect(),
            None => Vec::new(),
        };
        let [start, condition, step] = parts.as_slice() else {
            return self.run_loop(|walker| walker.run_unbounded_loop(body, None));
        };
        self.evaluate_arithmetic(start);
        self.run_loop(|walker| {
            for _ in 0..limits::ROUNDS {
                match walker.evaluate_arithmetic(condition) {
                    Some(0) => return ShellFlow::Next,
                    Some(_) if !condition.is_empty() && !walker.is_stopped() => {}
                    _ => break,
                }
                if let Some(flow) = walker.run_iteration(body) {
                    return flow;
                }
                walker.evaluate_arithmetic(step);
            }
            let before = walker.scope.clone();
            walker.evaluate_arithmetic(step);
            walker.forget_changes(&before);
            walker.run_unbounded_loop(body, None)
        })
    }
}

/// Whether nothing has changed that another iteration could see.
fn is_same_scope(one: &ShellScope<'_>, other: &ShellScope<'_>) -> bool {
    one.variables == other.variables && one.cwd == other.cwd && one.positional == other.positional
}

/// A word that is a number or a plain file name.
fn is_plain_name(value: &SymbolicText) -> bool {
    let plain = |text: &str| !text.contains('/') && !text.starts_with(['~', '.', '-']);
    value.as_text().is_some_and(plain)
}

/// Whether none of a word's expansions is quoted: it then expands to no empty word.
fn is_unquoted(word: &ShellWord) -> bool {
    word.parts.iter().all(|part| match part {
        WordPart::Parameter(parameter) => !parameter.quoted,
        WordPart::Substitution { quoted, .. } => !quoted,
        _ => true,
    })
}
