//! Files of a session that cannot be read, or not in full, and a tmux that is not there: none of it holds up an agent.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use snell_test_support::cli_output::render_context_answer;
use snell_test_support::process::{CommandOutput, run_with_stdin};

use super::context::{TODAY, create_role_sandbox, render_auto_include, render_loaded_context, start_session_as};
use super::{LifecycleSandbox, format_time};
use crate::support::CliSandbox;

const START: &str = "SessionStart";

fn make_fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// Something at a path that is no file that can be read, and what is told of it.
type UnreadableFileCase = (&'static str, fn(&Path), &'static [&'static str]);

const ODD: &[UnreadableFileCase] = &[
    ("a directory", |path| fs::create_dir(path).unwrap(), &["it is a directory, not a regular file"]),
    ("a pipe", make_fifo, &["it is a FIFO, not a regular file"]),
    ("a circle", |path| symlink(path, path).unwrap(), &["symbolic link"]),
    ("a link to a device", |path| symlink("/dev/zero", path).unwrap(), &["/dev/zero"]),
    ("a link to nowhere", |path| symlink("nowhere", path).unwrap(), &[]),
];

#[test]
fn what_is_no_file_is_left_out_and_the_others_are_given() {
    for (what, make, told) in ODD {
        for place in ["Desktop/MEMORY.md", "extra.md", ".claude/roles/chief.md"] {
            let sandbox = create_role_sandbox("chief", &render_auto_include(&["extra.md", "a.md"])).file("a.md", "a");
            let path = sandbox.project().join(place);
            let is_role = place.starts_with(".claude");
            if is_role {
                fs::remove_file(&path).unwrap();
            }
            make(&path);
            let ran = start_session_as(&LifecycleSandbox::with_sandbox(sandbox), "chief");
            let sections: &[_] = if is_role { &[TODAY] } else { &[TODAY, ("A.MD (a.md)", "a")] };
            assert_eq!(
                (ran.code, ran.stdout),
                (0, render_context_answer(START, &render_loaded_context(sections))),
                "{what} {place}: {}",
                ran.stderr
            );
            assert_eq!(ran.stderr.matches("snell: warning: ").count(), told.len(), "{what} {place}: {}", ran.stderr);
            for (line, told) in ran.stderr.lines().zip(*told) {
                assert!(line.starts_with("snell: ") && line.contains(place) && line.contains(told), "{what}: {line}");
            }
        }
    }
}

#[test]
fn directories_that_lead_back_to_themselves_end_a_search() {
    let sandbox = create_role_sandbox("chief", &render_auto_include(&["\"**/*.md\""])).file("docs/a.md", "a");
    let docs = sandbox.project().join("docs");
    symlink(&docs, docs.join("again")).unwrap();
    symlink(sandbox.project(), docs.join("up")).unwrap();
    symlink(docs.join("circle"), docs.join("circle")).unwrap();
    start_session_as(&LifecycleSandbox::with_sandbox(sandbox), "chief")
        .assert_context_answer(START, &render_loaded_context(&[TODAY, ("A.MD (docs/a.md)", "a")]));
}

#[test]
fn what_is_wrong_with_a_roles_front_matter_is_told_with_its_place() {
    let extra = ("A.MD (a.md)", "a");
    let cases = [
        // What is written, where the fault is, what is loaded anyway.
        ("---\nauto_include:\n  - a.md\n", "chief.md:1:1: the front matter has no end", vec![TODAY]),
        ("---\nauto_include: [a.md\n---\n", "chief.md:", vec![TODAY]),
        ("---\nauto_include:\n  - a.md\n  - 3\n---\n", "chief.md:4:5: ", vec![TODAY, extra]),
        ("---\nauto_include:\n  - a.md\n  - {b: c}\n---\n", "chief.md:4:5: ", vec![TODAY, extra]),
        ("---\n- a.md\n---\n", "chief.md:2:1: the front matter has no keys", vec![TODAY]),
        ("---\nx: \"\n---\n", "chief.md:", vec![TODAY]),
    ];
    for (front_matter, place, sections) in cases {
        let ran = start_session_as(
            &LifecycleSandbox::with_sandbox(create_role_sandbox("chief", front_matter).file("a.md", "a")),
            "chief",
        );
        assert_eq!(
            (ran.code, ran.stdout),
            (0, render_context_answer(START, &render_loaded_context(&sections))),
            "{front_matter:?}: {}",
            ran.stderr
        );
        assert_eq!(ran.stderr.matches("snell: warning: ").count(), 1, "{front_matter:?}: {}", ran.stderr);
        let begins = format!("snell: warning: .claude/roles/{place}");
        assert!(ran.stderr.starts_with(&begins), "{front_matter:?}: {}", ran.stderr);
    }
}

#[test]
fn a_role_that_leads_elsewhere_is_refused() {
    let cases = ["../x", "../../x", "a/../../x", "/etc/x", ".", "..", ".hidden", "sub/x", "a\\b", &"x".repeat(201)];
    for name in cases {
        let sandbox = create_role_sandbox("x", &render_auto_include(&["a.md"])).file("a.md", "a");
        for place in [".claude/x.md", "x.md", ".claude/roles/sub/x.md", ".claude/roles/.hidden.md"] {
            let path = sandbox.project().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, render_auto_include(&["a.md"])).unwrap();
        }
        let stage = LifecycleSandbox::with_sandbox(sandbox);
        let ran = start_session_as(&stage, name);
        assert_eq!(
            (ran.code, ran.stdout),
            (0, render_context_answer(START, &render_loaded_context(&[TODAY]))),
            "{name}"
        );
        assert_eq!(ran.stderr.matches("snell: warning: ").count(), 1, "{name}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("snell: warning: the name of the role \""), "{name}: {}", ran.stderr);
        assert_eq!(stage.session_column("current_state"), "idle", "{name}: it is recorded");
    }
}

/// A session of the role `chief` starts with this much memory, in KiB.
fn start_with_memory_limit(stage: &LifecycleSandbox, kib: u32) -> CommandOutput {
    let line = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    let mut command = stage.sandbox().shell(&line, &["hook"]);
    command.env("SNELL_NOW", format_time("12:00:00")).env("CLAUDE_SESSION_ROLE", "chief");
    let payload = stage.watched.build_payload("s1", START, json!({"source": "startup"}));
    run_with_stdin(&mut command, payload.to_string())
}

#[test]
fn a_file_of_a_gigabyte_costs_neither_time_nor_memory() {
    const SIZE: u64 = 1 << 30;
    for place in ["Desktop/MEMORY.md", "extra.md", ".claude/roles/chief.md", "s1.jsonl"] {
        let sandbox = create_role_sandbox("chief", &render_auto_include(&["extra.md", "a.md"])).file("a.md", "a");
        let file = fs::OpenOptions::new().append(true).create(true).open(sandbox.project().join(place)).unwrap();
        file.set_len(SIZE).unwrap();
        let stage = LifecycleSandbox::with_sandbox(sandbox);
        let ran = start_with_memory_limit(&stage, 512 * 1024);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{place}");
        let context = ran.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        assert!(context.len() < 300 * 1024, "{place}: {}", context.len());
        assert!(context.ends_with("## A.MD (a.md)\na"), "{place}");
        let cut = context.contains(&format!("[cut: the first 1048576 of {SIZE} bytes are shown]"));
        assert_eq!(cut, !place.starts_with('.') && !place.starts_with('s'), "{place}");
    }
}

#[test]
fn very_many_files_are_bounded() {
    let mut sandbox = create_role_sandbox("chief", &render_auto_include(&["\"many/*.md\""]));
    for number in 0..400 {
        sandbox = sandbox.file(&format!("many/{number:03}.md"), "x\n");
    }
    let ran = start_session_as(&LifecycleSandbox::with_sandbox(sandbox), "chief");
    let context = ran.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert_eq!(context.matches("\n## ").count(), 200);
    let told = "only 200 files are loaded; there may be more";
    assert!(context.contains(&format!("\n[{told}]\n")), "the agent is told");
    assert_eq!(ran.stderr, format!("snell: warning: {told}\n"));
}

#[test]
fn without_a_tmux_the_session_goes_on_and_only_waking_fails() {
    let sandbox = CliSandbox::new();
    let no_programs = sandbox.home().join("bin");
    fs::create_dir(&no_programs).unwrap();
    let variables = [("PATH", no_programs.to_str().unwrap()), ("TMUX", "/nowhere/tmux.sock,1,0"), ("TMUX_PANE", "%3")];
    let stage = LifecycleSandbox::with_sandbox(sandbox).with_launcher_env(&variables).begin_session();
    stage.send_prompt("12:00:10", "Go.").assert_silent();
    stage.send_stop("12:00:20").assert_silent();
    assert_eq!(stage.session_column("tmux_pane"), "%3");
    let snell = |args: &[&str]| -> CommandOutput {
        let mut command = stage.sandbox().command(args);
        command.env("SNELL_NOW", format_time("12:00:30")).envs(variables);
        run_with_stdin(&mut command, "")
    };
    for args in [&["wake", "s1"][..], &["worker", "done", "build", "--wake", "--session", "s1"]] {
        let ran = snell(args);
        assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("tmux"), "{args:?}: {ran:?}");
    }
    let rows = stage.watched.query_rows("SELECT name, status FROM workers");
    assert_eq!(rows, [json!({"name": "build", "status": "done"})], "its work is not lost");
    stage.send_event("12:01:00", "SessionEnd", json!({"reason": "other"})).assert_silent();
}
