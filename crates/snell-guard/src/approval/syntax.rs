//! The syntax of commands that may be approved. Everything that a shell could run, or that shells read in different ways, is
//! left out: functions, aliases, `eval`, arithmetic with names that may not be numbers, background jobs, names of variables that mean
//! something.

use super::numbers::{NumberVariables, find_names, is_shell_number};
use super::table::{is_known_program, words};
use crate::paths::matches_glob;
use crate::policy::allow_list::CommandPattern;
use snell_shell::{
    AndOrList, AssignmentValue, ParameterExpansion, ParameterOperation, RedirectKind, ShellCommand, ShellCommandKind,
    ShellRedirect, ShellScript, ShellWord, VariableAssignment, WordPart, parse,
};

/// Shells in shells that are followed.
const MAX_SHELLS: usize = 3;

/// Options of `npx` that install nothing.
const NPX_OPTIONS: &[&str] = &["--no-install", "--no", "--offline"];

/// The longest name of a variable.
const MAX_NAME_BYTES: usize = 32;

/// Builtins that change the shell; a command of assignments only does so, too.
const SHELL_CHANGES: &[&str] = &["cd", "export", "read", "set"];

/// Checks the syntax of one text.
pub(super) struct SyntaxCheck<'a> {
    /// Commands that the user lists.
    pub(super) listed: &'a [CommandPattern],
    pub(super) shells: usize,
    pub(super) numbers: NumberVariables,
}

impl SyntaxCheck<'_> {
    /// Whether every construct of a text is plain.
    pub(super) fn is_plain_text(&mut self, text: &str) -> bool {
        let parsed = parse(text);
        // Zsh, ksh and bash read control characters in names in different ways.
        if !parsed.problems.is_empty() || text.contains(['\0', '\r', '\u{1b}']) {
            return false;
        }
        let outer = std::mem::replace(&mut self.numbers, NumberVariables::from_script(&parsed.script));
        let is_plain = self.is_plain_script(&parsed.script);
        self.numbers = outer;
        is_plain
    }

    fn is_plain_script(&mut self, script: &ShellScript) -> bool {
        script.items.iter().all(|item| self.is_plain_list(item))
    }

    fn is_plain_list(&mut self, item: &AndOrList) -> bool {
        // Zsh runs the last command of a pipe in its own shell, bash does not.
        let changes_shell = |command: &ShellCommand| command.kind.is_simple_one_of(SHELL_CHANGES);
        let is_pipe_plain = |commands: &[ShellCommand]| commands.len() < 2 || !commands.iter().any(changes_shell);
        let mut pipelines = item.pipelines.iter().map(|(_, pipeline)| &pipeline.commands);
        !item.background
            && pipelines.all(|commands| {
                is_pipe_plain(commands) && commands.iter().all(|command| self.is_plain_command(command))
            })
    }

    fn is_plain_command(&mut self, command: &ShellCommand) -> bool {
        command.redirects.iter().all(|redirect| self.is_plain_redirect(redirect)) && self.is_plain_kind(&command.kind)
    }

    fn is_plain_kind(&mut self, kind: &ShellCommandKind) -> bool {
        match kind {
            ShellCommandKind::Simple { assignments, words } => self.is_plain_simple(assignments, words),
            ShellCommandKind::Subshell(script) | ShellCommandKind::Group(script) => self.is_plain_script(script),
            ShellCommandKind::If { branches, otherwise } => {
                branches.iter().all(|(test, body)| self.is_plain_script(test) && self.is_plain_script(body))
                    && otherwise.as_ref().is_none_or(|script| self.is_plain_script(script))
            }
            ShellCommandKind::While { until, condition, body } => {
                // Any other loop may never end.
                !until && reads_lines(condition) && self.is_plain_script(condition) && self.is_plain_script(body)
            }
            ShellCommandKind::For { variable, words, body, select } => {
                !select
                    && is_own_variable(variable)
                    && words.as_ref().is_some_and(|words| self.are_plain_words(words))
                    && self.is_plain_script(body)
            }
            ShellCommandKind::Case { word, arms } => {
                self.is_plain_word(word)
                    && arms.iter().all(|(patterns, body)| self.are_plain_words(patterns) && self.is_plain_script(body))
            }
            ShellCommandKind::Test(words) => self.is_plain_test(words) && self.are_plain_words(words),
            ShellCommandKind::Arithmetic(word) => self.is_plain_arithmetic(word),
            ShellCommandKind::ArithmeticFor { expressions, body } => {
                self.numbers.is_counting_loop(expressions) && self.is_plain_script(body)
            }
            ShellCommandKind::Function { .. } | ShellCommandKind::Coprocess { .. } => false,
        }
    }

    fn is_plain_simple(&mut self, assignments: &[VariableAssignment], words: &[ShellWord]) -> bool {
        let is_plain =
            assignments.iter().all(|assignment| self.is_plain_assignment(assignment)) && self.are_plain_words(words);
        let Some(first) = words.first() else {
            return is_plain && assignments.iter().all(|assignment| is_own_variable(&assignment.name));
        };
        // The values of variables for one program are checked with the program.
        is_plain && literal_text(first).is_some_and(|name| self.is_plain_program(&name, words))
    }

    fn is_plain_program(&mut self, name: &str, words: &[ShellWord]) -> bool {
        let rest = words.get(1..).unwrap_or_default();
        let second = rest.first();
        match name {
            "cd" => rest.len() <= 1 && second.is_none_or(|word| !starts_with(word, "-")),
            "set" => {
                rest.iter().all(|word| word.as_unquoted().is_some_and(|word| words::shell::OPTIONS.contains(&word)))
            }
            "read" => {
                rest.iter().all(|word| word.as_unquoted().is_some_and(|word| word == "-r" || is_own_variable(word)))
            }
            "export" => rest.iter().all(is_harmless_export),
            "printf" => second.is_some_and(|word| !is_unsafe_format(word)) && has_plain_numbers(rest),
            "command" => second.is_some_and(|word| matches!(word.as_unquoted(), Some("-v" | "-V"))),
            "[" | "test" => self.is_plain_test(rest),
            "source" | "." => is_environment_script(rest),
            _ if words::shell::SHELLS.contains(&name) => self.is_plain_shell(rest),
            _ if words::shell::PLAIN_BUILTINS.contains(&name) => {
                rest.len() <= 1
                    && second.is_none_or(|word| word.as_unquoted().is_some_and(|word| word.parse::<u8>().is_ok()))
            }
            _ => self.is_expected_program(name, words),
        }
    }

    /// Whether the name may be approved at all. Builtins that change the shell are not among them.
    fn is_expected_program(&self, name: &str, words: &[ShellWord]) -> bool {
        let is_listed = self.listed.iter().any(|pattern| pattern.is_for_program(name));
        let is_wrapper = matches!(name, "xargs" | "env" | "npx" | "uv") || words::shell::WRAPPERS.contains(&name);
        (is_listed || is_wrapper || name.contains('/') || is_known_program(name)) && are_plain_wrapper_flags(words)
    }

    /// `bash -c 'text'`
    fn is_plain_shell(&mut self, rest: &[ShellWord]) -> bool {
        let is_script =
            |word: &ShellWord| literal_text(word).is_some_and(|text| !text.starts_with('-') && text.ends_with("sh"));
        let mut others = rest.iter().skip_while(|word| starts_with(word, "-"));
        if others.next().is_some_and(is_script) {
            return rest
                .iter()
                .all(|word| literal_text(word).is_some_and(|text| !text.contains('c') || !text.starts_with('-')));
        }
        let [flag, code] = rest else { return false };
        let is_code = literal_text(flag).is_some_and(|flag| words::shell::CODE_FLAGS.contains(&flag.as_str()));
        let Some(text) = literal_text(code).filter(|_| is_code && self.shells < MAX_SHELLS) else { return false };
        self.shells += 1;
        self.is_plain_text(&text)
    }

    fn is_plain_assignment(&mut self, assignment: &VariableAssignment) -> bool {
        let is_plain = match &assignment.value {
            AssignmentValue::Word(word) => self.is_plain_word(word),
            AssignmentValue::Array(elements) => {
                elements.iter().all(|(index, word)| index.is_none() && self.is_plain_word(word))
            }
        };
        is_plain && assignment.index.is_none()
    }

    fn is_plain_redirect(&mut self, redirect: &ShellRedirect) -> bool {
        if redirect.fd_variable.is_some() || redirect.fd.is_some_and(|number| number > 2) {
            return false;
        }
        match &redirect.kind {
            RedirectKind::Read(word)
            | RedirectKind::Write(word)
            | RedirectKind::Clobber(word)
            | RedirectKind::Append(word)
            | RedirectKind::WriteBoth(word)
            | RedirectKind::AppendBoth(word)
            | RedirectKind::HereString(word) => self.is_plain_word(word),
            RedirectKind::Duplicate(word) => matches!(word.as_unquoted(), Some("1" | "2" | "0" | "-")),
            RedirectKind::HereDocument { body } => self.is_plain_word(body),
            RedirectKind::ReadWrite(_) => false,
        }
    }

    fn are_plain_words(&mut self, words: &[ShellWord]) -> bool {
        words.iter().all(|word| self.is_plain_word(word))
    }

    fn is_plain_word(&mut self, word: &ShellWord) -> bool {
        !has_subscript(word)
            && word.parts.iter().all(|part| match part {
                WordPart::Text { .. } | WordPart::Wildcard(_) | WordPart::Bracket(_) | WordPart::Range { .. } => true,
                WordPart::Tilde(name) => name.is_empty() || name == "~",
                WordPart::Braces(words) => self.are_plain_words(words),
                WordPart::Parameter(parameter) => self.is_plain_parameter(parameter),
                WordPart::Substitution { script, .. } => !finds_links(script) && self.is_plain_script(script),
                WordPart::Process { writes: false, script } => self.is_plain_script(script),
                WordPart::Arithmetic(word) => self.is_plain_arithmetic(word),
                WordPart::Extended(..) | WordPart::Process { writes: true, .. } | WordPart::Array(_) => false,
            })
    }

    /// `$((n+1))`, of own variables that are numbers.
    fn is_plain_arithmetic(&self, word: &ShellWord) -> bool {
        find_names(word).is_some_and(|names| {
            names.iter().all(|name| self.numbers.contains(name) && (is_own_variable(name) || is_shell_number(name)))
        })
    }

    /// Whether a test evaluates no text: `-eq` takes arithmetic, and `-v` a subscript, which may run commands.
    fn is_plain_test(&self, words: &[ShellWord]) -> bool {
        let is_evaluating = |word: &ShellWord| {
            let text = literal_text(word);
            text.is_none_or(|text| words::shell::EVALUATING_TESTS.contains(&text.as_str()))
        };
        let is_number = |word: &ShellWord| match word.parts.as_slice() {
            [WordPart::Parameter(parameter)] => self.numbers.contains(&parameter.name),
            _ => literal_text(word).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit())),
        };
        words.iter().enumerate().all(|(at, word)| {
            if literal_text(word).is_none() || !is_evaluating(word) {
                return true;
            }
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            before.is_some_and(is_number) && words.get(at + 1).is_some_and(is_number)
        }) && words.iter().all(|word| may_be_operand(word, words))
    }

    fn is_plain_parameter(&mut self, parameter: &ParameterExpansion) -> bool {
        if parameter.index.as_ref().is_some_and(|index| !matches!(index.as_unquoted(), Some("@" | "*")))
            || parameter.indirect
            || !is_known_variable(&parameter.name)
        {
            return false;
        }
        match &parameter.operation {
            ParameterOperation::None | ParameterOperation::Length => true,
            ParameterOperation::Default { word, .. } | ParameterOperation::Alternative { word, .. } => {
                self.is_plain_word(word)
            }
            ParameterOperation::RemovePrefix { pattern, .. } | ParameterOperation::RemoveSuffix { pattern, .. } => {
                self.is_plain_word(pattern)
            }
            ParameterOperation::Replace { pattern, by, .. } => self.is_plain_word(pattern) && self.is_plain_word(by),
            ParameterOperation::Assign { .. }
            | ParameterOperation::Required { .. }
            | ParameterOperation::Slice { .. }
            | ParameterOperation::Case { .. }
            | ParameterOperation::Transform(_)
            | ParameterOperation::Names => false,
        }
    }
}

/// Whether a command may give a variable this name, without an effect on any program or shell. Names in upper case may be of
/// the environment, so they are listed; those in lower case that mean something are.
fn is_own_variable(name: &str) -> bool {
    let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_special = |pattern: &&str| matches_glob(name, pattern);
    words::shell::VARIABLES.contains(&name)
        || name.len() <= MAX_NAME_BYTES
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(is_lower)
            && !words::shell::SPECIAL_VARIABLES.iter().any(is_special)
}

/// `source .venv/bin/activate`
fn is_environment_script(rest: &[ShellWord]) -> bool {
    let [script] = rest else { return false };
    literal_text(script)
        .is_some_and(|path| words::files::ENVIRONMENT_SCRIPTS.iter().any(|known| matches_glob(&path, known)))
}

/// Whether a variable with this value may be set for a program.
pub(super) fn is_harmless_variable(name: &str, value: &str) -> bool {
    words::environment::VARIABLES.iter().any(|known| match known.split_once('=') {
        Some((known, pattern)) => known == name && matches_glob(value, pattern),
        None => *known == name,
    })
}

fn is_harmless_export(word: &ShellWord) -> bool {
    let text = literal_text(word);
    text.as_deref().and_then(|text| text.split_once('=')).is_some_and(|(name, value)| is_harmless_variable(name, value))
}

/// A loop over the lines of its input.
fn reads_lines(condition: &ShellScript) -> bool {
    condition.single_command().is_some_and(|(_, command)| match &command.kind {
        ShellCommandKind::Simple { words, .. } => words.first().and_then(ShellWord::as_unquoted) == Some("read"),
        _ => false,
    })
}

/// The text of a word without expansions.
fn literal_text(word: &ShellWord) -> Option<String> {
    let texts = word.parts.iter().map(|part| match part {
        WordPart::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Whether a word certainly starts with a text, or may do so.
fn starts_with(word: &ShellWord, start: &str) -> bool {
    match word.parts.first() {
        Some(WordPart::Text { text, .. }) => text.is_empty() || text.starts_with(start),
        Some(WordPart::Tilde(_)) => false,
        _ => true,
    }
}

/// `printf -v name` sets a variable.
fn is_unsafe_format(word: &ShellWord) -> bool {
    starts_with(word, "-") && word.as_unquoted() != Some("--")
}

/// Whether `printf` gets plain numbers for numbers: zsh evaluates anything else.
fn has_plain_numbers(words: &[ShellWord]) -> bool {
    let Some((format, values)) = words.split_first() else { return true };
    let is_text = literal_text(format).is_some_and(|format| {
        format.replace("%%", "").split('%').skip(1).all(|conversion| {
            let kind =
                conversion.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | ' ' | '+'));
            kind.starts_with(['s', 'b', 'q', 'c'])
        })
    });
    let is_number = |word: &ShellWord| {
        literal_text(word).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    };
    is_text || values.iter().all(is_number)
}

/// Whether a part is a variable that the command or the shell sets: others may hold secrets.
fn is_known_variable(name: &str) -> bool {
    let is_harmless = |known: &&str| known.split('=').next() == Some(name);
    is_own_variable(name)
        || words::shell::KNOWN_VARIABLES.contains(&name)
        || words::environment::VARIABLES.iter().any(is_harmless)
}

/// Whether zsh could read a subscript, which it evaluates: `$x[…]`.
fn has_subscript(word: &ShellWord) -> bool {
    word.parts.windows(2).any(|pair| {
        let [WordPart::Parameter(_), next] = pair else { return false };
        match next {
            WordPart::Text { text, .. } => text.starts_with('['),
            WordPart::Bracket(_) => true,
            _ => false,
        }
    })
}

/// Whether a script searches for files in a way that also finds symlinks.
fn finds_links(script: &ShellScript) -> bool {
    let is_search = |command: &ShellCommand| match &command.kind {
        ShellCommandKind::Simple { words, .. } => {
            let texts: Vec<String> = words.iter().filter_map(literal_text).collect();
            let names_files =
                texts.windows(2).any(|pair| matches!(pair, [flag, kind] if flag == "-type" && kind == "f"));
            matches!(texts.first().map(String::as_str), Some("find" | "gfind" | "fd" | "fdfind")) && !names_files
        }
        _ => false,
    };
    let mut commands =
        script.items.iter().flat_map(|item| &item.pipelines).flat_map(|(_, pipeline)| &pipeline.commands);
    commands.any(is_search)
}

/// An unquoted expansion may become an operator.
fn may_be_operand(word: &ShellWord, words: &[ShellWord]) -> bool {
    let is_open = |part: &WordPart| match part {
        WordPart::Parameter(parameter) => !parameter.quoted && !matches!(parameter.name.as_str(), "?" | "#" | "$"),
        WordPart::Substitution { quoted, .. } => !quoted,
        _ => false,
    };
    // With one unquoted word and an operator, nothing else can become one.
    !word.parts.iter().any(is_open) || words.len() <= 3
}

/// Flags of wrappers that change which program runs, or how.
fn are_plain_wrapper_flags(words: &[ShellWord]) -> bool {
    words.windows(2).all(|pair| {
        let [wrapper, next] = pair else { return true };
        let next = literal_text(next).unwrap_or_default();
        match literal_text(wrapper).as_deref() {
            Some("env") => !next.starts_with('-'),
            Some("npx") => !next.starts_with('-') || NPX_OPTIONS.contains(&next.as_str()),
            Some("xargs") => !next.starts_with("-a") && !next.starts_with("--"),
            Some(runner) if words::shell::RUNNERS.contains(&runner) => !next.starts_with('-'),
            Some("time") => !next.starts_with('-') || next == "-p",
            _ => true,
        }
    }) && words.windows(3).all(|words| {
        let [runner, _, next] = words else { return true };
        let is_runner = literal_text(runner).is_some_and(|name| words::shell::RUNNERS.contains(&name.as_str()));
        !is_runner || !starts_with(next, "-")
    })
}
