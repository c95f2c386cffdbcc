//! Simple programs that transform text, as they occur in decode chains.

use super::sed_lines;

/// Longer texts are not folded.
const MAX_FOLDED_CHARS: usize = 1 << 14;

/// A filter: its name, the letters of its flags that take a value, the number of operands before its files, and its
/// output.
pub(crate) type TextFilter = (&'static str, &'static str, usize, fn(&FilterArgs<'_>, &str) -> Option<String>);

/// Flags and operands of a filter.
pub(crate) struct FilterArgs<'a> {
    flags: Vec<(&'a str, Option<&'a str>)>,
    operands: Vec<&'a str>,
}

impl<'a> FilterArgs<'a> {
    pub(crate) fn parse(words: &[&'a str], with_value: &str) -> Self {
        let (mut flags, mut operands) = (Vec::new(), Vec::new());
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            if word.len() < 2 || !word.starts_with('-') {
                operands.push(word);
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                flags.push((name, value));
            } else {
                for (at, letter) in word.char_indices().skip(1) {
                    let end = at + letter.len_utf8();
                    let name = word.get(at..end).unwrap_or_default();
                    if with_value.contains(letter) {
                        let glued = word.get(end..).filter(|rest| !rest.is_empty());
                        flags.push((name, glued.or_else(|| words.next())));
                        break;
                    }
                    flags.push((name, None));
                }
            }
        }
        Self { flags, operands }
    }

    fn has_flag(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(name, _)| names.contains(name))
    }

    fn flag_value(&self, names: &[&str]) -> Option<&'a str> {
        self.flags.iter().find(|(name, _)| names.contains(name)).and_then(|(_, value)| *value)
    }

    /// Fails if there are flags that are not supported.
    fn require_only(&self, names: &[&str]) -> Option<()> {
        self.flags.iter().all(|(name, _)| names.contains(name)).then_some(())
    }

    /// The names of files.
    pub(crate) fn file_operands(&self, skip: usize) -> &[&'a str] {
        match self.operands.get(skip..).unwrap_or_default() {
            ["-"] => &[],
            files => files,
        }
    }
}

const FILTERS: &[TextFilter] = &[
    ("awk", "Fv", 1, apply_awk),
    ("base32", "w", 0, |flags, text| decode_base(flags, text, 5)),
    ("base64", "w", 0, |flags, text| decode_base(flags, text, 6)),
    ("cat", "", 0, |flags, text| flags.require_only(&["u"]).map(|()| text.to_owned())),
    ("column", "tsocN", 0, |flags, text| flags.require_only(&["t", "x"]).map(|()| text.to_owned())),
    ("cut", "dfcb", 0, apply_cut),
    ("dd", "", 9, |flags, text| flags.operands.iter().all(|word| is_plain_copy(word)).then(|| text.to_owned())),
    ("egrep", "em", 1, apply_grep),
    ("envsubst", "", 0, |flags, text| flags.require_only(&[]).map(|()| text.to_owned())),
    ("expand", "t", 0, |_, text| Some(text.to_owned())),
    ("fgrep", "em", 1, apply_grep),
    ("fmt", "w", 0, |_, text| Some(text.to_owned())),
    ("fold", "wbs", 0, apply_fold),
    ("gm4", "DI", 0, |_, text| Some(text.to_owned())),
    ("grep", "em", 1, apply_grep),
    ("head", "nc", 0, apply_head),
    ("iconv", "ftc", 0, |_, text| Some(text.to_owned())),
    ("jq", "", 1, apply_jq),
    ("lolcat", "", 0, |_, text| Some(text.to_owned())),
    ("paste", "d", 0, apply_paste),
    ("pv", "L", 0, |_, text| Some(text.to_owned())),
    ("rev", "", 0, |_, text| Some(map_lines(text, |line| line.chars().rev().collect()))),
    ("sed", "e", 1, apply_sed),
    ("sort", "", 0, apply_sort),
    ("sponge", "", 0, |_, text| Some(text.to_owned())),
    ("tac", "", 0, |_, text| Some(text.split_inclusive('\n').rev().collect())),
    ("tail", "nc", 0, apply_tail),
    ("tr", "", 2, apply_tr),
    ("unexpand", "t", 0, |_, text| Some(text.to_owned())),
    ("uniq", "", 0, |flags, text| flags.require_only(&[]).map(|()| apply_uniq(text))),
    ("xxd", "cgls", 0, apply_xxd),
];

/// The filter with this name.
pub(crate) fn find_filter(name: &str) -> Option<&'static TextFilter> {
    FILTERS.iter().find(|(known, ..)| *known == name)
}

/// `awk -F: '{print $2}'`, `awk NR==2`, `awk /text/`
fn apply_awk(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["F"])?;
    let program = flags.operands.first()?.trim();
    let (condition, body) = program.split_once('{').unwrap_or((program, ""));
    let condition = condition.trim();
    let literal = condition.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let number = condition.strip_prefix("NR==").map(|number| number.trim().parse::<usize>());
    if literal.is_some_and(|literal| literal.contains(|c: char| ".*[]^$+?(){}|\\".contains(c)))
        || (!condition.is_empty() && literal.is_none() && !matches!(number, Some(Ok(_))))
    {
        return None;
    }
    let number = number.and_then(Result::ok);
    let separator = flags.flag_value(&["F"]);
    let mut result = String::new();
    for (at, line) in text.lines().enumerate() {
        let is_chosen =
            literal.is_none_or(|literal| line.contains(literal)) && number.is_none_or(|number| at + 1 == number);
        if is_chosen {
            result.push_str(&print_awk_fields(body, line, separator)?);
            result.push('\n');
        }
    }
    Some(result)
}

/// `print $1, "text"}`
fn print_awk_fields(body: &str, line: &str, separator: Option<&str>) -> Option<String> {
    if body.is_empty() {
        return Some(line.to_owned());
    }
    let arguments = body.trim().strip_suffix('}')?.trim().strip_prefix("print")?.trim().trim_end_matches(';');
    let fields: Vec<&str> = match separator {
        Some(separator) => line.split(separator).collect(),
        None => line.split_whitespace().collect(),
    };
    let value = |argument: &str| {
        let argument = argument.trim();
        let literal = argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let plain = literal.filter(|literal| !literal.contains(['"', '\\'])).map(str::to_owned);
        plain.or_else(|| match argument.strip_prefix('$')?.parse::<usize>().ok()? {
            0 => Some(line.to_owned()),
            number => Some(fields.get(number - 1).copied().unwrap_or_default().to_owned()),
        })
    };
    if arguments.is_empty() {
        return Some(line.to_owned());
    }
    Some(arguments.split(',').map(value).collect::<Option<Vec<_>>>()?.join(" "))
}

/// `jq -r .key`, on one value.
fn apply_jq(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["r", "raw-output", "c"])?;
    let path = flags.operands.first()?.strip_prefix('.')?;
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    for key in path.split('.').filter(|key| !key.is_empty()) {
        value = value.get_mut(key)?.take();
    }
    let is_raw = flags.has_flag(&["r", "raw-output"]);
    match value {
        serde_json::Value::String(text) if is_raw => Some(text + "\n"),
        value => Some(format!("{value}\n")),
    }
}

/// `dd if=/dev/stdin bs=1`: it copies everything.
fn is_plain_copy(word: &str) -> bool {
    ["if=/dev/stdin", "of=/dev/stdout", "status=", "bs="].iter().any(|start| word.starts_with(start))
}

/// `fold -w 80`: lines of at most this many characters.
fn apply_fold(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    let width: usize = flags.flag_value(&["w", "b"]).map_or(Some(80), |width| width.parse().ok())?;
    let characters: Vec<char> = text.chars().filter(|c| width > 1 || *c != '\n').collect();
    let lines = |line: &str| {
        let characters: Vec<char> = line.chars().collect();
        characters.chunks(width.max(1)).map(|part| part.iter().collect()).collect::<Vec<String>>().join("\n")
    };
    (characters.len() <= MAX_FOLDED_CHARS).then(|| map_lines(text, lines))
}

/// `paste -sd ''`: all lines as one. Of one input, other forms change nothing.
fn apply_paste(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    if !flags.has_flag(&["s", "serial"]) {
        return Some(text.to_owned());
    }
    let between = flags.flag_value(&["d", "delimiters"]).unwrap_or("\t");
    let between = if between == "\\0" { "" } else { between };
    Some(text.lines().collect::<Vec<_>>().join(between) + "\n")
}

/// `grep text`, `grep -v text`: with a literal text.
fn apply_grep(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["v", "F", "e", "E", "i", "a", "h", "o", "P"])?;
    let wanted = flags.flag_value(&["e"]).or_else(|| flags.operands.first().copied())?;
    if flags.has_flag(&["o"]) {
        // The match begins with the text before the first sign, and goes on to the end of the line at most.
        let start = wanted.trim_start_matches('^').split(['.', '*', '[', '(', '\\', '$', '+', '?', '{', '|']).next()?;
        let matched = |line: &str| line.find(start).and_then(|at| line.get(at..)).map(str::to_owned);
        return (!start.is_empty()).then(|| text.split_inclusive('\n').filter_map(matched).collect());
    }
    let is_literal = !wanted.contains(|c: char| ".*[]^$+?(){}|\\".contains(c));
    let keeps = |line: &&str| line.contains(wanted) != flags.has_flag(&["v"]);
    // Every line matches an empty pattern or `.`.
    if matches!(wanted, "" | "." | ".*") && !flags.has_flag(&["v"]) {
        return Some(text.to_owned());
    }
    is_literal.then(|| text.split_inclusive('\n').filter(keeps).collect())
}

/// Changes every line, and keeps the newlines.
fn map_lines(text: &str, change: impl Fn(&str) -> String) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => change(line) + "\n",
            None => change(line),
        })
        .collect()
}

fn decode_base(flags: &FilterArgs<'_>, text: &str, bits: u32) -> Option<String> {
    flags.require_only(&["d", "D", "decode", "i", "ignore-garbage"])?;
    flags.has_flag(&["d", "D", "decode"]).then(|| String::from_utf8(decode_base_digits(text, bits)?).ok())?
}

/// Decodes base 32 or base 64, with this many bits per digit.
pub(crate) fn decode_base_digits(text: &str, bits: u32) -> Option<Vec<u8>> {
    let (mut bytes, mut held, mut count) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        held = (held << bits) | decode_digit(byte, bits)?;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((held >> count) & 0xff).ok()?);
            held &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

fn decode_digit(byte: u8, bits: u32) -> Option<u32> {
    let value = match (byte, bits) {
        (b'A'..=b'Z', _) => byte - b'A',
        (b'2'..=b'7', 5) => byte - b'2' + 26,
        (b'a'..=b'z', 6) => byte - b'a' + 26,
        (b'0'..=b'9', 6) => byte - b'0' + 52,
        (b'+' | b'-', 6) => 62,
        (b'/' | b'_', 6) => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

fn apply_xxd(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["r", "p", "s"])?;
    if !flags.has_flag(&["r"]) || !flags.has_flag(&["p"]) {
        return None;
    }
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    let bytes =
        digits.chunks_exact(2).filter_map(|pair| u8::try_from(pair.iter().fold(0, |all, digit| all * 16 + digit)).ok());
    String::from_utf8(bytes.collect()).ok()
}

fn apply_head(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["n", "c", "q"])?;
    if let Some(count) = flags.flag_value(&["c"]) {
        return text.get(..count.parse::<usize>().ok()?.min(text.len())).map(str::to_owned);
    }
    let count = flags.flag_value(&["n"]).map_or(Some(10), |count| count.parse().ok())?;
    Some(text.split_inclusive('\n').take(count).collect())
}

fn apply_tail(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["n", "c", "q"])?;
    if let Some(count) = flags.flag_value(&["c"]) {
        if let Some(from) = count.strip_prefix('+') {
            return text.get(from.parse::<usize>().ok()?.checked_sub(1)?..).map(str::to_owned);
        }
        let from = text.len().saturating_sub(count.parse().ok()?);
        return text.get(from..).map(str::to_owned);
    }
    let count = flags.flag_value(&["n"]).unwrap_or("10");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let from = match count.strip_prefix('+') {
        Some(from) => from.parse::<usize>().ok()?.checked_sub(1)?,
        None => lines.len().saturating_sub(count.parse().ok()?),
    };
    Some(lines.get(from..).unwrap_or_default().concat())
}

fn apply_sort(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["u", "r"])?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    if flags.has_flag(&["u"]) {
        lines.dedup();
    }
    if flags.has_flag(&["r"]) {
        lines.reverse();
    }
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

fn apply_uniq(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.dedup();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn apply_cut(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["d", "f", "c", "b", "s"])?;
    let (list, by_field) = match flags.flag_value(&["f"]) {
        Some(list) => (list, true),
        None => (flags.flag_value(&["c", "b"])?, false),
    };
    let ranges = list.split(',').map(parse_range).collect::<Option<Vec<_>>>()?;
    let chosen = |at: usize| ranges.iter().any(|(from, to)| (*from..=*to).contains(&(at + 1)));
    let delimiter = flags.flag_value(&["d"]).unwrap_or("\t").to_owned();
    Some(map_lines(text, |line| {
        if !by_field {
            return line.chars().enumerate().filter(|(at, _)| chosen(*at)).map(|(_, c)| c).collect();
        }
        if !line.contains(&delimiter) || delimiter.is_empty() {
            return line.to_owned();
        }
        let fields = line.split(&delimiter).enumerate().filter(|(at, _)| chosen(*at));
        fields.map(|(_, field)| field).collect::<Vec<_>>().join(&delimiter)
    }))
}

fn parse_range(text: &str) -> Option<(usize, usize)> {
    match text.split_once('-') {
        None => text.parse().ok().map(|at| (at, at)),
        Some((from, to)) => {
            let from = if from.is_empty() { 1 } else { from.parse().ok()? };
            let to = if to.is_empty() { usize::MAX } else { to.parse().ok()? };
            Some((from, to))
        }
    }
}

fn apply_tr(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["d", "s", "delete"])?;
    let mut operands = flags.operands.iter();
    let from = parse_char_set(operands.next()?)?;
    if flags.has_flag(&["d", "delete"]) {
        return Some(text.chars().filter(|c| !from.contains(c)).collect());
    }
    let Some(to) = operands.next() else {
        let mut last = None;
        return Some(
            text.chars()
                .filter(|c| {
                    let repeated = last == Some(*c) && from.contains(c);
                    last = Some(*c);
                    !repeated
                })
                .collect(),
        );
    };
    let to = parse_char_set(to)?;
    let last = *to.last()?;
    let change = |c: char| match from.iter().rposition(|known| *known == c) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => c,
    };
    if flags.has_flag(&["s"]) {
        return None;
    }
    Some(text.chars().map(change).collect())
}

/// The characters of a set of `tr`.
fn parse_char_set(text: &str) -> Option<Vec<char>> {
    let text = text
        .replace("[:lower:]", "a-z")
        .replace("[:upper:]", "A-Z")
        .replace("[:digit:]", "0-9")
        .replace("[:space:]", " \t\n\r");
    let text = super::printf::unescape_text(&text)?;
    if text.contains("[:") {
        return None;
    }
    Some(super::sed_lines::expand_ranges(&text))
}

/// Substitutions, `p`, `d` and `q` for lines that a number or nothing selects.
fn apply_sed(flags: &FilterArgs<'_>, text: &str) -> Option<String> {
    flags.require_only(&["E", "r", "e", "n"])?;
    let options = sed_lines::SedOptions { is_quiet: flags.has_flag(&["n"]), is_extended: flags.has_flag(&["E", "r"]) };
    let given: Vec<&str> =
        flags.flags.iter().filter(|(name, _)| *name == "e").filter_map(|(_, value)| *value).collect();
    let script = if given.is_empty() { (*flags.operands.first()?).to_owned() } else { given.join("\n") };
    let mut result = text.to_owned();
    for command in split_sed_commands(&script) {
        result = match sed_lines::parse_line_command(command) {
            Some(lines) => lines.apply(&result, &options)?,
            None => sed_lines::substitute_lines(command, &result, &options)?,
        };
    }
    Some(result)
}

/// The commands between semicolons. One inside of a substitution is part of it.
fn split_sed_commands(script: &str) -> Vec<&str> {
    let mut commands = Vec::new();
    let mut rest = script.trim();
    while !rest.is_empty() {
        let sign = rest.strip_prefix('s').and_then(|body| body.chars().next()).filter(|sign| !sign.is_alphanumeric());
        let body_end = sign.and_then(|sign| rest.match_indices(sign).nth(2)).map_or(0, |(at, _)| at);
        let end = rest.get(body_end..).and_then(|tail| tail.find([';', '\n'])).map_or(rest.len(), |at| body_end + at);
        let (command, after) = rest.split_at(end);
        commands.push(command.trim());
        rest = after.trim_start_matches([';', '\n', ' ']);
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_print_what_the_programs_print() {
        for (command, input, expected) in [
            ("base64 -d", "cm0gLXJmIC8K", Some("rm -rf /\n")),
            ("base64 --decode", "cm0gLXJmIC8=", Some("rm -rf /")),
            ("base32 -d", "OJWSALLSMYQC6===", Some("rm -rf /")),
            ("base64", "x", None),
            ("xxd -r -p", "726d202d7266202f", Some("rm -rf /")),
            ("rev", "/ fr- mr\n", Some("rm -rf /\n")),
            ("tr a-z b-za", "ab z", Some("bc a")),
            ("tr -d x", "rxm", Some("rm")),
            ("tr [:lower:] [:upper:]", "rm", Some("RM")),
            ("cut -d: -f1,3", "a:b:c\n", Some("a:c\n")),
            ("cut -c2-", "abc", Some("bc")),
            ("head -c 2", "abc", Some("ab")),
            ("head -n1", "a\nb\n", Some("a\n")),
            ("tail -n 1", "a\nb\n", Some("b\n")),
            ("sed s/x//g", "rxmx", Some("rm")),
            ("sed s/.//", "ab", Some("b")),
            ("sed s/.*/x/", "ab\n", Some("x\n")),
            ("sed s/^/x/", "ab", Some("xab")),
            ("sed s/a*b/[&]/", "aab", Some("[aab]")),
            ("sed s/[ab]//g", "abc", Some("c")),
            ("sed -n s/^#//p", "#a\nb\n", Some("a\n")),
            ("sed 1d", "a\nb\n", Some("b\n")),
            ("sed -n 2p", "a\nb\n", Some("b\n")),
            ("sed 1q", "a\nb\n", Some("a\n")),
            ("sed s/\\(a\\)b/x/", "ab", None),
            ("fold -w2", "abc\n", Some("ab\nc\n")),
            ("paste -sd+", "a\nb\n", Some("a+b\n")),
            ("grep -v x", "x\ny\n", Some("y\n")),
            ("grep ^x", "x\n", None),
            ("sort -r", "a\nb\n", Some("b\na\n")),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let (_, with_value, _, run) = find_filter(words[0]).unwrap();
            let flags = FilterArgs::parse(&words[1..], with_value);
            assert_eq!(run(&flags, input).as_deref(), expected, "{command}");
        }
    }
}
