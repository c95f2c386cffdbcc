//! Compound commands: the manual's section of that name. Every branch may run.

use super::found::Reason;
use super::join::Join;
use super::limits;
use super::scope::{Scope, Variable};
use super::{Flow, Walker};
use crate::invocation::{Unknown, Value};
use crate::syntax::{CommandKind, Script, Word};

/// Whether another round of a loop follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Next,
    Last,
    /// The loop is left, and so is what is around it.
    Leave(Flow),
}

impl<'t> Walker<'t> {
    pub(super) fn compound(&mut self, kind: &'t CommandKind) -> Flow {
        match kind {
            CommandKind::Simple { .. } => {}
            CommandKind::Subshell(script) => self.apart(|walker| walker.script(script)),
            CommandKind::Group(script) => return self.script(script),
            CommandKind::If { branches, otherwise } => return self.branches(branches, otherwise.as_ref()),
            CommandKind::While { condition, body, .. } => return self.repeat(condition, body),
            CommandKind::For {
                variable,
                words,
                body,
                select,
            } => return self.each(variable, words.as_deref(), body, *select),
            CommandKind::ArithmeticFor { expressions, body } => return self.count_up(expressions, body),
            CommandKind::Case { word, arms } => return self.case(word, arms),
            CommandKind::Function { name, body } => self.define(name, body),
            CommandKind::Coprocess { body } => {
                self.beside += 1;
                self.apart(|walker| walker.command(body));
                self.beside -= 1;
            }
            CommandKind::Test(words) => {
                // What is compared does not matter; what is run for it does.
                for word in words {
                    self.readings(|walker| {
                        walker.pattern(word);
                        Flow::Next
                    });
                }
            }
            CommandKind::Arithmetic(word) => {
                self.number(word);
            }
        }
        Flow::Next
    }

    fn branches(&mut self, branches: &'t [(Script, Script)], otherwise: Option<&'t Script>) -> Flow {
        let mut join = Join::default();
        for (condition, body) in branches {
            let flow = self.script(condition);
            if flow != Flow::Next {
                return flow;
            }
            let before = self.scope.clone();
            let flow = self.script(body);
            join.add(self, flow);
            self.scope = before;
        }
        let flow = otherwise.map_or(Flow::Next, |script| self.script(script));
        join.add(self, flow);
        join.finish(self)
    }

    fn case(&mut self, word: &'t Word, arms: &'t [(Vec<Word>, Script)]) -> Flow {
        self.text(word);
        let before = self.scope.clone();
        let mut join = Join::default();
        let mut always = false;
        for (patterns, body) in arms {
            self.scope = before.clone();
            for pattern in patterns {
                self.pattern(pattern);
                always |= matches!(pattern.pieces.as_slice(), [crate::syntax::Piece::Wildcard('*')]);
            }
            let flow = self.script(body);
            join.add(self, flow);
        }
        if !always {
            self.scope = before;
            join.add(self, Flow::Next);
        }
        join.finish(self)
    }

    /// One round of a loop.
    fn round(&mut self, body: &'t Script) -> Round {
        match self.script(body) {
            Flow::Next | Flow::Continue(0 | 1) => Round::Next,
            Flow::Break(0 | 1) => Round::Last,
            Flow::Break(levels) => Round::Leave(Flow::Break(levels - 1)),
            Flow::Continue(levels) => Round::Leave(Flow::Continue(levels - 1)),
            flow @ (Flow::Return | Flow::Exit) => Round::Leave(flow),
        }
    }

    /// A loop, from whose end also those come out that have left it early.
    fn looped(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let outer = std::mem::take(&mut self.leaving);
        self.inside.loops += 1;
        let flow = run(self);
        self.inside.loops -= 1;
        let early = std::mem::replace(&mut self.leaving, outer);
        if flow == Flow::Next {
            early.release(self);
        }
        flow
    }

    fn each(&mut self, variable: &'t str, words: Option<&'t [Word]>, body: &'t Script, select: bool) -> Flow {
        self.readings(|walker| {
            let values = match words {
                Some(words) => walker.words(words),
                None => walker.scope.positional.to_vec(),
            };
            walker.looped(|walker| walker.each_value(variable, values, body, select))
        })
    }

    fn each_value(&mut self, variable: &str, mut values: Vec<Value>, body: &'t Script, select: bool) -> Flow {
        if select {
            values.truncate(limits::VALUES);
            if !values.is_empty() {
                self.set(variable, Variable::Values(values));
            }
            return self.open(body, None);
        }
        if values.len() > limits::ROUNDS {
            // Names are like each other; what leads elsewhere comes first, wherever it is written.
            values.sort_by_key(is_name);
            if values.get(limits::ROUNDS).is_some_and(|value| !is_name(value)) {
                self.partial(Reason::Limit("rounds"));
            }
            values.truncate(limits::ROUNDS);
            values.push(Value::unknown(Unknown::Anything));
        }
        let may_be_none = values.iter().all(|value| value.may_be_empty() && !value.is_empty());
        let mut none = Join::default();
        if may_be_none {
            none.merge(self);
        }
        for value in values {
            if self.is_stopped() {
                return Flow::Exit;
            }
            self.set(variable, Variable::one(value));
            match self.round(body) {
                Round::Next => {}
                Round::Last => break,
                Round::Leave(flow) => return flow,
            }
        }
        none.release(self);
        Flow::Next
    }

    fn repeat(&mut self, condition: &'t Script, body: &'t Script) -> Flow {
        self.looped(|walker| {
            while walker.stdin_text().is_some() && !walker.is_stopped() {
                let input = std::rc::Rc::clone(&walker.scope.io.stdin);
                walker.scope.at_end = false;
                let flow = walker.script(condition);
                if flow != Flow::Next || std::mem::take(&mut walker.scope.at_end) {
                    return flow;
                }
                match walker.round(body) {
                    Round::Next => {}
                    Round::Last => return Flow::Next,
                    Round::Leave(flow) => return flow,
                }
                // Nobody reads: it is a loop like any other.
                if std::rc::Rc::ptr_eq(&input, &walker.scope.io.stdin) {
                    break;
                }
            }
            walker.open(body, Some(condition))
        })
    }

    /// A loop of which nobody knows how often it runs: until nothing changes, or until what changes is unknown.
    fn open(&mut self, body: &'t Script, condition: Option<&'t Script>) -> Flow {
        let mut join = Join::default();
        let first = self.count();
        for round in 0..=limits::OPEN_ROUNDS {
            let before = self.scope.clone();
            let from = self.count();
            if let Some(flow) = condition.map(|condition| self.script(condition))
                && flow != Flow::Next
            {
                return flow;
            }
            self.scope.at_end = false;
            join.merge(self);
            let ended = self.round(body);
            self.drop_repeated(first, from);
            match ended {
                Round::Next => join.merge(self),
                Round::Last => {
                    join.merge(self);
                    break;
                }
                // It may not have come to that.
                Round::Leave(_) => break,
            }
            if self.is_stopped() || same(&before, &self.scope) {
                break;
            }
            if round + 1 == limits::OPEN_ROUNDS {
                self.forget_changes(&before);
            }
        }
        join.finish(self)
    }

    /// What has changed since is unknown from now on.
    fn forget_changes(&mut self, before: &Scope<'t>) {
        let changed: Vec<String> = self
            .scope
            .variables
            .iter()
            .filter(|(name, value)| before.variables.get(*name) != Some(value))
            .map(|(name, _)| name.clone())
            .collect();
        for name in changed {
            self.set(&name, Variable::anything());
        }
        if before.cwd != self.scope.cwd {
            self.scope.cwd = std::rc::Rc::new(vec![None]);
        }
    }

    /// `for ((a; b; c))`
    fn count_up(&mut self, expressions: &'t Word, body: &'t Script) -> Flow {
        let value = self.text(expressions);
        let parts: Vec<Value> = match value.as_text() {
            Some(text) => text.split(';').map(Value::text).collect(),
            None => Vec::new(),
        };
        let [start, condition, step] = parts.as_slice() else {
            return self.looped(|walker| walker.open(body, None));
        };
        self.evaluate(start);
        self.looped(|walker| {
            for _ in 0..limits::ROUNDS {
                match walker.evaluate(condition) {
                    Some(0) => return Flow::Next,
                    Some(_) if !condition.is_empty() && !walker.is_stopped() => {}
                    _ => break,
                }
                match walker.round(body) {
                    Round::Next => {}
                    Round::Last => return Flow::Next,
                    Round::Leave(flow) => return flow,
                }
                walker.evaluate(step);
            }
            let before = walker.scope.clone();
            walker.evaluate(step);
            walker.forget_changes(&before);
            walker.open(body, None)
        })
    }
}

/// Whether nothing has changed that another round could see.
fn same(one: &Scope<'_>, other: &Scope<'_>) -> bool {
    one.variables == other.variables && one.cwd == other.cwd && one.positional == other.positional
}

/// A word that leads nowhere else by itself: a number, the name of a file.
fn is_name(value: &Value) -> bool {
    let plain = |text: &str| !text.contains('/') && !text.starts_with(['~', '.', '-']);
    value.as_text().is_some_and(plain)
}
