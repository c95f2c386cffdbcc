//! Which files a session may get, and how much of them: `${PROJECT_PATH}`, places, sizes.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use snell_test_support::cli_output::render_context_answer;

use super::LifecycleSandbox;
use super::context::{TODAY, create_role_sandbox, render_auto_include, render_loaded_context, start_session_as};
use crate::support::CliSandbox;

const START: &str = "SessionStart";

#[test]
fn the_project_that_a_session_is_about_is_filled_in() {
    // What the variable says, what the payload says, what is got.
    let file = ("CLAUDE.MD (work/alpha/CLAUDE.md)", "about alpha");
    let deep = ("SYSTEM-SPEC.MD (work/alpha/a/b/SYSTEM-SPEC.md)", "deep");
    let strange = ("CLAUDE.MD (work/[x]*/CLAUDE.md)", "strange");
    let cases = [
        (Some("work/alpha"), Value::Null, vec![TODAY, file, deep]),
        (Some("work/alpha/"), Value::Null, vec![TODAY, file, deep]),
        (None, json!("work/alpha"), vec![TODAY, file, deep]),
        (Some("work/alpha"), json!("work/[x]*"), vec![TODAY, file, deep]),
        // Whatever is in it stands for itself.
        (Some("work/[x]*"), Value::Null, vec![TODAY, strange]),
        (Some("work/nowhere"), Value::Null, vec![TODAY]),
        (Some(""), Value::Null, vec![TODAY]),
        (None, Value::Null, vec![TODAY]),
    ];
    for (variable, payload, expected) in cases {
        let what = format!("{variable:?} {payload}");
        let entries = ["${PROJECT_PATH}/CLAUDE.md", "\"${PROJECT_PATH}/**/SYSTEM-SPEC.md\""];
        let sandbox = create_role_sandbox("project", &render_auto_include(&entries))
            .file("work/alpha/CLAUDE.md", "about alpha")
            .file("work/alpha/a/b/SYSTEM-SPEC.md", "deep")
            .file("work/[x]*/CLAUDE.md", "strange")
            .file("work/xyz/CLAUDE.md", "not meant")
            .file("work/xyz/SYSTEM-SPEC.md", "not meant");
        let stage = LifecycleSandbox::with_sandbox(sandbox).with_launcher_env(&[("CLAUDE_SESSION_ROLE", "project")]);
        let variables: Vec<_> = variable.map(|path| ("PROJECT_PATH", path)).into_iter().collect();
        let fields = json!({"source": "startup", "project_path": payload});
        stage.send_event_with_env("12:00:00", &variables, START, fields).assert_context_answer_in(
            &what,
            START,
            &render_loaded_context(&expected),
        );
    }
}

#[test]
fn the_project_that_a_session_is_about_may_lie_anywhere() {
    for inside in [true, false] {
        let entries = ["${PROJECT_PATH}/CLAUDE.md", "\"${PROJECT_PATH}/**/SYSTEM-SPEC.md\""];
        let sandbox = create_role_sandbox("project", &render_auto_include(&entries));
        let root = if inside { sandbox.project() } else { sandbox.data().parent().unwrap().to_owned() };
        let place = root.join("else where/beta");
        fs::create_dir_all(place.join("docs")).unwrap();
        fs::write(place.join("CLAUDE.md"), "about beta").unwrap();
        fs::write(place.join("docs/SYSTEM-SPEC.md"), "spec").unwrap();
        let stage = LifecycleSandbox::with_sandbox(sandbox)
            .with_launcher_env(&[("CLAUDE_SESSION_ROLE", "project"), ("PROJECT_PATH", place.to_str().unwrap())]);
        let shown = if inside { "else where/beta".to_owned() } else { place.display().to_string() };
        let headings =
            [format!("CLAUDE.MD ({shown}/CLAUDE.md)"), format!("SYSTEM-SPEC.MD ({shown}/docs/SYSTEM-SPEC.md)")];
        stage.send_event("12:00:00", START, json!({"source": "startup"})).assert_context_answer_in(
            &shown,
            START,
            &render_loaded_context(&[TODAY, (&headings[0], "about beta"), (&headings[1], "spec")]),
        );
    }
}

#[test]
fn what_lies_outside_of_the_project_is_left_out_unless_the_user_allows_it() {
    for allowed in [false, true] {
        let sandbox =
            create_role_sandbox("chief", &render_auto_include(&["~/private/key.md", "link.md", "../elsewhere/*.md"]))
                .home_file("private/key.md", "secret");
        let elsewhere = sandbox.project().parent().unwrap().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("other.md"), "secret").unwrap();
        symlink(sandbox.home().join("private/key.md"), sandbox.project().join("link.md")).unwrap();
        let allow = format!("[context]\nallow = [\"private\", \"{}\"]\n", elsewhere.display());
        let sandbox = if allowed { sandbox.home_file(".config/snell/snell.toml", &allow) } else { sandbox };
        let ran = start_session_as(&LifecycleSandbox::with_sandbox(sandbox), "chief");
        if allowed {
            assert_eq!(ran.stderr, "");
            assert_eq!(ran.stdout.matches("secret").count(), 2, "{}", ran.stdout);
        } else {
            assert_eq!(ran.stdout, render_context_answer(START, &render_loaded_context(&[TODAY])));
            assert_eq!(ran.stderr.matches("snell: warning: ").count(), 3, "{}", ran.stderr);
            for line in ran.stderr.lines().filter(|line| !line.starts_with("snell: hint: ")) {
                assert!(line.contains("outside the project"), "{line}");
            }
        }
    }
}

#[test]
fn a_large_file_is_cut_after_a_line_and_that_is_said() {
    let line = "0123456789abcde\n";
    let cases = [
        // The settings, the lines of the file, the lines that are shown.
        ("", 65536, 65536),
        ("", 65537, 65536),
        ("[context]\nmax_file = \"100B\"\n", 6, 6),
        ("[context]\nmax_file = \"100B\"\n", 7, 6),
        ("[context]\nmax_all = \"50B\"\n", 9, 3),
    ];
    for (settings, lines, shown) in cases {
        let sandbox = CliSandbox::new()
            .file("Desktop/TODAY.md", &line.repeat(lines))
            .home_file(".config/snell/snell.toml", settings);
        let mut content = line.repeat(shown).trim_end().to_owned();
        if shown < lines {
            content += &format!("\n[cut: the first {} of {} bytes are shown]", shown * 16, lines * 16);
        }
        LifecycleSandbox::with_sandbox(sandbox)
            .send_event("12:00:00", START, json!({"source": "startup"}))
            .assert_context_answer_in(
                &format!("{settings} {lines}"),
                START,
                &render_loaded_context(&[(TODAY.0, &content)]),
            );
    }
}

#[test]
fn what_does_not_fit_any_more_is_named() {
    let sandbox = create_role_sandbox("chief", &render_auto_include(&["a.md", "b.md"]))
        .file("a.md", "0123456789\n")
        .file("b.md", "b\n")
        .home_file(".config/snell/snell.toml", "[context]\nmax_all = \"10B\"\n");
    let expected = format!(
        "{}\n\n[not loaded, because all files together may have 10 bytes: b.md]",
        render_loaded_context(&[TODAY, ("A.MD (a.md)", "0123\n[cut: the first 4 of 11 bytes are shown]")])
    );
    start_session_as(&LifecycleSandbox::with_sandbox(sandbox), "chief").assert_context_answer(START, &expected);
}

#[test]
fn a_file_that_is_no_text_does_not_break_the_answer() {
    let sandbox = CliSandbox::new().file("Desktop/MEMORY.md", "memory\n");
    fs::write(sandbox.project().join("Desktop/TODAY.md"), b"\xef\xbb\xbfa\xff\x00\x1b[2Jb\r\n\r\n").unwrap();
    let ran = LifecycleSandbox::with_sandbox(sandbox).send_event("12:00:00", START, json!({"source": "startup"}));
    let context = ran.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(context.contains("## TODAY.MD (daily memory)\na\u{fffd}\u{1b}[2Jb\n\n## MEMORY.MD"), "{context:?}");
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1));
}
