//! Which calls make Snell save which files.

use super::*;

/// What a call does to a file.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Deleted,
    Overwritten,
}

/// A project with files that git has, that it has in another state, and that it does not have.
fn create_project() -> UndoSandbox {
    let undo = UndoSandbox::new();
    undo.commit(&[
        ("kept.txt", "in git"),
        ("changed.txt", "in git"),
        ("src/main.rs", "fn main() {}"),
        ("src/old.rs", "x"),
    ]);
    undo.write("changed.txt", "not in git");
    undo.write("src/old.rs", "changed");
    undo.write("notes.txt", "notes");
    undo.write("run.sh", "#!/bin/sh\n");
    set_mode(&undo.path("run.sh"), 0o751);
    undo.write("data/a.csv", "1");
    undo.write("data/deep/b.csv", "2");
    undo.write("data/c.log", "3");
    fs::create_dir(undo.path("data/empty")).unwrap();
    std::os::unix::fs::symlink("a.csv", undo.path("data/link")).unwrap();
    undo
}

#[test]
fn a_call_that_destroys_files_can_be_undone_byte_for_byte() {
    use Fate::{Deleted, Overwritten};
    let patch = "*** Begin Patch\n*** Update File: changed.txt\n@@\n-a\n+b\n*** Update File: notes.txt\n@@\n-a\n+b\n*** End Patch";
    let bash = |command: &str| ("Bash", json!({"command": command}));
    let all_data = ["data/a.csv", "data/c.log", "data/deep/b.csv", "data/link"];
    let cases: &[((&str, Value), Fate, &[&str])] = &[
        (bash("rm notes.txt"), Deleted, &["notes.txt"]),
        (bash("rm -f kept.txt changed.txt run.sh"), Deleted, &["changed.txt", "run.sh"]),
        (bash("rm -rf data"), Deleted, &all_data),
        (bash("cd data && rm -rf ."), Deleted, &all_data),
        (bash("rm data/*.csv"), Deleted, &["data/a.csv"]),
        (bash("rm data/link"), Deleted, &["data/link"]),
        (bash("find data -name '*.csv' -delete"), Deleted, &["data/a.csv", "data/deep/b.csv"]),
        (bash("find data -type f -exec rm {} +"), Deleted, &all_data),
        (bash("for file in *.txt; do rm \"$file\"; done"), Deleted, &["changed.txt", "notes.txt"]),
        (bash("python3 -c 'import os; os.remove(\"notes.txt\")'"), Deleted, &["notes.txt"]),
        (bash("node -e 'require(\"fs\").rmSync(\"data\", {recursive: true})'"), Deleted, &all_data),
        (bash("shred -u notes.txt"), Deleted, &["notes.txt"]),
        (bash("mv notes.txt /tmp/"), Deleted, &["notes.txt"]),
        (bash("echo new > notes.txt"), Overwritten, &["notes.txt"]),
        (bash("cat <<'END' > notes.txt\nnew\nEND"), Overwritten, &["notes.txt"]),
        (bash("echo new | tee notes.txt"), Overwritten, &["notes.txt"]),
        (bash("truncate -s 0 notes.txt"), Overwritten, &["notes.txt"]),
        (bash("sed -i s/a/b/ notes.txt changed.txt kept.txt"), Overwritten, &["changed.txt", "notes.txt"]),
        (bash("cp kept.txt notes.txt"), Overwritten, &["notes.txt"]),
        (bash("mv run.sh notes.txt"), Overwritten, &["notes.txt"]),
        (bash("python3 -c 'open(\"notes.txt\", \"w\").write(\"x\")'"), Overwritten, &["notes.txt"]),
        (bash("echo new > data/link"), Overwritten, &["data/a.csv"]),
        (bash("git checkout -- changed.txt"), Overwritten, &["changed.txt"]),
        (bash("git restore ."), Overwritten, &["changed.txt", "src/old.rs"]),
        (bash("git checkout -f"), Overwritten, &["changed.txt", "src/old.rs"]),
        (bash("git reset --hard"), Overwritten, &["changed.txt", "src/old.rs"]),
        (bash("git clean -fd data"), Deleted, &all_data),
        (("Write", json!({"file_path": "notes.txt", "content": "new"})), Overwritten, &["notes.txt"]),
        (
            ("Edit", json!({"file_path": "changed.txt", "old_string": "a", "new_string": "b"})),
            Overwritten,
            &["changed.txt"],
        ),
        (("MultiEdit", json!({"file_path": "notes.txt", "edits": []})), Overwritten, &["notes.txt"]),
        (("apply_patch", json!({"input": patch})), Overwritten, &["changed.txt", "notes.txt"]),
    ];
    for ((tool, input), fate, expected) in cases {
        let undo = create_project();
        let before = undo.snapshot();
        undo.announce(tool, input);
        assert_eq!(undo.saved_paths(), [expected.to_vec()], "{input}");
        for path in *expected {
            match fate {
                Fate::Deleted => fs::remove_file(undo.path(path)).unwrap(),
                Fate::Overwritten => fs::write(undo.path(path), "something else").unwrap(),
            }
        }
        if expected.len() == all_data.len() {
            fs::remove_dir_all(undo.path("data")).unwrap();
        }
        assert_ne!(undo.snapshot(), before, "{input}");
        let restored = undo.undo(&["--last", "--force"]);
        assert_eq!(restored.code, 0, "{input}: {restored:?}");
        let mut after = undo.snapshot();
        // `git clean` and `rm` do not save a directory that they would not remove.
        after.retain(|path, _| before.contains_key(path));
        assert_eq!(after, before, "{input}");
    }
}

#[test]
fn a_call_that_destroys_nothing_of_the_users_saves_nothing() {
    let undo = create_project();
    undo.write("node_modules/x/index.js", "x");
    undo.write("target/CACHEDIR.TAG", "x");
    undo.write("target/debug/x", "x");
    let outside = undo.sandbox.home().join("outside.txt");
    fs::write(&outside, "x").unwrap();
    let commands = [
        "ls -la",
        "cat notes.txt",
        "rm kept.txt",
        "rm -rf node_modules target",
        "rm missing.txt",
        "echo new > fresh.txt",
        "echo more >> notes.txt",
        "mv notes.txt data/",
        "mkdir data/new",
        "git status",
        "git stash list",
        "ssh host rm notes.txt",
    ];
    for command in commands {
        undo.announce_command(command);
        assert_eq!(undo.saved_paths(), Vec::<Vec<String>>::new(), "{command}");
    }
    undo.announce("Write", &json!({"file_path": outside, "content": "new"}));
    undo.announce("Write", &json!({"file_path": "fresh.txt", "content": "new"}));
    undo.announce("Write", &json!({"file_path": "kept.txt", "content": "new"}));
    undo.announce("Read", &json!({"file_path": "notes.txt"}));
    assert_eq!(undo.saved_paths(), Vec::<Vec<String>>::new());
}

#[test]
fn a_denied_call_and_a_switched_off_backup_save_nothing() {
    let denied = create_project();
    denied.announce_command("rm -rf data; rm -rf ~");
    assert_eq!(denied.saved_paths(), Vec::<Vec<String>>::new());
    for config in ["", "[guard]\nbackup = false\n", "[handlers]\nguard = false\n[guard]\nbackup = true\n"] {
        let off = UndoSandbox::with_config(config);
        off.write("notes.txt", "x");
        off.announce_command("rm notes.txt");
        assert!(!off.sandbox.data().join("backups").exists(), "{config}");
    }
}

#[test]
fn a_deletion_of_a_repository_saves_the_files_that_only_it_had() {
    let undo = UndoSandbox::new();
    undo.write("inner/kept.txt", "in the inner repository");
    let git = |args: &[&str]| undo.run_git(&[&["-C", "inner"], args].concat());
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "m"]);
    let message = undo.announce_command("rm -rf inner");
    let saved = undo.saved_paths().concat();
    for path in ["inner/kept.txt", "inner/.git/HEAD", "inner/.git/index"] {
        assert!(saved.iter().any(|saved| saved == path), "{path}: {message} {saved:?}");
    }
    fs::remove_dir_all(undo.path("inner")).unwrap();
    assert_eq!(undo.undo(&["--last"]).code, 0);
    git(&["fsck", "--full"]);
    git(&["diff", "--exit-code", "HEAD"]);
}

#[test]
fn a_dropped_stash_comes_back() {
    let undo = create_project();
    undo.run_git(&["stash", "push", "--quiet", "changed.txt"]);
    undo.announce_command("git stash drop");
    undo.run_git(&["stash", "drop", "--quiet"]);
    assert_eq!(undo.undo(&["--last"]).code, 0);
    undo.run_git(&["stash", "pop", "--quiet"]);
    assert_eq!(fs::read_to_string(undo.path("changed.txt")).unwrap(), "not in git");
}

#[test]
fn files_are_saved_for_calls_of_every_agent_that_announces_them() {
    for (agent, payload) in [
        (
            "gemini",
            json!({"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": "rm notes.txt"}}),
        ),
        (
            "gemini",
            json!({"hook_event_name": "BeforeTool", "tool_name": "write_file", "tool_input": {"file_path": "notes.txt", "content": "x"}}),
        ),
        (
            "codex",
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm notes.txt"}}),
        ),
        (
            "cursor",
            json!({"hook_event_name": "beforeShellExecution", "command": "rm notes.txt", "conversation_id": "c"}),
        ),
    ] {
        let undo = create_project();
        let mut fields = payload.clone();
        fields["cwd"] = json!(undo.project());
        fields["session_id"] = json!("s1");
        let ran = undo.sandbox.run_snell(&["hook", "--agent", agent], &fields.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(undo.saved_paths(), [["notes.txt"]], "{agent} {payload}");
    }
}
