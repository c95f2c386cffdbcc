use proptest::prelude::*;

use super::*;

/// What a role's file asks for, and what is wrong in it, each with its place.
fn parse_to_strings(head: &str) -> (Vec<String>, Vec<String>) {
    let includes = parse_role_includes(head, HeadExtent::WholeFile);
    let entries = includes.entries.into_iter().map(|entry| entry.text).collect();
    let faults = includes.faults.into_iter();
    let faults = faults.map(|fault| format!("{}:{}: {}", fault.at.line, fault.at.column, fault.message));
    (entries, faults.collect())
}

#[test]
fn front_matter_asks_for_files() {
    let cases: &[(&str, &[&str])] = &[
        (
            "---\nauto_include:\n  - Desktop/identity.md\n  - .engine/SYSTEM-SPEC.md\n---\n\n# Role\n",
            &["Desktop/identity.md", ".engine/SYSTEM-SPEC.md"],
        ),
        ("---\r\nauto_include:\r\n- a.md\r\n- b.md\r\n---\r\n", &["a.md", "b.md"]),
        ("\u{feff}---\nauto_include: [a.md, \"b c.md\"]\n---\n", &["a.md", "b c.md"]),
        ("---\nauto_include: a.md\n---", &["a.md"]),
        ("---  \nauto_include: a.md\n---\t\n", &["a.md"]),
        ("---\nname: Chief\ntools: {a: [b, {c: d}]}\nauto_include: [a.md]\nlast: 1\n---\n", &["a.md"]),
        ("---\n# a remark\nauto_include: # another\n  - a.md # and one more\n---\n", &["a.md"]),
        ("---\nauto_include:\n  - ${PROJECT_PATH}/**/SYSTEM-SPEC.md\n---\n", &["${PROJECT_PATH}/**/SYSTEM-SPEC.md"]),
        // Without quotes these are aliases to YAML, and patterns to everybody else.
        ("---\nauto_include:\n  - *.md\n  - **/*.md\n  - '*.txt'\n---\n", &["*.md", "**/*.md", "*.txt"]),
        ("---\nauto_include: ['2024', !!str 7, \"true\"]\n---\n", &["2024", "7", "true"]),
        ("---\nbase: &base [a.md, b.md]\nauto_include: *base\n---\n", &["a.md", "b.md"]),
        ("---\nbase: &base a.md\nauto_include: [*base, *base]\n---\n", &["a.md", "a.md"]),
        // Nothing is asked for.
        ("---\nauto_include:\n---\n", &[]),
        ("---\nauto_include: []\n---\n", &[]),
        ("---\nname: Chief\n---\n", &[]),
        ("---\n---\n", &[]),
        ("# Role\n\n---\nauto_include: [a.md]\n---\n", &[]),
        ("\n---\nauto_include: [a.md]\n---\n", &[]),
        ("----\nauto_include: [a.md]\n---\n", &[]),
        ("", &[]),
        // What stands behind it is no front matter.
        ("---\nname: x\n---\nauto_include: [a.md]\n---\n", &[]),
    ];
    for (head, expected) in cases {
        let (entries, faults) = parse_to_strings(head);
        assert_eq!(entries, *expected, "{head}");
        assert!(faults.is_empty(), "{head}: {faults:?}");
    }
}

#[test]
fn faults_say_where_they_are_in_the_file_and_cost_only_themselves() {
    let no_path = |what: &str| {
        format!(
            "an entry of auto_include must be a path, not {what} (hint: write it as a string, with quotes if needed)"
        )
    };
    let cases: &[(&str, &[&str], &[String])] = &[
        (
            "---\nauto_include:\n  - a.md\n  - 7\n  - [b.md]\n  - {c: d}\n  - true\n  -\n  - ''\n  - e.md\n---\n",
            &["a.md", "e.md"],
            &[
                format!("4:5: {}", no_path("a number")),
                format!("5:5: {}", no_path("a list")),
                format!("6:5: {}", no_path("a table")),
                format!("7:5: {}", no_path("a boolean")),
                format!("8:4: {}", no_path("nothing")),
                format!("9:5: {}", no_path("an empty string")),
            ],
        ),
        ("---\nauto_include: 7\n---\n", &[], &[format!("2:15: {}", no_path("a number"))]),
        ("---\nauto_include: {a: b}\n---\n", &[], &[format!("2:15: {}", no_path("a table"))]),
        (
            "---\nauto_include: [a.md]\nauto_include: [b.md]\n---\n",
            &["b.md"],
            &["2:1: auto_include is written twice; the last one applies".into()],
        ),
        (
            "---\nauto-include: [a.md]\nAuto Include: b.md\nautoInclude: c.md\nauto_includes: d.md\n---\n",
            &[],
            &[
                "2:1: unknown key \"auto-include\" (hint: did you mean \"auto_include\"?)".into(),
                "3:1: unknown key \"Auto Include\" (hint: did you mean \"auto_include\"?)".into(),
                "4:1: unknown key \"autoInclude\" (hint: did you mean \"auto_include\"?)".into(),
            ],
        ),
        (
            "---\nAUTO_INCLUDE: a.md\nauto_include: b.md\n---\n",
            &["b.md"],
            &["2:1: unknown key \"AUTO_INCLUDE\" (hint: did you mean \"auto_include\"?)".into()],
        ),
        (
            "---\njust words\n---\n",
            &[],
            &["2:1: the front matter has no keys (hint: write auto_include: with a list of files below)".into()],
        ),
        (
            "---\nauto_include: [a.md]\n\n# Role\n",
            &[],
            &["1:1: the front matter has no end (hint: add a line --- after it)".into()],
        ),
    ];
    for (head, entries, faults) in cases {
        let read = parse_to_strings(head);
        assert_eq!(read.0, *entries, "{head}");
        assert_eq!(read.1, *faults, "{head}");
    }
}

#[test]
fn broken_front_matter_is_one_fault_with_its_line() {
    let cases = [
        ("---\nauto_include: [a.md\n---\n", 2..=3),
        ("---\nname: x\n\tauto_include: [a.md]\n---\n", 2..=3),
        ("---\nname: \"x\nauto_include: a\n---\n", 2..=4),
        ("---\nname: x: y\n---\n", 2..=2),
        ("---\nauto_include:\n  - a.md\n  - *\n---\n", 4..=4),
        ("---\r\nname: x\r\nauto_include: }\r\n---\r\n", 3..=3),
    ];
    for (head, lines) in cases {
        let includes = parse_role_includes(head, HeadExtent::WholeFile);
        assert!(includes.entries.is_empty(), "{head}");
        let [fault] = includes.faults.as_slice() else {
            panic!("{head}: {:?}", includes.faults);
        };
        assert!(lines.contains(&fault.at.line), "{head}: {fault:?}");
        assert!(fault.message.text.starts_with("the front matter is not valid YAML: "), "{fault:?}");
        assert!(!fault.message.text.contains('\n'), "{fault:?}");
    }
}

#[test]
fn front_matter_has_an_end_within_its_limit() {
    let cases = [(HeadExtent::Truncated, "longer than 64 KiB"), (HeadExtent::WholeFile, "has no end")];
    for (extent, expected) in cases {
        let fault = parse_role_includes("---\nauto_include: [a.md]\n", extent).faults.remove(0).message.text;
        assert!(fault.contains(expected), "{fault}");
    }
}

#[test]
fn aliases_of_aliases_do_not_grow() {
    let mut text = String::from("---\na0: &a0 [x, x]\n");
    for level in 1..200 {
        let before = level - 1;
        text.push_str(&format!("a{level}: &a{level} [*a{before}, *a{before}, *a{before}, *a{before}]\n"));
    }
    text.push_str("auto_include: *a199\n---\n");
    let (entries, faults) = parse_to_strings(&text);
    assert!(entries.is_empty());
    assert_eq!(faults.len(), 4, "a list in the list for each alias: {faults:?}");
    let itself = parse_to_strings("---\nauto_include: &a [*a, b.md]\n---\n");
    assert_eq!(itself.0, ["b.md"]);
    assert_eq!(itself.1.len(), 1);
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), (": ", "")] {
        let text = format!("---\n{}{}\n---\n", open.repeat(5000), close.repeat(5000));
        assert_eq!(parse_role_includes(&text, HeadExtent::WholeFile).faults.len(), 1, "{open}");
        let text = format!("---\nauto_include: [{}{}]\n---\n", open.repeat(5000), close.repeat(5000));
        assert_eq!(parse_role_includes(&text, HeadExtent::WholeFile).faults.len(), 1, "[{open}");
    }
}

#[test]
fn a_role_is_looked_for_by_its_name_and_then_in_lower_case() {
    let shown = |role: &str| {
        let places = list_role_paths(role).unwrap().into_iter();
        places.map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown("chief"), [".claude/roles/chief.md", ".claude/roles/chief/role.md"]);
    assert_eq!(shown(" chief\t\n"), shown("chief"));
    assert_eq!(
        shown("My Chief"),
        [
            ".claude/roles/My Chief.md",
            ".claude/roles/My Chief/role.md",
            ".claude/roles/my chief.md",
            ".claude/roles/my chief/role.md"
        ]
    );
}

#[test]
fn a_role_whose_name_leads_elsewhere_is_refused() {
    let long = "x".repeat(201);
    let cases = [
        ("../chief", "contains a slash, a backslash or NUL"),
        ("a/b", "contains a slash, a backslash or NUL"),
        ("/etc/passwd", "contains a slash, a backslash or NUL"),
        ("a\\b", "contains a slash, a backslash or NUL"),
        ("a\0b", "contains a slash, a backslash or NUL"),
        ("..", "begins with a dot"),
        (".hidden", "begins with a dot"),
        (" ..", "begins with a dot"),
        ("", "is empty"),
        (" \t", "is empty"),
        (&long, "is longer than 200 bytes"),
    ];
    for (role, why) in cases {
        assert_eq!(list_role_paths(role), Err(why), "{role}");
    }
    assert!(list_role_paths(&long[1..]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn no_front_matter_panics(
        text in "([-\\[\\]{}:,&*!|>'\"%@`#?~ \t\r\na0.\\\\é]|auto_include:|- |\n  |&a |\\*a){0,60}",
        extent in prop::sample::select(vec![HeadExtent::WholeFile, HeadExtent::Truncated]),
    ) {
        parse_role_includes(&format!("---\n{text}\n---\n"), extent);
        parse_role_includes(&format!("---\nauto_include: {text}\n---\n"), extent);
        parse_role_includes(&text, extent);
    }
}
