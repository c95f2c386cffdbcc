//! Control flow, working directories and unknown values.

use snell_guard::invocation::UnknownKind;

use super::{check_coverage, check_invocations, find_invocations, render_invocation, render_value};

#[test]
fn every_branch_is_followed() {
    check_invocations(&[
        ("a && b || c; d", "a ; b ; c ; d"),
        ("if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"),
        ("case $x in a) b;; *) c;; esac", "b ; c"),
        ("for x in a b; do p $x; done", "p a ; p b"),
        ("while a; do b; done", "a ; b"),
        ("for ((i=0; i<2; i++)); do p $i; done", "p 0 ; p 1"),
        ("if a; then x=1; else x=2; fi; p $x", "a ; p 1 ; p 2"),
        ("x=1; a && x=2; p $x", "a ; p 1 ; p 2"),
        ("[[ -n $(a) ]] && b", "a ; b"),
        ("(a; b) | c & d", "a ; b ; c ; d"),
        ("f() { rm x; }; a", "a"),
        ("a && rm() { b; }; rm x", "a ; b ; rm x"),
        ("f() { rm x; }; builtin eval f; command eval 'g() { rm y; }'; g", "rm x ; rm y"),
        ("if a; then f() { b; }; else f() { c; }; fi; f", "a ; b ; c"),
        ("rm() { b; }; command rm x; \\rm y", "rm x ; b"),
        ("if a; then echo b > s; else echo c > s; fi; sh s", "a ; echo b ; echo c ; sh s ; b ; c"),
        ("f() { rm $1; }; f x; f y", "rm x ; rm y"),
        ("f() { local x=1; p $x; }; x=2; f; p $x", "p 1 ; p 2"),
        ("f() { x=1; }; f; p $x", "p 1"),
        ("(x=1); p \"$x\"", "p ‹?›"),
        ("exit; rm x", ""),
        ("exit 1 2; rm x", "rm x"),
        ("exit --help; rm x", "rm x"),
        ("exit $X; rm x", "rm x"),
        ("(exit); rm x", "rm x"),
        ("sh -c exit; rm x", "rm x"),
        ("break; rm x", "rm x"),
        ("for i in a; do g; rm x; done; g() { break; }", "g ; rm x"),
        ("g() { break; }; for i in a; do g; rm x; done", "rm x"),
        ("for i in a; do sh -c 'break; rm x'; done", "rm x"),
        ("f() { sh -c 'return; rm x'; }; f", "return ; rm x"),
        ("return; rm x", "return ; rm x"),
        ("exit() { :; }; exit; rm x", ": ; rm x"),
        ("enable -n exit; exit; rm x", "enable -n exit ; rm x"),
        ("a || exit; b", "a ; b"),
        ("f() { return; a; }; f; b", "b"),
        ("for x in a b c; do break; p $x; done; q $x", "q a"),
        ("trap 'rm x' EXIT; a", "rm x ; a"),
        ("eval 'rm x'; eval rm y", "rm x ; rm y"),
        ("eval \"rm $X\"", "eval 'rm ‹?›' ; rm ‹?›"),
        ("exec rm x", "rm x"),
        ("command rm x; builtin echo y", "rm x ; echo y"),
        ("alias ll='rm -r'; ll x", "rm -r x ; ll x"),
        ("exec 9<<< 'rm x'; source /dev/fd/9", "source /dev/fd/9 ; rm x"),
        (". /proc/self/fd/3 3<<< 'rm x'", ". /proc/self/fd/3 ; rm x"),
        ("source <(echo rm x)", "echo rm x ; source /dev/fd/63 ; rm x"),
        ("time a; ! b; coproc c", "a ; b ; c"),
        ("while read -r x; do p $x; done <<< $'a\\nb'", "p a ; p b"),
        ("echo a | while read x; do p $x; done", "echo a ; p a"),
        ("$x a", "‹?› a ; a"),
        ("mkdir d && cd $_ && a", "mkdir d ; a"),
    ]);
}

#[test]
fn the_directory_is_followed() {
    let table = [
        ("cd /tmp; a", "/tmp"),
        ("cd sub && a", "/home/ann/work/app/sub"),
        ("cd ..; a", "/home/ann/work"),
        ("cd; a", "/home/ann"),
        ("(cd /tmp); a", "/home/ann/work/app"),
        ("cd /tmp; cd -; a", "/home/ann/work/app"),
        ("pushd /tmp; popd; a", "/home/ann/work/app"),
        ("cd $X; a", "?"),
        ("cd /etc || exit; a", "/etc"),
        ("cd $(git rev-parse --show-toplevel)/x; a", "/home/ann/work/app/x"),
        ("d=/tmp/x; cd \"$d\"; a", "/tmp/x"),
    ];
    for (text, expected) in table {
        let found = find_invocations(text);
        let last = found.invocations.last().unwrap();
        assert_eq!(render_invocation(last), "a", "{text}");
        assert_eq!(last.cwd.as_deref().unwrap_or("?"), expected, "{text}");
    }
}

#[test]
fn a_function_that_runs_twice_in_itself_is_a_bomb() {
    for (text, expected) in [
        (":(){ :|:& };:", true),
        ("b() { b | b & }; b", true),
        ("f() { f & f & }; f", true),
        ("f() { a | b & }; f", false),
        (":(){ :|:& }; a", false),
        ("f() { f; }; f", false),
    ] {
        assert_eq!(!find_invocations(text).fork_bombs.is_empty(), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_known_is_said() {
    check_coverage(&[
        ("a $X", true),
        ("$X a", false),
        ("eval \"$X\"", false),
        ("eval 'a'", true),
        ("a '", false),
        ("x=a; $x", true),
    ]);
}

#[test]
fn where_a_value_came_from_is_kept() {
    for (text, expected) in [
        ("p $(pgrep x)", UnknownKind::Processes),
        ("mapfile -t l < <(pgrep x); p \"${l[@]}\"", UnknownKind::Processes),
        ("read -r l < <(pidof x); p $l", UnknownKind::Processes),
        ("pgrep x | { read l; p $l; }", UnknownKind::Processes),
        ("pgrep x | while read -r l; do p $l; done", UnknownKind::Processes),
        ("xargs -a <(pgrep x) p", UnknownKind::Processes),
        ("curl u | tee f; p $(cat f)", UnknownKind::Unseen),
        ("read -r l < /dev/tcp/h/80; p $l", UnknownKind::Unseen),
        ("$(curl u)", UnknownKind::Unseen),
        ("read -r l < f; p $l", UnknownKind::FromInput),
    ] {
        let found = find_invocations(text);
        let last = found.invocations.last().and_then(|last| last.argv.last()).unwrap();
        assert!(last.contains_unknown(expected), "{text}: {last:?}");
    }
    assert_eq!(render_invocation(&find_invocations("$(curl u) x").invocations[1]), "eval ‹?› x");
    let sent = find_invocations("exec 3<>/dev/tcp/h/80; a >&3");
    assert_eq!(render_value(&sent.invocations[1].files[0].path), "/dev/tcp/h/80");
}
