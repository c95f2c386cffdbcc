//! The limits of backups: time, size, age, and files that cannot be saved.

use std::os::unix::net::UnixListener;

use super::*;

/// The reasons why files were not saved, of the latest backup.
fn unsaved_reasons(undo: &UndoSandbox) -> Vec<(String, String)> {
    let backup = undo.backups().remove(0);
    let unsaved = backup["unsaved"].as_array().unwrap().iter();
    unsaved.map(|file| (file["path"].as_str().unwrap().into(), file["reason"].as_str().unwrap().into())).collect()
}

#[test]
fn a_file_that_is_too_large_is_noted_and_the_user_hears_about_it() {
    let undo = UndoSandbox::with_config("[guard]\nbackup = true\nbackup_ms = 60000\nbackup_mb = 1\n");
    undo.write("small.txt", "small");
    undo.write("large.bin", vec![1; 300_000]);
    let message = undo.announce_command("rm small.txt large.bin");
    assert!(message.contains("could not save") && message.contains("large.bin (too large)"), "{message}");
    assert_eq!(undo.saved_paths(), [["small.txt"]]);
    assert_eq!(unsaved_reasons(&undo), [("large.bin".to_owned(), "too-large".to_owned())]);
}

#[test]
fn special_files_are_skipped_and_never_opened() {
    let undo = UndoSandbox::new();
    undo.write("data/a.txt", "a");
    let made = Command::new("mkfifo").arg(undo.path("data/fifo")).status().unwrap();
    assert!(made.success());
    let _listener = UnixListener::bind(undo.path("data/socket")).unwrap();
    let message = undo.announce_command("rm -rf data; echo x > data/fifo");
    assert_eq!(message, "");
    assert_eq!(undo.saved_paths(), [["data/a.txt"]]);
    let mut unsaved = unsaved_reasons(&undo);
    unsaved.sort();
    unsaved.dedup();
    let expected = ["data/fifo", "data/socket"].map(|path| (path.to_owned(), "not-regular".to_owned()));
    assert_eq!(unsaved, expected);
}

#[test]
fn a_sparse_file_stays_sparse() {
    let undo = UndoSandbox::new();
    let path = undo.path("sparse.bin");
    let file = fs::File::create(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", 100_000_000).unwrap();
    file.set_len(200_000_000).unwrap();
    drop(file);
    let (size, blocks) = (fs::metadata(&path).unwrap().len(), fs::metadata(&path).unwrap().blocks());
    undo.announce("Write", &json!({"file_path": "sparse.bin", "content": ""}));
    fs::remove_file(&path).unwrap();
    assert_eq!(undo.undo(&["--last"]).code, 0);
    let restored = fs::metadata(&path).unwrap();
    assert_eq!(restored.len(), size);
    assert!(restored.blocks() <= blocks.max(64) * 2, "{} {blocks}", restored.blocks());
    let mut end = [0; 3];
    std::os::unix::fs::FileExt::read_exact_at(&fs::File::open(&path).unwrap(), &mut end, 100_000_000).unwrap();
    assert_eq!(&end, b"end");
}

#[test]
fn files_that_do_not_fit_into_the_time_are_noted() {
    let undo = UndoSandbox::with_config("[guard]\nbackup = true\nbackup_ms = 1\n");
    for number in 0..3000 {
        undo.write(format!("data/{}/{number}", number % 7), "x");
    }
    let message = undo.announce_command("rm -rf data");
    assert!(message.contains("could not save"), "{message}");
    let backup = undo.backups().remove(0);
    assert!(backup["unsaved_count"].as_u64().unwrap() > 0, "{backup}");
}

#[test]
fn the_oldest_backups_are_removed_to_stay_below_the_size() {
    let undo = UndoSandbox::with_config("[guard]\nbackup = true\nbackup_ms = 60000\nbackup_mb = 1\n");
    for number in 0..8 {
        undo.write("a.bin", vec![number; 200_000]);
        undo.announce_command("echo x > a.bin");
    }
    let backups = undo.backups();
    let total: u64 = backups.iter().map(|backup| backup["bytes"].as_u64().unwrap()).sum();
    assert!(total <= 1_000_000 && backups.len() >= 3, "{total} {}", backups.len());
    let latest = backups[0]["id"].as_str().unwrap();
    fs::remove_file(undo.path("a.bin")).unwrap();
    assert_eq!(undo.undo(&[latest]).code, 0);
    assert_eq!(fs::read(undo.path("a.bin")).unwrap(), vec![7; 200_000]);
}

#[test]
fn old_backups_are_removed_by_the_next_backup_and_by_pruning_the_log() {
    let undo = UndoSandbox::new();
    undo.write("a.txt", "a");
    undo.announce_command("rm a.txt");
    let directory = undo.sandbox.data().join("backups");
    let make_old = || {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let old = format!("3{}", &entry.file_name().to_str().unwrap()[1..]);
            fs::rename(entry.path(), directory.join(old)).unwrap();
        }
    };
    make_old();
    undo.announce_command("rm a.txt");
    assert_eq!(undo.backups().len(), 1);
    make_old();
    undo.sandbox.run_snell(&["log", "--prune"], "");
    assert_eq!(undo.backups().len(), 0);
}

#[test]
fn backups_are_private() {
    let undo = UndoSandbox::new();
    undo.write(".env", "TOKEN=x");
    undo.announce("Write", &json!({"file_path": "notes.txt", "content": "x"}));
    undo.write("notes.txt", "x");
    undo.announce("Edit", &json!({"file_path": "notes.txt", "old_string": "x", "new_string": "y"}));
    let directory = undo.sandbox.data().join("backups");
    let mut open = vec![directory];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.mode() & 0o777, expected, "{path:?}");
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
}

#[test]
fn a_few_small_files_are_saved_even_if_no_time_is_left() {
    let undo = UndoSandbox::with_config("[guard]\nbackup = true\nbackup_ms = 1\n");
    for number in 0..6 {
        undo.write(format!("few/{number}"), "x");
    }
    assert_eq!(undo.announce_command("sed -i s/a/b/ few/*"), "");
    assert_eq!(undo.saved_paths()[0].len(), 6);
}
