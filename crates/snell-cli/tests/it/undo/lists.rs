//! What `snell undo` shows.

use super::*;

#[test]
fn without_backups_one_line_says_so() {
    let on = UndoSandbox::new();
    let off = UndoSandbox::with_config("");
    for (undo, expected) in [
        (&on, "Nothing to undo: no agent has deleted or overwritten a file that git does not have.\n"),
        (
            &off,
            "Nothing to undo: Snell saves no files. To change that, set backup = true in [guard] of your snell.toml.\n",
        ),
    ] {
        let shown = undo.undo(&[]);
        assert_eq!((shown.code, shown.stdout.as_str(), shown.stderr.as_str()), (0, expected, ""));
        assert_eq!(undo.undo(&["--json"]).json(), json!([]));
        let last = undo.undo(&["--last"]);
        assert_eq!(last.code, 1);
        assert!(last.stderr.contains("were saved"), "{last:?}");
    }
}

#[test]
fn a_list_names_the_time_the_agent_the_call_and_the_files() {
    let undo = UndoSandbox::new();
    undo.write("notes.txt", "notes");
    undo.announce_command("rm notes.txt # token ghp_0123456789abcdefghijABCDEFGHIJ012345");
    let backup = undo.backups().remove(0);
    let id = backup["id"].as_str().unwrap();
    let shown = undo.undo(&[]).stdout;
    for part in [id, "ago", "claude", "project", "1 file", "rm notes.txt"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!format!("{shown}{backup}").contains("ghp_0123456789abcdef"), "{shown}");
    let files = undo.undo(&["--list", id]).stdout;
    for part in ["session-one", "notes.txt  (5 bytes)", "2026-03-01"] {
        assert!(files.contains(part), "{part}: {files}");
    }
    assert_eq!(undo.undo(&["--list", id, "--json"]).json()["files"][0]["path"], "notes.txt");
    assert_eq!(undo.undo(&["--list", "--last"]).stdout, files);
    // The beginning of an id is enough.
    assert_eq!(undo.undo(&["--list", &id[..4]]).code, 0);
    assert!(undo.undo(&["zzz"]).stderr.contains("no backup has the id \"zzz\""));
    // A tool says its name.
    undo.write("draft.txt", "draft");
    undo.announce("Write", &json!({"file_path": undo.path("draft.txt"), "content": "x"}));
    let shown = undo.undo(&[]).stdout;
    assert!(shown.contains("Write /"), "{shown}");
}

#[test]
fn status_and_doctor_mention_backups_that_are_on() {
    let undo = UndoSandbox::new();
    undo.write("notes.txt", "notes");
    undo.announce_command("rm notes.txt");
    let status = undo.sandbox.run_snell(&["status"], "").stdout;
    assert!(status.contains("1 backup, 5 B (snell undo)"), "{status}");
    let doctor = undo.sandbox.run_snell(&["doctor"], "").stdout;
    assert!(doctor.contains("1 backup until now (snell undo)"), "{doctor}");
    let off = UndoSandbox::with_config("");
    let status = off.sandbox.run_snell(&["status"], "").stdout;
    assert!(!status.contains("snell undo"), "{status}");
}

#[test]
fn names_that_are_no_text_or_deceive_are_shown_escaped_and_restored_exactly() {
    let undo = UndoSandbox::new();
    let long = format!("{}/{}", "d".repeat(250), "f".repeat(250));
    let names: Vec<Vec<u8>> = vec![
        b"new\nline".to_vec(),
        b"not\xff\xfetext".to_vec(),
        "right\u{202e}left".as_bytes().to_vec(),
        b"\x1b[31mred".to_vec(),
        b"-rf".to_vec(),
        long.into_bytes(),
    ];
    for name in &names {
        undo.write(Path::new("odd").join(OsStr::from_bytes(name)), name);
    }
    let before = undo.snapshot();
    undo.announce_command("rm -rf odd");
    fs::remove_dir_all(undo.path("odd")).unwrap();
    let id = undo.backups().remove(0)["id"].as_str().unwrap().to_owned();
    let restored = undo.undo(&["--last"]);
    for shown in [undo.undo(&["--list", &id]), restored] {
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(!shown.stdout.contains(['\u{202e}', '\u{1b}']), "{shown:?}");
        assert!(shown.stdout.contains("not\\xff\\xfetext"), "{shown:?}");
        assert!(!shown.stdout.contains("new\nline"), "{shown:?}");
    }
    assert_eq!(undo.snapshot(), before);
}
