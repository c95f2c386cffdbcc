//! Simple commands: assignments, words, redirections.

use crate::interpret::commands::CommandLookup;
use crate::interpret::{ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::invocation::SymbolicText;
use snell_shell::{AssignmentValue, ShellCommand, ShellWord, VariableAssignment, WordPart};

/// Commands whose arguments are assignments, which are not split.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl<'t> ShellInterpreter<'t> {
    pub(crate) fn run_simple(
        &mut self,
        command: &'t ShellCommand,
        assignments: &'t [VariableAssignment],
        words: &'t [ShellWord],
    ) -> ShellFlow {
        self.settle_cwd();
        let declares =
            words.first().is_some_and(|word| word.as_unquoted().is_some_and(|name| DECLARING.contains(&name)));
        let argv = if declares { self.expand_declaration_words(words) } else { self.expand_words(words) };
        if argv.is_empty() {
            assignments.iter().for_each(|assignment| self.apply_assignment(assignment));
            return self.run_redirects_only(command);
        }
        let variables = assignments
            .iter()
            .map(|assignment| (assignment.name.clone(), self.expand_assigned_value(assignment)))
            .collect();
        let io = (!command.redirects.is_empty()).then(|| self.scope.io.clone());
        let files = self.apply_redirects(&command.redirects);
        let call =
            ExpandedCommand { argv, variables, files, lookup: CommandLookup::Anything, span: command.span.clone() };
        let last = call.argv.last().cloned().unwrap_or_default();
        let lasting = call.argv.len() == 1 && call.name() == Some("exec");
        let flow = match self.choose_alias(words) {
            Some(text) => self.run_alias(&text, &call),
            None => self.run_expanded(call),
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

    fn run_redirects_only(&mut self, command: &'t ShellCommand) -> ShellFlow {
        if !command.redirects.is_empty() {
            let io = self.scope.io.clone();
            let files = self.apply_redirects(&command.redirects);
            if !files.is_empty() {
                self.report_files(files, &command.span);
            }
            self.scope.io = io;
        }
        ShellFlow::Next
    }

    /// Expands the arguments; assignments are not split. Arrays are assigned afterwards.
    fn expand_declaration_words(&mut self, words: &'t [ShellWord]) -> Vec<SymbolicText> {
        let mut argv = Vec::new();
        for word in words {
            match word.parts.as_slice() {
                [WordPart::Text { text, .. }, WordPart::Array(_)] => {
                    argv.push(SymbolicText::from_text(text.trim_end_matches(['=', '+'])));
                }
                // A brace list makes it an ordinary word.
                [WordPart::Text { text, quoted: false }, rest @ ..]
                    if text.contains('=') && !rest.iter().any(is_brace_list) =>
                {
                    let value = self.expand_text(word);
                    argv.push(value);
                }
                _ => self.add_fields(word, &mut argv),
            }
        }
        argv
    }

    fn declare_arrays(&mut self, words: &'t [ShellWord]) {
        for word in words {
            if let [WordPart::Text { text, .. }, WordPart::Array(elements)] = word.parts.as_slice() {
                let append = text.ends_with("+=");
                self.assign_array(text.trim_end_matches(['=', '+']), elements, append.into());
            }
        }
    }

    /// The value of a variable that is set for one command.
    fn expand_assigned_value(&mut self, assignment: &'t VariableAssignment) -> SymbolicText {
        match &assignment.value {
            AssignmentValue::Word(word) => self.expand_text(word),
            AssignmentValue::Array(_) => SymbolicText::default(),
        }
    }

    /// The alias of the first word, in the reading with aliases.
    fn choose_alias(&mut self, words: &'t [ShellWord]) -> Option<SymbolicText> {
        if self.scope.aliases.is_empty() {
            return None;
        }
        let name = words.first()?.as_unquoted()?;
        let text = self.scope.aliases.get(name).cloned()?;
        (self.choose_index(2) == 0).then_some(text)
    }

    fn run_alias(&mut self, text: &SymbolicText, command: &ExpandedCommand) -> ShellFlow {
        if !command.files.is_empty() {
            self.report_files(command.files.clone(), &command.span);
        }
        let mut code = text.clone();
        code.push_text(" ");
        let rest = self.quote_words(command.arguments());
        code.append(&rest);
        let aliases = std::mem::take(&mut self.scope.aliases);
        let flow = self.run_code(&code, &command.span);
        self.scope.aliases = aliases;
        flow
    }
}

fn is_brace_list(part: &WordPart) -> bool {
    matches!(part, WordPart::Braces(_) | WordPart::Range { .. })
}
