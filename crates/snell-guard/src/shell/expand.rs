//! Words to values: the manual's section "Shell Expansions", in its order.

use std::rc::Rc;

use super::Walker;
use super::braces::Bit;
use super::fields::{Fields, push_globs};
use super::input::work;
use super::limits;
use super::parameter::Expansion;
use super::scope::{Descriptor, Out, Printed};
use crate::effects::output_of;
use crate::invocation::{Part, Stdin, Unknown, Value};
use crate::syntax::{CommandKind, Piece, RedirectKind, Script, Word};
use crate::unwrap::searched;

/// What bash splits at unless it is told otherwise.
pub(super) const USUAL_SEPARATORS: &str = " \t\n";

/// What becomes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Arguments: it is split, and patterns are names of files.
    Fields,
    /// A value: it stays one text.
    Text,
    /// A pattern: it stays one, and what is not quoted in it means something.
    Pattern,
}

impl<'t> Walker<'t> {
    /// All arguments that some words become.
    pub(super) fn words(&mut self, words: &'t [Word]) -> Vec<Value> {
        let mut values = Vec::with_capacity(words.len());
        for word in words {
            self.add_fields(word, &mut values);
        }
        values
    }

    /// The arguments that a word becomes.
    pub(super) fn add_fields(&mut self, word: &'t Word, values: &mut Vec<Value>) {
        if !self.spend(1) {
            return;
        }
        if let [Piece::Text { text, .. }] = word.pieces.as_slice() {
            let mut value = Value::default();
            self.push_with_holes(&mut value, text);
            self.spend_bytes(text.len());
            values.push(value);
            return;
        }
        for pieces in self.without_braces(&word.pieces) {
            let mut fields = Fields::default();
            for bit in pieces {
                match bit {
                    Bit::Piece(piece) => self.piece(piece, Mode::Fields, &mut fields),
                    Bit::Counted(text) => fields.current().push_text(&text),
                }
            }
            values.append(&mut fields.finish());
        }
    }

    /// The one value of a word that is neither split nor matched with names.
    pub(super) fn text(&mut self, word: &'t Word) -> Value {
        self.one(word, Mode::Text)
    }

    /// A word that is a pattern.
    pub(super) fn pattern(&mut self, word: &'t Word) -> Value {
        self.one(word, Mode::Pattern)
    }

    fn one(&mut self, word: &'t Word, mode: Mode) -> Value {
        let mut fields = Fields::default();
        fields.current();
        for piece in &word.pieces {
            self.piece(piece, mode, &mut fields);
        }
        let mut value = fields.finish().into_iter().next().unwrap_or_default();
        let size = value.size();
        self.spend_bytes(size);
        if size > limits::VALUE_BYTES {
            self.partial(super::Reason::Limit("value"));
            value = Value::unknown(Unknown::Anything);
        }
        value
    }

    fn piece(&mut self, piece: &'t Piece, mode: Mode, fields: &mut Fields) {
        if !self.spend(1) {
            return;
        }
        match piece {
            Piece::Text { text, .. } => {
                self.spend_bytes(text.len());
                self.push_with_holes(fields.current(), text);
            }
            Piece::Wildcard(sign) => push_sign(fields, mode, &sign.to_string()),
            Piece::Bracket(inner) => push_sign(fields, mode, &format!("[{inner}]")),
            Piece::Extended(sign, words) => {
                let words: Vec<String> = words.iter().map(|word| self.pattern(word).to_string()).collect();
                push_sign(fields, mode, &format!("{sign}({})", words.join("|")));
            }
            Piece::Tilde(name) => {
                let home = self.home_of(name);
                fields.current().append(&home);
            }
            Piece::Braces(words) => {
                // Only in arguments are there lists; elsewhere the first is as good as any.
                if let Some(word) = words.first() {
                    let value = self.nested(|walker| walker.text(word));
                    fields.current().append(&value);
                }
            }
            Piece::Range { from, .. } => fields.current().push_text(from),
            Piece::Parameter(parameter) => {
                let expansion = self.nested(|walker| walker.parameter(parameter));
                self.push_expansion(expansion, parameter.quoted, mode, fields);
            }
            Piece::Substitution { script, quoted } => {
                let value = self.nested(|walker| walker.substitute(script));
                self.push_expansion(Expansion::One(value), *quoted, mode, fields);
            }
            Piece::Process { writes, script } => {
                let value = self.nested(|walker| walker.process(*writes, script));
                fields.current().append(&value);
            }
            Piece::Arithmetic(word) => {
                let value = self.nested(|walker| walker.arithmetic(word));
                fields.current().append(&value);
            }
            Piece::Array(elements) => {
                for (_, word) in elements {
                    let value = self.nested(|walker| walker.text(word));
                    fields.current().append(&value);
                }
            }
        }
    }

    fn push_expansion(&mut self, expansion: Expansion, quoted: bool, mode: Mode, fields: &mut Fields) {
        let values = match expansion {
            Expansion::One(value) => return self.push_value(&value, quoted, mode, fields),
            Expansion::Many(values) => values,
        };
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                match mode {
                    Mode::Fields => fields.cut(),
                    Mode::Text | Mode::Pattern => fields.current().push_text(" "),
                }
            }
            if quoted {
                fields.current();
            }
            self.push_value(value, quoted, mode, fields);
        }
    }

    fn push_value(&mut self, value: &Value, quoted: bool, mode: Mode, fields: &mut Fields) {
        self.spend_bytes(value.size());
        match mode {
            _ if quoted => fields.current().append(value),
            Mode::Fields => {
                let separators = self.separators();
                fields.split(value, &separators);
            }
            Mode::Text => fields.current().append(value),
            Mode::Pattern => {
                for part in &value.parts {
                    match part {
                        Part::Text(text) => push_globs(fields.current(), text),
                        part => fields.current().push(part.clone()),
                    }
                }
            }
        }
    }

    /// What unquoted values are split at.
    pub(super) fn separators(&self) -> Rc<str> {
        let known = self.scope.single("IFS").and_then(Value::as_text);
        Rc::from(known.unwrap_or(USUAL_SEPARATORS))
    }

    /// `~`, `~name`, `~+` and `~-`.
    fn home_of(&mut self, name: &str) -> Value {
        let directory = match name {
            "" => return self.plain_variable("HOME"),
            "+" => return self.plain_variable("PWD"),
            "-" => return self.plain_variable("OLDPWD"),
            "root" => "/root".to_owned(),
            name if name == self.world.user => self.world.home.clone(),
            name => format!("/home/{name}"),
        };
        Value::text(directory)
    }

    /// What a substitution becomes. What runs in it does run.
    pub(super) fn substitute(&mut self, script: &'t Script) -> Value {
        if let Some(path) = file_of(script) {
            return self.contents(path);
        }
        let first = self.count();
        let (mut value, _) = self.capture(script);
        trim_newlines(&mut value);
        self.listed_since(&value, first).unwrap_or(value)
    }

    /// One of the files that programs list of which nobody knows what else they print.
    fn listed_since(&mut self, printed: &Value, first: usize) -> Option<Value> {
        let unknown = matches!(
            printed.parts.as_slice(),
            [Part::Unknown(Unknown::Anything | Unknown::Processes)]
        );
        let values = searched(self.since(first), self.world).filter(|_| unknown)?;
        Some(self.choose_value(values))
    }

    /// What commands print, and whether somebody printed of whom nobody knows what.
    fn capture(&mut self, script: &'t Script) -> (Value, bool) {
        let outer = self.scope.clone();
        let first = self.count();
        self.scope.printed = Rc::default();
        self.scope.io.stdout = Out::Captured;
        self.script(script);
        let printed = std::mem::replace(&mut self.scope, outer).printed;
        let Printed { mut value, opaque } = Rc::unwrap_or_clone(printed);
        if opaque {
            let kind = self.kind_since(first);
            for part in &mut value.parts {
                if *part == Part::Unknown(Unknown::Anything) {
                    *part = Part::Unknown(kind);
                }
            }
        }
        (value, opaque)
    }

    /// What kind of thing the programs print that were found since.
    pub(super) fn kind_since(&mut self, first: usize) -> Unknown {
        let count = self.count();
        self.spend(work(self.since(first.max(count.saturating_sub(limits::STAGES)))));
        let found = self.since(first);
        let last = found
            .get(found.len().saturating_sub(limits::STAGES)..)
            .unwrap_or_default();
        output_of(last, self.world)
    }

    /// `$(< file)`
    fn contents(&mut self, path: &'t Word) -> Value {
        let path = self.text(path);
        if let Some(mut value) = self.written(&path) {
            trim_newlines(&mut value);
            return value;
        }
        let first = self.count();
        self.report_read(path);
        Value::unknown(self.kind_since(first))
    }

    /// `<(…)` and `>(…)`: the name of a file, and what stands in it is remembered if it is known.
    fn process(&mut self, writes: bool, script: &'t Script) -> Value {
        let path = format!("/dev/fd/{}", 63 + self.count());
        if writes {
            // `tee >(…)`: it is fed with what the command itself reads.
            self.apart(|walker| walker.script(script));
            let stdin = Rc::clone(&self.scope.io.stdin);
            self.readers.push((path.clone(), script, stdin));
            return Value::text(path);
        }
        let first = self.count();
        let (mut value, opaque) = self.capture(script);
        let listed = self.listed_since(&value, first);
        let known = listed.is_some();
        value = listed.unwrap_or(value);
        if opaque && !known {
            let kind = value.parts.iter().find_map(|part| match part {
                Part::Unknown(kind) if *kind != Unknown::Anything => Some(*kind),
                _ => None,
            });
            return kind.map_or_else(|| Value::text(path), Value::unknown);
        }
        Rc::make_mut(&mut self.scope.files).insert(path.clone(), value);
        Value::text(path)
    }

    /// What was written to a file in this text.
    pub(crate) fn written(&mut self, path: &Value) -> Option<Value> {
        if let Some(text) = self.described(path) {
            return Some(text);
        }
        if self.scope.files.is_empty() {
            return None;
        }
        let path = self.file_named(path)?;
        self.scope.files.get(&path).cloned()
    }

    /// `/dev/fd/3`: what is read from a descriptor that was opened here.
    fn described(&self, path: &Value) -> Option<Value> {
        let path = path.as_text()?;
        let number = ["/dev/fd/", "/proc/self/fd/"]
            .iter()
            .find_map(|start| path.strip_prefix(start))?;
        let stdin = match number.parse().ok()? {
            0 => &self.scope.io.stdin,
            number => match self.scope.io.others.get(&number)? {
                Descriptor::Reads(stdin) | Descriptor::Both(stdin, _) => stdin,
                Descriptor::Writes(_) => return None,
            },
        };
        match &**stdin {
            Stdin::Text(value) => Some(value.clone()),
            Stdin::Inherited | Stdin::Pipe(_) | Stdin::File(_) => None,
        }
    }

    /// What a command reads from standard input, if that is known.
    pub(crate) fn stdin_text(&self) -> Option<&Value> {
        match &*self.scope.io.stdin {
            Stdin::Text(value) => Some(value),
            Stdin::Inherited | Stdin::Pipe(_) | Stdin::File(_) => None,
        }
    }
}

fn push_sign(fields: &mut Fields, mode: Mode, sign: &str) {
    match mode {
        Mode::Fields | Mode::Pattern => fields.current().push(Part::Pattern(sign.to_owned())),
        Mode::Text => fields.current().push_text(sign),
    }
}

/// The file of a script that is nothing but `< file`.
fn file_of(script: &Script) -> Option<&Word> {
    let [item] = script.items.as_slice() else { return None };
    let [(_, pipeline)] = item.pipelines.as_slice() else {
        return None;
    };
    let [command] = pipeline.commands.as_slice() else {
        return None;
    };
    let bare = matches!(&command.kind, CommandKind::Simple { assignments, words } if assignments.is_empty() && words.is_empty());
    match command.redirects.as_slice() {
        [redirect] if bare => match &redirect.kind {
            RedirectKind::Read(path) => Some(path),
            _ => None,
        },
        _ => None,
    }
}

/// A substitution loses the newlines at its end.
pub(super) fn trim_newlines(value: &mut Value) {
    if let Some(Part::Text(text)) = value.parts.last_mut() {
        text.truncate(text.trim_end_matches('\n').len());
        if text.is_empty() {
            value.parts.pop();
        }
    }
}
