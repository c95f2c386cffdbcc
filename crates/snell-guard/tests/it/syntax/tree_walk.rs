//! Walks over trees, and texts to try.

use snell_shell::{
    AssignmentValue, ParameterOperation, RedirectKind, ShellCommand, ShellCommandKind, ShellScript, ShellWord, WordPart,
};

/// Every command, also those in words, as they are written.
pub(super) fn visit_commands<'s>(script: &'s ShellScript, see: &mut dyn FnMut(&'s ShellCommand)) {
    for item in &script.items {
        for (_, pipeline) in &item.pipelines {
            for command in &pipeline.commands {
                visit_command(command, see);
            }
        }
    }
}

fn visit_command<'s>(command: &'s ShellCommand, see: &mut dyn FnMut(&'s ShellCommand)) {
    see(command);
    match &command.kind {
        ShellCommandKind::Simple { assignments, words } => {
            for assignment in assignments {
                match &assignment.value {
                    AssignmentValue::Word(word) => visit_word(word, see),
                    AssignmentValue::Array(elements) => elements.iter().for_each(|(_, word)| visit_word(word, see)),
                }
            }
            words.iter().for_each(|word| visit_word(word, see));
        }
        ShellCommandKind::Subshell(body) | ShellCommandKind::Group(body) => visit_commands(body, see),
        ShellCommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit_commands(condition, see);
                visit_commands(body, see);
            }
            otherwise.iter().for_each(|body| visit_commands(body, see));
        }
        ShellCommandKind::While { condition, body, .. } => {
            visit_commands(condition, see);
            visit_commands(body, see);
        }
        ShellCommandKind::For { words, body, .. } => {
            words.iter().flatten().for_each(|word| visit_word(word, see));
            visit_commands(body, see);
        }
        ShellCommandKind::ArithmeticFor { expressions, body } => {
            visit_word(expressions, see);
            visit_commands(body, see);
        }
        ShellCommandKind::Case { word, arms } => {
            visit_word(word, see);
            arms.iter().for_each(|(_, body)| visit_commands(body, see));
        }
        ShellCommandKind::Function { body, .. } | ShellCommandKind::Coprocess { body } => visit_command(body, see),
        ShellCommandKind::Test(words) => words.iter().for_each(|word| visit_word(word, see)),
        ShellCommandKind::Arithmetic(word) => visit_word(word, see),
    }
    for redirect in &command.redirects {
        if let RedirectKind::HereDocument { body, .. } = &redirect.kind {
            visit_word(body, see);
        }
    }
}

fn visit_word<'s>(word: &'s ShellWord, see: &mut dyn FnMut(&'s ShellCommand)) {
    for piece in &word.parts {
        match piece {
            WordPart::Substitution { script, .. } | WordPart::Process { script, .. } => visit_commands(script, see),
            WordPart::Arithmetic(inner) => visit_word(inner, see),
            WordPart::Braces(words) | WordPart::Extended(_, words) => {
                words.iter().for_each(|word| visit_word(word, see))
            }
            WordPart::Parameter(parameter) => {
                if let ParameterOperation::Default { word, .. } = &parameter.operation {
                    visit_word(word, see);
                }
            }
            _ => {}
        }
    }
}

/// Scripts that bash reads, of every construct, to be mutilated.
pub(super) const VALID: &[&str] = &[
    "a b c; d && e || f & g | h |& i",
    "if a; then b; elif c; then d; else e; fi >x",
    "while a; do b; done < x; until c; do d; done",
    "for x in a b; do c; done; for y; do d; done",
    "for ((i=0; i<3; i++)); do a; done; for ((;;)) { b; }",
    "select x in a b; do c; done",
    "case $x in a|b) c;; (d) e;& *) f;;& g) esac",
    "f() { a; }; function g { b; } 2>x; function h() (c)",
    "coproc N { a; }; coproc b c",
    "[[ -f a && ( b == c* || ! d =~ ^(x|y)$ ) ]] && (( a + (b) ))",
    "[[ -n $a || b < c ]]; [[ a -eq b ]]",
    "cat <<A <<'B' | c\n$x `y` $(z)\nA\n$b\nB\nd e",
    "cat <<-A\n\tb\n\tA\nc",
    "echo $(cat <<A\nb\nA\n) c",
    "a \"b $c ${d:-e} $(f \"g\") `h`\" 'i' $'j\\n' $\"k\" \\l",
    "a ${b#c} ${d%%e} ${f/g/h} ${i:1:2} ${j^^} ${#k} ${!l} ${m[1]} ${n@Q}",
    "a $((1 + (2))) $((b); c) $[3]",
    "a=1 b+=2 c[3]=4 d=(e [5]=f) g",
    "export a=(1 2) b=3; declare -A c",
    "a >b 2>&1 <c >>d &>e 3<>f {g}>h <<<i >|j",
    "a <(b) >(c | d)",
    "! a | b; time -p c; ! { d; }",
    "{ a; b; }; (c; d) | { e; }",
    "a {b,c}{1..3} ~/d *.e [f-g]?",
    "a # b\nc \\\nd",
    "a `b \\`c\\` \"d\"` \"`e \\\"f\\\"`\"",
    "if a\nthen\n  b\nfi\n\nwhile c\ndo\n  d\ndone",
    "a && {\n b\n} ||\n (c\n)",
    "x=$(a | b) y=\"$(c)\" d",
    "f() if a; then b; fi\nf",
];
