//! Problems of a text, and the tree that is still read.

use snell_shell::{SyntaxProblemKind, parse};

use crate::tree_text::format_tree;

#[test]
fn what_is_not_closed_goes_to_the_end() {
    let table = [
        ("echo 'a b", "[echo 'a b']\nUnterminated at 5..9, runs until 0"),
        (
            "echo \"a $(b c",
            "[echo 'a '\"$([b c])\"]\nUnterminated at 8..13, runs until 0\nUnterminated at 5..13, runs until 0",
        ),
        ("echo $'a", "[echo 'a']\nUnterminated at 6..8, runs until 0"),
        ("echo ${x:-a", "[echo ${x:-a}]\nUnterminated at 5..11, runs until 0"),
        ("echo `a b", "[echo $([a b])]\nUnterminated at 5..9, runs until 0"),
        ("(a; b", "(subshell [a] [b])\nUnterminated at 0..5, runs until 0"),
        ("{ a; b", "(group [a] [b])\nUnterminated at 0..6, runs until 0"),
        ("if a; then b", "(if [a] then [b])\nUnterminated at 0..12, runs until 0"),
        ("for x in a; do b", "(for x in a do [b])\nUnterminated at 0..16, runs until 0"),
        ("case x in a) b", "(case x (a: [b]))\nUnterminated at 0..14, runs until 0"),
        ("a=(b $(c)", "[a=(b $([c]))]\nUnterminated at 2..9, runs until 0"),
        ("((a", "(arithmetic 'a')\nUnterminated at 0..3, runs until 0"),
        ("[[ -f $(a)", "(test -f $([a]))\nUnterminated at 0..10, runs until 0"),
        ("a &&", "[a]\nUnterminated at 0..4, runs until 0"),
        ("a |", "[a]\nUnterminated at 0..3, runs until 0"),
        ("a >", "[a >]\nUnterminated at 2..3, runs until 0"),
    ];
    for (text, tree) in table {
        assert_eq!(format_tree(&parse(text)), tree, "{text}");
    }
}

#[test]
fn bash_runs_the_lines_before_the_one_that_it_cannot_read() {
    let table = [
        ("rm -rf x\necho \"abc", Some(9)),
        ("a; b; (c\nd", Some(0)),
        ("a\nb )\nc", Some(2)),
        ("a\n{ b\nc )\nd", Some(2)),
        ("a\ncat <<E\n)\nE\nb )", Some(14)),
        ("a\nif b\nthen c\nfi\nd; fi\n", Some(17)),
        // Bash checks these only when it runs them.
        ("a `b )`", None),
        ("cat <<E\n$(a b )\nE", None),
        ("cat <<E\n$(a (b )\nE", None),
        ("echo ${x!}", None),
        // Bash drops the line and runs the next.
        ("a=(b; c)\nd", None),
        ("cat <<E\na", None),
    ];
    for (text, until) in table {
        let problems = parse(text).problems;
        assert_eq!(problems.iter().find_map(|p| p.runs_until), until, "{text}");
    }
}

#[test]
fn what_stands_where_it_cannot_does_not_hide_what_follows() {
    let table = [
        ("a )\nb", "[a] [b]"),
        ("a ;; b", "[a] [b]"),
        ("fi; a", "[a]"),
        ("echo a (b) c", "[echo a] (subshell [b]) [c]"),
        ("x $(a (b) c) d", "[x $([a] (subshell [b]) [c]) d]"),
        ("f() rm x", "(function f [rm x])"),
        ("{ a } b; c", "(group [a } b] [c])"),
        ("[[ a b $(c) ]] && d", "(test a b $([c])) && [d]"),
        ("a=(b; c) d\nrm x", "[a=(b)] [rm x]"),
        ("{ a=(b; c)\nrm x", "(group [a=(b)] [rm x])"),
        ("export a=(b | $(c)\nrm x", "[export a=(b)] [rm x]"),
        ("if a; b; fi; c", "(if [a] [b] then ) [c]"),
        ("for x $(a); do b; done", "(for x do [$([a])]) [b]"),
    ];
    for (text, tree) in table {
        let parsed = parse(text);
        assert!(!parsed.problems.is_empty(), "{text}");
        let shown = format_tree(&parsed);
        assert_eq!(shown.lines().next(), Some(tree), "{text}");
    }
}

#[test]
fn each_problem_has_its_kind() {
    use SyntaxProblemKind::{NoEndMark, Unexpected, Unterminated};
    let table = [
        ("a 'b", Unterminated),
        ("a )", Unexpected),
        ("cat <<E\na", NoEndMark),
        ("cat <<E", NoEndMark),
        ("a $(b <<E\nx\nE)", NoEndMark),
        ("a\0b", Unexpected),
        ("echo ${x!}", Unexpected),
    ];
    for (text, kind) in table {
        let problems = parse(text).problems;
        assert_eq!(problems.iter().map(|p| p.kind).collect::<Vec<_>>(), [kind], "{text}");
    }
}

#[test]
fn nul_is_dropped_as_bash_does_and_places_stay_right() {
    let parsed = parse("r\0m \0x; a\0");
    assert_eq!(format_tree(&parsed), "[rm x] [a]\nUnexpected at 1..2");
    let second = &parsed.script.items[1].pipelines[0].1.commands[0];
    assert_eq!(second.span, 8..9);
}

#[test]
fn places_in_backquotes_and_here_documents_are_those_of_the_text() {
    let text = "a `b \\`c d\\`` <<-E\n\t\tx $(e f)\n\tE\n";
    let parsed = parse(text);
    let mut seen = Vec::new();
    super::tree_walk::visit_commands(&parsed.script, &mut |command| seen.push(&text[command.span.clone()]));
    assert_eq!(seen, ["a `b \\`c d\\`` <<-E", "b \\`c d\\`", "c d", "e f"]);
}
