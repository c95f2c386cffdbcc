//! Build files and manifests: if this text wrote one and runs a program that reads it, the commands in it are analysed.
//! `data/build_files.toml`, compiled by the build script.

mod declared_commands;
mod embedded_commands;
mod makefile;

use std::rc::Rc;

use super::table;
use crate::interpret::{CodeLanguage, ExpandedCommand, ShellInterpreter, limits};
use crate::invocation::{StdinSource, SymbolicText, UnknownKind, base_name};
use crate::paths::matches_glob;
use crate::programs;

pub(super) use makefile::list_make_recipes;

include!(concat!(env!("OUT_DIR"), "/build_files.rs"));

/// How many build files one command reads.
const MAX_FILES: usize = 8;

/// How many commands of one build file are analysed.
const MAX_COMMANDS: usize = 64;

/// A build file that is not code is read up to here.
const MAX_TEXT: usize = 1 << 16;

/// Scripts of a `package.json` that an installation or a pack runs.
const LIFECYCLE_SCRIPTS: &[&str] = &["preinstall", "install", "postinstall", "prepare", "prepublish", "prepack"];

/// Files that some programs run code from.
#[derive(Debug)]
struct BuildFileSpec {
    /// Patterns of their names.
    files: &'static [&'static str],
    /// Whether files in the arguments count too.
    operands: bool,
    /// Only files whose names, without extension, are in the arguments.
    mentioned: bool,
    /// Only with one of these arguments.
    words: &'static [&'static str],
    /// Not with one of these flags.
    unless: &'static [&'static str],
    /// `None`: by the extension.
    reads: Option<BuildFileFormat>,
}

impl BuildFileSpec {
    /// Whether a call with these arguments runs code of such files.
    fn applies_to(&self, arguments: &[SymbolicText]) -> bool {
        let has = |words: &[&str]| arguments.iter().filter_map(SymbolicText::as_text).any(|word| words.contains(&word));
        (self.words.is_empty() || has(self.words)) && !has(self.unless)
    }
}

/// How a build file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BuildFileFormat {
    Recipes,
    Scripts,
    Shell,
    Texts,
    Containers,
    Compiled,
    Statements,
    Code(CodeLanguage),
}

/// Analyses the build files that this text wrote and this command reads.
pub(crate) fn follow_build_files(interpreter: &mut ShellInterpreter<'_>, command: &ExpandedCommand) {
    if interpreter.scope.files.is_empty() || interpreter.context.elsewhere {
        return;
    }
    let entries = find_runner(&command.argv);
    if entries.is_empty() {
        return;
    }
    let arguments: usize = command.arguments().iter().map(SymbolicText::size).sum();
    interpreter
        .spend_steps(8 + interpreter.scope.files.len() * (entries.len() + arguments / limits::BYTES_PER_STEP) / 4);
    for (format, content) in find_read_files(interpreter, command, entries) {
        interpreter.spend_bytes(content.size());
        if content.contains_unknown(UnknownKind::Unseen) {
            let argv = vec![SymbolicText::from_text("sh"), SymbolicText::from_unknown(UnknownKind::Unseen)];
            interpreter.report_command(command.with_argv(argv));
        }
        follow_content(interpreter, command, format, &content);
    }
}

/// Whether a program runs code from a file with this name.
pub(crate) fn reads_build_file(argv: &[SymbolicText], file: &str) -> bool {
    let mut entries = find_runner(argv).iter().filter_map(|at| BUILD_FILES.get(*at));
    entries.any(|entry| {
        entry.reads != Some(BuildFileFormat::Statements)
            && entry.applies_to(argv.get(1..).unwrap_or_default())
            && entry.files.iter().any(|pattern| matches_glob(base_name(file), pattern))
    })
}

/// The entries of a program; of a module after Python's `-m`.
fn find_runner(argv: &[SymbolicText]) -> &'static [usize] {
    let Some(name) = argv.first().and_then(SymbolicText::as_text) else { return &[] };
    let find = |name: &str| {
        let at = RUNNERS.binary_search_by(|(known, _)| (*known).cmp(base_name(name))).ok()?;
        RUNNERS.get(at).map(|(_, entries)| *entries)
    };
    let module = || {
        let is_python = base_name(name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "python";
        let at = argv.iter().position(|word| is_python && word.as_text() == Some("-m"))?;
        find(argv.get(at + 1)?.as_text()?)
    };
    module().or_else(|| find(name)).unwrap_or_default()
}

/// The files that a command reads, each once.
fn find_read_files(
    interpreter: &mut ShellInterpreter<'_>,
    command: &ExpandedCommand,
    entries: &[usize],
) -> Vec<(BuildFileFormat, SymbolicText)> {
    let mut found: Vec<(BuildFileFormat, SymbolicText)> = Vec::new();
    let files = Rc::clone(&interpreter.scope.files);
    // The code of the main file may load others.
    let main: Vec<SymbolicText> =
        command.arguments().iter().take(2).filter_map(|word| interpreter.find_written_content(word)).collect();
    for entry in
        entries.iter().filter_map(|at| BUILD_FILES.get(*at)).filter(|entry| entry.applies_to(command.arguments()))
    {
        let mut add = |path: &str, content: &SymbolicText| {
            let by_name = || EXTENSIONS.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, format)| *format);
            let format = match entry.reads {
                Some(BuildFileFormat::Texts | BuildFileFormat::Compiled) => by_name().or(entry.reads),
                reads => reads.or_else(by_name),
            };
            if let Some(format) = format
                && !found.iter().any(|(_, other)| other == content)
                && found.len() < MAX_FILES
            {
                found.push((format, content.clone()));
            }
        };
        for (path, content) in files.iter() {
            let name = base_name(path);
            let is_mentioned = || mentions_module(command.arguments(), name) || mentions_module(&main, name);
            if entry.files.iter().any(|pattern| matches_glob(name, pattern)) && (!entry.mentioned || is_mentioned()) {
                add(path, content);
            }
        }
        for argument in command.arguments().iter().filter(|_| entry.operands) {
            let text = argument.leading_text();
            let value =
                argument.skip_leading_bytes(text.find('=').filter(|_| text.starts_with('-')).map_or(0, |at| at + 1));
            let path = value.leading_text().to_owned();
            if let Some(content) = interpreter.find_written_content(&value) {
                add(&path, &content);
            }
        }
    }
    found
}

/// Whether the arguments name a module: `-m module`, `import module`.
fn mentions_module(arguments: &[SymbolicText], file: &str) -> bool {
    let stem = file.split('.').next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let texts = arguments.iter().filter_map(SymbolicText::as_text).filter(|text| !text.ends_with(file));
    !stem.is_empty() && texts.into_iter().any(|text| text.split(|c| !is_word(c)).any(|word| word == stem))
}

fn follow_content(
    interpreter: &mut ShellInterpreter<'_>,
    command: &ExpandedCommand,
    format: BuildFileFormat,
    content: &SymbolicText,
) {
    let mut text = content.flatten_patterns().to_string();
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    let commands = match format {
        BuildFileFormat::Shell => return run_build_command(interpreter, command, content),
        BuildFileFormat::Code(language) => {
            let runner = command.with_argv(command.argv.iter().take(1).cloned().collect());
            if let Some(at) = interpreter.report_command(runner) {
                interpreter.report_inline_code(language, content.clone(), at);
            }
            return;
        }
        BuildFileFormat::Statements => {
            let outer = std::mem::replace(&mut interpreter.scope.io.stdin, Rc::new(StdinSource::Text(content.clone())));
            interpreter.report_command(command.clone());
            interpreter.scope.io.stdin = outer;
            return;
        }
        BuildFileFormat::Recipes => list_make_recipes(&text, command.arguments()),
        BuildFileFormat::Scripts => list_package_scripts(&text, command.arguments()),
        BuildFileFormat::Texts => {
            let mut commands = declared_commands::list_declared_commands(&text);
            commands.extend(embedded_commands::list_embedded_commands(&text));
            commands
        }
        BuildFileFormat::Containers => declared_commands::list_container_commands(&text),
        BuildFileFormat::Compiled => embedded_commands::list_compiled_commands(&text),
    };
    for code in commands.into_iter().take(MAX_COMMANDS) {
        run_build_command(interpreter, command, &SymbolicText::from_text(code));
    }
}

fn run_build_command(interpreter: &mut ShellInterpreter<'_>, command: &ExpandedCommand, code: &SymbolicText) {
    let name = base_name(command.name().unwrap_or_default()).to_owned();
    interpreter.run_code_via(&name, code, &command.span);
}

/// The scripts of a `package.json` that a command runs.
fn list_package_scripts(text: &str, arguments: &[SymbolicText]) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else {
        return embedded_commands::list_embedded_commands(text);
    };
    let runs = |name: &str| {
        let plain = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
        let is_named = |word: &SymbolicText| word.as_text().is_none_or(|word| word == name || word == plain);
        LIFECYCLE_SCRIPTS.contains(&name) || arguments.iter().any(is_named)
    };
    let scripts = manifest.get("scripts").and_then(|scripts| scripts.as_object());
    let named = scripts.into_iter().flatten().filter(|(name, _)| runs(name));
    named.filter_map(|(_, code)| code.as_str().map(str::to_owned)).collect()
}

/// Whether a text starts with the name of a known program.
pub(super) fn starts_with_program(text: &str) -> bool {
    let name = text.split_ascii_whitespace().next().unwrap_or_default();
    programs::find_program(name).is_some() || !table::find_wrappers(name).is_empty()
}
