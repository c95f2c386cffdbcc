//! Shell scripts for the tests of the parser and of the guard: valid ones, and generators of broken ones.

use proptest::prelude::*;

/// Scripts that bash accepts, with every construct.
pub const VALID_SCRIPTS: &[&str] = &[
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

/// Tokens of bash, and some that mean nothing.
pub const SHELL_TOKENS: &[&str] = &[
    "a", "b", " ", "\n", ";", "&", "|", "&&", "||", "|&", ";;", ";&", "(", ")", "{", "}", "[[", "]]", "((", "))", "<",
    ">", ">>", "<<", "<<-", "<<<", "<(", ">(", ">&", "&>", "2>", "$", "$(", "${", "$((", "$[", "`", "'", "\"", "\\",
    "\\\n", "$'", "$\"", "#", "!", "*", "?", "[", "]", "@(", "=", "+=", "~", ":", "-", ",", "..", "%", "/", "^", "@",
    "if", "then", "else", "elif", "fi", "for", "in", "do", "done", "while", "until", "case", "esac", "select",
    "function", "coproc", "time", "{a,b}", "{1..3}", "a=", "a=(", "x[", "<<A\n", "\nA\n", "<<'A'\n", "${x:-", "${#",
    "${!", "\0", "\r", "é", "\u{202e}", "\u{feff}", "\t",
];

/// Texts that consist of [`SHELL_TOKENS`].
pub fn any_token_soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(SHELL_TOKENS), 0..40).prop_map(|tokens| tokens.concat())
}

/// [`VALID_SCRIPTS`] in which a few characters are removed or replaced by tokens.
pub fn any_mutilated_script() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..3_usize, prop::option::of(prop::sample::select(SHELL_TOKENS)));
    (prop::sample::select(VALID_SCRIPTS), prop::collection::vec(change, 1..4)).prop_map(|(script, changes)| {
        let mut characters: Vec<char> = script.chars().collect();
        for (place, removed, token) in changes {
            let at = place.index(characters.len() + 1);
            let end = (at + removed).min(characters.len());
            characters.splice(at..end, token.unwrap_or_default().chars());
        }
        characters.into_iter().collect()
    })
}
