//! Builtins: what they change in the shell itself. They are no programs, and are told only where they open files or print
//! what a shell knows.

use std::rc::Rc;

use super::call::Means;
use super::found::Reason;
use super::limits;
use super::scope::Variable;
use super::{Call, Flow, Walker};
use crate::invocation::{Unknown, Value};
use crate::paths::locate;

/// Signals and the words for them: not what `trap` runs.
const NO_CODE: &[&str] = &["-", "", "-l", "-p"];

impl<'t> Walker<'t> {
    /// Follows a builtin; nothing if it is none, or none that changes anything.
    pub(super) fn builtin(&mut self, call: &Call) -> Option<Flow> {
        let name = call.name()?;
        let flow = match name {
            "cd" | "chdir" => self.cd(call),
            "pushd" => self.pushd(call),
            "popd" => self.popd(),
            "declare" | "export" | "local" | "readonly" | "typeset" => return self.declare(name, call),
            "read" => self.read(call),
            "mapfile" | "readarray" => self.mapfile(call),
            "printf"
                if call
                    .arguments()
                    .first()
                    .is_some_and(|flag| flag.leading().starts_with("-v")) =>
            {
                self.printf_into(call)
            }
            "let" => self.calculate(call),
            "unset" => self.unset(call),
            "shift" => self.shift(call),
            "set" => return self.set_options(call),
            "getopts" => self.getopts(call),
            // In the agent's own shell, a limit stays, and holds for all that it starts.
            "ulimit" | "limit" if self.subshells == 0 => return None,
            "shopt" | "umask" | "ulimit" | "wait" | "jobs" | "times" | "disown" | "bg" | "fg" => Flow::Next,
            "alias" => return self.alias(call),
            "unalias" => self.unalias(call),
            "hash" => self.hash(call),
            "enable" => {
                self.scope.unsettled = true;
                return None;
            }
            "trap" => self.trap(call),
            "eval" => return self.eval(call),
            "source" | "." => return self.source(call),
            "exec" => return self.exec(call),
            "command" => return self.command_word(call),
            "builtin" => return self.shifted(call, 1, Means::NoFunction),
            "exit" | "logout" => self.leave(call, Flow::Exit),
            "return" if self.in_function() => self.leave(call, Flow::Return),
            "break" => self.leave(call, Flow::Break(levels(call))),
            "continue" => self.leave(call, Flow::Continue(levels(call))),
            _ => return None,
        };
        if !call.files.is_empty() {
            self.report_call(call.clone());
        }
        Some(flow)
    }

    fn cd(&mut self, call: &Call) -> Flow {
        let operand = call.arguments().iter().find(|value| !is_flag(value));
        let target = match operand {
            None => self.plain_variable("HOME"),
            Some(value) if value.as_text() == Some("-") => self.plain_variable("OLDPWD"),
            Some(value) => value.clone(),
        };
        self.enter(&target);
        Flow::Next
    }

    /// The directory that a value leads to is where things run from now on.
    pub(crate) fn enter(&mut self, target: &Value) {
        let before = self.scope.cwd().map(str::to_owned);
        let path = if target.is_empty() {
            before.clone()
        } else {
            locate(target, before.as_deref(), self.world).path
        };
        // To copy a longer one at every step would take longer than everything else.
        let is_short = |path: &String| path.len() <= limits::DIRECTORY_BYTES;
        if target.size() > limits::DIRECTORY_BYTES || !path.as_ref().is_none_or(is_short) {
            self.partial(Reason::Limit("directory"));
        }
        let path = path.filter(is_short);
        self.spend_bytes(16 * path.as_ref().map_or(0, String::len));
        let told = |path: Option<&str>| path.map_or_else(|| Value::unknown(Unknown::Anything), Value::text);
        self.set("OLDPWD", Variable::one(told(before.as_deref())));
        self.set("PWD", Variable::one(told(path.as_deref())));
        self.scope.cwd = Rc::new(vec![path]);
    }

    fn pushd(&mut self, call: &Call) -> Flow {
        let before = self.scope.cwd().map(str::to_owned);
        match call.arguments().iter().find(|value| !is_flag(value)) {
            Some(target) if !target.leading().starts_with('+') => {
                Rc::make_mut(&mut self.scope.directories).push(before);
                self.enter(target);
            }
            Some(_) => self.scope.cwd = Rc::new(vec![None]),
            None => {
                let other = Rc::make_mut(&mut self.scope.directories).pop().flatten();
                Rc::make_mut(&mut self.scope.directories).push(before);
                self.scope.cwd = Rc::new(vec![other]);
            }
        }
        Flow::Next
    }

    fn popd(&mut self) -> Flow {
        if let Some(directory) = Rc::make_mut(&mut self.scope.directories).pop() {
            let target = directory.map_or_else(|| Value::unknown(Unknown::Anything), Value::text);
            self.enter(&target);
        }
        Flow::Next
    }

    fn calculate(&mut self, call: &Call) -> Flow {
        for expression in call.arguments() {
            self.evaluate(expression);
        }
        Flow::Next
    }

    fn unset(&mut self, call: &Call) -> Flow {
        let functions = call.arguments().first().and_then(Value::as_text) == Some("-f");
        let references = call.arguments().first().and_then(Value::as_text) == Some("-n");
        for name in call.arguments().iter().filter_map(Value::as_text) {
            if references {
                self.forget(name);
            } else if self.scope.functions.contains_key(name) && (functions || !self.scope.variables.contains_key(name))
            {
                Rc::make_mut(&mut self.scope.functions).remove(name);
            } else if !functions && !name.starts_with('-') && !name.contains('[') {
                self.set(name, Variable::Unset);
            }
        }
        Flow::Next
    }

    fn shift(&mut self, call: &Call) -> Flow {
        let count = call
            .arguments()
            .first()
            .map_or(Some(1), |count| count.as_text()?.parse().ok());
        let positional = Rc::make_mut(&mut self.scope.positional);
        match count {
            Some(count) if count <= positional.len() => drop(positional.drain(..count)),
            _ => {}
        }
        Flow::Next
    }

    /// `set -- a b`, `set a b`, `set -e`.
    fn set_options(&mut self, call: &Call) -> Option<Flow> {
        if call.argv.len() == 1 {
            return None;
        }
        let mut rest = call.arguments();
        let mut replaces = false;
        while let Some((first, after)) = rest.split_first() {
            match first.as_text() {
                Some("--") => {
                    rest = after;
                    replaces = true;
                    break;
                }
                Some(flag @ ("-o" | "+o")) => {
                    if after.first().and_then(Value::as_text) == Some("allexport") {
                        self.scope.exports_all = flag == "-o";
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                Some(flag) if flag.starts_with(['-', '+']) && flag.len() > 1 => {
                    if flag.contains('a') {
                        self.scope.exports_all = flag.starts_with('-');
                    }
                    rest = after;
                }
                _ => {
                    replaces = true;
                    break;
                }
            }
        }
        if replaces {
            self.spend(rest.len() / 2);
            self.scope.positional = Rc::new(rest.to_vec());
        }
        Some(Flow::Next)
    }

    fn getopts(&mut self, call: &Call) -> Flow {
        if let Some(name) = call.argv.get(2).and_then(Value::as_text) {
            self.set(name, Variable::one(Value::unknown(Unknown::Name)));
        }
        self.set("OPTARG", Variable::anything());
        self.set("OPTIND", Variable::one(Value::unknown(Unknown::Name)));
        Flow::Next
    }

    fn alias(&mut self, call: &Call) -> Option<Flow> {
        if call.argv.len() == 1 {
            return None;
        }
        for value in call.arguments() {
            if let Some((name, _)) = value.leading().split_once('=') {
                let text = value.after(name.len() + 1);
                Rc::make_mut(&mut self.scope.aliases).insert(name.to_owned(), text);
            }
        }
        Some(Flow::Next)
    }

    fn unalias(&mut self, call: &Call) -> Flow {
        for name in call.arguments().iter().filter_map(Value::as_text) {
            if name == "-a" {
                self.scope.aliases = Rc::default();
            } else {
                Rc::make_mut(&mut self.scope.aliases).remove(name);
            }
        }
        Flow::Next
    }

    /// `hash -p path name`: from now on the name means that path, as an alias would.
    fn hash(&mut self, call: &Call) -> Flow {
        if let [flag, path, name] = call.arguments()
            && flag.as_text() == Some("-p")
            && let Some(name) = name.as_text()
        {
            let text = self.quoted(std::slice::from_ref(path));
            Rc::make_mut(&mut self.scope.aliases).insert(name.to_owned(), text);
        }
        Flow::Next
    }

    /// What a trap runs runs some time: it is followed where it is set.
    fn trap(&mut self, call: &Call) -> Flow {
        let mut arguments = call.arguments();
        if arguments.first().and_then(Value::as_text) == Some("--") {
            arguments = arguments.get(1..).unwrap_or_default();
        }
        if let [code, _, ..] = arguments
            && code
                .as_text()
                .is_none_or(|text| !NO_CODE.contains(&text) && text.parse::<u32>().is_err())
        {
            let span = call.span.clone();
            self.through("trap", |walker| {
                walker.apart(|walker| walker.run_code(code, &span));
                Flow::Next
            });
        }
        Flow::Next
    }

    fn eval(&mut self, call: &Call) -> Option<Flow> {
        let mut arguments = call.arguments();
        if arguments.first().and_then(Value::as_text) == Some("--") {
            arguments = arguments.get(1..).unwrap_or_default();
        }
        let code = joined(arguments);
        if code.is_partly_unknown() || !call.files.is_empty() {
            self.report_call(call.clone());
        }
        Some(self.run_code(&code, &call.span))
    }

    /// `source file`: what stands in it, if it was written here; else it is told.
    fn source(&mut self, call: &Call) -> Option<Flow> {
        let path = call.arguments().first()?;
        let is_stdin = matches!(
            path.as_text(),
            Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-")
        );
        let content = if is_stdin {
            self.stdin_text().cloned()
        } else {
            self.written(path)
        };
        let Some(content) = content else {
            if path.is_partly_unknown() || is_stdin {
                self.partial(Reason::UnknownCode);
            }
            return None;
        };
        self.tell_unseen(call, &content);
        let arguments = call.arguments().get(1..).unwrap_or_default().to_vec();
        let positional = Rc::clone(&self.scope.positional);
        if !arguments.is_empty() {
            self.scope.positional = Rc::new(arguments);
        }
        let flow = self.run_code(&content, &call.span);
        self.scope.positional = positional;
        Some(if flow == Flow::Return { Flow::Next } else { flow })
    }

    /// A script of which parts came from elsewhere is told with that in place of its name.
    pub(crate) fn tell_unseen(&mut self, call: &Call, content: &Value) {
        let mut told = call.clone();
        if content.holds(Unknown::Unseen)
            && let Some(path) = told.argv.get_mut(1)
        {
            *path = Value::unknown(Unknown::Unseen);
        }
        self.report_call(told);
    }

    /// `exec cmd`: what follows is a program, and the shell does not come back unless that fails.
    fn exec(&mut self, call: &Call) -> Option<Flow> {
        let mut at = 1;
        while let Some(flag) = call
            .argv
            .get(at)
            .and_then(Value::as_text)
            .filter(|flag| flag.starts_with('-'))
        {
            at += if flag.ends_with('a') { 2 } else { 1 };
            if flag == "--" {
                break;
            }
        }
        if call.argv.len() <= at {
            if !call.files.is_empty() {
                self.report_files(call.files.clone(), &call.span);
            }
            return Some(Flow::Next);
        }
        self.shifted(call, at, Means::Program)
    }

    /// `command -v x` asks, `command x` runs.
    fn command_word(&mut self, call: &Call) -> Option<Flow> {
        let mut at = 1;
        while let Some(flag) = call
            .argv
            .get(at)
            .and_then(Value::as_text)
            .filter(|flag| flag.starts_with('-'))
        {
            if flag.contains(['v', 'V']) {
                return None;
            }
            at += 1;
        }
        self.shifted(call, at, Means::NoFunction)
    }

    /// The same command without its first words.
    fn shifted(&mut self, call: &Call, count: usize, means: Means) -> Option<Flow> {
        let argv = call.argv.get(count..).filter(|argv| !argv.is_empty())?.to_vec();
        let mut inner = call.with(argv);
        inner.means = means;
        let via = call.name().unwrap_or_default().to_owned();
        Some(self.through(&via, |walker| walker.run(inner)))
    }

    /// `exit` ends what is followed, unless bash may not take it: with too many words or one that is no number, with a file
    /// that cannot be opened, or where there is no loop to break.
    fn leave(&mut self, call: &Call, flow: Flow) -> Flow {
        let number = |value: &Value| value.as_text().is_some_and(|text| text.parse::<u8>().is_ok());
        let understood = match call.arguments() {
            [] => true,
            [only] => number(only),
            _ => false,
        };
        let possible = match flow {
            Flow::Break(levels) | Flow::Continue(levels) => self.inside.loops > 0 && levels > 0,
            Flow::Next | Flow::Return | Flow::Exit => true,
        };
        let certain = understood && possible && call.files.is_empty() && !self.scope.unsettled;
        if certain { flow } else { Flow::Next }
    }
}

/// Words as one text, with blanks between them.
pub(crate) fn joined(words: &[Value]) -> Value {
    let mut text = Value::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push_text(" ");
        }
        text.append(word);
    }
    text
}

fn is_flag(value: &Value) -> bool {
    value
        .as_text()
        .is_some_and(|text| text.starts_with('-') && text.len() > 1)
}

fn levels(call: &Call) -> usize {
    call.arguments()
        .first()
        .and_then(|count| count.as_text()?.parse().ok())
        .unwrap_or(1)
}
