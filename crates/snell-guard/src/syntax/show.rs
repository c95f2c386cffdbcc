//! A tree as one line of text, for people and for tests.
//!
//! Commands stand in brackets, what is made of commands in parentheses with its name first: `(if [a] [b])`. What was quoted
//! stands in single quotes, expansions in quotes stand in double quotes.

use super::ast::{
    Assigned, Assignment, Command, CommandKind, Connector, Item, Operation, Parameter, Parsed, Piece, Pipeline,
    Redirect, RedirectKind, Script, Word,
};

/// A tree as one line, and one line for each problem.
pub fn show(parsed: &Parsed) -> String {
    let mut text = script(&parsed.script);
    for problem in &parsed.problems {
        let until = problem
            .runs_until
            .map(|at| format!(", runs until {at}"))
            .unwrap_or_default();
        text.push_str(&format!("\n{:?} at {:?}{until}", problem.kind, problem.span));
    }
    text
}

fn script(script: &Script) -> String {
    joined(&script.items, item)
}

fn joined<T>(parts: &[T], show: impl Fn(&T) -> String) -> String {
    parts.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn item(item: &Item) -> String {
    let mut text = joined(&item.pipelines, |(connector, part)| {
        let sign = match connector {
            Connector::First => "",
            Connector::And => "&& ",
            Connector::Or => "|| ",
        };
        format!("{sign}{}", pipeline(part))
    });
    if item.background {
        text = format!("(& {text})");
    }
    text
}

fn pipeline(pipeline: &Pipeline) -> String {
    let mut text = joined(&pipeline.commands, command);
    if pipeline.commands.len() != 1 {
        text = format!("(pipe {text})");
    }
    if pipeline.negated {
        text = format!("(! {text})");
    }
    if pipeline.timed {
        text = format!("(time {text})");
    }
    text
}

fn command(command: &Command) -> String {
    let redirects = joined(&command.redirects, redirect);
    match &command.kind {
        CommandKind::Simple { assignments, words } => {
            let parts = [joined(assignments, assignment), joined(words, word), redirects];
            let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("[{}]", parts.join(" "))
        }
        kind if redirects.is_empty() => format!("({})", compound(kind)),
        kind => format!("({} {redirects})", compound(kind)),
    }
}

fn compound(kind: &CommandKind) -> String {
    match kind {
        CommandKind::Simple { .. } => String::new(),
        CommandKind::Subshell(body) => format!("subshell {}", script(body)),
        CommandKind::Group(body) => format!("group {}", script(body)),
        CommandKind::If { branches, otherwise } => {
            let branches = joined(branches, |(condition, body)| {
                format!("{} then {}", script(condition), script(body))
            });
            let otherwise = otherwise.as_ref().map(|body| format!(" else {}", script(body)));
            format!("if {branches}{}", otherwise.unwrap_or_default())
        }
        CommandKind::While { until, condition, body } => {
            let name = if *until { "until" } else { "while" };
            format!("{name} {} do {}", script(condition), script(body))
        }
        CommandKind::For {
            variable,
            words,
            body,
            select,
        } => {
            let name = if *select { "select" } else { "for" };
            let words = words.as_ref().map(|words| format!(" in {}", joined(words, word)));
            format!("{name} {variable}{} do {}", words.unwrap_or_default(), script(body))
        }
        CommandKind::ArithmeticFor { expressions, body } => {
            format!("for (({})) do {}", word(expressions), script(body))
        }
        CommandKind::Case { word: subject, arms } => {
            let arms = joined(arms, |(patterns, body)| {
                format!("({}: {})", joined(patterns, word), script(body))
            });
            format!("case {} {arms}", word(subject))
        }
        CommandKind::Function { name, body } => format!("function {name} {}", command(body)),
        CommandKind::Coprocess { body } => format!("coproc {}", command(body)),
        CommandKind::Test(words) => format!("test {}", joined(words, word)),
        CommandKind::Arithmetic(expression) => format!("arithmetic {}", word(expression)),
    }
}

fn assignment(assignment: &Assignment) -> String {
    let index = assignment.index.as_ref().map(|index| format!("[{}]", word(index)));
    let sign = if assignment.append { "+=" } else { "=" };
    let value = match &assignment.value {
        Assigned::Word(value) => word(value),
        Assigned::Array(elements) => array(elements),
    };
    format!("{}{}{sign}{value}", assignment.name, index.unwrap_or_default())
}

fn array(elements: &[(Option<Word>, Word)]) -> String {
    let elements = joined(elements, |(index, value)| match index {
        Some(index) => format!("[{}]={}", word(index), word(value)),
        None => word(value),
    });
    format!("({elements})")
}

fn redirect(redirect: &Redirect) -> String {
    let fd = redirect.fd.map(|fd| fd.to_string()).unwrap_or_default();
    let variable = redirect.fd_variable.as_ref().map(|name| format!("{{{name}}}"));
    let (sign, target) = match &redirect.kind {
        RedirectKind::Read(target) => ("<", target),
        RedirectKind::Write(target) => (">", target),
        RedirectKind::Clobber(target) => (">|", target),
        RedirectKind::Append(target) => (">>", target),
        RedirectKind::ReadWrite(target) => ("<>", target),
        RedirectKind::WriteBoth(target) => ("&>", target),
        RedirectKind::AppendBoth(target) => ("&>>", target),
        RedirectKind::Duplicate(target) => (">&", target),
        RedirectKind::HereDocument { body, .. } => ("<<", body),
        RedirectKind::HereString(target) => ("<<<", target),
    };
    format!("{fd}{}{sign}{}", variable.unwrap_or_default(), word(target))
}

/// A word.
pub(super) fn word(word: &Word) -> String {
    word.pieces.iter().map(piece).collect()
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text { text, quoted: false } => text.escape_debug().to_string(),
        Piece::Text { text, quoted: true } => format!("'{}'", text.escape_debug()),
        Piece::Wildcard(sign) => sign.to_string(),
        Piece::Bracket(inner) => format!("[{inner}]"),
        Piece::Extended(sign, words) => {
            let words: Vec<_> = words.iter().map(word).collect();
            format!("{sign}({})", words.join("|"))
        }
        Piece::Tilde(name) => format!("(~{name})"),
        Piece::Braces(words) => {
            let words: Vec<_> = words.iter().map(word).collect();
            format!("{{{}}}", words.join(" | "))
        }
        Piece::Range { from, to, step } => {
            let step = step.as_ref().map(|step| format!("..{step}"));
            format!("{{{from}..{to}{}}}", step.unwrap_or_default())
        }
        Piece::Parameter(inner) => in_quotes(parameter(inner), inner.quoted),
        Piece::Substitution { script: inner, quoted } => in_quotes(format!("$({})", script(inner)), *quoted),
        Piece::Process { writes, script: inner } => format!("{}({})", if *writes { '>' } else { '<' }, script(inner)),
        Piece::Arithmetic(expression) => format!("$(({}))", word(expression)),
        Piece::Array(elements) => array(elements),
    }
}

fn in_quotes(text: String, quoted: bool) -> String {
    if quoted { format!("\"{text}\"") } else { text }
}

fn parameter(parameter: &Parameter) -> String {
    let sign = if parameter.indirect { "!" } else { "" };
    let index = parameter.index.as_ref().map(|index| format!("[{}]", word(index)));
    let index = index.unwrap_or_default();
    let name = &parameter.name;
    match &parameter.operation {
        Operation::Length => format!("${{#{name}{index}}}"),
        Operation::Names => format!("${{!{name}*}}"),
        Operation::None if sign.is_empty() && index.is_empty() => format!("${name}"),
        operation => format!("${{{sign}{name}{index}{}}}", operation_text(operation)),
    }
}

fn operation_text(operation: &Operation) -> String {
    let colon = |colon: &bool| if *colon { ":" } else { "" };
    let twice = |sign: &str, twice: &bool| sign.repeat(1 + usize::from(*twice));
    match operation {
        Operation::None | Operation::Length | Operation::Names => String::new(),
        Operation::Default { colon: c, word: w } => format!("{}-{}", colon(c), word(w)),
        Operation::Assign { colon: c, word: w } => format!("{}={}", colon(c), word(w)),
        Operation::Alternative { colon: c, word: w } => format!("{}+{}", colon(c), word(w)),
        Operation::Required { colon: c, word: w } => format!("{}?{}", colon(c), word(w)),
        Operation::RemovePrefix { longest, pattern } => format!("{}{}", twice("#", longest), word(pattern)),
        Operation::RemoveSuffix { longest, pattern } => format!("{}{}", twice("%", longest), word(pattern)),
        Operation::Replace { how, pattern, by } => {
            let how = how.map(String::from).unwrap_or_default();
            format!("/{how} {} / {}", word(pattern), word(by))
        }
        Operation::Slice { offset, length } => {
            let length = length.as_ref().map(|length| format!(" : {}", word(length)));
            format!(" : {}{}", word(offset), length.unwrap_or_default())
        }
        Operation::Case { how, pattern } => format!("{how}{}", pattern.as_ref().map(word).unwrap_or_default()),
        Operation::Transform(letter) => format!("@{letter}"),
    }
}
