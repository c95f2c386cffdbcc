//! Commands of `sed` on lines of known text: substitutions with simple patterns, `p`, `d` and `q`.

use std::cell::Cell;

/// Longer texts are not matched.
const MAX_MATCHED_BYTES: usize = 1 << 12;

/// How many steps matching may take.
const MAX_MATCH_STEPS: usize = 1 << 14;

/// `sed -n`, `sed -E`
pub(super) struct SedOptions {
    /// It prints only on demand.
    pub(super) is_quiet: bool,
    /// Its patterns have groups, alternatives and counts without backslashes.
    pub(super) is_extended: bool,
}

/// `2p`, `1,3d`, `1q`, `$d`: a command for lines that numbers select.
pub(super) struct LineCommand {
    from: usize,
    to: usize,
    action: char,
}

/// Parses a command without a pattern.
pub(super) fn parse_line_command(command: &str) -> Option<LineCommand> {
    let (address, action) = command.split_at_checked(command.len().checked_sub(1)?)?;
    let action = action.chars().next().filter(|action| "pdq".contains(*action))?;
    let number = |text: &str| if text == "$" { Some(usize::MAX) } else { text.trim().parse().ok() };
    let (from, to) = match address.trim().split_once(',') {
        Some((from, to)) => (number(from)?, number(to)?),
        None if address.trim().is_empty() => (1, usize::MAX),
        None => (number(address)?, number(address)?),
    };
    Some(LineCommand { from, to, action })
}

impl LineCommand {
    pub(super) fn apply(&self, text: &str, options: &SedOptions) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let clamp = |number: usize| if number == usize::MAX { lines.len() } else { number };
        let (from, to) = (clamp(self.from), clamp(self.to));
        let is_chosen = |at: usize| (from..=to).contains(&(at + 1));
        let numbered = lines.iter().enumerate();
        match (self.action, options.is_quiet) {
            ('p', true) => Some(numbered.filter(|(at, _)| is_chosen(*at)).map(|(_, line)| *line).collect()),
            ('d', false) => Some(numbered.filter(|(at, _)| !is_chosen(*at)).map(|(_, line)| *line).collect()),
            ('q', false) => Some(lines.iter().take(from).copied().collect()),
            ('p', false) => Some(text.to_owned()),
            _ => None,
        }
    }
}

/// A part of a pattern, and whether it may repeat.
struct PatternStep {
    matches: StepMatch,
    repeats: bool,
}

enum StepMatch {
    Any,
    Literal(char),
    Set(Vec<char>, bool),
}

impl PatternStep {
    fn fits(&self, c: char) -> bool {
        match &self.matches {
            StepMatch::Any => true,
            StepMatch::Literal(wanted) => *wanted == c,
            StepMatch::Set(set, is_negated) => set.contains(&c) != *is_negated,
        }
    }
}

/// `s/pattern/text/` with flags `g` and `p`.
pub(super) fn substitute_lines(command: &str, text: &str, sed: &SedOptions) -> Option<String> {
    let rest = command.strip_prefix('s')?;
    let sign = rest.chars().next()?;
    let parts: Vec<&str> = rest.get(sign.len_utf8()..)?.split(sign).collect();
    let [from, to, options] = parts.as_slice() else {
        return None;
    };
    let (from, is_anchored) = from.strip_prefix('^').map_or((*from, false), |from| (from, true));
    let (from, is_at_end) = match from.strip_suffix('$') {
        Some(body) if !body.ends_with('\\') => (body, true),
        _ => (from, false),
    };
    let is_supported = options.chars().all(|option| "gp".contains(option)) && text.len() <= MAX_MATCHED_BYTES;
    let steps = parse_pattern(from, sed)?;
    if !is_supported || to.contains('\\') || (steps.is_empty() && !is_anchored && !is_at_end) {
        return None;
    }
    let budget = Cell::new(MAX_MATCH_STEPS);
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let characters: Vec<char> = body.chars().collect();
        let all = options.contains('g');
        let substitution = Substitution { steps: &steps, is_anchored, is_at_end, all, to, budget: &budget };
        let changed = substitution.apply(&characters);
        let is_changed = changed.is_some();
        if !sed.is_quiet || (is_changed && options.contains('p')) {
            result.push_str(changed.as_deref().unwrap_or(body));
            result.push_str(end);
        }
    }
    (budget.get() > 0).then_some(result)
}

/// One `s` command.
struct Substitution<'s> {
    steps: &'s [PatternStep],
    is_anchored: bool,
    is_at_end: bool,
    all: bool,
    to: &'s str,
    budget: &'s Cell<usize>,
}

impl Substitution<'_> {
    /// The changed line; `None` if nothing matches.
    fn apply(&self, line: &[char]) -> Option<String> {
        let mut result = String::new();
        let (mut at, mut found) = (0, false);
        while at <= line.len() {
            let may_match = (!found || self.all) && (!self.is_anchored || at == 0);
            let rest = line.get(at..).filter(|_| may_match);
            match rest.and_then(|rest| match_steps(self.steps, rest, self.is_at_end, self.budget)) {
                Some(length) => {
                    let matched: String = line.get(at..at + length)?.iter().collect();
                    result.push_str(&self.to.replace('&', &matched));
                    found = true;
                    if length == 0 {
                        result.extend(line.get(at));
                    }
                    at += length.max(1);
                }
                None => {
                    result.extend(line.get(at));
                    at += 1;
                }
            }
        }
        found.then_some(result)
    }
}

/// The length of the longest match at the start; `None` also if the search takes too long.
fn match_steps(steps: &[PatternStep], text: &[char], to_end: bool, budget: &Cell<usize>) -> Option<usize> {
    budget.set(budget.get().checked_sub(1)?);
    let Some((step, rest)) = steps.split_first() else {
        return (!to_end || text.is_empty()).then_some(0);
    };
    budget.set(budget.get().saturating_sub(text.len() / 64));
    let most = if step.repeats { text.iter().take_while(|c| step.fits(**c)).count() } else { 1 };
    let least = usize::from(!step.repeats);
    // A repeated step was counted by what fits; a single one must fit itself.
    let fits_once = step.repeats || text.first().is_some_and(|c| step.fits(*c));
    let counts = (least..=most).rev().filter(|_| fits_once);
    counts.into_iter().find_map(|count| Some(count + match_steps(rest, text.get(count..)?, to_end, budget)?))
}

/// The steps of a pattern; `None` for groups, alternatives and classes.
fn parse_pattern(pattern: &str, sed: &SedOptions) -> Option<Vec<PatternStep>> {
    const MAX_REPEATS: usize = 3;
    let mut steps: Vec<PatternStep> = Vec::new();
    let mut characters = pattern.chars().peekable();
    while let Some(c) = characters.next() {
        let matches = match c {
            '.' => StepMatch::Any,
            '[' => {
                let is_negated = characters.next_if_eq(&'^').is_some();
                let set: String = characters.by_ref().take_while(|c| *c != ']').collect();
                if set.contains(['[', '\\']) || set.is_empty() {
                    return None;
                }
                StepMatch::Set(expand_ranges(&set), is_negated)
            }
            '\\' => StepMatch::Literal(characters.next().filter(|c| !c.is_alphanumeric() && !"(){}|+?".contains(*c))?),
            '(' | ')' | '|' | '{' | '}' | '+' | '?' if sed.is_extended => return None,
            '*' | '^' | '$' => return None,
            c => StepMatch::Literal(c),
        };
        let repeats = characters.next_if_eq(&'*').is_some();
        steps.push(PatternStep { matches, repeats });
    }
    (steps.iter().filter(|step| step.repeats).count() <= MAX_REPEATS).then_some(steps)
}

/// The characters of a set with ranges: `a-z`.
pub(super) fn expand_ranges(set: &str) -> Vec<char> {
    let characters: Vec<char> = set.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(c) = characters.get(at) {
        match (characters.get(at + 1), characters.get(at + 2)) {
            (Some('-'), Some(to)) if to >= c => {
                all.extend(*c..=*to);
                at += 3;
            }
            _ => {
                all.push(*c);
                at += 1;
            }
        }
    }
    all
}
