//! The commands of a makefile.

use super::MAX_COMMANDS;
use crate::invocation::SymbolicText;
use snell_shell::is_variable_name;

/// How many rules of a makefile are read.
const MAX_RULES: usize = 256;

/// How often variables are replaced in one recipe: a variable may hold others.
const MAX_ROUNDS: usize = 4;

/// Flags that take the next word.
const VALUE_FLAGS: &[&str] = &["-C", "--directory", "-f", "--file", "--makefile", "-I", "-j", "-l", "-o", "-W"];

/// A line with variables replaced is not longer than this.
const MAX_RECIPE: usize = 1 << 14;

/// The lines that make passes to a shell, with the variables of the makefile and of the command line.
pub(in crate::wrappers) fn list_make_recipes(text: &str, arguments: &[SymbolicText]) -> Vec<String> {
    let given = arguments.iter().filter_map(|word| parse_variable(word.as_text()?));
    let set = text.lines().filter(|line| !line.starts_with('\t')).filter_map(parse_variable).take(MAX_RULES);
    let variables: Vec<(&str, &str)> = given.chain(set).collect();
    let mut codes = list_shell_calls(text);
    let joined = text.replace("\\\n", " ");
    let rules = parse_rules(&joined);
    for rule in find_reached_rules(&rules, arguments) {
        for recipe in rule.recipes.iter().take(MAX_COMMANDS.saturating_sub(codes.len())) {
            let recipe = replace_variables(recipe, &variables);
            codes.push(recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$"));
        }
    }
    codes
}

/// A rule of a makefile.
struct MakeRule<'a> {
    targets: Vec<&'a str>,
    /// The targets that are made before.
    needs: Vec<&'a str>,
    recipes: Vec<&'a str>,
}

fn parse_rules(text: &str) -> Vec<MakeRule<'_>> {
    let mut rules: Vec<MakeRule<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            rules.last_mut().into_iter().for_each(|rule| rule.recipes.push(recipe));
        } else if rules.len() >= MAX_RULES {
            break;
        } else if let Some((targets, rest)) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')) {
            let (needs, recipe) = rest.split_once(';').map_or((rest, None), |(needs, recipe)| (needs, Some(recipe)));
            rules.push(MakeRule {
                targets: targets.split_whitespace().collect(),
                needs: needs.split_whitespace().collect(),
                recipes: recipe.into_iter().collect(),
            });
        }
    }
    rules
}

/// The rules for the named targets and all that they need; without a name, for the first target. A target that no rule
/// has, and an unknown one, may be made by any rule.
fn find_reached_rules<'a, 'r>(rules: &'r [MakeRule<'a>], arguments: &'a [SymbolicText]) -> Vec<&'r MakeRule<'a>> {
    let before = |at: usize| at.checked_sub(1).and_then(|at| arguments.get(at)).and_then(SymbolicText::as_text);
    let is_value = |at: usize| before(at).is_some_and(|flag| VALUE_FLAGS.contains(&flag));
    let is_target = |word: &SymbolicText| !word.leading_text().starts_with('-') && !word.leading_text().contains('=');
    let named = arguments.iter().enumerate().filter(|(at, word)| is_target(word) && !is_value(*at));
    let named: Vec<&SymbolicText> = named.map(|(_, word)| word).collect();
    let has_rule = |target: &str| rules.iter().any(|rule| rule.targets.contains(&target));
    let mut wanted: Vec<&str> =
        named.iter().filter_map(|word| word.as_text()).filter(|target| has_rule(target)).collect();
    if wanted.is_empty() {
        if !named.is_empty() && named.iter().all(|word| word.as_text().is_some()) {
            return rules.iter().filter(|rule| rule.targets.iter().any(|target| target.contains('%'))).collect();
        }
        return rules.iter().collect();
    }
    let mut reached: Vec<&MakeRule<'_>> = Vec::new();
    while let Some(target) = wanted.pop() {
        for rule in rules.iter().filter(|rule| rule.targets.contains(&target)) {
            if !reached.iter().any(|known| std::ptr::eq(*known, rule)) {
                reached.push(rule);
                wanted.extend(&rule.needs);
            }
        }
    }
    reached
}

/// `$(shell …)`
fn list_shell_calls(text: &str) -> Vec<String> {
    let mut codes = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("$(shell ") {
        let mut depth = 1;
        let end = after.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let (code, left) = after.split_at(end.unwrap_or(after.len()));
        codes.push(code.to_owned());
        rest = left;
    }
    codes
}

/// `NAME = value`, `NAME := value`
fn parse_variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', ' ', '\t']).trim_start_matches("export ").trim();
    is_variable_name(name).then(|| (name, value.trim()))
}

/// Replaces `$(NAME)` and `${NAME}`. A variable that the makefile does not set comes from the environment.
fn replace_variables(recipe: &str, variables: &[(&str, &str)]) -> String {
    let mut text = recipe.to_owned();
    for _ in 0..MAX_ROUNDS {
        let mut changed = String::new();
        let mut rest = text.as_str();
        let mut is_same = true;
        while let Some(at) = rest.find("$(").filter(|_| changed.len() <= MAX_RECIPE) {
            let (before, after) = rest.split_at(at);
            changed.push_str(before);
            let name = after.get(2..).and_then(|after| after.split_once(')')).map(|(name, _)| name);
            let Some(name) = name.filter(|name| is_variable_name(name) && !before.ends_with('$')) else {
                changed.push_str("$(");
                rest = after.get(2..).unwrap_or_default();
                continue;
            };
            is_same = false;
            match variables.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => changed.push_str(value),
                None => changed.extend(["${", name, "}"]),
            }
            rest = after.get(name.len() + 3..).unwrap_or_default();
        }
        changed.push_str(rest);
        if is_same || changed.len() > MAX_RECIPE {
            break;
        }
        text = changed;
    }
    text
}
