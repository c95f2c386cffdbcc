//! Programs that run programs: the programs that they run are analysed in their place.
//!
//! The wrappers are data (`data/wrappers.toml`); the modules here have what no table can express.

mod args;
mod build_files;
mod containers;
mod editors;
mod embedded_scripts;
mod fanout;
mod file_lists;
mod file_search;
mod git;
mod interpreter_code;
mod options;
mod shells;
mod table;
mod unknown_programs;
mod windows_shells;
mod written_files;

use std::rc::Rc;

pub(crate) use build_files::{follow_build_files, reads_build_file};
pub(crate) use fanout::MAX_FANOUT_ITEMS;

use args::WrapperArgs;
pub(crate) use file_lists::{FindTests, find_listed_files};
pub(crate) use file_search::find_own_files;
pub(crate) use options::follow_code_variables;
use table::{WRAPPERS, WrapperMode, WrapperSpec};

use crate::interpret::{
    ExpandedCommand, ShellFlow, ShellInterpreter, build_program_copy, is_installed_program, join_words,
    quote_shell_word,
};
use crate::invocation::{OpenedFile, StdinSource, SymbolicText, UnknownKind, base_name};
use crate::programs;
use snell_shell::is_variable_name;

/// The names of all programs that run programs.
pub(crate) fn wrapper_names() -> impl Iterator<Item = &'static str> {
    table::NAMES.iter().map(|(name, _)| *name)
}

/// Whether a program of this name runs others.
pub(crate) fn is_wrapper(name: &str) -> bool {
    !table::find_wrappers(name).is_empty()
}

/// The first of these wrappers that runs its command as another user.
pub(crate) fn find_privileged_wrapper(via: &[String]) -> Option<&'static str> {
    via.iter().find_map(|written| {
        let (name, entries) = table::find_named_wrappers(written.split(' ').next()?)?;
        let is_privileged = |at: &usize| WRAPPERS.get(*at).is_some_and(|wrapper| wrapper.privileged);
        entries.iter().any(is_privileged).then_some(name)
    })
}

/// The arguments for the wrapper itself, without the command that it runs.
pub(crate) fn own_arguments(argv: &[SymbolicText]) -> &[SymbolicText] {
    use WrapperMode::{AfterDashes, Code, EachIsCode, Package, Words};
    let name = argv.first().and_then(SymbolicText::as_text).unwrap_or_default();
    let runs_words = |runs| matches!(runs, Words | Code | AfterDashes | Package | EachIsCode);
    let end = match find_use(name, argv).filter(|(wrapper, _)| runs_words(wrapper.runs)) {
        Some((wrapper, args)) => (args.operands_start + wrapper.operands).min(argv.len()),
        None => argv.len(),
    };
    argv.get(1..end).or_else(|| argv.get(1..)).unwrap_or_default()
}

/// The first entry of this name whose words match the arguments.
fn find_use(name: &str, argv: &[SymbolicText]) -> Option<(&'static WrapperSpec, WrapperArgs)> {
    let mut entries = table::find_wrappers(name).iter().filter_map(|at| WRAPPERS.get(*at));
    entries.find_map(|wrapper| Some((wrapper, WrapperArgs::parse(wrapper, argv)?)))
}

/// Analyses the command of a wrapper; `None` if the program is not one.
pub(crate) fn follow_wrapper<'t>(
    interpreter: &mut ShellInterpreter<'t>,
    command: &mut ExpandedCommand,
) -> Option<ShellFlow> {
    normalize_program_name(command);
    options::add_outer_options(interpreter, command);
    note_program_copy(interpreter, command);
    let name = command.name()?;
    if let Some(found) = find_written_program(interpreter, command, name) {
        command.argv.splice(..1, [found]);
    }
    note_batch_script(interpreter, command);
    let name = command.name()?;
    if name.contains('/') && shells::follow_written_script(interpreter, command) {
        return Some(ShellFlow::Next);
    }
    let Some((wrapper, args)) = find_use(name, &command.argv) else {
        return unknown_programs::follow_unknown_program(interpreter, command);
    };
    if args.has_flag(wrapper.refuse) {
        return None;
    }
    let via = std::iter::once(base_name(name)).chain(args.words.iter().map(String::as_str));
    let via = via.collect::<Vec<_>>().join(" ");
    let job = WrapperCall { wrapper, args, via, call: command };
    match wrapper.runs {
        WrapperMode::Shell => return shells::follow_shell(interpreter, &job),
        WrapperMode::PowerShell => return windows_shells::follow_powershell(interpreter, &job),
        WrapperMode::Batch => return windows_shells::follow_batch(interpreter, &job),
        WrapperMode::Env => return job.follow_env(interpreter),
        WrapperMode::Xargs => fanout::follow_xargs(interpreter, &job),
        WrapperMode::Parallel => fanout::follow_parallel(interpreter, &job),
        WrapperMode::Find => fanout::follow_find(interpreter, &job),
        WrapperMode::Fd => fanout::follow_fd(interpreter, &job),
        WrapperMode::Git => git::follow_git(interpreter, &job),
        WrapperMode::Awk => embedded_scripts::follow_awk(interpreter, &job),
        WrapperMode::Sed => embedded_scripts::follow_sed(interpreter, &job),
        WrapperMode::Editor => editors::follow_editor(interpreter, &job),
        WrapperMode::Client => editors::follow_client(interpreter, &job),
        WrapperMode::Make => embedded_scripts::follow_make(interpreter, &job),
        WrapperMode::Daemon => job.follow_daemon(interpreter),
        WrapperMode::Keys => embedded_scripts::follow_terminal_keys(interpreter, &job),
        WrapperMode::Crontab => embedded_scripts::follow_crontab(interpreter, &job),
        WrapperMode::Nothing
        | WrapperMode::Words
        | WrapperMode::Code
        | WrapperMode::AfterDashes
        | WrapperMode::Package
        | WrapperMode::EachIsCode => return job.follow_table_entry(interpreter),
    }
    Some(ShellFlow::Next)
}

/// A call of a wrapper.
pub(super) struct WrapperCall<'c> {
    wrapper: &'static WrapperSpec,
    args: WrapperArgs,
    via: String,
    call: &'c ExpandedCommand,
}

impl<'t> WrapperCall<'_> {
    /// Applies the wrapper's entry in the table.
    fn follow_table_entry(&self, interpreter: &mut ShellInterpreter<'t>) -> Option<ShellFlow> {
        let at = if self.wrapper.keep { self.report_program(interpreter) } else { None };
        let written = self.wrapper.writes.iter().flat_map(|flags| self.args.flag_values(flags));
        self.report_files(interpreter, written.cloned().map(OpenedFile::truncated).collect());
        let mut ran = self.follow_code_flags(interpreter);
        ran |= interpreter_code::report_interpreter_code(interpreter, self, at);
        let (assignments, rest) = self.split_wrapped_words();
        let mut rest: Vec<SymbolicText> =
            containers::find_entrypoint(self).into_iter().chain(rest.iter().cloned()).collect();
        if self.wrapper.runs == WrapperMode::Package
            && let Some(at) = find_dashes(&rest)
        {
            rest.remove(at);
        }
        // `bwrap --bind / / program`: some of its flags have two values.
        if self.via.ends_with("bwrap") && rest.first().is_some_and(|word| word.leading_text().starts_with('/')) {
            rest.drain(..rest.iter().take_while(|word| word.leading_text().starts_with(['/', '-'])).count());
        }
        ran |= !rest.is_empty();
        match self.wrapper.runs {
            _ if rest.is_empty() => {}
            WrapperMode::Code => self.run_code(interpreter, &join_words(&rest)),
            WrapperMode::EachIsCode => rest.iter().for_each(|code| self.run_code(interpreter, code)),
            _ => self.run_words(interpreter, rest, assignments),
        }
        let reads = self.wrapper.stdin && !ran;
        if let Some(text) = interpreter.stdin_text().filter(|_| reads).cloned() {
            self.run_code(interpreter, &text);
            ran = true;
        }
        (ran || self.wrapper.keep).then_some(ShellFlow::Next)
    }

    /// Reports files that are opened for this call or by it.
    fn report_files(&self, interpreter: &mut ShellInterpreter<'t>, files: Vec<OpenedFile>) {
        if !files.is_empty() {
            interpreter.report_files(files, &self.call.span);
        }
    }

    /// The words after its flags.
    fn operands(&self) -> &[SymbolicText] {
        self.call.argv.get(self.args.operands_start..).unwrap_or_default()
    }

    /// Reports the wrapper itself.
    fn report_program(&self, interpreter: &mut ShellInterpreter<'t>) -> Option<usize> {
        interpreter.run_program(self.call.clone())
    }

    /// Analyses the values of flags that are shell code. These run here, wherever the rest runs.
    fn follow_code_flags(&self, interpreter: &mut ShellInterpreter<'t>) -> bool {
        let mut ran = false;
        for (spellings, prefixes) in self.wrapper.code {
            let values: Vec<SymbolicText> = self.args.flag_values(spellings).cloned().collect();
            for value in values {
                let code = if prefixes.is_empty() { Some(value.clone()) } else { strip_code_prefix(&value, prefixes) };
                if let Some(code) = code {
                    // `gcc -wrapper program,argument`
                    let code = if spellings.contains(&"-wrapper") { split_commas(&code) } else { code };
                    let elsewhere = self.wrapper.elsewhere && self.wrapper.runs == WrapperMode::Nothing;
                    self.run_inside(interpreter, elsewhere, |walker| walker.run_code(&code, &self.call.span));
                    ran = true;
                }
            }
        }
        ran
    }

    /// The assignments and words of the wrapped command.
    fn split_wrapped_words(&self) -> (Vec<(String, SymbolicText)>, &[SymbolicText]) {
        let argv = &self.call.argv;
        let mut at = self.args.operands_start;
        if matches!(self.wrapper.runs, WrapperMode::Nothing) {
            at = argv.len();
        }
        let mut assignments = Vec::new();
        if self.wrapper.assignments {
            while let Some((name, value)) = argv.get(at).and_then(parse_assignment) {
                assignments.push((name, value));
                at += 1;
            }
        }
        at += self.wrapper.operands;
        let rest = argv.get(at..).unwrap_or_default();
        let rest = match (self.wrapper.runs, find_dashes(rest)) {
            (WrapperMode::AfterDashes, Some(dashes)) => rest.get(dashes + 1..).unwrap_or_default(),
            (WrapperMode::Code, Some(0)) => rest.get(1..).unwrap_or_default(),
            _ => rest,
        };
        (assignments, rest)
    }

    /// `start-stop-daemon --exec program -- arguments`
    fn follow_daemon(&self, interpreter: &mut ShellInterpreter<'t>) {
        const PROGRAM_FLAGS: &[&str] = &["-x", "--exec", "-a", "--startas"];
        // All words after these are the command.
        const COMMAND_FLAGS: &[&str] = &["-c", "--command"];
        self.report_program(interpreter);
        let arguments = self.call.arguments();
        let is_flag = |word: &SymbolicText| word.as_text().is_some_and(|text| PROGRAM_FLAGS.contains(&text));
        let program = arguments.iter().position(is_flag).and_then(|at| arguments.get(at + 1));
        let is_command = |word: &SymbolicText| word.as_text().is_some_and(|text| COMMAND_FLAGS.contains(&text));
        if let Some(at) = arguments.iter().position(is_command).filter(|_| self.via.starts_with("nix")) {
            return self.run_words(interpreter, arguments.get(at + 1..).unwrap_or_default().to_vec(), Vec::new());
        }
        let after = find_dashes(arguments).and_then(|at| arguments.get(at + 1..)).unwrap_or_default();
        self.run_words(interpreter, program.into_iter().chain(after).cloned().collect(), Vec::new());
    }

    /// `env`: `-S` splits a text into words.
    fn follow_env(&self, interpreter: &mut ShellInterpreter<'t>) -> Option<ShellFlow> {
        const SPLIT_FLAGS: &[&str] = &["-S", "--split-string"];
        let argv = &self.call.argv;
        let at = argv.iter().position(|value| {
            let text = value.leading_text();
            SPLIT_FLAGS.iter().any(|flag| text.starts_with(flag))
                || text.starts_with("-vS")
                || text.starts_with("-iS")
                || text.starts_with("--s")
        });
        let (assignments, rest) = self.split_wrapped_words();
        let Some(at) = at.filter(|at| *at < argv.len() - rest.len() || *at < self.args.operands_start) else {
            if rest.is_empty() {
                return None;
            }
            self.run_words(interpreter, rest.to_vec(), assignments);
            return Some(ShellFlow::Next);
        };
        let flag = argv.get(at)?;
        let text = flag.leading_text();
        let start =
            if text.starts_with("--") { text.find('=').map(|at| at + 1) } else { text.find('S').map(|at| at + 1) };
        let glued = start.filter(|start| *start < text.len() || flag.parts.len() > 1);
        let (mut code, next) = match glued {
            Some(start) => (flag.skip_leading_bytes(start), at + 1),
            None => (argv.get(at + 1).cloned().unwrap_or_default(), at + 2),
        };
        // `\_` is a blank in the text, also inside a word.
        if let Some(text) = code.as_text().filter(|text| text.contains("\\_")) {
            code = SymbolicText::from_text(text.replace("\\_", " "));
        }
        code.push_text(" ");
        let rest = interpreter.quote_words(argv.get(next..).unwrap_or_default());
        code.append(&rest);
        self.run_code(interpreter, &code);
        Some(ShellFlow::Next)
    }

    /// Runs a program with its arguments.
    fn run_words(
        &self,
        interpreter: &mut ShellInterpreter<'t>,
        mut words: Vec<SymbolicText>,
        assignments: Vec<(String, SymbolicText)>,
    ) {
        let code_follows =
            |flags: &[&str]| words.first().and_then(SymbolicText::as_text).is_some_and(|word| flags.contains(&word));
        if self.wrapper.operands > 0 && self.wrapper.code.iter().any(|(flags, _)| code_follows(flags)) {
            let code = words.get(1).cloned().unwrap_or_default();
            return self.run_code(interpreter, &code);
        }
        if self.wrapper.runs == WrapperMode::Words && words.first().and_then(SymbolicText::as_text) == Some("--") {
            words.remove(0);
        }
        // A single word with blanks is a text for a shell: `hatch run 'pytest -q'`.
        let tries_shell = matches!(self.wrapper.runs, WrapperMode::AfterDashes | WrapperMode::Package);
        if let [code] = words.as_slice()
            && tries_shell
            && code.leading_text().contains(' ')
        {
            let code = code.clone();
            return self.run_code(interpreter, &code);
        }
        if words.is_empty() {
            return;
        }
        let mut inner = self.call.with_argv(words);
        inner.variables.extend(assignments);
        if self.wrapper.elsewhere {
            // The files were opened for the wrapper, which is already reported.
            inner.files.clear();
        }
        self.run_inside(interpreter, self.wrapper.elsewhere, |walker| walker.run_expanded(inner));
    }

    /// Runs shell code.
    fn run_code(&self, interpreter: &mut ShellInterpreter<'t>, code: &SymbolicText) {
        if !self.wrapper.keep {
            self.report_files(interpreter, self.call.files.clone());
        }
        self.run_inside(interpreter, self.wrapper.elsewhere, |walker| walker.run_code(code, &self.call.span));
    }

    /// Runs something through this wrapper.
    fn run_inside(
        &self,
        interpreter: &mut ShellInterpreter<'t>,
        elsewhere: bool,
        run: impl FnOnce(&mut ShellInterpreter<'t>) -> ShellFlow,
    ) {
        let directory =
            self.wrapper.cwd_flags.iter().flat_map(|spellings| self.args.flag_values(spellings)).last().cloned();
        let container = elsewhere.then(|| containers::build_container(interpreter, self));
        interpreter.run_via(&self.via, |walker| {
            let around = Rc::make_mut(&mut walker.context);
            around.privileged |= self.wrapper.privileged;
            around.elsewhere |= elsewhere;
            if elsewhere {
                around.container = container;
            }
            walker.run_in_subshell(|walker| {
                if elsewhere {
                    walker.enter_directory(&SymbolicText::from_unknown(UnknownKind::Anything));
                }
                if let Some(directory) = directory {
                    walker.enter_directory(&directory);
                }
                run(walker)
            });
            ShellFlow::Next
        });
    }
}

/// A script of cmd that this text wrote, as code of cmd.
fn note_batch_script(interpreter: &mut ShellInterpreter<'_>, command: &mut ExpandedCommand) {
    let is_batch = |name: &str| [".bat", ".cmd"].iter().any(|ending| name.ends_with(ending));
    let script = command.argv.first().filter(|name| is_batch(name.leading_text()));
    if let Some(content) = script.and_then(|script| interpreter.find_written_content(script)) {
        command.argv = vec![SymbolicText::from_text("cmd"), SymbolicText::from_text("/c"), content];
    }
}

/// `git-push` is `git push`, and `GH.EXE` is `gh`.
fn normalize_program_name(command: &mut ExpandedCommand) {
    let Some(name) = command.name() else { return };
    let base = base_name(name);
    let ending = base.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    let is_windows = |ending: &str| ["exe", "cmd", "bat", "com"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    let words: Vec<String> = match (base.strip_prefix("git-"), ending) {
        (Some(subcommand), _) if programs::find_program(base).is_none() => vec!["git".into(), subcommand.into()],
        (None, Some((stem, ending))) if is_windows(ending) => vec![stem.to_ascii_lowercase()],
        _ => return,
    };
    // A script of the project may have any name.
    let is_known = words.first().is_some_and(|name| is_wrapper(name) || programs::find_program(name).is_some());
    if is_known && (base.len() == name.len() || name.starts_with('/')) {
        command.argv.splice(..1, words.into_iter().map(SymbolicText::from_text));
    }
}

/// `cp /bin/bash ./b`: keeps what the copy does. `mkfifo p`: keeps its name.
fn note_program_copy(interpreter: &mut ShellInterpreter<'_>, command: &ExpandedCommand) {
    const COPIERS: &[&str] = &["cp", "ln", "mv", "install", "link", "gcp", "gln"];
    let name = command.name().map(base_name).unwrap_or_default();
    let is_operand = |word: &&SymbolicText| !word.leading_text().starts_with('-');
    if name == "mkfifo" {
        return command.arguments().iter().filter(is_operand).for_each(|path| interpreter.note_fifo(path));
    }
    if !COPIERS.contains(&name) {
        return;
    }
    let operands: Vec<&SymbolicText> = command.arguments().iter().filter(is_operand).collect();
    if let [from, to] = operands.as_slice()
        && let Some(path) = from.as_text().filter(|path| !table::find_wrappers(path).is_empty())
        && (is_installed_program(path) || !path.contains('/'))
    {
        let content = build_program_copy(path);
        interpreter.truncate_file(to);
        interpreter.append_file(to, &content);
    }
}

/// The path of a program that this text wrote into a directory of `PATH`.
fn find_written_program(
    interpreter: &mut ShellInterpreter<'_>,
    command: &ExpandedCommand,
    name: &str,
) -> Option<SymbolicText> {
    const MAX_DIRECTORIES: usize = 4;
    const MAX_PATH_BYTES: usize = 1 << 10;
    if name.contains('/') || interpreter.scope.files.is_empty() {
        return None;
    }
    let own = command.variables.iter().find(|(variable, _)| variable == "PATH").map(|(_, value)| value);
    let path = own.or_else(|| interpreter.scope.single_value("PATH"))?.leading_text();
    let path = path.get(..MAX_PATH_BYTES.min(path.len()))?.to_owned();
    interpreter.spend_steps(4 * MAX_DIRECTORIES);
    let candidates = path.split(':').take(MAX_DIRECTORIES).filter(|directory| !directory.is_empty());
    let mut candidates = candidates.map(|directory| SymbolicText::from_text(format!("{directory}/{name}")));
    candidates.find(|candidate| interpreter.find_written_content(candidate).is_some())
}

/// Runs something with the agent's standard input, because the wrapper has read its own.
fn with_inherited_stdin<'t>(interpreter: &mut ShellInterpreter<'t>, run: impl FnOnce(&mut ShellInterpreter<'t>)) {
    let outer = std::mem::replace(&mut interpreter.scope.io.stdin, Rc::new(StdinSource::Inherited));
    run(interpreter);
    interpreter.scope.io.stdin = outer;
}

/// The index of the first `--`.
fn find_dashes(words: &[SymbolicText]) -> Option<usize> {
    words.iter().position(|word| word.as_text() == Some("--"))
}

/// `program,argument`: the words of a command.
fn split_commas(value: &SymbolicText) -> SymbolicText {
    let text = value.flatten_patterns().to_string();
    SymbolicText::from_text(text.split(',').map(quote_shell_word).collect::<Vec<_>>().join(" "))
}

/// The rest after one of some prefixes, in any case. After a `*`, the prefix may be anywhere.
fn strip_code_prefix(value: &SymbolicText, prefixes: &[&str]) -> Option<SymbolicText> {
    let text = value.leading_text();
    let end_of = |prefix: &&str| match prefix.strip_prefix('*') {
        None if *prefix == "¦" => text.starts_with('|').then_some(1),
        Some(mark) => text.find(mark).map(|at| at + mark.len()),
        None => {
            text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)).then_some(prefix.len())
        }
    };
    let (prefix, end) = prefixes.iter().find_map(|prefix| Some((prefix, end_of(prefix)?)))?;
    let code = value.skip_leading_bytes(end);
    match code.as_text().and_then(|text| text.strip_suffix(')')).filter(|_| prefix.ends_with('(')) {
        Some(text) => Some(SymbolicText::from_text(text)),
        None => Some(code),
    }
}

/// `NAME=value`
fn parse_assignment(value: &SymbolicText) -> Option<(String, SymbolicText)> {
    let (name, _) = value.leading_text().split_once('=')?;
    // Bash exports functions under names that are no variables.
    let is_name = is_variable_name(name) || name.strip_suffix("%%").is_some_and(is_variable_name);
    is_name.then(|| (name.to_owned(), value.skip_leading_bytes(name.len() + 1)))
}
