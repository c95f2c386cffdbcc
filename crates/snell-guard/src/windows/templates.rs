//! The equivalents of commands: templates with the values of parameters.

use std::collections::BTreeMap;

use super::shell_words::{ForeignWord, WordUse, render_words};
use crate::interpret::quote_shell_word;

/// The longest code that is quoted: quotes in quotes multiply.
const MAX_QUOTED: usize = 4096;

/// The arguments of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandValues {
    /// Parameters by their full names in lower case.
    pub(super) named: Vec<(String, Vec<ForeignWord>)>,
    /// Values without a name; each may be a list.
    pub(super) placed: Vec<Vec<ForeignWord>>,
    /// Whether it reads a pipe.
    pub(super) is_piped: bool,
}

impl CommandValues {
    fn find_named(&self, names: &str) -> Option<&[ForeignWord]> {
        let is_one = |name: &String| names.split('|').any(|known| known == name);
        self.named.iter().find(|(name, _)| is_one(name)).map(|(_, words)| words.as_slice())
    }
}

/// The first template of these whose condition is met, filled in.
pub(super) fn fill_first_template<'r>(
    templates: impl Iterator<Item = &'r str>,
    values: &CommandValues,
) -> Option<String> {
    for template in templates {
        let template = match template.strip_prefix('?').and_then(|rest| rest.split_once(' ')) {
            Some((condition, rest)) if is_condition_met(condition, values) => rest,
            Some(_) => continue,
            None => template,
        };
        let (first, second) =
            template.split_once(" || ").map_or((template, None), |(first, second)| (first, Some(second)));
        let (code, is_complete) = fill_template(first, values);
        return Some(match second {
            Some(second) if values.is_piped && !is_complete => fill_template(second, values).0,
            _ => code,
        });
    }
    None
}

/// The parameters and switches that templates name.
pub(super) fn template_parameters<'r>(templates: impl Iterator<Item = &'r str>) -> (Vec<&'r str>, Vec<&'r str>) {
    let (mut values, mut switches) = (Vec::new(), Vec::new());
    for word in templates.flat_map(|template| template.split(' ')) {
        if let Some(inner) = word.strip_prefix('[') {
            switches.extend(inner.split(':').next());
        } else if let Some(inner) = word.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            let names = inner.rsplit(['=', ':']).next().unwrap_or(inner);
            values.extend(names.split('|').filter(|name| name.parse::<usize>().is_err() && !name.starts_with('{')));
        } else if let Some(condition) = word.strip_prefix('?').filter(|rest| !rest.is_empty()) {
            match condition.split_once('=') {
                Some((name, _)) => values.push(name),
                None => switches.push(condition),
            }
        }
    }
    switches.retain(|name| !values.contains(name));
    (values, switches)
}

fn is_condition_met(condition: &str, values: &CommandValues) -> bool {
    let (name, wanted) = condition.split_once('=').map_or((condition, None), |(name, wanted)| (name, Some(wanted)));
    values.find_named(name).is_some_and(|words| {
        wanted.is_none_or(|wanted| {
            let value = words.first().and_then(ForeignWord::as_literal);
            value.is_none_or(|value| value.eq_ignore_ascii_case(wanted))
        })
    })
}

/// The command, and whether all its numbered values are there.
fn fill_template(template: &str, values: &CommandValues) -> (String, bool) {
    let mut placed = assign_placed_values(template, values);
    let mut out: Vec<String> = Vec::new();
    let mut is_complete = true;
    for word in split_template(template) {
        if let Some(inner) = word.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
            let (switch, text) = inner.split_once(':').unwrap_or((inner, ""));
            let is_set = if switch == "|" { values.is_piped } else { values.find_named(switch).is_some() };
            out.extend(is_set.then(|| text.to_owned()));
            continue;
        }
        let Some(inner) = word.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) else {
            out.push(word.to_owned());
            continue;
        };
        let (flag, names) = inner.split_once('=').map_or((None, inner), |(flag, names)| (Some(flag), names));
        let (number, names) = names.split_once(':').map_or((None, names), |(number, names)| (Some(number), names));
        let mut found = values.find_named(names).map(<[ForeignWord]>::to_vec);
        if found.is_none() && number.is_some() {
            found = number.and_then(|number| placed.remove(number));
            is_complete &= found.is_some();
        }
        if let Some(words) = found.filter(|words| !words.is_empty()) {
            out.push(fill_values(flag, &words));
        }
    }
    (out.join(" "), is_complete)
}

/// The values without a name, by the number of the placeholder that takes them.
fn assign_placed_values<'t>(template: &'t str, values: &CommandValues) -> BTreeMap<&'t str, Vec<ForeignWord>> {
    let inner = |word: &'t str| word.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    let mut numbered: Vec<(&str, &str)> = split_template(template)
        .into_iter()
        .filter_map(inner)
        .filter_map(|inner| inner.split_once('=').map_or(inner, |(_, names)| names).split_once(':'))
        .filter(|(_, names)| values.find_named(names).is_none())
        .collect();
    // The star, which takes the rest, comes last.
    numbered.sort_by_key(|(number, _)| number.parse::<usize>().unwrap_or(usize::MAX));
    let mut placed = values.placed.iter();
    let mut assigned = BTreeMap::new();
    for (number, _) in numbered {
        let words = match number {
            "*" => Some(placed.by_ref().flatten().cloned().collect::<Vec<_>>()).filter(|all| !all.is_empty()),
            _ => placed.next().cloned(),
        };
        assigned.extend(words.map(|words| (number, words)));
    }
    assigned
}

fn fill_values(flag: Option<&str>, words: &[ForeignWord]) -> String {
    match flag {
        // The words of a command, which may be one text.
        Some("'") => words.iter().map(quote_code).collect::<Vec<_>>().join(" "),
        Some("") => words.iter().map(render_command_words).collect::<Vec<_>>().join(" "),
        Some("-X") => {
            let method = words.first().and_then(ForeignWord::as_literal).unwrap_or("POST").to_ascii_uppercase();
            format!("-X {}", ForeignWord::from_literal(method).render(WordUse::Text))
        }
        Some(flag) => {
            let each = words.iter().map(|word| format!("{flag} {}", word.render(WordUse::Path)));
            each.collect::<Vec<_>>().join(" ")
        }
        None => render_words(words, WordUse::Path),
    }
}

/// A block of code as one word.
fn quote_code(word: &ForeignWord) -> String {
    match word.block.as_deref() {
        Some(block) if block.len() <= MAX_QUOTED => quote_shell_word(block),
        Some(_) => "\"${ps_code}\"".to_owned(),
        None => word.render(WordUse::Text),
    }
}

/// A text with several words, as `Start-Process` splits it.
fn render_command_words(word: &ForeignWord) -> String {
    if let Some(block) = &word.block {
        return format!("{{ {block}\n}}");
    }
    match word.as_literal() {
        Some(text) if text.contains(' ') && !text.contains('\\') || text.contains(" /") || text.contains(" -") => {
            let parts = text
                .split('"')
                .enumerate()
                .flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
            parts.map(|part| ForeignWord::from_literal(part).render(WordUse::Text)).collect::<Vec<_>>().join(" ")
        }
        _ => word.render(WordUse::Text),
    }
}

/// The words of a template; blanks in brackets and quotes do not separate.
fn split_template(template: &str) -> Vec<&str> {
    let (mut words, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, c) in template.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            '\'' | '"' => is_quoted = !is_quoted,
            ' ' if depth == 0 && !is_quoted => {
                words.push(template.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(template.get(start..).unwrap_or_default());
    words
}
