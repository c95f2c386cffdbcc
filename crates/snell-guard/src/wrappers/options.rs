//! Options that are not on the command line: in variables and in configuration files.

use super::table::{
    CODE_VARIABLES, CONFIG_FILES, ConfigFileSpec, LOAD_VARIABLES, OPTION_VARIABLES, OptionVariable, SEARCH_VARIABLES,
};
use super::with_inherited_stdin;
use crate::interpret::{ExpandedCommand, ShellInterpreter};
use crate::invocation::{SymbolicText, base_name};

/// The program in the tables that stands for the loading of code.
const LOADER: &str = "dlopen";

/// A function that bash imports from its environment: `BASH_FUNC_name%%=() { … }`.
const FUNCTION_VARIABLE_PREFIX: &str = "BASH_FUNC_";

/// How many words of a variable or a file become options.
const MAX_WORDS: usize = 64;

/// Analyses the commands that some variables make a program run, and the code that they make it load.
pub(crate) fn follow_code_variables(interpreter: &mut ShellInterpreter<'_>, command: &ExpandedCommand) {
    for (name, value) in command.variables.iter().filter(|(_, value)| !value.is_empty()) {
        let is_plain_word = name == "ENV" && !value.leading_text().contains(['/', '(', '`', ' ']);
        if is_plain_word {
            // A common name for the kind of a deployment.
        } else if is_code_variable(name) {
            let content = interpreter.find_written_content(value);
            interpreter.run_code_via(name, content.as_ref().unwrap_or(value), &command.span);
        } else if name.starts_with(FUNCTION_VARIABLE_PREFIX) {
            interpreter.run_code_via(name, &strip_function_header(value), &command.span);
        } else if LOAD_VARIABLES.binary_search(&name.as_str()).is_ok() {
            load_paths(interpreter, command, value, |path| path.contains('/'));
        } else if SEARCH_VARIABLES.binary_search(&name.as_str()).is_ok() {
            let temp = &interpreter.world.temp;
            load_paths(interpreter, command, value, |path| {
                temp.iter().any(|temp| {
                    path.strip_prefix(temp.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            });
        } else if let Some(options) = find_option_variable(name) {
            let words = options.program.split(' ').chain(options.before.iter().copied()).map(str::to_owned);
            let text = value.flatten_patterns().to_string();
            let added = if options.whole { vec![text] } else { split_words(&text) };
            let mut call = command.with_argv(words.chain(added).map(SymbolicText::from_text).collect());
            call.variables.clear();
            with_inherited_stdin(interpreter, |walker| {
                walker.run_via(name, |walker| walker.run_expanded(call));
            });
        }
    }
}

/// Loads code from those of the paths in a variable that count.
fn load_paths(
    interpreter: &mut ShellInterpreter<'_>,
    command: &ExpandedCommand,
    value: &SymbolicText,
    counts: impl Fn(&str) -> bool,
) {
    let words = value.flatten_patterns().to_string();
    let mut paths = words.split([':', ' ']).filter(|path| counts(path)).take(MAX_WORDS).peekable();
    if paths.peek().is_some() {
        let argv = std::iter::once(LOADER).chain(paths).map(SymbolicText::from_text).collect();
        interpreter.run_program(command.with_argv(argv));
    }
}

fn is_code_variable(name: &str) -> bool {
    let is_runner = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    is_runner || CODE_VARIABLES.binary_search(&name).is_ok()
}

fn find_option_variable(name: &str) -> Option<&'static OptionVariable> {
    OPTION_VARIABLES.iter().find(|options| options.names.contains(&name))
}

/// The words of a text with quotes and escapes.
fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut escaped) = (None, false);
    for c in text.trim().chars() {
        let is_gap = c.is_whitespace() && quote.is_none() && !escaped;
        if is_gap && words.len() < MAX_WORDS {
            words.push(String::new());
        } else if !escaped && quote.is_none() && matches!(c, '"' | '\'') {
            quote = Some(c);
        } else if !escaped && quote == Some(c) {
            quote = None;
        } else if escaped || c != '\\' {
            words.last_mut().into_iter().for_each(|word| word.push(c));
        }
        escaped = c == '\\' && !escaped;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `() { … }`
fn strip_function_header(value: &SymbolicText) -> SymbolicText {
    let text = value.leading_text();
    value.skip_leading_bytes(text.len() - text.trim_start_matches(['(', ')', ' ']).len())
}

/// The command with the options that variables and configuration files add to it.
pub(super) fn add_outer_options(interpreter: &mut ShellInterpreter<'_>, command: &mut ExpandedCommand) {
    let Some(name) = command.name().map(base_name) else { return };
    let mut added: Vec<SymbolicText> = Vec::new();
    for (variable, value) in &command.variables {
        let options = find_option_variable(variable).filter(|options| options.program == name && !options.whole);
        if options.is_some() {
            added.extend(split_words(&value.flatten_patterns().to_string()).into_iter().map(SymbolicText::from_text));
        }
    }
    if let Some(spec) = CONFIG_FILES.iter().find(|spec| spec.names.contains(&name)) {
        added.extend(read_config_options(interpreter, spec, command.arguments()));
    }
    if !added.is_empty() {
        command.argv.splice(1..1, added);
    }
}

/// The options in a configuration file that this text wrote, or on standard input.
fn read_config_options(
    interpreter: &mut ShellInterpreter<'_>,
    spec: &ConfigFileSpec,
    arguments: &[SymbolicText],
) -> Vec<SymbolicText> {
    let mut options = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let Some(flag) = spec.flags.iter().find(|flag| names_file(argument.leading_text(), flag)) else { continue };
        let is_glued = argument.leading_text().len() > flag.len() || argument.parts.len() > 1;
        let glued = argument.skip_leading_bytes(flag.len() + usize::from(flag.starts_with("--")));
        let Some(file) = Some(&glued).filter(|_| is_glued).or_else(|| arguments.get(at + 1)) else { continue };
        let content = match file.as_text() {
            Some("-" | "/dev/stdin") => interpreter.stdin_text().cloned(),
            _ => interpreter.find_written_content(file),
        };
        let text = content.unwrap_or_default().flatten_patterns().to_string();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            options.extend(build_option(spec.option, line).into_iter().map(SymbolicText::from_text));
            if options.len() >= MAX_WORDS {
                return options;
            }
        }
    }
    options
}

/// Whether an argument is this flag, also behind other letters (`curl -sK -`) or with a value.
fn names_file(argument: &str, flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(_) => argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')),
        None => argument.starts_with(flag),
    }
}

/// `name = "value"` as an option.
fn build_option(form: &str, line: &str) -> Vec<String> {
    let end = line.find(|c: char| c.is_whitespace() || matches!(c, '=' | ':')).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let value = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '=' | ':'));
    let value = value.trim().trim_matches('"').replace("\\\"", "\"");
    if form == "-o" {
        return vec!["-o".to_owned(), format!("{name}={value}")];
    }
    let name = if name.starts_with('-') { name.to_owned() } else { format!("--{name}") };
    if value.is_empty() { vec![name] } else { vec![name, value] }
}
