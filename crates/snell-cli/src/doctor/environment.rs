//! The variables that agents' settings set. An agent starts hooks with them, so they reach Snell too, and a project's settings
//! can name any.

use super::patient::{Content, File};
use super::{Found, Level, Patient, found};
use crate::install::document::{Document, Member, Node, Step};
use crate::output;

/// The member of a settings file that holds variables.
const ENV: &str = "env";
/// A value is shown up to this width.
const MAX_SHOWN_CELLS: usize = 60;
const REMEDY: &str = "remove it, unless you set it yourself and know why";

/// A variable and its effect on what Snell does. A name that ends with `*` stands for all that begin like it; the first row
/// that fits counts.
struct Effect {
    name: &'static str,
    level: Level,
    what: &'static str,
}

const EFFECTS: &[Effect] = &[
    problem(
        "SNELL_HOME",
        "Snell records there, and reads there which projects you trust",
    ),
    problem("SNELL_NOW", "it sets Snell's clock, which is for tests"),
    problem(
        "SNELL_DEPTH",
        "Snell takes itself for one that a hook called, and from 8 on runs no hooks",
    ),
    note("SNELL_SCRIBE", "it says how hooks store events"),
    warning("SNELL_*", "it is one of Snell's own variables"),
    problem(
        "HOME",
        "Snell looks there for your snell.toml, and takes it for `~` in commands",
    ),
    problem("XDG_CONFIG_HOME", "Snell looks there for your snell.toml"),
    problem(
        "XDG_DATA_HOME",
        "Snell records there, and reads there which projects you trust",
    ),
    problem("CLAUDE_CONFIG_DIR", "Claude Code's own settings are looked for there"),
    problem(
        "CLAUDE_PROJECT_DIR",
        "Snell takes it for the project, in which agents may change files",
    ),
    problem("LD_PRELOAD", "it loads code into Snell itself"),
    problem("LD_LIBRARY_PATH", "it can load other code into Snell itself"),
    problem("LD_AUDIT", "it loads code into Snell itself"),
    problem(
        "LD_TRACE_LOADED_OBJECTS",
        "the loader lists libraries and ends, so Snell judges nothing",
    ),
    problem(
        "LD_SHOW_AUXV",
        "the loader writes into Snell's answer, so agents cannot read it",
    ),
    problem(
        "LD_DEBUG",
        "the loader can write into Snell's answer, or end before Snell starts",
    ),
    problem("LD_*", "it changes how the loader starts Snell itself"),
    problem("GLIBC_TUNABLES", "it changes the C library that Snell itself runs with"),
    problem("DYLD_*", "it can load other code into Snell itself"),
    warning("PATH", "hooks find the programs there that they run"),
    warning("BASH_ENV", "shells run that file before every hook and command"),
    warning("ENV", "shells may run that file before hooks and commands"),
    warning("NODE_OPTIONS", "it can load code into the agent and into hooks"),
    warning(
        "TMPDIR",
        "the guard lets agents delete files there, if its name is that of a temporary directory",
    ),
    note(
        "CLAUDE_SESSION_MODE",
        "it says whether a person watches the session, which rules for messages depend on",
    ),
    note(
        "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
        "it says how often hooks may keep the agent going",
    ),
];

const fn problem(name: &'static str, what: &'static str) -> Effect {
    effect(name, Level::Problem, what)
}

const fn warning(name: &'static str, what: &'static str) -> Effect {
    effect(name, Level::Warning, what)
}

const fn note(name: &'static str, what: &'static str) -> Effect {
    effect(name, Level::Note, what)
}

const fn effect(name: &'static str, level: Level, what: &'static str) -> Effect {
    Effect { name, level, what }
}

impl Effect {
    fn of(name: &str) -> Option<&'static Self> {
        EFFECTS.iter().find(|effect| match effect.name.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == effect.name,
        })
    }
}

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let files = patient.agents.iter().flat_map(|inhabited| &inhabited.files);
    files.flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Found> {
    let Content::Settings { document, .. } = &file.content else {
        return Vec::new();
    };
    let variables = document.at(&[Step::Key(ENV)]).and_then(Node::members);
    let variables = variables.unwrap_or_default().iter();
    variables
        .filter_map(|variable| check_variable(file, document, variable))
        .collect()
}

fn check_variable(file: &File, document: &Document, variable: &Member) -> Option<Found> {
    let effect = Effect::of(&variable.key)?;
    let value = variable.node.text().unwrap_or_default();
    let is_set_here = std::env::var_os(&variable.key).is_some_and(|here| here == value);
    let level = if is_set_here { Level::Note } else { effect.level };
    let what = format!(
        "{}:{} ({}): \"env\" sets {} to \"{}\": {}",
        file.path.display(),
        document.line_of(&variable.node),
        file.scope.title(),
        variable.key,
        output::in_brief(value, MAX_SHOWN_CELLS),
        effect.what
    );
    Some(Found {
        remedy: level.needs_attention().then(|| REMEDY.to_owned()),
        ..found(level, what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::agents::Scope;

    #[test]
    fn variables_that_reach_snell_are_found_where_they_are_set() {
        let text = r#"{
          "env": {
            "EDITOR": "vi",
            "SNELL_NOW": "x",
            "SNELL_FUTURE": "1",
            "DYLD_INSERT_LIBRARIES": "/x.dylib",
            "LD_TRACE_LOADED_OBJECTS": "1",
            "LD_SHOW_AUXV": "1",
            "LD_DEBUG": "help",
            "LD_BIND_NOW": "1",
            "GLIBC_TUNABLES": "x",
            "ENV": "/x.sh",
            "SNELL_SCRIBE": "off",
            "HOME": 7
          }
        }"#;
        let found = check_file(&File::saying(Scope::Project, "settings.json", text));
        let found: Vec<_> = found.iter().map(|one| (one.level, one.what.as_str())).collect();
        let expected = [
            (
                Level::Problem,
                "settings.json:4 (project): \"env\" sets SNELL_NOW to \"x\": ",
            ),
            (
                Level::Warning,
                "settings.json:5 (project): \"env\" sets SNELL_FUTURE to \"1\": ",
            ),
            (
                Level::Problem,
                "settings.json:6 (project): \"env\" sets DYLD_INSERT_LIBRARIES to ",
            ),
            (
                Level::Problem,
                "settings.json:7 (project): \"env\" sets LD_TRACE_LOADED_OBJECTS to ",
            ),
            (
                Level::Problem,
                "settings.json:8 (project): \"env\" sets LD_SHOW_AUXV to ",
            ),
            (Level::Problem, "settings.json:9 (project): \"env\" sets LD_DEBUG to "),
            (
                Level::Problem,
                "settings.json:10 (project): \"env\" sets LD_BIND_NOW to ",
            ),
            (
                Level::Problem,
                "settings.json:11 (project): \"env\" sets GLIBC_TUNABLES to ",
            ),
            (Level::Warning, "settings.json:12 (project): \"env\" sets ENV to "),
            (
                Level::Note,
                "settings.json:13 (project): \"env\" sets SNELL_SCRIBE to \"off\": ",
            ),
            (
                Level::Problem,
                "settings.json:14 (project): \"env\" sets HOME to \"\": ",
            ),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((level, what), (expected_level, beginning)) in found.into_iter().zip(expected) {
            assert!(
                level == expected_level && what.starts_with(beginning),
                "{level:?} {what}"
            );
        }
    }
}
