mod allowed_roots;
mod sandbox;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use self::sandbox::ContextSandbox;

const NONE: &[&str] = &[];

#[test]
fn core_files_come_first_and_then_those_of_the_role() {
    let scene = ContextSandbox::new()
        .with_file("Desktop/TODAY.md", "Buy milk.\n")
        .with_file("Desktop/MEMORY.md", "\u{feff}Last week.\r\n\r\n")
        .with_file("Desktop/SYSTEM-INDEX.md", "index")
        .with_file("Desktop/identity.md", "me\n")
        .with_role(&["Desktop/identity.md"]);
    let expected = "[CLAUDE OS SYS: INFO]: Session context loaded\n\
        \n\
        Core memory files loaded automatically:\n\
        - TODAY.MD (daily memory)\n\
        - MEMORY.MD (weekly/medium-term)\n\
        - SYSTEM-INDEX.MD (complete file)\n\
        - IDENTITY.MD (Desktop/identity.md)\n\
        \n\
        Full content follows:\n\
        \n\
        ## TODAY.MD (daily memory)\n\
        Buy milk.\n\
        \n\
        ## MEMORY.MD (weekly/medium-term)\n\
        Last week.\n\
        \n\
        ## SYSTEM-INDEX.MD (complete file)\n\
        index\n\
        \n\
        ## IDENTITY.MD (Desktop/identity.md)\n\
        me";
    let loaded = scene.load_context();
    assert_eq!(loaded.text.as_deref(), Some(expected));
    assert!(loaded.faults.is_empty(), "{:?}", loaded.faults);
}

#[test]
fn nothing_to_load_is_nothing_at_all() {
    for scene in [
        ContextSandbox::new(),
        ContextSandbox::new().in_role("nobody"),
        ContextSandbox::new().with_role(&["gone.md", "**/*.md"]),
    ] {
        let loaded = scene.load_context();
        assert_eq!((loaded.text, loaded.faults), (None, Vec::new()));
    }
}

#[test]
fn a_message_that_is_switched_off_is_left_out() {
    let scene =
        ContextSandbox::new().with_file("Desktop/TODAY.md", "x").with_settings("[messages]\ncontext_loaded = \"\"\n");
    let text = scene.load_context().text.unwrap();
    assert!(text.starts_with("Core memory files loaded automatically:\n- TODAY"), "{text}");
}

#[test]
fn core_files_are_those_of_the_settings() {
    let scene = |settings: &str| {
        let scene = ContextSandbox::new()
            .with_file("Desktop/TODAY.md", "x")
            .with_file("Desktop/MEMORY.md", "x")
            .with_file("notes/PLAN.md", "x")
            .with_file("../own.md", "x");
        scene.with_settings(&format!("[context]\n{settings}"))
    };
    scene("core = []\n").assert_listed(NONE);
    scene("core = ['Desktop/MEMORY.md', {path = 'notes/PLAN.md', about = 'the plan'}, 'Desktop/TODAY.md']\n")
        .assert_listed(&["MEMORY.MD (weekly/medium-term)", "PLAN.MD (the plan)", "TODAY.MD (daily memory)"]);
    scene("core = ['notes/PLAN.md', './notes/PLAN.md', '~/own.md']\n")
        .assert_listed(&["PLAN.MD (notes/PLAN.md)", "OWN.MD (~/own.md)"]);
    // The user's word replaces nothing once the project has spoken, and gives it no room.
    scene("core = ['~/own.md']\n")
        .with_file("snell.toml", "[context]\ncore = ['notes/PLAN.md']\n")
        .assert_listed(&["PLAN.MD (notes/PLAN.md)"]);
    scene("")
        .with_file("snell.toml", "[context]\ncore = ['~/own.md']\n")
        .assert_fault(NONE, &["~/own.md is ignored, because ", "allow = [\"~/own.md\"]"]);
}

#[test]
fn a_role_is_a_file_or_a_directory_and_its_case_does_not_matter_in_the_end() {
    let asks = |file: &str| format!("---\nauto_include: {file}\n---\n");
    let scene = || ContextSandbox::new().with_file("a.md", "x").with_file("b.md", "x");
    /// Files of roles with what each asks for, a role, and what is loaded.
    type RoleCase = (&'static [(&'static str, &'static str)], &'static str, &'static [&'static str]);
    let cases: &[RoleCase] = &[
        (&[("chief.md", "a.md")], "chief", &["A.MD (a.md)"]),
        (&[("chief/role.md", "a.md")], "chief", &["A.MD (a.md)"]),
        (&[("chief.md", "a.md"), ("chief/role.md", "b.md")], "chief", &["A.MD (a.md)"]),
        (&[("chief.md", "a.md")], "Chief", &["A.MD (a.md)"]),
        (&[("chief.md", "a.md"), ("Chief/role.md", "b.md")], "Chief", &["B.MD (b.md)"]),
        (&[("My Own Röle.md", "a.md")], "My Own Röle", &["A.MD (a.md)"]),
        (&[("Chief.md", "a.md")], "chief", NONE),
        (&[("chief.md", "a.md")], " chief\t", &["A.MD (a.md)"]),
    ];
    for (files, role, expected) in cases {
        let scene = files
            .iter()
            .fold(scene(), |scene, (path, asked)| scene.with_file(&format!(".claude/roles/{path}"), asks(asked)));
        scene.in_role(role).assert_listed(expected);
    }
}

#[test]
fn a_role_that_leads_elsewhere_is_refused_and_core_files_load() {
    for role in ["../chief", "/etc/passwd", "..", "", "a\\b", "a\0b"] {
        ContextSandbox::new()
            .with_file("Desktop/TODAY.md", "x")
            .with_file(".claude/chief.md", "---\nauto_include: a.md\n---\n")
            .in_role(role)
            .assert_fault(&["TODAY.MD (daily memory)"], &["the name of the role", "only core files are loaded"]);
    }
}

#[test]
fn broken_front_matter_is_named_with_its_place_and_core_files_load() {
    let scene = |text: &str| {
        ContextSandbox::new()
            .with_file("Desktop/TODAY.md", "x")
            .with_file("a.md", "x")
            .with_file(".claude/roles/chief.md", text)
            .in_role("chief")
    };
    let core = &["TODAY.MD (daily memory)"];
    scene("---\nname: x\nauto_include: }\n---\n")
        .assert_fault(core, &[".claude/roles/chief.md:3:15: ", "not valid YAML"]);
    scene("---\nauto_include:\n  - 7\n  - a.md\n---\n")
        .assert_fault(&[core[0], "A.MD (a.md)"], &[".claude/roles/chief.md:3:5: ", "not a number"]);
    let long = format!("---\n# {}\nauto_include: a.md\n---\n", "x".repeat(65_536));
    scene(&long).assert_fault(core, &[".claude/roles/chief.md:1:1: ", "longer than 64 KiB"]);
    scene("---\nAuto-Include: a.md\n---\n")
        .assert_fault(core, &[".claude/roles/chief.md:2:1: ", "did you mean \"auto_include\"?"]);
    scene("# Chief\n").assert_listed(core);
    // A long role with short front matter is as good as any.
    let long = format!("---\nauto_include: a.md\n---\n{}", "x".repeat(1_000_000));
    scene(&long).assert_listed(&[core[0], "A.MD (a.md)"]);
}

#[test]
fn every_file_is_loaded_once_in_the_order_of_the_entries() {
    let scene = ContextSandbox::new()
        .with_file("Desktop/TODAY.md", "x")
        .with_file("docs/b.md", "x")
        .with_file("docs/a.md", "x")
        .with_file("docs/sub/SYSTEM-SPEC.md", "x")
        .with_file("docs/[x].md", "x")
        .with_link("docs/same.md", "a.md");
    scene
        .with_role(&["docs/b.md", "docs/*.md", "**/SYSTEM-SPEC.md", "Desktop/TODAY.md", "./docs/b.md", "docs/[x].md"])
        .assert_listed(&[
            "TODAY.MD (daily memory)",
            "B.MD (docs/b.md)",
            "[X].MD (docs/[x].md)",
            "A.MD (docs/a.md)",
            "SYSTEM-SPEC.MD (docs/sub/SYSTEM-SPEC.md)",
        ]);
    // A name that looks like a pattern is a name if there is such a file.
    let scene = ContextSandbox::new().with_file("[x].md", "x").with_file("x.md", "x").with_file("*.md", "x");
    scene.with_role(&["[x].md"]).assert_listed(&["[X].MD ([x].md)"]);
    let scene = ContextSandbox::new().with_file("x.md", "x").with_file("*.md", "x");
    scene.with_role(&["[x].md"]).assert_listed(&["X.MD (x.md)"]);
}

#[test]
fn a_file_is_told_by_its_own_name_if_a_pattern_finds_a_link_to_it_as_well() {
    let scene = || {
        ContextSandbox::new()
            .with_file("docs/m.md", "x")
            .with_link("docs/a.md", "m.md")
            .with_link("docs/z.md", "m.md")
            .with_file("notes/deep/n.md", "x")
            .with_link("also", "notes")
            .with_link("docs/o.md", "../one.txt")
            .with_file("one.txt", "x")
    };
    let cases: &[(&[&str], &[&str])] = &[
        (&["docs/*.md"], &["M.MD (docs/m.md)", "O.MD (docs/o.md)"]),
        (&["docs/[a-b].md"], &["A.MD (docs/a.md)"]),
        (&["docs/a.md", "docs/*.md"], &["A.MD (docs/a.md)", "O.MD (docs/o.md)"]),
        (&["*/deep/n.md"], &["N.MD (notes/deep/n.md)"]),
        (&["also/**/n.md"], &["N.MD (also/deep/n.md)"]),
        (&["${PROJECT_PATH}//*.md"], &["M.MD (docs/m.md)", "O.MD (docs/o.md)"]),
    ];
    for (entries, expected) in cases {
        scene().with_role(entries).with_project_path("./docs/").assert_listed(expected);
    }
}

#[test]
fn a_variable_that_is_not_replaced_is_a_fault() {
    ContextSandbox::new()
        .with_file("a.md", "x")
        .with_file("${HOME}/b.md", "x")
        .with_role(&["${HOME}/b.md", "a.md"])
        .assert_fault(
            &["A.MD (a.md)"],
            &[
                ".claude/roles/chief.md:3:5: \"${HOME}/b.md\" is ignored",
                "${HOME} is not supported (hint: write the value; only ${PROJECT_PATH} is replaced)",
            ],
        );
}

#[test]
fn what_is_no_regular_file_is_left_out_and_holds_nobody_up() {
    let scene = || ContextSandbox::new().with_file("Desktop/MEMORY.md", "x");
    let kept = &["MEMORY.MD (weekly/medium-term)"];
    let pipe = scene();
    let made = std::process::Command::new("mkfifo").arg(pipe.project().join("Desktop/TODAY.md")).status();
    assert!(made.unwrap().success());
    pipe.assert_fault(kept, &["cannot read Desktop/TODAY.md", "not a regular file"]);
    scene()
        .with_file("Desktop/TODAY.md/inner", "x")
        .assert_fault(kept, &["cannot read Desktop/TODAY.md", "not a regular file"]);
    scene().with_link("Desktop/TODAY.md", "TODAY.md").assert_fault(kept, &["cannot read Desktop/TODAY.md"]);
    scene().with_link("Desktop/TODAY.md", "nothing").assert_listed(kept);
    ContextSandbox::new()
        .with_settings("[context]\ncore = ['/dev/zero']\n")
        .assert_fault(NONE, &["cannot read /dev/zero", "not a regular file"]);
    let closed = scene().with_file("Desktop/TODAY.md", "x");
    let path = closed.project().join("Desktop/TODAY.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is closed to whoever may do everything.
    if fs::File::open(&path).is_err() {
        closed.assert_fault(kept, &["cannot read Desktop/TODAY.md", "denied"]);
    }
    let role = scene().with_file(".claude/roles/chief.md/inner", "x").in_role("chief");
    role.assert_fault(kept, &["cannot read .claude/roles/chief.md", "not a regular file"]);
}

#[test]
fn what_is_too_long_is_cut_after_a_line_and_said_so() {
    let line = "0123456789abcde\n";
    let scene = ContextSandbox::new().with_file("Desktop/TODAY.md", line.repeat(70_000));
    let text = scene.load_context().text.unwrap();
    let tail = "0123456789abcde\n[cut: the first 1048576 of 1120000 bytes are shown]";
    assert!(text.ends_with(tail), "{}", &text[text.len() - 100..]);
    let bounded = |max_file: &str, content: &[u8]| {
        let settings = format!("[context]\nmax_file = '{max_file}'\n");
        let scene = ContextSandbox::new().with_file("Desktop/TODAY.md", content).with_settings(&settings);
        let text = scene.load_context().text.unwrap();
        text.split_once("## TODAY.MD (daily memory)\n").unwrap().1.to_owned()
    };
    let cases: [(&str, &[u8], &str); 9] = [
        ("10B", b"one\ntwo\nthree\n", "one\ntwo\n[cut: the first 8 of 14 bytes are shown]"),
        ("14B", b"one\ntwo\nthree\n", "one\ntwo\nthree"),
        ("10B", b"one\na line that has no end", "one\na line\n[cut: the first 10 of 26 bytes are shown]"),
        ("10B", b"\0o\0n\0e\n\0", "one"),
        ("4B", &[0; 9], "[cut: the first 4 of 9 bytes are shown]"),
        ("3B", "äöü".as_bytes(), "ä\n[cut: the first 2 of 6 bytes are shown]"),
        ("1B", "ä\n".as_bytes(), "[cut: the first 0 of 3 bytes are shown]"),
        ("4B", b"\xff\xfe\nabc", "\u{fffd}\u{fffd}\n[cut: the first 3 of 6 bytes are shown]"),
        ("9B", b"one\r\ntwo\r\n", "one\n[cut: the first 5 of 10 bytes are shown]"),
    ];
    for (max_file, content, expected) in cases {
        assert_eq!(bounded(max_file, content), expected, "{max_file} of {content:?}");
    }
}

#[test]
fn a_huge_file_is_not_read_to_its_end() {
    let scene = ContextSandbox::new().with_file("Desktop/TODAY.md", "first\n");
    let path = scene.project().join("Desktop/TODAY.md");
    // It has holes, and so takes no room; reading it whole would take a gigabyte of memory.
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 30).unwrap();
    let text = scene.load_context().text.unwrap();
    assert!(text.len() < 70_000, "{}", text.len());
    assert!(text.ends_with("\nfirst\n[cut: the first 1048576 of 1073741824 bytes are shown]"), "{text}");
}

#[test]
fn what_no_longer_fits_is_named_at_the_end() {
    let scene = |max_all: &str| {
        ContextSandbox::new()
            .with_file("Desktop/TODAY.md", "one\ntwo\n")
            .with_file("Desktop/MEMORY.md", "three\nfour\n")
            .with_file("Desktop/SYSTEM-INDEX.md", "five\n")
            .with_file("empty.md", "")
            .with_role(&["empty.md"])
            .with_settings(&format!("[context]\nmax_all = '{max_all}'\n"))
    };
    let cut = scene("14B").load_context().text.unwrap();
    let expected = "## MEMORY.MD (weekly/medium-term)\n\
        three\n\
        [cut: the first 6 of 11 bytes are shown]\n\
        \n\
        ## EMPTY.MD (empty.md)\n\
        \n\
        [not loaded, because all files together may have 14 bytes: Desktop/SYSTEM-INDEX.md]";
    assert!(cut.ends_with(expected), "{cut}");
    assert!(!cut.contains("- SYSTEM-INDEX.MD"), "{cut}");
    let (listed, faults) = scene("8B").listed_files();
    assert_eq!(listed, ["TODAY.MD (daily memory)", "EMPTY.MD (empty.md)"]);
    assert!(faults.is_empty(), "{faults:?}");
    let text = scene("8B").load_context().text.unwrap();
    let names = "may have 8 bytes: Desktop/MEMORY.md, Desktop/SYSTEM-INDEX.md]";
    assert!(text.ends_with(names), "{text}");
    scene("24B").assert_listed(&[
        "TODAY.MD (daily memory)",
        "MEMORY.MD (weekly/medium-term)",
        "SYSTEM-INDEX.MD (complete file)",
        "EMPTY.MD (empty.md)",
    ]);
}

#[test]
fn there_is_an_end_to_how_many_files_are_loaded_and_faults_told() {
    let many = |scene: ContextSandbox, name: &str| {
        (0..230).fold(scene, |scene, n| scene.with_file(&format!("{name}/{n:03}.md"), "x"))
    };
    let scene = many(ContextSandbox::new(), "docs").with_role(&["docs/*.md", "**/*.md"]);
    let (listed, faults) = scene.listed_files();
    let remark = "only 200 files are loaded; there may be more";
    assert_eq!(listed.len(), 201);
    assert_eq!((listed[199].as_str(), listed[200].as_str()), ("199.MD (docs/199.md)", &*format!("[{remark}]")));
    assert_eq!(faults, [remark]);
    let links = (0..30)
        .fold(ContextSandbox::new().with_file("../own", "x"), |scene, n| scene.with_link(&format!("{n}.md"), "../own"));
    let (_, faults) = links.with_role(&["*.md"]).listed_files();
    assert_eq!(faults.len(), 21);
    assert_eq!(faults[20], "10 more problems with context files");
}

#[test]
fn a_name_that_would_be_several_lines_is_one() {
    let scene = ContextSandbox::new().with_file("a\n## TODAY.MD.md", "x").with_role(&["*.md"]);
    scene.assert_listed(&["A\u{fffd}## TODAY.MD.MD (a\u{fffd}## TODAY.MD.md)"]);
}
