//! Hooks that are killed, that run at the same time, or that write to a full disk.

use std::collections::BTreeSet;

use snell_test_support::process::{run_with_stdin, spawn_with_stdin};
use snell_test_support::skip::report_skipped;

use super::*;

const FILES: usize = 300;
const KILLS: usize = 30;

fn create_many_files() -> UndoSandbox {
    let undo = UndoSandbox::new();
    for number in 0..FILES {
        undo.write(format!("data/{number}"), format!("contents of {number}"));
    }
    undo
}

fn build_payload(undo: &UndoSandbox, command: &str) -> String {
    let input = json!({"command": command});
    json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": undo.project(), "tool_name": "Bash", "tool_input": input})
        .to_string()
}

/// Checks that every listed backup can be restored completely. Returns their number.
fn check_listed_backups(undo: &UndoSandbox) -> usize {
    let backups = undo.backups();
    for backup in &backups {
        let files = backup["files"].as_array().unwrap();
        let saved = files.iter().filter(|file| file["kind"] == "file").count();
        assert_eq!(saved, FILES, "{backup}");
        let id = backup["id"].as_str().unwrap();
        let planned = undo.undo(&[id, "--dry-run", "--json"]).json();
        for file in planned["files"].as_array().unwrap() {
            assert!(file["status"] == "unchanged", "{id}: {file}");
        }
    }
    backups.len()
}

#[test]
fn a_hook_that_is_killed_at_any_moment_leaves_only_complete_backups() {
    let undo = create_many_files();
    let payload = build_payload(&undo, "sed -i s/a/b/ data/*");
    // How long a hook lives here and now.
    let started = std::time::Instant::now();
    run_with_stdin(&mut undo.sandbox.command(&["hook"]), &payload);
    let whole = started.elapsed();
    for number in 0..KILLS {
        let mut hook = spawn_with_stdin(&mut undo.sandbox.command(&["hook"]), &payload);
        // Nothing is waited for here: any moment is as good as another.
        std::thread::sleep(whole * u32::try_from(number).unwrap() / u32::try_from(KILLS).unwrap());
        hook.kill().unwrap();
        hook.wait().unwrap();
    }
    let listed = check_listed_backups(&undo);
    assert!(listed >= 1, "{listed}");
    // What killed hooks left behind is not listed, and goes once it is old.
    let directory = undo.sandbox.data().join("backups");
    for entry in fs::read_dir(&directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().as_bytes().starts_with(b".new-") {
            fs::File::open(entry.path()).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
    }
    undo.sandbox.run_snell(&["log", "--prune"], "");
    let left = fs::read_dir(&directory)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().as_bytes().starts_with(b"."));
    assert_eq!(left.count(), 0);
}

#[test]
fn hooks_that_run_at_the_same_time_have_a_backup_each() {
    const AT_ONCE: usize = 12;
    let undo = create_many_files();
    let payload = build_payload(&undo, "sed -i s/a/b/ data/*");
    let hooks: Vec<_> =
        (0..AT_ONCE).map(|_| spawn_with_stdin(&mut undo.sandbox.command(&["hook"]), &payload)).collect();
    for hook in hooks {
        assert!(hook.wait_with_output().unwrap().status.success());
    }
    assert_eq!(check_listed_backups(&undo), AT_ONCE);
    let ids: BTreeSet<_> = undo.backups().iter().map(|backup| backup["id"].to_string()).collect();
    assert_eq!(ids.len(), AT_ONCE);
}

#[test]
fn on_a_full_disk_the_call_goes_on_and_the_user_hears_that_nothing_is_saved() {
    const STORY: &str = r#"
        mount -t tmpfs -o size=400k none "$SNELL_HOME" || exit 77
        head -c 380000 /dev/zero > "$SNELL_HOME/ballast" 2>/dev/null
        "$0" hook <payload >answer
        echo $? >code
        "$0" undo --json >list
        rm "$SNELL_HOME/ballast"
        ls -A "$SNELL_HOME/backups" >left 2>/dev/null
        true"#;
    let undo = UndoSandbox::new();
    undo.write("a.bin", vec![1; 200_000]);
    fs::write(undo.path("payload"), build_payload(&undo, "echo x > a.bin")).unwrap();
    let mut command = undo.sandbox.shell("exec unshare -m sh -c \"$SCRIPT\" \"$0\"", &[]);
    command.env("SCRIPT", STORY).env("SNELL_SCRIBE", "off");
    let output = spawn_with_stdin(&mut command, "").wait_with_output().unwrap();
    if output.status.code() == Some(77) || String::from_utf8_lossy(&output.stderr).contains("unshare:") {
        return report_skipped(&format!("not everybody may mount a disk: {output:?}"));
    }
    assert_eq!(undo.sandbox.read("code").trim(), "0", "{output:?}");
    let answer = undo.sandbox.read("answer");
    assert!(answer.contains("could not save") && answer.contains("a.bin (no space"), "{answer}");
    assert!(!answer.contains("deny"), "{answer}");
    assert!(!undo.sandbox.read("list").contains("\"kind\""), "{}", undo.sandbox.read("list"));
    assert!(!undo.sandbox.read("left").contains(".new-"), "{}", undo.sandbox.read("left"));
}
