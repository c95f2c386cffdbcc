//! Paths of Snell's own in the arguments of a program. A program that is not known to be read-only may write to them.

use crate::effects::EffectDepth;
use crate::effects::PathAction;
use crate::effects::collector::EffectCollector;
use crate::invocation::{StdinSource, SymbolicText, base_name};
use crate::paths::{MAX_PATH, PathClass};
use crate::programs::words::own_files as words;
use crate::wrappers;

/// How many values of a call are checked.
const MAX_VALUES: usize = 1 << 12;

/// How many parts of one argument are checked, and the longest argument.
const MAX_PIECES: usize = 16;
const MAX_LENGTH: usize = 2 * MAX_PATH;

/// A value, with the name of its flag, key or variable.
struct NamedValue {
    name: String,
    value: SymbolicText,
}

/// Finds Snell's own paths in a program's arguments and variables, unless its entry lists the effects on them.
pub(in crate::effects) fn apply_self_paths(collector: &mut EffectCollector<'_>) {
    let Some(program) = collector.invocation.name() else {
        return;
    };
    let base = base_name(program);
    let mut values = Vec::new();
    if !is_read_only_program(collector, base) {
        let own = wrappers::own_arguments(&collector.invocation.argv);
        if own.iter().filter_map(SymbolicText::as_text).any(|text| words::DRY_RUN_FLAGS.contains(&text)) {
            return;
        }
        values.extend(collect_named_values(own));
        if words::CODE_RUNNERS.contains(&base) {
            let is_code = |code: &&SymbolicText| !base.ends_with("awk") || code.to_string().contains(['>', '|']);
            values.extend(own.iter().filter(is_code).flat_map(find_paths_in_code));
            if let StdinSource::Text(code) = collector.stdin() {
                values.extend(find_paths_in_code(code));
            }
        }
    }
    let variables = collector.invocation.variables.iter();
    let variables = variables.filter(|(name, _)| !name.starts_with("SNELL_"));
    values.extend(variables.map(|(name, value)| NamedValue::new(name, value.clone())));
    for named in values.iter().take(MAX_VALUES) {
        add_self_path_effect(collector, named);
    }
}

/// Adds the possible effect on a value that is a path of Snell's own or of a directory that contains one.
fn add_self_path_effect(collector: &mut EffectCollector<'_>, named: &NamedValue) {
    let place = collector.locate_path(&expand_home(&named.value, &collector.context.home));
    if place.classes.contains(PathClass::Own) {
        let is_read = named.name.starts_with("--") && named.has_name_word(words::INPUT_NAMES);
        if !is_read && !collector.has_effect_on(&place, None) {
            collector.push_path_effect(PathAction::MayEdit, place, EffectDepth::Single);
        }
    } else if place.classes.contains(PathClass::HoldsOwn)
        && place.classes.intersects([PathClass::Home, PathClass::HomeRoot].into())
        && named.is_output_name()
        && !collector.has_effect_on(&place, Some(PathAction::Unpack))
    {
        collector.push_path_effect(PathAction::Unpack, place, EffectDepth::Recursive);
    }
}

/// Whether the program's entry lists all of its effects on files.
fn is_read_only_program(collector: &EffectCollector<'_>, base: &str) -> bool {
    if let Some((_, commands)) = words::READING_COMMANDS.iter().find(|(program, _)| *program == base) {
        let first = collector.args.operands.first().and_then(|value| value.as_text());
        let argument = || wrappers::own_arguments(&collector.invocation.argv).first().and_then(SymbolicText::as_text);
        let command = collector.name().split_once(' ').map(|(_, command)| command).or(first).or_else(argument);
        return command.is_none_or(|command| commands.contains(&command));
    }
    words::READERS.contains(&base) || collector.program().is_some_and(|program| program.names_only)
}

impl NamedValue {
    fn new(name: &str, value: SymbolicText) -> Self {
        Self { name: name.to_owned(), value }
    }

    /// Whether the name has one of these words.
    fn has_name_word(&self, words: &[&str]) -> bool {
        let name = self.name.to_ascii_lowercase();
        name.split(['-', '_', '.', ':']).any(|word| words.contains(&word))
    }

    /// Whether the name is that of an output.
    fn is_output_name(&self) -> bool {
        self.has_name_word(words::OUTPUT_NAMES)
            && !matches!(self.name.as_str(), "-p" | "HOME")
            && !self.name.starts_with("XDG_")
    }
}

/// The parts of the arguments that may be paths, with their flags or keys.
fn collect_named_values(arguments: &[SymbolicText]) -> Vec<NamedValue> {
    let mut values = Vec::new();
    let mut flag = "";
    for argument in arguments {
        let text = argument.leading_text();
        let is_prose =
            argument.as_text().is_some_and(|text| text.contains(char::is_whitespace) && !text.starts_with('/'));
        let is_flag = text.starts_with('-') && text.len() > 1;
        if is_prose || text.len() > MAX_LENGTH {
            flag = "";
            continue;
        }
        if values.len() >= MAX_VALUES {
            break;
        }
        // `--flag=path`, `key=path`, `kind:path`, `-Xlog:file=path`
        for (at, _) in text.match_indices(['=', ':', ',', '{', '@']).take(MAX_PIECES) {
            let name = text.get(..at).unwrap_or_default();
            let mut value = argument.skip_leading_bytes(at + 1);
            if let Some(inner) = value.as_text().and_then(|text| text.split_once(['}', ','])) {
                value = SymbolicText::from_text(inner.0);
            }
            values.push(NamedValue::new(name, value));
        }
        if is_flag {
            // `-opath`
            if let Some(at) = text.find(['/', '~']).filter(|at| *at > 0 && !text.starts_with("--")) {
                values.push(NamedValue::new(text.get(..at).unwrap_or_default(), argument.skip_leading_bytes(at)));
            }
        } else if text.contains(['/', '.']) {
            values.push(NamedValue::new(flag, argument.clone()));
        }
        flag = if is_flag { text } else { "" };
    }
    values
}

/// The strings in code that may be paths, also relative to a home directory that the code names.
fn find_paths_in_code(code: &SymbolicText) -> Vec<NamedValue> {
    const AROUND: &[char] = &['"', '\'', '`', '(', ')', '{', '}', '[', ']', ',', ';', '=', '<', '>', '|', '+'];
    let shown = code.to_string();
    let pieces = shown.split(|c: char| c.is_whitespace() || AROUND.contains(&c));
    let paths = pieces.filter(|piece| piece.contains('/'));
    let below_home = |piece: &str| {
        piece.starts_with("/.").then(|| NamedValue::new("", SymbolicText::from_text(format!("~{piece}"))))
    };
    paths
        .flat_map(|piece| [Some(NamedValue::new("", SymbolicText::from_text(piece))), below_home(piece)])
        .flatten()
        .collect()
}

/// Expands the home directory, as a program may do by itself.
fn expand_home(value: &SymbolicText, home: &str) -> SymbolicText {
    match value.as_text() {
        Some(text) => match ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| text.strip_prefix(start)) {
            Some(rest) => SymbolicText::from_text(format!("{home}/{rest}")),
            None => value.clone(),
        },
        None => value.clone(),
    }
}
