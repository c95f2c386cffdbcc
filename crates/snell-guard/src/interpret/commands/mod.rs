//! A command after expansion: a function, a builtin, a wrapper, or a program.

pub(crate) mod compound;
mod conditions;
mod file_copies;
pub(crate) mod functions;
pub(crate) mod infinite_loops;
pub(crate) mod pipelines;
pub(crate) mod redirects;
pub(crate) mod simple_command;

use std::rc::Rc;

use super::interpreter::FileReader;
use super::limits;
use super::result::CoverageGap;
use super::scope::OutputSink;
use super::{ShellFlow, ShellInterpreter};
use crate::interpret::expansion::patterns::ShellPattern;
use crate::invocation::{FileOpenMode, Invocation, OpenedFile, StdinSource, SymbolicPart, SymbolicText, UnknownKind};
use crate::programs;
use crate::wrappers;
use snell_shell::ByteSpan;

/// How many programs a pattern may stand for.
const MAX_CANDIDATES: usize = 16;
/// The steps that a text in a named pipe costs.
const FIFO_COST: usize = 50;
/// The steps that searching for them costs: all names are tried.
const CANDIDATES_COST: usize = 200;

/// The kinds of command that a name may refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommandLookup {
    /// A function, a builtin or a program.
    #[default]
    Anything,
    /// A builtin or a program, after `command`.
    NoFunction,
    /// A program, because another one runs it.
    Program,
}

/// A command after expansion.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpandedCommand {
    pub(crate) argv: Vec<SymbolicText>,
    /// Variables that are set only for it.
    pub(crate) variables: Vec<(String, SymbolicText)>,
    pub(crate) files: Vec<OpenedFile>,
    pub(crate) lookup: CommandLookup,
    pub(crate) span: ByteSpan,
}

impl ExpandedCommand {
    /// The name of the program, if it is known.
    pub(crate) fn name(&self) -> Option<&str> {
        self.argv.first().and_then(SymbolicText::as_text)
    }

    /// The words after the name.
    pub(crate) fn arguments(&self) -> &[SymbolicText] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// The same with other words, as a wrapper would run them.
    pub(crate) fn with_argv(&self, argv: Vec<SymbolicText>) -> Self {
        Self {
            argv,
            variables: self.variables.clone(),
            files: self.files.clone(),
            lookup: CommandLookup::Program,
            span: self.span.clone(),
        }
    }
}

impl<'t> ShellInterpreter<'t> {
    /// Runs a command.
    pub(crate) fn run_expanded(&mut self, command: ExpandedCommand) -> ShellFlow {
        if !self.spend_steps(1 + command.argv.len() / 4) {
            return ShellFlow::Exit;
        }
        let Some(name) = command.name() else {
            return self.run_unknown_program(command);
        };
        if !self.scope.functions.is_empty() && command.lookup == CommandLookup::Anything {
            let name = name.to_owned();
            if let Some(flow) = self.call_function(&name, &command) {
                return flow;
            }
        }
        self.run_with_permit_check(command, Self::run_non_function)
    }

    /// Runs a command that is not a function.
    fn run_non_function(&mut self, mut command: ExpandedCommand) -> ShellFlow {
        if command.lookup != CommandLookup::Program
            && let Some(flow) = self.run_builtin(&command)
        {
            return flow;
        }
        wrappers::follow_code_variables(self, &command);
        wrappers::follow_build_files(self, &command);
        match wrappers::follow_wrapper(self, &mut command) {
            Some(flow) => flow,
            None => {
                self.run_program(command);
                ShellFlow::Next
            }
        }
    }

    /// `$cmd x`, `/bin/r?`: it may be any program. If the first word may be empty, the second one names the program.
    fn run_unknown_program(&mut self, mut command: ExpandedCommand) -> ShellFlow {
        let Some(program) = command.argv.first() else {
            return ShellFlow::Next;
        };
        if let Some(pattern) = ShellPattern::from_value(program) {
            self.spend_steps(CANDIDATES_COST);
            let candidates = find_candidates(program, &pattern);
            // `*`: the first file of the directory. Nothing suggests one of the programs.
            let is_any = program
                .parts
                .iter()
                .all(|part| matches!(part, SymbolicPart::Pattern(text) if text.chars().all(|c| c == '*')));
            if candidates.len() > MAX_CANDIDATES {
                self.mark_partial(if is_any { CoverageGap::UnknownProgram } else { CoverageGap::Limit("candidates") });
            }
            let count = if is_any { 0 } else { MAX_CANDIDATES };
            let candidates: Vec<SymbolicText> = candidates.into_iter().take(count).collect();
            if !candidates.is_empty() {
                let name = self.choose_value(candidates);
                if let Some(first) = command.argv.first_mut() {
                    *first = name;
                }
                return self.with_depth(|walker| walker.run_expanded(command));
            }
        }
        let may_vanish = command.argv.len() > 1 && program.can_be_empty();
        if may_vanish && self.choose_index(2) == 1 {
            command.argv.remove(0);
            return self.with_depth(|walker| walker.run_expanded(command));
        }
        if command.argv.first().is_some_and(|program| program.contains_unknown(UnknownKind::Unseen)) {
            // `$(curl …)`: the same as `eval`.
            command.argv.insert(0, SymbolicText::from_text("eval"));
        }
        self.run_program(command);
        ShellFlow::Next
    }

    /// Runs a program that runs nothing else.
    pub(crate) fn run_program(&mut self, command: ExpandedCommand) -> Option<usize> {
        // `tee` writes files even if its output is not used.
        let output =
            if self.is_output_used() || command.name() == Some("tee") { self.predict_output(&command) } else { None };
        self.copy_written_files(&command);
        let at = self.report_command(command);
        if self.is_output_used() {
            self.deliver_output(output, at);
        }
        at
    }

    /// Whether the output is used.
    pub(crate) fn is_output_used(&self) -> bool {
        !matches!(self.scope.io.stdout, OutputSink::Agent | OutputSink::Untracked)
    }

    /// Reports a program.
    pub(crate) fn report_command(&mut self, command: ExpandedCommand) -> Option<usize> {
        let around = Rc::clone(&self.context);
        let stdin = (*self.scope.io.stdin).clone();
        let weight = match &stdin {
            StdinSource::Pipe(left) => left.len(),
            StdinSource::Text(text) => text.size() / super::limits::BYTES_PER_STEP,
            StdinSource::Inherited | StdinSource::File(_) => 0,
        };
        self.spend_steps(weight);
        let exported = self.list_changed_variables(&command);
        self.report_invocation(Invocation {
            argv: command.argv,
            variables: command.variables,
            exported,
            files: command.files,
            stdin,
            stdout: self.scope.io.stdout.to_stdout_target(),
            cwd: self.scope.cwd().map(str::to_owned),
            privileged: around.privileged,
            elsewhere: around.elsewhere,
            container: around.container.clone(),
            via: around.via.clone(),
            allowed: around.allowed,
            watched_by: around.watched_by.clone(),
            span: around.span.clone().unwrap_or(command.span),
        })
    }

    /// Reports files that are opened without a program.
    pub(crate) fn report_files(&mut self, files: Vec<OpenedFile>, span: &ByteSpan) {
        self.report_command(ExpandedCommand { files, span: span.clone(), ..ExpandedCommand::default() });
    }

    /// Reports a file that the shell itself reads.
    pub(super) fn report_file_read(&mut self, path: SymbolicText) {
        let files = vec![OpenedFile { path: path.clone(), mode: FileOpenMode::Read }];
        self.report_command(ExpandedCommand {
            argv: vec![SymbolicText::from_text("cat"), path],
            files,
            ..ExpandedCommand::default()
        });
    }

    /// Passes on the output of a command: this text, or unknown text.
    pub(crate) fn deliver_output(&mut self, output: Option<SymbolicText>, printed_by: Option<usize>) {
        match &self.scope.io.stdout {
            OutputSink::Agent | OutputSink::Untracked => {}
            OutputSink::Pipe | OutputSink::Captured => {
                let opaque = output.is_none();
                let value = output.unwrap_or_else(|| SymbolicText::from_unknown(UnknownKind::Anything));
                self.spend_bytes(value.size());
                let printed = Rc::make_mut(&mut self.scope.printed);
                printed.opaque |= opaque;
                if printed.value.size() + value.size() > limits::VALUE_BYTES {
                    printed.value = SymbolicText::from_unknown(UnknownKind::Anything);
                    self.mark_partial(CoverageGap::Limit("value"));
                } else {
                    printed.value.append(&value);
                }
            }
            OutputSink::File(path) => {
                let path = Rc::clone(path);
                if let Some((script, _)) = self.find_reader(&path) {
                    return self.feed_reader(script, output, printed_by);
                }
                self.spend_steps(8);
                let value = output.unwrap_or_else(|| {
                    let kind = printed_by.map_or(UnknownKind::Anything, |at| self.classify_output_since(at));
                    let mut value = SymbolicText::from_unknown(kind);
                    if let Some(script) = self.find_printed_script(printed_by) {
                        value.push_text("\n");
                        value.append(&script);
                    }
                    value
                });
                self.append_file(&path, &value);
                self.feed_fifo(&path, &value);
            }
        }
    }

    /// Keeps the name of a named pipe.
    pub(crate) fn note_fifo(&mut self, path: &SymbolicText) {
        const MAX_FIFOS: usize = 16;
        let path = self.resolve_file_name(path).filter(|_| self.fifos.len() < MAX_FIFOS);
        self.fifos.extend(path);
    }

    /// A text that goes into a named pipe: a shell at its other end would run it.
    fn feed_fifo(&mut self, path: &SymbolicText, value: &SymbolicText) {
        let is_fifo =
            !self.fifos.is_empty() && self.resolve_file_name(path).is_some_and(|path| self.fifos.contains(&path));
        if is_fifo {
            self.spend_steps(FIFO_COST);
            self.run_in_subshell(|walker| {
                walker.scope.io.stdout = OutputSink::Agent;
                walker.run_code(value, &ByteSpan::default())
            });
        }
    }

    /// The reader of a file that `>(…)` names.
    pub(super) fn find_reader(&self, path: &SymbolicText) -> Option<(FileReader<'t>, &Rc<StdinSource>)> {
        let path = path.as_text()?;
        let (_, reader, stdin) = self.readers.iter().rev().find(|(known, ..)| known == path)?;
        Some((*reader, stdin))
    }

    /// Runs the reader with this input.
    pub(super) fn feed_reader(
        &mut self,
        reader: FileReader<'t>,
        output: Option<SymbolicText>,
        printed_by: Option<usize>,
    ) {
        let stdin = match (output, printed_by) {
            (Some(value), _) => StdinSource::Text(value),
            (None, Some(at)) => StdinSource::Pipe(self.invocations_since(at).iter().take(1).cloned().collect()),
            (None, None) => StdinSource::Inherited,
        };
        // The writer may be an allowed command, but the reader is another command.
        self.with_permit(None, |walker| {
            walker.run_in_subshell(|walker| {
                walker.scope.io.stdin = Rc::new(stdin);
                walker.scope.io.stdout = OutputSink::Agent;
                walker.with_nesting(|walker| match reader {
                    FileReader::Script(script) => walker.run_script(script),
                    FileReader::Coprocess(command) => walker.run_command(command),
                })
            });
        });
    }

    /// The name under which a file's contents are kept. An unknown directory is assumed to stay the same.
    pub(super) fn resolve_file_name(&self, path: &SymbolicText) -> Option<String> {
        const SOMEWHERE: &str = "/somewhere";
        let cwd = self.scope.cwd().unwrap_or(SOMEWHERE);
        crate::paths::locate_path(path, Some(cwd), self.world).path
    }

    /// Appends to the known contents of a file.
    pub(crate) fn append_file(&mut self, path: &SymbolicText, value: &SymbolicText) {
        let Some(path) = self.resolve_file_name(path) else {
            return;
        };
        self.spend_steps(1 + self.scope.files.len() / 8);
        self.spend_bytes(value.size());
        let files = Rc::make_mut(&mut self.scope.files);
        let content = files.entry(path).or_insert_with(|| {
            let mut unseen = SymbolicText::from_unknown(UnknownKind::Anything);
            unseen.push(SymbolicPart::Text("\n".to_owned()));
            unseen
        });
        if content.size() + value.size() > limits::VALUE_BYTES {
            *content = SymbolicText::from_unknown(UnknownKind::Anything);
            self.mark_partial(CoverageGap::Limit("value"));
        } else {
            content.append(value);
        }
    }

    /// Forgets the contents of a file, because it is emptied.
    pub(crate) fn truncate_file(&mut self, path: &SymbolicText) {
        if let Some(path) = self.resolve_file_name(path) {
            self.spend_steps(1 + self.scope.files.len() / 8);
            Rc::make_mut(&mut self.scope.files).insert(path, SymbolicText::default());
        }
    }

    /// Runs code in a new shell that another program starts.
    pub(crate) fn run_code_via(&mut self, via: &str, code: &SymbolicText, span: &ByteSpan) {
        self.run_via(via, |walker| {
            walker.run_in_subshell(|walker| walker.run_code(code, span));
            ShellFlow::Next
        });
    }

    /// Runs a command through another program.
    pub(crate) fn run_via(&mut self, via: &str, run: impl FnOnce(&mut Self) -> ShellFlow) -> ShellFlow {
        let around = Rc::clone(&self.context);
        Rc::make_mut(&mut self.context).via.push(via.to_owned());
        let flow = self.with_depth(run);
        self.context = around;
        flow
    }
}

/// Programs that a pattern may stand for.
fn find_candidates(program: &SymbolicText, pattern: &ShellPattern) -> Vec<SymbolicText> {
    let written = program.to_string();
    let (directory, base) = written.rsplit_once('/').map_or(("", written.as_str()), |(before, base)| (before, base));
    // In another directory, it is a file of unknown contents.
    let is_installed = directory.is_empty()
        || directory.contains(crate::interpret::expansion::fields::GLOBS)
        || (directory.starts_with('/') && directory.ends_with("bin"));
    if !is_installed || written.ends_with(".sh") {
        return Vec::new();
    }
    let base = if directory.is_empty() {
        None
    } else {
        let mut value = SymbolicText::default();
        value.append_globs(&SymbolicText::from_text(base));
        ShellPattern::from_value(&value)
    };
    let pattern = base.as_ref().unwrap_or(pattern);
    let names = programs::NAMES.iter().map(|(name, _)| *name).chain(wrappers::wrapper_names());
    let mut found: Vec<SymbolicText> = Vec::new();
    for name in names {
        let characters: Vec<char> = name.chars().collect();
        let value = SymbolicText::from_text(name);
        if pattern.matches_text(&characters) == Some(true) && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
