//! Walks over trees, and texts to try.

use snell_guard::syntax::{Assigned, Command, CommandKind, Operation, Piece, RedirectKind, Script, Word};

/// Every command, also those in words, as they are written.
pub(super) fn commands<'s>(script: &'s Script, see: &mut dyn FnMut(&'s Command)) {
    for item in &script.items {
        for (_, pipeline) in &item.pipelines {
            for command in &pipeline.commands {
                one(command, see);
            }
        }
    }
}

fn one<'s>(command: &'s Command, see: &mut dyn FnMut(&'s Command)) {
    see(command);
    match &command.kind {
        CommandKind::Simple { assignments, words } => {
            for assignment in assignments {
                match &assignment.value {
                    Assigned::Word(word) => in_word(word, see),
                    Assigned::Array(elements) => elements.iter().for_each(|(_, word)| in_word(word, see)),
                }
            }
            words.iter().for_each(|word| in_word(word, see));
        }
        CommandKind::Subshell(body) | CommandKind::Group(body) => commands(body, see),
        CommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                commands(condition, see);
                commands(body, see);
            }
            otherwise.iter().for_each(|body| commands(body, see));
        }
        CommandKind::While { condition, body, .. } => {
            commands(condition, see);
            commands(body, see);
        }
        CommandKind::For { words, body, .. } => {
            words.iter().flatten().for_each(|word| in_word(word, see));
            commands(body, see);
        }
        CommandKind::ArithmeticFor { expressions, body } => {
            in_word(expressions, see);
            commands(body, see);
        }
        CommandKind::Case { word, arms } => {
            in_word(word, see);
            arms.iter().for_each(|(_, body)| commands(body, see));
        }
        CommandKind::Function { body, .. } | CommandKind::Coprocess { body } => one(body, see),
        CommandKind::Test(words) => words.iter().for_each(|word| in_word(word, see)),
        CommandKind::Arithmetic(word) => in_word(word, see),
    }
    for redirect in &command.redirects {
        if let RedirectKind::HereDocument { body, .. } = &redirect.kind {
            in_word(body, see);
        }
    }
}

fn in_word<'s>(word: &'s Word, see: &mut dyn FnMut(&'s Command)) {
    for piece in &word.pieces {
        match piece {
            Piece::Substitution { script, .. } | Piece::Process { script, .. } => commands(script, see),
            Piece::Arithmetic(inner) => in_word(inner, see),
            Piece::Braces(words) | Piece::Extended(_, words) => words.iter().for_each(|word| in_word(word, see)),
            Piece::Parameter(parameter) => {
                if let Operation::Default { word, .. } = &parameter.operation {
                    in_word(word, see);
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
