//! Scripts for sed, awk and jq that only print, and formats of `date`. Anything else may do harm.

/// Words of awk that run, read or write something, or change what is read.
const AWK_WORDS: &[&str] = &["system", "getline", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "ARGV", "ARGC", "@"];

/// Words of awk with which a program may never end.
const AWK_LOOPS: &[&str] = &["while", "do", "function", "func"];

/// Words of jq that read the environment or other files, or never end.
const JQ_WORDS: &[&str] = &[
    "env",
    "$ENV",
    "import",
    "include",
    "input_filename",
    "get_search_list",
    "$__prog",
    "modulemeta",
    "def",
    "while",
    "until",
    "repeat",
    "range",
    "recurse",
    "combinations",
];

/// Words of `ps` that show no environment.
const PROCESS_WORDS: &[&str] = &["aux", "auxw", "auxww", "ax", "axu", "a", "u", "x"];

/// Whether a program of awk only prints.
pub(super) fn is_printing_awk(script: &str) -> bool {
    let words = || script.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_endless = words().any(|word| AWK_LOOPS.contains(&word)) || !has_counting_loops(script);
    if is_endless || AWK_WORDS.iter().any(|word| script.contains(word)) || script.replace("||", "").contains('|') {
        return false;
    }
    // After `print`, `>` may be a file. Quotes are ignored: a text cannot hide a sign.
    match (script.find("print"), script.rfind('>')) {
        (Some(print), Some(sign)) => sign < print,
        _ => true,
    }
}

/// Whether each loop of awk counts up to a limit, `for (i=1; i<=NF; i++)`, or goes through an array, and nothing else sets its
/// variable.
fn has_counting_loops(script: &str) -> bool {
    script.match_indices("for").all(|(at, _)| {
        let Some(rest) = script.get(at + 3..) else { return false };
        let Some(header) = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
            // The end of another word.
            return rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        };
        let header: String = header.0.chars().filter(|c| *c != ' ').collect();
        let is_sign = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match header.split(';').collect::<Vec<_>>().as_slice() {
            [_] => header.contains("in") && header.chars().all(is_sign),
            [start, test, step] => {
                let Some((name, first)) = start.split_once('=') else { return false };
                let limit = test.strip_prefix(name).map(|test| test.trim_start_matches(['<', '=']));
                let is_up = *step == format!("{name}++") || *step == format!("++{name}");
                let sets = [format!("{name}="), format!("{name} ="), format!("{name}-"), format!("--{name}")];
                let is_bounded = limit.is_some_and(|limit| {
                    matches!(limit, "NF" | "n") || limit.len() <= 5 && limit.parse::<u32>().is_ok()
                });
                let set = sets.iter().map(|set| script.matches(set.as_str()).count()).sum::<usize>();
                is_up
                    && is_bounded
                    && first.chars().all(is_sign)
                    && set == 1
                    && !name.is_empty()
                    && !script.contains("NF=")
            }
            _ => false,
        }
    })
}

/// Whether a value for `lsof` names protocols, states and ports, and no host.
pub(super) fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b',' | b'-' | b':' | b'_'))
}

/// Whether a filter of yq only selects.
pub(super) fn is_plain_yq(filter: &str) -> bool {
    const WORDS: &[&str] = &[
        "keys",
        "length",
        "select",
        "has",
        "map",
        "type",
        "tag",
        "to_entries",
        "from_entries",
        "sort",
        "unique",
        "first",
        "last",
        "not",
        "and",
        "or",
        "true",
        "false",
        "null",
        "test",
        "contains",
    ];
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut before = None;
    let mut rest = filter;
    while let Some(c) = rest.chars().next() {
        let word = rest.split(|c| !is_word(c)).next().unwrap_or_default();
        if word.is_empty() {
            if !" .[]|()\"'*:,=!<>".contains(c) {
                return false;
            }
            before = Some(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        }
        // A field, or a text.
        let is_field = matches!(before, Some('.' | '"' | '\''));
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if !is_field && !is_number && !WORDS.contains(&word) {
            return false;
        }
        before = word.chars().next_back();
        rest = rest.get(word.len()..).unwrap_or_default();
    }
    !filter.contains("..")
        && !filter.replace("==", "").replace("!=", "").replace(">=", "").replace("<=", "").contains('=')
}

/// Whether a script of Perl is one substitution without code, or prints the lines that match.
pub(super) fn is_plain_perl(script: &str) -> bool {
    let script = script.trim().trim_end_matches(';');
    let has_code = script.contains(['@', '`', '\n'])
        || script.contains("(?{")
        || script.contains("(??{")
        || has_perl_variable(script);
    if has_code {
        return false;
    }
    let search = script.strip_prefix("print if ").or_else(|| script.strip_prefix("print unless "));
    if let Some(pattern) = search {
        let inner =
            pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/').or_else(|| rest.strip_suffix("/i")));
        return inner.is_some_and(|inner| !inner.replace("\\/", "").contains('/'));
    }
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(sign) = rest.chars().next().filter(|sign| matches!(sign, '/' | '|' | '#' | ',' | '!' | '~' | '%')) else {
        return false;
    };
    let mut reader = SedReader { rest };
    reader.next();
    let is_read = reader.read_until(sign).is_some() && reader.read_until(sign).is_some();
    is_read && reader.rest.chars().all(|c| matches!(c, 'g' | 'i' | 'm' | 's' | 'x'))
}

/// Whether Perl would insert a variable other than a group.
fn has_perl_variable(script: &str) -> bool {
    script.match_indices('$').any(|(at, _)| {
        let next = script.get(at + 1..).and_then(|rest| rest.chars().next());
        !next.is_none_or(|c| c.is_ascii_digit() || matches!(c, '/' | ')' | '|' | '#' | ',' | '!' | '~' | '%'))
    })
}

/// Whether a filter of jq only uses its input.
pub(super) fn is_plain_jq(filter: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let has_word = |word: &&str| {
        filter.match_indices(*word).any(|(at, found)| {
            let before = filter.get(..at).and_then(|text| text.chars().next_back());
            let after = filter.get(at + found.len()..).and_then(|text| text.chars().next());
            // `.env` is a field.
            !before.is_some_and(|c| is_word(c) || c == '.') && !after.is_some_and(is_word)
        })
    };
    !JQ_WORDS.iter().any(has_word) && !filter.contains("$ENV") && !filter.contains("$__")
}

/// Whether an operand of `date` is a format: any other sets the clock.
pub(super) fn is_date_format(text: &str) -> bool {
    text.starts_with('+')
}

/// Whether a text is a number that keeps no program busy for long.
pub(super) fn is_small_number(text: &str, limit: f64) -> bool {
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    text.chars().all(is_sign) && text.parse::<f64>().is_ok_and(|number| number.abs() <= limit)
}

/// Whether a word of `ps` selects processes: other letters show their environment.
pub(super) fn is_process_word(text: &str) -> bool {
    PROCESS_WORDS.contains(&text) || text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is one plain word.
pub(super) fn is_plain_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Whether a script of sed only prints, deletes and substitutes lines.
pub(super) fn is_plain_sed(script: &str) -> bool {
    // After `-i`, an empty text is no script for BSD's sed.
    !script.trim().is_empty() && SedReader { rest: script }.read_script().is_some()
}

struct SedReader<'a> {
    rest: &'a str,
}

impl SedReader<'_> {
    fn read_script(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c.is_whitespace() || matches!(c, ';' | '}'));
            if self.rest.is_empty() {
                return Some(());
            }
            self.read_address()?;
            if self.take(',') {
                self.skip(char::is_whitespace);
                let _ = self.take('+') || self.take('~');
                self.read_address()?;
            }
            self.skip(|c| c.is_whitespace() || c == '!');
            match self.next()? {
                '{' => continue,
                'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'D' | 'P' | 'l' => {}
                's' => self.read_substitution()?,
                // The rest of the line is a text.
                'a' | 'i' | 'c' => self.skip_text(),
                _ => return None,
            }
            // Nothing but the end may follow: some commands take the rest of the line.
            self.skip(|c| matches!(c, ' ' | '\t'));
            if !self.rest.is_empty() && !self.rest.starts_with([';', '\n', '}']) {
                return None;
            }
        }
    }

    /// Skips to the end of a line that no backslash continues.
    fn skip_text(&mut self) {
        let mut is_escaped = false;
        let end = self.rest.char_indices().find(|(_, c)| {
            let is_end = *c == '\n' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_end
        });
        let end = end.map_or(self.rest.len(), |(at, _)| at);
        self.rest = self.rest.get(end..).unwrap_or_default();
    }

    /// A number, `$`, or `/…/`, if any.
    fn read_address(&mut self) -> Option<()> {
        match self.rest.chars().next() {
            Some('0'..='9') => self.skip(|c| c.is_ascii_digit() || c == '~'),
            Some('$') => drop(self.next()),
            Some('/') => {
                self.next();
                self.read_until('/')?;
                self.skip(|c| c == 'I');
            }
            _ => {}
        }
        self.skip(char::is_whitespace);
        Some(())
    }

    fn read_substitution(&mut self) -> Option<()> {
        let sign = self.next().filter(|sign| !sign.is_alphanumeric() && !matches!(sign, '\\' | '\n' | ';' | ' '))?;
        self.read_until(sign)?;
        self.read_until(sign)?;
        self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'i' | 'I' | 'p'));
        Some(())
    }

    /// Skips to the next sign that is not escaped. A sign within brackets could be read in two ways.
    fn read_until(&mut self, sign: char) -> Option<()> {
        let mut is_escaped = false;
        for (at, c) in self.rest.char_indices() {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == sign {
                let (text, rest) = self.rest.split_at_checked(at)?;
                let rest = rest.get(sign.len_utf8()..)?;
                let is_open = text.matches('[').count() > text.matches(']').count()
                    || text.contains("[]")
                    || text.contains("[^]");
                self.rest = rest;
                return (!is_open).then_some(());
            } else if c == '\n' {
                return None;
            }
        }
        None
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn take(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(is_skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_that_print_are_harmless() {
        for script in [
            "1,50p",
            "10,20p;30q",
            "s/a/b/g",
            "s|/|.|2p",
            "/fn/,/^}/p",
            "$d",
            "1!d",
            "/x/{s/a/b/;p}",
            "/a/,+5p",
            "s/\\/x/y/",
            "=",
            "5i\\import x",
            "a\\\nx",
            "$a w x",
        ] {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in [
            "1e id",
            "e",
            "s/a/b/e",
            "s/a/b/w x",
            "w x",
            "W x",
            "r /etc/passwd",
            "R x",
            "1r x",
            "s/a/b/ge",
            "s/[/]/x/e;s/]/a/",
            "y/a/b/;w x",
            "s/a/b",
            "p w x",
            "s;a;b;e",
            "F",
            "v",
            "b x",
            "pw x",
            "s/a/b/m",
            "s/a/b/\nw x",
            "/x/w y",
            "1,e id",
            "a x\nw out",
            "a x\\\\\nw out",
        ] {
            assert!(!is_plain_sed(script), "{script}");
        }
        for script in ["{print $1}", "$3 > 5", "$3 > 5 {print}", "NR==1||NR==2", "{s+=$1} END {print s}"] {
            assert!(is_printing_awk(script), "{script}");
        }
        for script in [
            "{print > \"x\"}",
            "{print>$1}",
            "/\"/{print > f}/\"/",
            "{printf(\"a\")>\"x\"}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "{\"id\" | getline}",
        ] {
            assert!(!is_printing_awk(script), "{script}");
        }
        for (filter, expected) in [
            (".a.env", true),
            (".environment", true),
            ("env", false),
            ("env.HOME", false),
            ("$ENV.X", false),
            ("map(env)", false),
            (".[] | env", false),
            ("import \"a\" as b; .", false),
        ] {
            assert_eq!(is_plain_jq(filter), expected, "{filter}");
        }
    }
}
