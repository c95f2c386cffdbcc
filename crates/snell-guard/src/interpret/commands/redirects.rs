//! Redirections: which files are opened, and where commands read from and write to.

use crate::interpret::assignment::AssignMode;
use std::rc::Rc;

use crate::interpret::ShellInterpreter;
use crate::interpret::scope::{FileDescriptor, OutputSink};
use crate::invocation::{FileOpenMode, OpenedFile, StdinSource, SymbolicPart, SymbolicText, UnknownKind};
use snell_shell::{RedirectKind, ShellRedirect, ShellWord, WordPart};

impl<'t> ShellInterpreter<'t> {
    /// Applies redirections in order. Returns the files that they open.
    pub(crate) fn apply_redirects(&mut self, redirects: &'t [ShellRedirect]) -> Vec<OpenedFile> {
        let mut files = Vec::new();
        for redirect in redirects {
            if !self.spend_steps(2) {
                break;
            }
            self.apply_redirect(redirect, &mut files);
        }
        files
    }

    fn apply_redirect(&mut self, redirect: &'t ShellRedirect, files: &mut Vec<OpenedFile>) {
        // `{name}>` chooses a number, and its variable holds it.
        let number = redirect.fd.or_else(|| redirect.fd_variable.as_ref().map(|_| 10));
        if let Some(name) = &redirect.fd_variable {
            self.assign_value(name, SymbolicText::from_text("10"), AssignMode::Replace);
        }
        match &redirect.kind {
            RedirectKind::Read(path) => self.open_to_read(path, number, files),
            RedirectKind::Write(path) | RedirectKind::Clobber(path) => {
                self.open_to_write(path, number, FileOpenMode::Truncate, files);
            }
            RedirectKind::Append(path) => self.open_to_write(path, number, FileOpenMode::Append, files),
            // `>&$number`
            RedirectKind::WriteBoth(path) if self.names_descriptor(path) => self.duplicate_descriptor(path, number),
            RedirectKind::WriteBoth(path) => self.open_to_write(path, None, FileOpenMode::Truncate, files),
            RedirectKind::AppendBoth(path) => self.open_to_write(path, None, FileOpenMode::Append, files),
            RedirectKind::ReadWrite(path) => {
                self.open_to_read(path, number, files);
                if let Some(path) = files.last().map(|opened| opened.path.clone()) {
                    let others = Rc::make_mut(&mut self.scope.io.others);
                    if let Some(descriptor) = number.and_then(|number| others.get_mut(&number)) {
                        descriptor.writes = Some(OutputSink::File(Rc::new(path.clone())));
                    }
                    files.push(OpenedFile { path, mode: FileOpenMode::Append });
                }
            }
            RedirectKind::Duplicate(target) => {
                self.duplicate_descriptor(target, number);
                // A file that was opened before is reported with the command that writes to it.
                if let OutputSink::File(path) = &self.scope.io.stdout
                    && is_network_path(path)
                {
                    files.push(OpenedFile { path: (**path).clone(), mode: FileOpenMode::Append });
                }
            }
            RedirectKind::HereDocument { body, .. } => {
                let value = self.expand_text(body);
                self.set_input(number, StdinSource::Text(value));
            }
            RedirectKind::HereString(word) => {
                let mut value = self.expand_text(word);
                value.push_text("\n");
                self.set_input(number, StdinSource::Text(value));
            }
        }
    }

    /// Whether a word is a variable with the number of a descriptor, or perhaps that of a coprocess.
    fn names_descriptor(&mut self, word: &'t ShellWord) -> bool {
        let is_variable = matches!(word.parts.as_slice(), [WordPart::Parameter(_)]);
        is_variable && {
            let value = self.expand_text(word);
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            match value.as_text() {
                Some(text) if !text.is_empty() => is_number(text),
                _ => self.coprocess.is_some(),
            }
        }
    }

    fn expand_path(&mut self, word: &'t ShellWord) -> SymbolicText {
        let mut values = Vec::new();
        self.add_fields(word, &mut values);
        match values.len() {
            1 => values.remove(0),
            _ => self.expand_text(word),
        }
    }

    fn open_to_read(&mut self, path: &'t ShellWord, number: Option<u32>, files: &mut Vec<OpenedFile>) {
        let path = self.expand_path(path);
        let stdin = match self.find_written_content(&path) {
            Some(text) => StdinSource::Text(text),
            None if is_network_path(&path) => StdinSource::Text(SymbolicText::from_unknown(UnknownKind::Unseen)),
            // The file that `<(…)` names.
            None if path.contains_unknown(UnknownKind::Unseen) || path.contains_unknown(UnknownKind::Processes) => {
                StdinSource::Text(path.clone())
            }
            None => StdinSource::File(path.clone()),
        };
        self.set_input(number, stdin);
        files.push(OpenedFile { path, mode: FileOpenMode::Read });
    }

    fn open_to_write(
        &mut self,
        path: &'t ShellWord,
        number: Option<u32>,
        how: FileOpenMode,
        files: &mut Vec<OpenedFile>,
    ) {
        let path = self.expand_path(path);
        let out = match path.as_text() {
            Some("/dev/null") => OutputSink::Untracked,
            Some("/dev/stdout" | "/dev/fd/1" | "/dev/tty") => {
                // The output goes there already.
                return;
            }
            _ => {
                if how == FileOpenMode::Truncate {
                    self.truncate_file(&path);
                }
                OutputSink::File(Rc::new(path.clone()))
            }
        };
        let named = number.and_then(|number| (number > 1).then_some(number));
        match named {
            Some(number) => {
                self.set_descriptor(number, FileDescriptor { writes: Some(out), ..FileDescriptor::default() })
            }
            None => self.scope.io.stdout = out,
        }
        files.push(OpenedFile { path, mode: how });
    }

    fn set_input(&mut self, number: Option<u32>, stdin: StdinSource) {
        match number {
            None | Some(0) => self.scope.io.stdin = Rc::new(stdin),
            Some(number) => {
                self.set_descriptor(number, FileDescriptor { reads: Some(Rc::new(stdin)), ..FileDescriptor::default() })
            }
        }
    }

    fn set_descriptor(&mut self, number: u32, descriptor: FileDescriptor) {
        Rc::make_mut(&mut self.scope.io.others).insert(number, descriptor);
    }

    /// `>&2`, `<&3`, `2>&1`, `3>&-`
    fn duplicate_descriptor(&mut self, target: &'t ShellWord, number: Option<u32>) {
        let value = self.expand_text(target);
        // `>&${COPROC[1]}`
        if let Some(path) = self.coprocess.clone()
            && value.as_text().is_none_or(str::is_empty)
        {
            self.scope.io.stdout = OutputSink::File(Rc::new(path));
            return;
        }
        let Some(text) = value.as_text() else {
            if let Some(SymbolicPart::Unknown(_)) = value.parts.first() {
                self.scope.io.stdout = OutputSink::Untracked;
            }
            return;
        };
        let (mut reads, mut writes) = (None, None);
        match text.trim_end_matches('-').parse().ok() {
            Some(0) => reads = Some(Rc::clone(&self.scope.io.stdin)),
            Some(1) => writes = Some(self.scope.io.stdout.clone()),
            Some(other) => match self.scope.io.others.get(&other) {
                Some(known) => (reads, writes) = (known.reads.clone(), known.writes.clone()),
                None => writes = Some(OutputSink::Untracked),
            },
            None if number == Some(1) => writes = Some(OutputSink::Untracked),
            None => return,
        }
        if let Some(number) = number.filter(|number| *number > 1) {
            return self.set_descriptor(number, FileDescriptor { reads, writes });
        }
        // Without a number, the tree does not say whether it is read or written.
        let is_read = reads.is_some();
        if let Some(stdin) = reads.filter(|_| number != Some(1)) {
            self.scope.io.stdin = stdin;
        }
        // A connection is both; a program in a pipe only reads from it.
        let is_both =
            number.is_none() && is_read && matches!(self.scope.io.stdout, OutputSink::Pipe | OutputSink::Captured);
        if let Some(out) = writes.filter(|_| number != Some(0) && !is_both) {
            self.scope.io.stdout = out;
        }
    }
}

/// Whether bash would open a connection instead of a file.
fn is_network_path(path: &SymbolicText) -> bool {
    ["/dev/tcp/", "/dev/udp/"].iter().any(|start| path.leading_text().starts_with(start))
}
