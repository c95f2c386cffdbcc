//! Simple commands: assignments, words, redirections.

use super::call::Means;
use super::{Call, Flow, Walker};
use crate::invocation::Value;
use crate::syntax::{Assigned, Assignment, Command, Piece, Word};

/// Commands whose arguments are assignments, which are not split.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl<'t> Walker<'t> {
    pub(super) fn simple(&mut self, command: &'t Command, assignments: &'t [Assignment], words: &'t [Word]) -> Flow {
        self.settle_cwd();
        let declares = words
            .first()
            .is_some_and(|word| word.bare().is_some_and(|name| DECLARING.contains(&name)));
        let argv = if declares {
            self.declaring(words)
        } else {
            self.words(words)
        };
        if argv.is_empty() {
            assignments.iter().for_each(|assignment| self.assign(assignment));
            return self.only_redirects(command);
        }
        let variables = assignments
            .iter()
            .map(|assignment| (assignment.name.clone(), self.assigned_text(assignment)))
            .collect();
        let io = (!command.redirects.is_empty()).then(|| self.scope.io.clone());
        let files = self.redirects(&command.redirects);
        let call = Call {
            argv,
            variables,
            files,
            means: Means::Anything,
            span: command.span.clone(),
        };
        let last = call.argv.last().cloned().unwrap_or_default();
        let lasting = call.argv.len() == 1 && call.name() == Some("exec");
        let flow = match self.alias_of(words) {
            Some(text) => self.run_alias(&text, &call),
            None => self.run(call),
        };
        if declares {
            self.declare_arrays(words);
        }
        if let Some(io) = io.filter(|_| !lasting) {
            self.scope.io = io;
        }
        self.scope.last = std::rc::Rc::new(last);
        flow
    }

    fn only_redirects(&mut self, command: &'t Command) -> Flow {
        if !command.redirects.is_empty() {
            let io = self.scope.io.clone();
            let files = self.redirects(&command.redirects);
            if !files.is_empty() {
                self.report_files(files, &command.span);
            }
            self.scope.io = io;
        }
        Flow::Next
    }

    /// Arguments of which those that assign stay whole. Arrays are assigned afterwards.
    fn declaring(&mut self, words: &'t [Word]) -> Vec<Value> {
        let mut argv = Vec::new();
        for word in words {
            match word.pieces.as_slice() {
                [Piece::Text { text, .. }, Piece::Array(_)] => {
                    argv.push(Value::text(text.trim_end_matches(['=', '+'])));
                }
                // A brace list makes it a word like any other.
                [Piece::Text { text, quoted: false }, rest @ ..] if text.contains('=') && !rest.iter().any(is_list) => {
                    let value = self.text(word);
                    argv.push(value);
                }
                _ => self.add_fields(word, &mut argv),
            }
        }
        argv
    }

    fn declare_arrays(&mut self, words: &'t [Word]) {
        for word in words {
            if let [Piece::Text { text, .. }, Piece::Array(elements)] = word.pieces.as_slice() {
                let append = text.ends_with("+=");
                self.assign_array(text.trim_end_matches(['=', '+']), elements, append);
            }
        }
    }

    /// What a variable becomes that is set for one command.
    fn assigned_text(&mut self, assignment: &'t Assignment) -> Value {
        match &assignment.value {
            Assigned::Word(word) => self.text(word),
            Assigned::Array(_) => Value::default(),
        }
    }

    /// The alias that the first word is, in the reading in which aliases count.
    fn alias_of(&mut self, words: &'t [Word]) -> Option<Value> {
        if self.scope.aliases.is_empty() {
            return None;
        }
        let name = words.first()?.bare()?;
        let text = self.scope.aliases.get(name).cloned()?;
        (self.choose(2) == 0).then_some(text)
    }

    fn run_alias(&mut self, text: &Value, call: &Call) -> Flow {
        if !call.files.is_empty() {
            self.report_files(call.files.clone(), &call.span);
        }
        let mut code = text.clone();
        code.push_text(" ");
        let rest = self.quoted(call.arguments());
        code.append(&rest);
        let aliases = std::mem::take(&mut self.scope.aliases);
        let flow = self.run_code(&code, &call.span);
        self.scope.aliases = aliases;
        flow
    }
}

fn is_list(piece: &Piece) -> bool {
    matches!(piece, Piece::Braces(_) | Piece::Range { .. })
}
