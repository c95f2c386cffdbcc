//! Commands that the user allows, as patterns that are compared word by word.

use crate::invocation::SymbolicText;
use crate::paths::{STAR_CHAR, star_pattern_matches};
use snell_shell::is_variable_name;

/// Characters that make a text more than one simple command.
const SHELL_OPERATORS: &[char] = &[';', '|', '&', '<', '>', '(', ')', '$', '`', '\n', '#', '{', '}', '\\'];

/// A parsed entry of the allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// Variables that are set for it.
    variables: Vec<String>,
    /// Its words, with `STAR_CHAR` for any characters.
    words: Vec<String>,
    /// Whether further words may follow.
    more: bool,
}

impl CommandPattern {
    pub(crate) fn parse(command: &str, home: &str) -> Result<Self, &'static str> {
        let mut words = split_words(command, home)?;
        let is_assignment = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_variable_name(name));
        let named = words.iter().take_while(|word| is_assignment(word)).count();
        let variables: Vec<String> = words.drain(..named).collect();
        let more = words.last().is_some_and(|word| word.chars().eq([STAR_CHAR, STAR_CHAR]));
        if more {
            words.pop();
        }
        match words.first() {
            None => Err("names no program"),
            Some(program) if program.starts_with(STAR_CHAR) => Err("does not start with the name of a program"),
            Some(_) => Ok(Self { variables, words, more }),
        }
    }

    /// Whether this matches every command that the other one matches: the star matches itself.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let long_enough = match (self.more, other.more) {
            (false, true) => false,
            (false, false) => self.words.len() == other.words.len(),
            (true, _) => self.words.len() <= other.words.len(),
        };
        let word_matches = |(pattern, word): (&String, &String)| star_pattern_matches(pattern, word);
        long_enough && self.variables == other.variables && self.words.iter().zip(&other.words).all(word_matches)
    }

    /// Whether the pattern is for a program with this name.
    pub(crate) fn is_for_program(&self, name: &str) -> bool {
        self.words.first().is_some_and(|word| star_pattern_matches(word, name))
    }

    /// Whether the pattern matches a command. A word with an unknown part may be anything, also several words, so it
    /// never matches.
    pub(crate) fn matches_command(&self, argv: &[SymbolicText], variables: &[(String, SymbolicText)]) -> bool {
        let word_matches = |(pattern, value): (&String, &SymbolicText)| {
            value.as_text().is_some_and(|text| star_pattern_matches(pattern, text))
        };
        let variable_matches = |(pattern, (name, value)): (&String, &(String, SymbolicText))| {
            pattern.split_once('=').is_some_and(|(wanted, pattern)| {
                wanted == name && value.as_text().is_some_and(|text| star_pattern_matches(pattern, text))
            })
        };
        let long_enough = argv.len() == self.words.len() || self.more && argv.len() > self.words.len();
        // An unknown word may be another flag.
        let known = argv.iter().all(|word| word.as_text().is_some());
        long_enough
            && known
            && variables.len() == self.variables.len()
            && self.words.iter().zip(argv).all(word_matches)
            && self.variables.iter().zip(variables).all(variable_matches)
    }
}

/// The words of a simple command. An unquoted star becomes `STAR_CHAR`.
pub(super) fn split_words(command: &str, home: &str) -> Result<Vec<String>, &'static str> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.trim().chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some('"') if matches!(c, '$' | '`' | '\\') => return Err("contains a variable or a command substitution"),
            Some(_) => word.get_or_insert_default().push(c),
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if SHELL_OPERATORS.contains(&c) => {
                return Err("is more than one simple command");
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None if c == '~' && word.is_none() => word = Some(home.to_owned()),
            None if c == '*' => word.get_or_insert_default().push(STAR_CHAR),
            None => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("has an unclosed quote");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyEntry;

    fn pattern_matches(pattern: &str, command: &str) -> bool {
        let permit = CommandPattern::parse(pattern, "/home/ann").unwrap();
        let mut words: Vec<SymbolicText> = command.split(' ').map(SymbolicText::from_text).collect();
        let named = words.iter().take_while(|word| word.leading_text().contains('=')).count();
        let variables: Vec<(String, SymbolicText)> = words
            .drain(..named)
            .filter_map(|word| {
                let (name, value) = word.leading_text().split_once('=')?;
                Some((name.to_owned(), SymbolicText::from_text(value)))
            })
            .collect();
        permit.matches_command(&words, &variables)
    }

    #[test]
    fn a_pattern_is_compared_word_by_word() {
        for (pattern, command, expected) in [
            ("sudo systemctl restart nginx", "sudo systemctl restart nginx", true),
            ("  sudo  systemctl restart 'nginx' ", "sudo systemctl restart nginx", true),
            ("sudo systemctl restart nginx", "sudo systemctl restart nginx now", false),
            ("sudo systemctl restart nginx", "sudo systemctl restart", false),
            ("sudo systemctl restart nginx", "sudo systemctl stop nginx", false),
            ("sudo systemctl restart nginx", "/tmp/sudo systemctl restart nginx", false),
            ("sudo systemctl restart *", "sudo systemctl restart redis", true),
            ("sudo systemctl restart *", "sudo systemctl restart", false),
            ("sudo systemctl restart *", "sudo systemctl restart a b", false),
            ("sudo systemctl * nginx", "sudo systemctl stop nginx", true),
            ("docker compose **", "docker compose down -v", true),
            ("docker compose **", "docker compose", true),
            ("docker compose **", "docker volume rm x", false),
            ("rm -rf /srv/app-*/cache", "rm -rf /srv/app-blue/cache", true),
            ("rm -rf /srv/app-*/cache", "rm -rf /srv/app-blue/data", false),
            ("rm -rf ~/cache", "rm -rf /home/ann/cache", true),
            ("rm -rf '~/cache'", "rm -rf /home/ann/cache", false),
            ("find . -name '*.log' -delete", "find . -name *.log -delete", true),
            ("find . -name '*.log' -delete", "find . -name x.log -delete", false),
            ("AWS_PROFILE=dev terraform destroy", "AWS_PROFILE=dev terraform destroy", true),
            ("AWS_PROFILE=dev terraform destroy", "AWS_PROFILE=prod terraform destroy", false),
            ("AWS_PROFILE=dev terraform destroy", "terraform destroy", false),
            ("terraform destroy", "AWS_PROFILE=prod terraform destroy", false),
        ] {
            assert_eq!(pattern_matches(pattern, command), expected, "{pattern}: {command}");
        }
    }

    #[test]
    fn a_pattern_may_cover_another_one() {
        for (one, other, expected) in [
            ("sudo ls", "sudo ls", true),
            ("sudo ls", "sudo 'ls'", true),
            ("sudo *", "sudo ls", true),
            ("sudo *", "sudo l*", true),
            ("sudo l*", "sudo *", false),
            ("sudo ls", "sudo *", false),
            ("sudo **", "sudo ls -l", true),
            ("sudo **", "sudo * **", true),
            ("sudo * **", "sudo **", false),
            ("sudo *", "sudo ls -l", false),
            ("A=1 sudo ls", "sudo ls", false),
            ("a; b", "a; b", false),
        ] {
            let [one_entry, other_entry] = [one, other].map(|command| PolicyEntry::allow(command, ""));
            assert_eq!(one_entry.covers(&other_entry), expected, "{one} | {other}");
        }
    }

    #[test]
    fn invalid_entries_have_an_error() {
        for (command, faulty) in [
            ("sudo systemctl restart nginx", false),
            ("git commit -m 'a; b | c > d'", false),
            ("", true),
            ("   ", true),
            ("*", true),
            ("**", true),
            ("* restart nginx", true),
            ("A=1", true),
            ("a; b", true),
            ("a | b", true),
            ("a > b", true),
            ("rm -rf $HOME/x", true),
            ("echo \"$HOME\"", true),
            ("echo 'x", true),
        ] {
            let entry = PolicyEntry::allow(command, "");
            assert_eq!(entry.pattern_error().is_some(), faulty, "{command}");
        }
    }
}
