//! Words to values: the manual's section "Shell Expansions", in its order.

pub(crate) mod arithmetic;
pub(crate) mod braces;
pub(crate) mod fields;
pub(crate) mod parameter_operations;
pub(crate) mod parameters;
pub(crate) mod patterns;

use std::rc::Rc;

use super::ShellInterpreter;
use super::limits;
use super::scope::{CapturedOutput, OutputSink};
use crate::effects::classify_output;
use crate::interpret::builtins::read::estimate_work;
use crate::interpret::expansion::braces::BracePart;
use crate::interpret::expansion::fields::FieldBuilder;
use crate::interpret::expansion::parameters::ExpandedValue;
use crate::interpret::interpreter::FileReader;
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use crate::wrappers::find_listed_files;
use snell_shell::{RedirectKind, ShellCommandKind, ShellRedirect, ShellScript, ShellWord, WordPart};

/// The separators that bash splits at by default.
pub(super) const DEFAULT_IFS: &str = " \t\n";

/// How a word is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpansionMode {
    /// As arguments: it is split, and patterns match file names.
    Fields,
    /// As a value: it stays one text.
    Text,
    /// As a pattern: it stays one text, and its unquoted parts are special.
    Pattern,
}

impl<'t> ShellInterpreter<'t> {
    /// The arguments that some words expand to.
    pub(super) fn expand_words(&mut self, words: &'t [ShellWord]) -> Vec<SymbolicText> {
        let mut values = Vec::with_capacity(words.len());
        for word in words {
            self.add_fields(word, &mut values);
        }
        values
    }

    /// Adds the arguments that a word expands to.
    pub(super) fn add_fields(&mut self, word: &'t ShellWord, values: &mut Vec<SymbolicText>) {
        if !self.spend_steps(1) {
            return;
        }
        if let [WordPart::Text { text, .. }] = word.parts.as_slice() {
            let mut value = SymbolicText::default();
            self.push_decoding_unknowns(&mut value, text);
            self.spend_bytes(text.len());
            values.push(value);
            return;
        }
        for pieces in self.expand_braces(&word.parts) {
            let mut fields = FieldBuilder::default();
            for bit in pieces {
                match bit {
                    BracePart::Piece(piece) => self.expand_part(piece, ExpansionMode::Fields, &mut fields),
                    BracePart::RangeItem(text) => fields.current_field().push_text(&text),
                }
            }
            values.append(&mut fields.finish());
        }
    }

    /// The value of a word, neither split nor matched with file names.
    pub(super) fn expand_text(&mut self, word: &'t ShellWord) -> SymbolicText {
        self.expand_single(word, ExpansionMode::Text)
    }

    /// The value of a word as a pattern.
    pub(super) fn expand_pattern(&mut self, word: &'t ShellWord) -> SymbolicText {
        self.expand_single(word, ExpansionMode::Pattern)
    }

    fn expand_single(&mut self, word: &'t ShellWord, mode: ExpansionMode) -> SymbolicText {
        let mut fields = FieldBuilder::default();
        fields.current_field();
        for piece in &word.parts {
            self.expand_part(piece, mode, &mut fields);
        }
        let mut value = fields.finish().into_iter().next().unwrap_or_default();
        let size = value.size();
        self.spend_bytes(size);
        if size > limits::VALUE_BYTES {
            self.mark_partial(super::CoverageGap::Limit("value"));
            value = SymbolicText::from_unknown(UnknownKind::Anything);
        }
        value
    }

    fn expand_part(&mut self, part: &'t WordPart, mode: ExpansionMode, fields: &mut FieldBuilder) {
        if !self.spend_steps(1) {
            return;
        }
        match part {
            WordPart::Text { text, .. } => {
                self.spend_bytes(text.len());
                self.push_decoding_unknowns(fields.current_field(), text);
            }
            WordPart::Wildcard(sign) => push_sign(fields, mode, &sign.to_string()),
            WordPart::Bracket(inner) => push_sign(fields, mode, &format!("[{inner}]")),
            WordPart::Extended(sign, words) => {
                let words: Vec<String> = words.iter().map(|word| self.expand_pattern(word).to_string()).collect();
                push_sign(fields, mode, &format!("{sign}({})", words.join("|")));
            }
            WordPart::Tilde(name) => {
                let home = self.expand_tilde(name);
                fields.current_field().append(&home);
            }
            WordPart::Braces(words) => {
                // Only arguments have several words; elsewhere the first one is enough.
                if let Some(word) = words.first() {
                    let value = self.with_nesting(|walker| walker.expand_text(word));
                    fields.current_field().append(&value);
                }
            }
            WordPart::Range { from, .. } => fields.current_field().push_text(from),
            WordPart::Parameter(parameter) => {
                let expansion = self.with_nesting(|walker| walker.expand_parameter(parameter));
                self.push_expansion(expansion, parameter.quoted, mode, fields);
            }
            WordPart::Substitution { script, quoted } => {
                let value = self.with_nesting(|walker| walker.expand_substitution(script));
                self.push_expansion(ExpandedValue::One(value), *quoted, mode, fields);
            }
            WordPart::Process { writes, script } => {
                let value = self.with_nesting(|walker| walker.expand_process_substitution(*writes, script));
                fields.current_field().append(&value);
            }
            WordPart::Arithmetic(word) => {
                let value = self.with_nesting(|walker| walker.expand_arithmetic(word));
                fields.current_field().append(&value);
            }
            WordPart::Array(elements) => {
                for (_, word) in elements {
                    let value = self.with_nesting(|walker| walker.expand_text(word));
                    fields.current_field().append(&value);
                }
            }
        }
    }

    fn push_expansion(
        &mut self,
        expansion: ExpandedValue,
        quoted: bool,
        mode: ExpansionMode,
        fields: &mut FieldBuilder,
    ) {
        let values = match expansion {
            ExpandedValue::One(value) => return self.push_value(&value, quoted, mode, fields),
            ExpandedValue::Many(values) => values,
        };
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                match mode {
                    ExpansionMode::Fields => fields.end_field(),
                    ExpansionMode::Text | ExpansionMode::Pattern => fields.current_field().push_text(" "),
                }
            }
            if quoted {
                fields.current_field();
            }
            self.push_value(value, quoted, mode, fields);
        }
    }

    fn push_value(&mut self, value: &SymbolicText, quoted: bool, mode: ExpansionMode, fields: &mut FieldBuilder) {
        self.spend_bytes(value.size());
        match mode {
            _ if quoted => fields.current_field().append(value),
            ExpansionMode::Fields => {
                let separators = self.field_separators();
                fields.push_split(value, &separators);
            }
            ExpansionMode::Text => fields.current_field().append(value),
            ExpansionMode::Pattern => fields.current_field().append_globs(value),
        }
    }

    /// The separators for unquoted values.
    pub(super) fn field_separators(&self) -> Rc<str> {
        let known = self.scope.single_value("IFS").and_then(SymbolicText::as_text);
        Rc::from(known.unwrap_or(DEFAULT_IFS))
    }

    /// `~`, `~name`, `~+` and `~-`.
    fn expand_tilde(&mut self, name: &str) -> SymbolicText {
        let directory = match name {
            "" => return self.read_variable("HOME"),
            "+" => return self.read_variable("PWD"),
            "-" => return self.read_variable("OLDPWD"),
            "root" => "/root".to_owned(),
            name if name == self.world.user => self.world.home.clone(),
            name => format!("/home/{name}"),
        };
        SymbolicText::from_text(directory)
    }

    /// The value of a command substitution. Its commands run.
    pub(super) fn expand_substitution(&mut self, script: &'t ShellScript) -> SymbolicText {
        if let Some(path) = match_file_read(script) {
            return self.expand_file_contents(path);
        }
        let first = self.invocation_count();
        let (mut value, _) = self.capture_output(script);
        trim_newlines(&mut value);
        self.choose_listed_file(&value, first).unwrap_or(value)
    }

    /// One of the files that programs list, if the rest of their output is unknown.
    fn choose_listed_file(&mut self, printed: &SymbolicText, first: usize) -> Option<SymbolicText> {
        let unknown =
            matches!(printed.parts.as_slice(), [SymbolicPart::Unknown(UnknownKind::Anything | UnknownKind::Processes)]);
        let values = find_listed_files(self.invocations_since(first), self.world).filter(|_| unknown)?;
        Some(self.choose_value(values))
    }

    /// The output of a command substitution, and whether part of it is unknown.
    fn capture_output(&mut self, script: &'t ShellScript) -> (SymbolicText, bool) {
        let outer = self.scope.clone();
        let first = self.invocation_count();
        self.scope.printed = Rc::default();
        self.scope.io.stdout = OutputSink::Captured;
        self.run_script(script);
        let printed = std::mem::replace(&mut self.scope, outer).printed;
        let CapturedOutput { mut value, opaque } = Rc::unwrap_or_clone(printed);
        if opaque {
            let kind = self.classify_output_since(first);
            for part in &mut value.parts {
                if *part == SymbolicPart::Unknown(UnknownKind::Anything) {
                    *part = SymbolicPart::Unknown(kind);
                }
            }
        }
        (value, opaque)
    }

    /// The kind of output of the programs found since `first`.
    pub(super) fn classify_output_since(&mut self, first: usize) -> UnknownKind {
        let count = self.invocation_count();
        self.spend_steps(estimate_work(self.invocations_since(first.max(count.saturating_sub(limits::STAGES)))));
        let found = self.invocations_since(first);
        let last = found.get(found.len().saturating_sub(limits::STAGES)..).unwrap_or_default();
        classify_output(last, self.world)
    }

    /// `$(< file)`
    fn expand_file_contents(&mut self, path: &'t ShellWord) -> SymbolicText {
        let path = self.expand_text(path);
        if let Some(mut value) = self.find_written_content(&path) {
            trim_newlines(&mut value);
            return value;
        }
        let first = self.invocation_count();
        self.report_file_read(path);
        SymbolicText::from_unknown(self.classify_output_since(first))
    }

    /// `<(…)` and `>(…)`: the name of a file whose contents are kept if they are known.
    fn expand_process_substitution(&mut self, writes: bool, script: &'t ShellScript) -> SymbolicText {
        let path = format!("/dev/fd/{}", 63 + self.invocation_count());
        if writes {
            // `tee >(…)`: its input is that of the command.
            self.run_in_subshell(|walker| walker.run_script(script));
            let stdin = Rc::clone(&self.scope.io.stdin);
            self.readers.push((path.clone(), FileReader::Script(script), stdin));
            return SymbolicText::from_text(path);
        }
        let first = self.invocation_count();
        let (mut value, opaque) = self.capture_output(script);
        let listed = self.choose_listed_file(&value, first);
        let known = listed.is_some();
        value = listed.unwrap_or(value);
        if opaque && !known {
            let kind = value.parts.iter().find_map(|part| match part {
                SymbolicPart::Unknown(kind) if *kind != UnknownKind::Anything => Some(*kind),
                _ => None,
            });
            return kind.map_or_else(|| SymbolicText::from_text(path), SymbolicText::from_unknown);
        }
        Rc::make_mut(&mut self.scope.files).insert(path.clone(), value);
        SymbolicText::from_text(path)
    }

    /// The contents that this text wrote to a file.
    pub(crate) fn find_written_content(&mut self, path: &SymbolicText) -> Option<SymbolicText> {
        if let Some(text) = self.read_descriptor_text(path) {
            return Some(text);
        }
        if self.scope.files.is_empty() {
            return None;
        }
        let path = self.resolve_file_name(path)?;
        self.scope.files.get(&path).cloned()
    }

    /// `/dev/fd/3`: the input of a descriptor that this text opened.
    fn read_descriptor_text(&self, path: &SymbolicText) -> Option<SymbolicText> {
        let path = path.as_text()?;
        let number = ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|start| path.strip_prefix(start))?;
        let stdin = match number.parse().ok()? {
            0 => &self.scope.io.stdin,
            number => self.scope.io.others.get(&number)?.reads.as_ref()?,
        };
        stdin.as_text().cloned()
    }

    /// The text of standard input, if it is known.
    pub(crate) fn stdin_text(&self) -> Option<&SymbolicText> {
        self.scope.io.stdin.as_text()
    }
}

fn push_sign(fields: &mut FieldBuilder, mode: ExpansionMode, sign: &str) {
    match mode {
        ExpansionMode::Fields | ExpansionMode::Pattern => {
            fields.current_field().push(SymbolicPart::Pattern(sign.to_owned()))
        }
        ExpansionMode::Text => fields.current_field().push_text(sign),
    }
}

/// The file of a script that consists of `< file`.
fn match_file_read(script: &ShellScript) -> Option<&ShellWord> {
    let (_, command) = script.single_command()?;
    let bare = matches!(&command.kind, ShellCommandKind::Simple { assignments, words } if assignments.is_empty() && words.is_empty());
    match command.redirects.as_slice() {
        [ShellRedirect { kind: RedirectKind::Read(path), .. }] if bare => Some(path),
        _ => None,
    }
}

/// A substitution drops trailing newlines.
pub(super) fn trim_newlines(value: &mut SymbolicText) {
    if let Some(SymbolicPart::Text(text)) = value.parts.last_mut() {
        text.truncate(text.trim_end_matches('\n').len());
        if text.is_empty() {
            value.parts.pop();
        }
    }
}
