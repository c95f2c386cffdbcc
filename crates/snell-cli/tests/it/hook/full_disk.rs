//! A full disk, and hooks that record side by side through the scribe.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use snell_test_support::database::query_rows;
use snell_test_support::process::spawn_with_stdin;
use snell_test_support::skip::report_skipped;

use super::{HookSandbox, RecordingMode, render_answering_hook};

/// Events in all, and how many hooks record side by side.
const EVENTS: usize = 120;
const SIDE_BY_SIDE: usize = 4;

/// Fills a small disk by recording, makes it larger, and copies it once nothing waits there any more.
const STORY: &str = r#"
    mount -t tmpfs -o size=1200k none "$SNELL_HOME" || exit 77
    hook() { sed "s/NUMBER/$1/" payload | "$0" hook >"said/$1.out" 2>"said/$1.err"; echo $? >"said/$1.code"; }
    side() { number=$1; while [ "$number" -lt "$EVENTS" ]; do hook "$number"; number=$((number + SIDES)); done; }
    hook first
    side=0
    while [ "$side" -lt "$SIDES" ]; do side "$side" & side=$((side + 1)); done
    wait
    mount -o remount,size=64m "$SNELL_HOME"
    "$0" log >log.out 2>log.err
    cp -r "$SNELL_HOME" copy"#;

#[test]
fn hooks_that_say_nothing_on_a_full_disk_have_stored_their_events() {
    for mode in [RecordingMode::WithDaemon, RecordingMode::Hurried] {
        // With an answer for the agent, each event is also in a note of its own.
        for hooks in [String::new(), render_answering_hook("PreToolUse", &json!({"message": "Noted."}))] {
            check_events_on_full_disk(&HookSandbox::with_user_config(mode, &hooks), &format!("{mode:?} {hooks:?}"));
        }
    }
}

fn check_events_on_full_disk(watched: &HookSandbox, about: &str) {
    let project = watched.sandbox.project();
    fs::create_dir_all(watched.sandbox.data()).unwrap();
    fs::create_dir(project.join("said")).unwrap();
    let tool = json!({"tool_name": "Bash", "tool_use_id": "NUMBER", "tool_input": {"command": "echo event-NUMBER-"}});
    fs::write(project.join("payload"), watched.build_payload("s1", "PreToolUse", tool).to_string()).unwrap();
    let mut command = watched.sandbox.shell("exec unshare -m sh -c \"$SCRIPT\" \"$0\"", &[]);
    command.env("SCRIPT", STORY).env("EVENTS", EVENTS.to_string()).env("SIDES", SIDE_BY_SIDE.to_string());
    let output = spawn_with_stdin(&mut command, "").wait_with_output().unwrap();
    if output.status.code() == Some(77) || String::from_utf8_lossy(&output.stderr).contains("unshare:") {
        return report_skipped(&format!("not everybody may mount a disk: {output:?}"));
    }
    assert!(output.status.success(), "{about}: {output:?}");
    let stored = query_rows(&project.join("copy/snell.db"), "SELECT tool_use_id FROM events");
    let stored: BTreeSet<_> = stored.iter().filter_map(|row| row["tool_use_id"].as_str()).collect();
    let read = |number: usize, kind: &str| watched.sandbox.read(&format!("said/{number}.{kind}"));
    let (mut silent, mut missing) = (0, Vec::new());
    for number in 0..EVENTS {
        assert_eq!(read(number, "code").trim(), "0", "{about}: {number}");
        let said = read(number, "err");
        assert!(said.matches("warning: ").count() <= 1, "{about}: {number}: {said}");
        let is_silent = said.is_empty();
        silent += usize::from(is_silent);
        // An event that is said to wait is not lost either.
        let must_be_there = is_silent || (said.contains("it waits on disk") && !said.contains(" is lost"));
        if must_be_there && !stored.contains(number.to_string().as_str()) {
            missing.push((number, said));
        }
    }
    assert!(silent < EVENTS, "{about}: the disk was not full");
    assert!(missing.is_empty(), "{about}: {silent} were silent; missing: {missing:?}");
}
