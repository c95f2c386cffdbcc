//! Quotes, wrappers and blanks that do not change what bash does do not change the decision.

use serde_json::json;

use crate::corpus::read_corpus;

/// Its name, and the rewrite; `None` if it might change the meaning.
type CommandRewrite = (&'static str, fn(&str) -> Option<String>);

/// For any complete text.
const AROUND: &[CommandRewrite] = &[
    ("blanks around it", |text| Some(format!("  \t{text}\n\n"))),
    ("in braces", |text| Some(format!("{{ {text}\n}}"))),
    ("in a subshell", |text| Some(format!("(\n{text}\n)"))),
    ("after something harmless", |text| Some(format!("true\n{text}"))),
    ("before something harmless", |text| Some(format!("{text}\ntrue"))),
    ("after a comment", |text| Some(format!("# let's go: it's \"fine\"\n{text}"))),
    ("in a branch", |text| Some(format!("if true; then\n{text}\nfi"))),
    ("in the other branch", |text| Some(format!("if false; then :; else\n{text}\nfi"))),
    ("in a case", |text| Some(format!("case x in x)\n{text}\n;; esac"))),
    ("in a loop", |text| Some(format!("for once in 1; do\n{text}\ndone"))),
    ("after and", |text| Some(format!("true && {{\n{text}\n}}"))),
    ("after or", |text| Some(format!("false || {{\n{text}\n}}"))),
    ("negated", |text| Some(format!("! {{\n{text}\n}}"))),
    ("timed", |text| Some(format!("time {{\n{text}\n}}"))),
    ("in the background", |text| Some(format!("{{\n{text}\n}} &"))),
    ("in a function", |text| {
        Some(format!("do_it() {{\n{text}\n}}\ndo_it")).filter(|_| !text.contains("$1") && !text.contains("$@"))
    }),
    ("for eval", |text| Some(format!("eval {}", quote_word(text)))),
    ("for eval, by a variable", |text| Some(format!("it={}; eval \"$it\"", quote_word(text)))),
    ("for another shell", |text| Some(format!("bash -c {}", quote_word(text)))),
    ("for another shell, as a here-string", |text| Some(format!("bash <<< {}", quote_word(text)))),
    ("for another shell, as a here-document", |text| Some(format!("bash <<'END OF IT'\n{text}\nEND OF IT"))),
];

/// For a command of plain words.
const WORDS: &[CommandRewrite] = &[
    ("longer blanks", |text| Some(text.replace(' ', "  \t "))),
    ("continued lines", |text| Some(text.replace(' ', " \\\n  "))),
    ("continued in its name", |text| rewrite_name(text, |name| split_name(name, "\\\n"))),
    ("a name in double quotes", |text| rewrite_name(text, |name| Some(format!("\"{name}\"")))),
    ("a name in single quotes", |text| rewrite_name(text, |name| Some(format!("'{name}'")))),
    ("a name with a backslash", |text| Some(format!("\\{text}"))),
    ("a name with a backslash within", |text| rewrite_name(text, |name| split_name(name, "\\"))),
    ("a name with nothing in it", |text| rewrite_name(text, |name| split_name(name, "\"\"''"))),
    ("one letter quoted", |text| rewrite_name(text, |name| Some(format!("'{}'{}", name.get(..1)?, name.get(1..)?)))),
    ("one letter as its number", |text| {
        rewrite_name(text, |name| {
            let first = name.bytes().next()?;
            Some(format!("$'\\x{first:02x}'{}", name.get(1..)?))
        })
    }),
    ("all letters as their numbers", |text| {
        rewrite_name(text, |name| {
            let numbers: String = name.bytes().map(|byte| format!("\\{byte:03o}")).collect();
            Some(format!("$'{numbers}'"))
        })
    }),
    ("every word in single quotes", |text| Some(rewrite_words(text, |word| format!("'{word}'")))),
    ("every word in double quotes", |text| Some(rewrite_words(text, |word| format!("\"{word}\"")))),
    ("a semicolon behind it", |text| Some(format!("{text};"))),
    ("an ampersand behind it", |text| Some(format!("{text} &"))),
    ("a comment behind it", |text| Some(format!("{text} # it's fine"))),
    ("a name by a variable", |text| {
        let (name, rest) = text.split_once(' ')?;
        Some(format!("it={name}; $it {rest}"))
    }),
    ("a name by a variable in two parts", |text| {
        let (name, rest) = text.split_once(' ')?;
        let (one, two) = name.split_at_checked(1)?;
        Some(format!("one={one} two={two}; $one\"${{two}}\" {rest}"))
    }),
    ("a name by a substitution", |text| rewrite_name(text, |name| Some(format!("$(echo {name})")))),
    ("a name by old quotes", |text| rewrite_name(text, |name| Some(format!("`printf %s {name}`")))),
    ("the last word by a variable", |text| {
        let (rest, last) = text.rsplit_once(' ')?;
        Some(format!("it={last}; {rest} \"$it\""))
    }),
    ("all words as a list", |text| {
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let fits = words.len() > 1 && !text.contains(',') && !text.contains("..");
        fits.then(|| format!("{{{}}}", words.join(",")))
    }),
    ("all words as an array", |text| Some(format!("it=({text}); \"${{it[@]}}\""))),
    ("all words as arguments", |text| Some(format!("set -- {text}; \"$@\""))),
    ("with command", |text| require_external_program(text).map(|text| format!("command {text}"))),
    ("with env", |text| require_external_program(text).map(|text| format!("env {text}"))),
    ("with env and a variable", |text| require_external_program(text).map(|text| format!("env -u NOTHING A=b {text}"))),
    ("with a variable before it", |text| require_external_program(text).map(|text| format!("A=b {text}"))),
    ("with nohup", |text| require_external_program(text).map(|text| format!("nohup {text}"))),
    ("with nice", |text| require_external_program(text).map(|text| format!("nice -n 5 {text}"))),
    ("with timeout", |text| require_external_program(text).map(|text| format!("timeout 60 {text}"))),
    ("with time", |text| require_external_program(text).map(|text| format!("time {text}"))),
    ("with exec", |text| require_external_program(text).map(|text| format!("exec {text}"))),
];

fn quote_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same with another name.
fn rewrite_name(text: &str, rewrite: fn(&str) -> Option<String>) -> Option<String> {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(format!("{} {rest}", rewrite(name)?))
}

/// Inserts a text after the first letter.
fn split_name(name: &str, with: &str) -> Option<String> {
    let (one, two) = name.split_at_checked(1).filter(|(_, two)| !two.is_empty())?;
    Some(format!("{one}{with}{two}"))
}

fn rewrite_words(text: &str, rewrite: fn(&str) -> String) -> String {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.map(rewrite).collect::<Vec<_>>().join(" ")
}

/// Only external programs can be run by another program.
fn require_external_program(text: &str) -> Option<&str> {
    const BUILTINS: &[&str] = &[
        "cd", "pushd", "popd", "export", "source", "eval", "exec", "trap", "set", "unset", "alias", "unalias",
        "history", "read", "declare", "local", "readonly", "exit", "return", "shopt", "ulimit", "umask", "wait",
        "jobs", "fg", "bg", "type", "command", "builtin", "enable", "hash", "times", "disown", "kill",
    ];
    let name = text.split(' ').next().unwrap_or_default();
    (!BUILTINS.contains(&name)).then_some(text)
}

/// Words that the shell does not change, without a keyword before them.
fn is_plain(text: &str) -> bool {
    const KEYWORDS: &[&str] = &["if", "for", "while", "until", "case", "time", "function", "select", "coproc"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./:@,+%".contains(c);
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(is_plain)
        && !KEYWORDS.contains(&text.split(' ').next().unwrap_or_default())
}

#[test]
fn writing_it_differently_does_not_change_the_verdict() {
    let mut faults = Vec::new();
    for row in read_corpus().iter().filter(|row| row.tool == "Bash") {
        let text = row.input["command"].as_str().expect("a command is a text");
        let (verdict, _) = row.judge_row();
        let words = WORDS.iter().filter(|_| is_plain(text));
        for (how, rewrite) in AROUND.iter().chain(words) {
            let Some(written) = rewrite(text) else { continue };
            let (found, rule) = row.judge_with_input(&json!({ "command": written }));
            if found != verdict {
                faults.push(format!("{how}: {found:?} ({rule:?}) instead of {verdict:?}: {written:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}
