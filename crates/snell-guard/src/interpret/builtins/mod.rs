//! Builtins, and what they change in the shell. They are reported as programs only if they open files or print
//! variables.

pub(crate) mod declare;
pub(crate) mod read;

use std::rc::Rc;

use super::commands::CommandLookup;
use super::limits;
use super::result::CoverageGap;
use super::scope::ShellVariable;
use super::{ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::invocation::{SymbolicText, UnknownKind};
use crate::paths::locate_path;

/// Arguments of `trap` that are not code.
const NON_CODE_TRAP_WORDS: &[&str] = &["-", "", "-l", "-p"];

/// Builtins that evaluate the subscripts in their arguments: `let 'a[$(command)]=1'`.
const EVALUATING_BUILTINS: &[&str] = &["let", "test", "[", "[[", "printf", "unset", "read", "wait"];

impl<'t> ShellInterpreter<'t> {
    /// Runs the substitutions in subscripts that were quoted before, so that the builtin evaluates them.
    fn run_subscripts(&mut self, command: &ExpandedCommand) {
        // Without `-v`, the arguments are values.
        let is_value = |flag: &SymbolicText| !flag.leading_text().starts_with('-');
        if matches!(command.name(), Some("printf" | "test" | "[")) && command.arguments().first().is_none_or(is_value) {
            return;
        }
        for argument in command.arguments().iter().filter_map(SymbolicText::as_text) {
            let substitution = argument.split_once("[$(").and_then(|(_, rest)| rest.rsplit_once(")]"));
            if let Some((code, _)) = substitution {
                let code = SymbolicText::from_text(code);
                self.run_in_subshell(|walker| walker.run_code(&code, &command.span));
            }
        }
    }

    /// Runs a builtin; `None` if it is not one, or not one that changes anything.
    pub(super) fn run_builtin(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        let name = command.name()?;
        if EVALUATING_BUILTINS.contains(&name) {
            self.run_subscripts(command);
        }
        let mut flow = ShellFlow::Next;
        match name {
            "cd" | "chdir" => self.run_cd(command),
            "pushd" => self.run_pushd(command),
            "popd" => self.run_popd(),
            "declare" | "export" | "local" | "readonly" | "typeset" => return self.run_declare(name, command),
            "read" => self.run_read(command),
            "mapfile" | "readarray" => self.run_mapfile(command),
            "printf" if command.arguments().first().is_some_and(|flag| flag.leading_text().starts_with("-v")) => {
                self.assign_printf(command)
            }
            "let" => self.run_let(command),
            "unset" => self.run_unset(command),
            "shift" => self.run_shift(command),
            "set" => return self.run_set(command),
            "getopts" => self.run_getopts(command),
            // In the agent's own shell, a limit stays and applies to everything that it starts.
            "ulimit" | "limit" if self.subshells == 0 => return None,
            "shopt" | "umask" | "ulimit" | "wait" | "jobs" | "times" | "disown" | "bg" | "fg" => {}
            "alias" => return self.define_aliases(command),
            "unalias" => self.remove_aliases(command),
            "hash" => self.run_hash(command),
            "enable" => {
                self.scope.builtins_replaced = true;
                return None;
            }
            "trap" => self.run_trap(command),
            "eval" => return self.run_eval(command),
            "source" | "." => return self.run_source(command),
            "exec" => return self.run_exec(command),
            "command" => return self.run_command_builtin(command),
            "builtin" => return self.run_without_prefix(command, 1, CommandLookup::NoFunction),
            "exit" | "logout" => flow = self.confirm_flow(command, ShellFlow::Exit),
            "return" if self.is_in_function() => flow = self.confirm_flow(command, ShellFlow::Return),
            "break" => flow = self.confirm_flow(command, ShellFlow::Break(parse_levels(command))),
            "continue" => flow = self.confirm_flow(command, ShellFlow::Continue(parse_levels(command))),
            _ => return None,
        }
        if !command.files.is_empty() {
            self.report_command(command.clone());
        }
        Some(flow)
    }

    fn run_cd(&mut self, command: &ExpandedCommand) {
        let operand = command.arguments().iter().find(|value| !is_flag(value));
        let target = match operand {
            None => self.read_variable("HOME"),
            Some(value) if value.as_text() == Some("-") => self.read_variable("OLDPWD"),
            Some(value) => value.clone(),
        };
        let own = command.variables.iter().find(|(name, _)| name == "CDPATH").map(|(_, value)| value);
        let search =
            own.or_else(|| self.scope.single_value("CDPATH")).and_then(SymbolicText::as_text).map(str::to_owned);
        if operand.is_some() && search.is_some_and(|search| self.enter_search_path(&search, &target)) {
            return;
        }
        self.enter_directory(&target);
    }

    /// A relative name may be found in a directory of `CDPATH` instead. Returns whether that is possible.
    fn enter_search_path(&mut self, search: &str, target: &SymbolicText) -> bool {
        if search.is_empty() || target.leading_text().starts_with(['/', '.', '~']) {
            return false;
        }
        let before = self.scope.cwd().map(str::to_owned);
        let directories = search.split(':').take(limits::VALUES).map(|directory| {
            let mut path = SymbolicText::from_text(if directory.is_empty() { "." } else { directory });
            path.push_text("/");
            path.append(target);
            locate_path(&path.expand_home(&self.world.home), before.as_deref(), self.world).path
        });
        let mut found: Vec<Option<String>> = directories.collect();
        self.enter_directory(target);
        found.push(self.scope.cwd().map(str::to_owned));
        self.scope.cwd = Rc::new(found);
        true
    }

    /// Changes the working directory.
    pub(crate) fn enter_directory(&mut self, target: &SymbolicText) {
        let before = self.scope.cwd().map(str::to_owned);
        let path =
            if target.is_empty() { before.clone() } else { locate_path(target, before.as_deref(), self.world).path };
        // Copying a longer path at every step would dominate the run time.
        let is_short = |path: &String| path.len() <= limits::DIRECTORY_BYTES;
        if target.size() > limits::DIRECTORY_BYTES || !path.as_ref().is_none_or(is_short) {
            self.mark_partial(CoverageGap::Limit("directory"));
        }
        let path = path.filter(is_short);
        self.spend_bytes(16 * path.as_ref().map_or(0, String::len));
        let to_value = |path: Option<&str>| {
            path.map_or_else(|| SymbolicText::from_unknown(UnknownKind::Anything), SymbolicText::from_text)
        };
        self.set_variable("OLDPWD", ShellVariable::from_value(to_value(before.as_deref())));
        self.set_variable("PWD", ShellVariable::from_value(to_value(path.as_deref())));
        self.scope.cwd = Rc::new(vec![path]);
    }

    fn run_pushd(&mut self, command: &ExpandedCommand) {
        let before = self.scope.cwd().map(str::to_owned);
        match command.arguments().iter().find(|value| !is_flag(value)) {
            Some(target) if !target.leading_text().starts_with('+') => {
                Rc::make_mut(&mut self.scope.directories).push(before);
                self.enter_directory(target);
            }
            Some(_) => self.scope.cwd = Rc::new(vec![None]),
            None => {
                let other = Rc::make_mut(&mut self.scope.directories).pop().flatten();
                Rc::make_mut(&mut self.scope.directories).push(before);
                self.scope.cwd = Rc::new(vec![other]);
            }
        }
    }

    fn run_popd(&mut self) {
        if let Some(directory) = Rc::make_mut(&mut self.scope.directories).pop() {
            let target =
                directory.map_or_else(|| SymbolicText::from_unknown(UnknownKind::Anything), SymbolicText::from_text);
            self.enter_directory(&target);
        }
    }

    fn run_let(&mut self, command: &ExpandedCommand) {
        for expression in command.arguments() {
            self.evaluate_arithmetic(expression);
        }
    }

    fn run_unset(&mut self, command: &ExpandedCommand) {
        let functions = command.arguments().first().and_then(SymbolicText::as_text) == Some("-f");
        let references = command.arguments().first().and_then(SymbolicText::as_text) == Some("-n");
        for name in command.arguments().iter().filter_map(SymbolicText::as_text) {
            if references {
                self.forget_variable(name);
            } else if self.scope.functions.contains_key(name) && (functions || !self.scope.variables.contains_key(name))
            {
                Rc::make_mut(&mut self.scope.functions).remove(name);
            } else if !functions && !name.starts_with('-') && !name.contains('[') {
                self.set_variable(name, ShellVariable::Unset);
            }
        }
    }

    fn run_shift(&mut self, command: &ExpandedCommand) {
        let count = command.arguments().first().map_or(Some(1), |count| count.as_text()?.parse().ok());
        let positional = Rc::make_mut(&mut self.scope.positional);
        match count {
            Some(count) if count <= positional.len() => drop(positional.drain(..count)),
            _ => {}
        }
    }

    /// `set -- a b`, `set a b`, `set -e`.
    fn run_set(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        if command.argv.len() == 1 {
            return None;
        }
        let mut rest = command.arguments();
        let mut replaces = false;
        while let Some((first, after)) = rest.split_first() {
            match first.as_text() {
                Some("--") => {
                    rest = after;
                    replaces = true;
                    break;
                }
                Some(flag @ ("-o" | "+o")) => {
                    if let Some(option) = after.first().and_then(SymbolicText::as_text) {
                        self.set_shell_option(option, flag == "-o");
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                Some(flag) if flag.starts_with(['-', '+']) && flag.len() > 1 => {
                    let is_on = flag.starts_with('-');
                    let options = [('a', "allexport"), ('u', "nounset")];
                    let given = options.iter().filter(|(letter, _)| flag.contains(*letter));
                    given.for_each(|(_, option)| self.set_shell_option(option, is_on));
                    // `-euo pipefail`: the next word is the option's name.
                    rest = if flag.ends_with('o') { after.get(1..).unwrap_or_default() } else { after };
                }
                _ => {
                    replaces = true;
                    break;
                }
            }
        }
        if replaces {
            self.spend_steps(rest.len() / 2);
            self.scope.positional = Rc::new(rest.to_vec());
        }
        Some(ShellFlow::Next)
    }

    fn set_shell_option(&mut self, option: &str, is_on: bool) {
        match option {
            "allexport" => self.scope.exports_all = is_on,
            "nounset" => self.scope.stops_at_unset = is_on,
            _ => {}
        }
    }

    fn run_getopts(&mut self, command: &ExpandedCommand) {
        if let Some(name) = command.argv.get(2).and_then(SymbolicText::as_text) {
            self.set_variable(name, ShellVariable::from_value(SymbolicText::from_unknown(UnknownKind::Name)));
        }
        self.set_variable("OPTARG", ShellVariable::unknown());
        self.set_variable("OPTIND", ShellVariable::from_value(SymbolicText::from_unknown(UnknownKind::Name)));
    }

    fn define_aliases(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        if command.argv.len() == 1 {
            return None;
        }
        for value in command.arguments() {
            if let Some((name, _)) = value.leading_text().split_once('=') {
                let text = value.skip_leading_bytes(name.len() + 1);
                Rc::make_mut(&mut self.scope.aliases).insert(name.to_owned(), text);
            }
        }
        Some(ShellFlow::Next)
    }

    fn remove_aliases(&mut self, command: &ExpandedCommand) {
        for name in command.arguments().iter().filter_map(SymbolicText::as_text) {
            if name == "-a" {
                self.scope.aliases = Rc::default();
            } else {
                Rc::make_mut(&mut self.scope.aliases).remove(name);
            }
        }
    }

    /// `hash -p path name`: the name means that path from now on, like an alias.
    fn run_hash(&mut self, command: &ExpandedCommand) {
        if let [flag, path, name] = command.arguments()
            && flag.as_text() == Some("-p")
            && let Some(name) = name.as_text()
        {
            let text = self.quote_words(std::slice::from_ref(path));
            Rc::make_mut(&mut self.scope.aliases).insert(name.to_owned(), text);
        }
    }

    /// A trap runs later, so its code is analysed when it is set.
    fn run_trap(&mut self, command: &ExpandedCommand) {
        let arguments = skip_dashes(command.arguments());
        if let [code, _, ..] = arguments
            && code.as_text().is_none_or(|text| !NON_CODE_TRAP_WORDS.contains(&text) && text.parse::<u32>().is_err())
        {
            self.run_code_via("trap", code, &command.span);
        }
    }

    fn run_eval(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        let arguments = skip_dashes(command.arguments());
        let code = join_words(arguments);
        if code.is_partly_unknown() || !command.files.is_empty() {
            self.report_command(command.clone());
        }
        Some(self.run_code(&code, &command.span))
    }

    /// `source file`: runs the file if this text wrote it; otherwise reports it.
    fn run_source(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        let path = command.arguments().first()?;
        let is_stdin = matches!(path.as_text(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-"));
        let content = if is_stdin { self.stdin_text().cloned() } else { self.find_written_content(path) };
        let Some(content) = content else {
            if path.is_partly_unknown() || is_stdin {
                self.mark_partial(CoverageGap::UnknownCode);
            }
            return None;
        };
        self.report_unseen_script(command, &content);
        let arguments = command.arguments().get(1..).unwrap_or_default().to_vec();
        let positional = Rc::clone(&self.scope.positional);
        if !arguments.is_empty() {
            self.scope.positional = Rc::new(arguments);
        }
        let flow = self.run_code(&content, &command.span);
        self.scope.positional = positional;
        Some(if flow == ShellFlow::Return { ShellFlow::Next } else { flow })
    }

    /// Reports a script with downloaded or unknown parts, with its text in place of its name.
    pub(crate) fn report_unseen_script(&mut self, command: &ExpandedCommand, content: &SymbolicText) {
        let mut reported = command.clone();
        if content.contains_unknown(UnknownKind::Unseen)
            && let Some(path) = reported.argv.get_mut(1)
        {
            *path = SymbolicText::from_unknown(UnknownKind::Unseen);
        }
        self.report_command(reported);
    }

    /// `exec cmd`: the shell does not continue unless the program fails to start.
    fn run_exec(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        let mut at = 1;
        while let Some(flag) = command.argv.get(at).and_then(SymbolicText::as_text).filter(|flag| flag.starts_with('-'))
        {
            at += if flag.ends_with('a') { 2 } else { 1 };
            if flag == "--" {
                break;
            }
        }
        if command.argv.len() <= at {
            if !command.files.is_empty() {
                self.report_files(command.files.clone(), &command.span);
            }
            return Some(ShellFlow::Next);
        }
        self.run_without_prefix(command, at, CommandLookup::Program)
    }

    /// `command -v x` searches, `command x` runs.
    fn run_command_builtin(&mut self, command: &ExpandedCommand) -> Option<ShellFlow> {
        let mut at = 1;
        while let Some(flag) = command.argv.get(at).and_then(SymbolicText::as_text).filter(|flag| flag.starts_with('-'))
        {
            if flag.contains(['v', 'V']) {
                return None;
            }
            at += 1;
        }
        self.run_without_prefix(command, at, CommandLookup::NoFunction)
    }

    /// The same command without its first words.
    fn run_without_prefix(
        &mut self,
        command: &ExpandedCommand,
        count: usize,
        means: CommandLookup,
    ) -> Option<ShellFlow> {
        let argv = command.argv.get(count..).filter(|argv| !argv.is_empty())?.to_vec();
        let mut inner = command.with_argv(argv);
        inner.lookup = means;
        let via = command.name().unwrap_or_default().to_owned();
        Some(self.run_via(&via, |walker| walker.run_expanded(inner)))
    }

    /// `exit` ends the script, unless bash may reject it: too many words, a word that is not a number, a file that
    /// cannot be opened, or no loop to break.
    fn confirm_flow(&mut self, command: &ExpandedCommand, flow: ShellFlow) -> ShellFlow {
        let number = |value: &SymbolicText| value.as_text().is_some_and(|text| text.parse::<u8>().is_ok());
        let understood = match command.arguments() {
            [] => true,
            [only] => number(only),
            _ => false,
        };
        let possible = match flow {
            ShellFlow::Break(levels) | ShellFlow::Continue(levels) => self.enclosing.loops > 0 && levels > 0,
            ShellFlow::Next | ShellFlow::Return | ShellFlow::Exit => true,
        };
        let certain = understood && possible && command.files.is_empty() && !self.scope.builtins_replaced;
        if certain { flow } else { ShellFlow::Next }
    }
}

/// Joins words with blanks.
pub(crate) fn join_words(words: &[SymbolicText]) -> SymbolicText {
    let mut text = SymbolicText::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push_text(" ");
        }
        text.append(word);
    }
    text
}

/// The arguments after `--`.
pub(crate) fn skip_dashes(arguments: &[SymbolicText]) -> &[SymbolicText] {
    match arguments.split_first() {
        Some((first, rest)) if first.as_text() == Some("--") => rest,
        _ => arguments,
    }
}

fn is_flag(value: &SymbolicText) -> bool {
    value.as_text().is_some_and(|text| text.starts_with('-') && text.len() > 1)
}

fn parse_levels(command: &ExpandedCommand) -> usize {
    command.arguments().first().and_then(|count| count.as_text()?.parse().ok()).unwrap_or(1)
}
