//! What `snell undo` restores, and what it leaves alone.

use std::os::unix::fs::symlink;

use super::*;

/// A project in which a call has deleted `data`, which held these files.
fn delete_data() -> UndoSandbox {
    let undo = UndoSandbox::new();
    undo.write("data/a.txt", "a");
    undo.write("data/sub/b.txt", "b");
    undo.announce_command("rm -rf data");
    fs::remove_dir_all(undo.path("data")).unwrap();
    undo
}

#[test]
fn only_the_named_files_come_back_and_a_dry_run_changes_nothing() {
    let undo = delete_data();
    let planned = undo.undo(&["--last", "--dry-run"]);
    assert!(planned.stdout.contains("would be restored") && planned.code == 0, "{planned:?}");
    // The directories come back, too, and neither the list nor the report counts them.
    assert!(planned.stdout.contains("Would restore 2 files in "), "{planned:?}");
    assert!(undo.undo(&[]).stdout.contains("2 files"));
    assert!(!undo.path("data").exists());
    assert_eq!(undo.undo(&["--last", "data/sub"]).code, 0);
    assert!(undo.path("data/sub/b.txt").exists() && !undo.path("data/a.txt").exists());
    let id = undo.backups().remove(0)["id"].as_str().unwrap().to_owned();
    let absolute = undo.path("data/a.txt");
    assert_eq!(undo.undo(&[&id, absolute.to_str().unwrap()]).code, 0);
    assert!(undo.path("data/a.txt").exists());
    let missing = undo.undo(&[&id, "other.txt"]);
    assert!(missing.code == 1 && missing.stderr.contains("the backup has no file other.txt"), "{missing:?}");
}

#[test]
fn newer_contents_stay_unless_the_user_insists_and_then_can_be_had_back() {
    let undo = delete_data();
    undo.write("data/a.txt", "newer");
    let careful = undo.undo(&["--last"]);
    assert_eq!(careful.code, 1, "{careful:?}");
    assert!(careful.stdout.contains("data/a.txt  left: it has other contents now"), "{careful:?}");
    assert_eq!(fs::read_to_string(undo.path("data/a.txt")).unwrap(), "newer");
    assert!(undo.path("data/sub/b.txt").exists());
    let first = undo.backups().remove(0)["id"].as_str().unwrap().to_owned();
    let forced = undo.undo(&[&first, "--force", "--json"]).json();
    assert_eq!(fs::read_to_string(undo.path("data/a.txt")).unwrap(), "a");
    let second = forced["saved_as"].as_str().unwrap();
    assert_eq!(undo.undo(&[second, "--force"]).code, 0);
    assert_eq!(fs::read_to_string(undo.path("data/a.txt")).unwrap(), "newer");
}

#[test]
fn a_project_that_is_gone_comes_back() {
    let undo = delete_data();
    fs::remove_dir_all(undo.project()).unwrap();
    let id = {
        let mut command = undo.sandbox.command(&["undo", "--json"]);
        let output = command.current_dir(undo.sandbox.home()).output().unwrap();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        list[0]["id"].as_str().unwrap().to_owned()
    };
    let mut command = undo.sandbox.command(&["undo", &id]);
    let output = command.current_dir(undo.sandbox.home()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(undo.path("data/sub/b.txt")).unwrap(), "b");
}

#[test]
fn no_symlink_leads_a_restoration_out_of_the_project() {
    let outside = tempfile::tempdir().unwrap();
    for place in ["data", "data/sub", "data/sub/b.txt"] {
        let undo = delete_data();
        let link = undo.path(place);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = if place.ends_with(".txt") { outside.path().join("target") } else { outside.path().to_owned() };
        symlink(&target, &link).unwrap();
        let restored = undo.undo(&["--last", "--force"]);
        let entries: Vec<_> = fs::read_dir(outside.path()).unwrap().collect();
        assert!(entries.is_empty(), "{place}: {restored:?} {entries:?}");
        if place.ends_with(".txt") {
            // The symlink itself was replaced, and is saved.
            assert_eq!(fs::read_to_string(&link).unwrap(), "b", "{restored:?}");
        } else {
            assert_eq!(restored.code, 1, "{restored:?}");
            assert!(restored.stdout.contains("is now a symlink or a file"), "{restored:?}");
        }
    }
}

#[test]
fn a_project_that_became_a_symlink_is_left_alone() {
    let undo = delete_data();
    let elsewhere = undo.sandbox.home().join("elsewhere");
    fs::rename(undo.project(), &elsewhere).unwrap();
    symlink(&elsewhere, undo.project()).unwrap();
    let id = undo.backups().remove(0)["id"].as_str().unwrap().to_owned();
    let restored = undo.undo(&[&id]);
    assert!(restored.code == 1 && restored.stdout.contains("is now a symlink"), "{restored:?}");
    assert!(!elsewhere.join("data").exists());
}

#[test]
fn a_directory_in_the_place_of_a_file_is_left_alone() {
    let undo = delete_data();
    fs::create_dir_all(undo.path("data/a.txt/inner")).unwrap();
    let restored = undo.undo(&["--last", "--force"]);
    assert!(restored.code == 1 && restored.stdout.contains("a directory is there now"), "{restored:?}");
    assert!(undo.path("data/a.txt/inner").exists() && undo.path("data/sub/b.txt").exists());
}

#[test]
fn a_saved_name_of_a_file_that_was_changed_afterwards_is_not_taken_for_the_file() {
    let undo = UndoSandbox::new();
    undo.write("a.txt", "before");
    undo.announce_command("rm a.txt");
    // The user did not let the call run, and edits the file in place.
    fs::write(undo.path("a.txt"), "after, and longer").unwrap();
    fs::remove_file(undo.path("a.txt")).unwrap();
    let restored = undo.undo(&["--last"]);
    let way = undo.backups().remove(0)["files"][0]["way"].clone();
    if way == "link" {
        assert!(restored.stdout.contains("its saved copy was changed afterwards"), "{restored:?}");
    } else {
        assert_eq!(fs::read_to_string(undo.path("a.txt")).unwrap(), "before");
    }
}

#[test]
fn modes_of_directories_and_files_are_restored_even_if_they_forbid_writing() {
    let undo = UndoSandbox::new();
    undo.write("data/sub/a.txt", "a");
    set_mode(&undo.path("data/sub/a.txt"), 0o440);
    set_mode(&undo.path("data/sub"), 0o550);
    let before = undo.snapshot();
    undo.announce_command("rm -rf data");
    set_mode(&undo.path("data/sub"), 0o750);
    fs::remove_dir_all(undo.path("data")).unwrap();
    assert_eq!(undo.undo(&["--last"]).code, 0);
    assert_eq!(undo.snapshot(), before);
    set_mode(&undo.path("data/sub"), 0o750);
}
