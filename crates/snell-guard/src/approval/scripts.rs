//! Scripts for sed, awk and jq that only print, and formats of `date`. Anything else may do harm.

/// Words of awk that run, read or write something, or change what is read.
const AWK_WORDS: &[&str] = &["system", "getline", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "ARGV", "ARGC", "@"];

/// Words of jq that read the environment or other files.
const JQ_WORDS: &[&str] =
    &["env", "$ENV", "import", "include", "input_filename", "get_search_list", "$__prog", "modulemeta"];

/// Words of `ps` that show no environment.
const PROCESS_WORDS: &[&str] = &["aux", "auxw", "auxww", "ax", "axu", "a", "u", "x"];

/// Whether a program of awk only prints.
pub(super) fn is_printing_awk(script: &str) -> bool {
    if AWK_WORDS.iter().any(|word| script.contains(word)) || script.replace("||", "").contains('|') {
        return false;
    }
    // After `print`, `>` may be a file. Quotes are ignored: a text cannot hide a sign.
    match (script.find("print"), script.rfind('>')) {
        (Some(print), Some(sign)) => sign < print,
        _ => true,
    }
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
                _ => return None,
            }
            // Nothing but the end may follow: some commands take the rest of the line.
            self.skip(|c| matches!(c, ' ' | '\t'));
            if !self.rest.is_empty() && !self.rest.starts_with([';', '\n', '}']) {
                return None;
            }
        }
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
            "a\\\nx",
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
