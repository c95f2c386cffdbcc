//! A tree as one line of text, for people who read a failing test.
//!
//! Commands are in brackets, constructs of commands in parentheses with their name first: `(if [a] [b])`. Quoted text
//! is in single quotes, quoted expansions are in double quotes.

use snell_shell::{
    AndOrList, AssignmentValue, CommandPipeline, ListConnector, ParameterExpansion, ParameterOperation, ParsedScript,
    RedirectKind, ShellCommand, ShellCommandKind, ShellRedirect, ShellScript, ShellWord, VariableAssignment, WordPart,
};

/// A tree as one line, and one line for each problem.
pub(super) fn format_tree(parsed: &ParsedScript) -> String {
    let mut text = format_script(&parsed.script);
    for problem in &parsed.problems {
        let until = problem.runs_until.map(|at| format!(", runs until {at}")).unwrap_or_default();
        text.push_str(&format!("\n{:?} at {:?}{until}", problem.kind, problem.span));
    }
    text
}

fn format_script(script: &ShellScript) -> String {
    join_formatted(&script.items, format_and_or_list)
}

fn join_formatted<T>(parts: &[T], show: impl Fn(&T) -> String) -> String {
    parts.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn format_and_or_list(item: &AndOrList) -> String {
    let mut text = join_formatted(&item.pipelines, |(connector, part)| {
        let sign = match connector {
            ListConnector::First => "",
            ListConnector::And => "&& ",
            ListConnector::Or => "|| ",
        };
        format!("{sign}{}", format_pipeline(part))
    });
    if item.background {
        text = format!("(& {text})");
    }
    text
}

fn format_pipeline(pipeline: &CommandPipeline) -> String {
    let mut text = join_formatted(&pipeline.commands, format_command);
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

fn format_command(command: &ShellCommand) -> String {
    let redirects = join_formatted(&command.redirects, format_redirect);
    match &command.kind {
        ShellCommandKind::Simple { assignments, words } => {
            let parts = [join_formatted(assignments, format_assignment), join_formatted(words, format_word), redirects];
            let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("[{}]", parts.join(" "))
        }
        kind if redirects.is_empty() => format!("({})", format_compound(kind)),
        kind => format!("({} {redirects})", format_compound(kind)),
    }
}

fn format_compound(kind: &ShellCommandKind) -> String {
    match kind {
        ShellCommandKind::Simple { .. } => String::new(),
        ShellCommandKind::Subshell(body) => format!("subshell {}", format_script(body)),
        ShellCommandKind::Group(body) => format!("group {}", format_script(body)),
        ShellCommandKind::If { branches, otherwise } => {
            let branches = join_formatted(branches, |(condition, body)| {
                format!("{} then {}", format_script(condition), format_script(body))
            });
            let otherwise = otherwise.as_ref().map(|body| format!(" else {}", format_script(body)));
            format!("if {branches}{}", otherwise.unwrap_or_default())
        }
        ShellCommandKind::While { until, condition, body } => {
            let name = if *until { "until" } else { "while" };
            format!("{name} {} do {}", format_script(condition), format_script(body))
        }
        ShellCommandKind::For { variable, words, body, select } => {
            let name = if *select { "select" } else { "for" };
            let words = words.as_ref().map(|words| format!(" in {}", join_formatted(words, format_word)));
            format!("{name} {variable}{} do {}", words.unwrap_or_default(), format_script(body))
        }
        ShellCommandKind::ArithmeticFor { expressions, body } => {
            format!("for (({})) do {}", format_word(expressions), format_script(body))
        }
        ShellCommandKind::Case { word: subject, arms } => {
            let arms = join_formatted(arms, |(patterns, body)| {
                format!("({}: {})", join_formatted(patterns, format_word), format_script(body))
            });
            format!("case {} {arms}", format_word(subject))
        }
        ShellCommandKind::Function { name, body } => format!("function {name} {}", format_command(body)),
        ShellCommandKind::Coprocess { body } => format!("coproc {}", format_command(body)),
        ShellCommandKind::Test(words) => format!("test {}", join_formatted(words, format_word)),
        ShellCommandKind::Arithmetic(expression) => format!("arithmetic {}", format_word(expression)),
    }
}

fn format_assignment(assignment: &VariableAssignment) -> String {
    let index = assignment.index.as_ref().map(|index| format!("[{}]", format_word(index)));
    let sign = if assignment.append { "+=" } else { "=" };
    let value = match &assignment.value {
        AssignmentValue::Word(value) => format_word(value),
        AssignmentValue::Array(elements) => format_array(elements),
    };
    format!("{}{}{sign}{value}", assignment.name, index.unwrap_or_default())
}

fn format_array(elements: &[(Option<ShellWord>, ShellWord)]) -> String {
    let elements = join_formatted(elements, |(index, value)| match index {
        Some(index) => format!("[{}]={}", format_word(index), format_word(value)),
        None => format_word(value),
    });
    format!("({elements})")
}

fn format_redirect(redirect: &ShellRedirect) -> String {
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
        RedirectKind::HereDocument { body, .. } => ("<<", &**body),
        RedirectKind::HereString(target) => ("<<<", target),
    };
    format!("{fd}{}{sign}{}", variable.unwrap_or_default(), format_word(target))
}

/// A word.
fn format_word(word: &ShellWord) -> String {
    word.parts.iter().map(format_part).collect()
}

fn format_part(part: &WordPart) -> String {
    match part {
        WordPart::Text { text, quoted: false } => text.escape_debug().to_string(),
        WordPart::Text { text, quoted: true } => format!("'{}'", text.escape_debug()),
        WordPart::Wildcard(sign) => sign.to_string(),
        WordPart::Bracket(inner) => format!("[{inner}]"),
        WordPart::Extended(sign, words) => {
            let words: Vec<_> = words.iter().map(format_word).collect();
            format!("{sign}({})", words.join("|"))
        }
        WordPart::Tilde(name) => format!("(~{name})"),
        WordPart::Braces(words) => {
            let words: Vec<_> = words.iter().map(format_word).collect();
            format!("{{{}}}", words.join(" | "))
        }
        WordPart::Range { from, to, step } => {
            let step = step.as_ref().map(|step| format!("..{step}"));
            format!("{{{from}..{to}{}}}", step.unwrap_or_default())
        }
        WordPart::Parameter(inner) => quote_if_quoted(format_parameter(inner), inner.quoted),
        WordPart::Substitution { script: inner, quoted } => {
            quote_if_quoted(format!("$({})", format_script(inner)), *quoted)
        }
        WordPart::Process { writes, script: inner } => {
            format!("{}({})", if *writes { '>' } else { '<' }, format_script(inner))
        }
        WordPart::Arithmetic(expression) => format!("$(({}))", format_word(expression)),
        WordPart::Array(elements) => format_array(elements),
    }
}

fn quote_if_quoted(text: String, quoted: bool) -> String {
    if quoted { format!("\"{text}\"") } else { text }
}

fn format_parameter(parameter: &ParameterExpansion) -> String {
    let sign = if parameter.indirect { "!" } else { "" };
    let index = parameter.index.as_ref().map(|index| format!("[{}]", format_word(index)));
    let index = index.unwrap_or_default();
    let name = &parameter.name;
    match &parameter.operation {
        ParameterOperation::Length => format!("${{#{name}{index}}}"),
        ParameterOperation::Names => format!("${{!{name}*}}"),
        ParameterOperation::None if sign.is_empty() && index.is_empty() => format!("${name}"),
        operation => format!("${{{sign}{name}{index}{}}}", format_operation(operation)),
    }
}

fn format_operation(operation: &ParameterOperation) -> String {
    let colon = |colon: &bool| if *colon { ":" } else { "" };
    let twice = |sign: &str, twice: &bool| sign.repeat(1 + usize::from(*twice));
    match operation {
        ParameterOperation::None | ParameterOperation::Length | ParameterOperation::Names => String::new(),
        ParameterOperation::Default { colon: c, word: w } => format!("{}-{}", colon(c), format_word(w)),
        ParameterOperation::Assign { colon: c, word: w } => format!("{}={}", colon(c), format_word(w)),
        ParameterOperation::Alternative { colon: c, word: w } => format!("{}+{}", colon(c), format_word(w)),
        ParameterOperation::Required { colon: c, word: w } => format!("{}?{}", colon(c), format_word(w)),
        ParameterOperation::RemovePrefix { longest, pattern } => {
            format!("{}{}", twice("#", longest), format_word(pattern))
        }
        ParameterOperation::RemoveSuffix { longest, pattern } => {
            format!("{}{}", twice("%", longest), format_word(pattern))
        }
        ParameterOperation::Replace { how, pattern, by } => {
            let how = how.map(String::from).unwrap_or_default();
            format!("/{how} {} / {}", format_word(pattern), format_word(by))
        }
        ParameterOperation::Slice { offset, length } => {
            let length = length.as_ref().map(|length| format!(" : {}", format_word(length)));
            format!(" : {}{}", format_word(offset), length.unwrap_or_default())
        }
        ParameterOperation::Case { how, pattern } => {
            format!("{how}{}", pattern.as_ref().map(format_word).unwrap_or_default())
        }
        ParameterOperation::Transform(letter) => format!("@{letter}"),
    }
}
