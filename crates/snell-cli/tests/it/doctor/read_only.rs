//! Looking changes nothing, and nothing is left behind.

use std::fs;

use snell_test_support::files::list_tree;
use snell_test_support::process::{run_with_stdin, spawn_with_stdin};
use snell_test_support::wait::wait_until;

use super::{create_healthy_home, list_findings, replace_in_settings, run_doctor, write_other_program};
use crate::install::InstallHome;

#[test]
fn nothing_of_the_users_is_recorded_called_or_left_behind() {
    let home = create_healthy_home();
    let mark = home.sandbox.home().join("called");
    let hook = format!("[[hook]]\nevent = 'Notification'\nrun = 'touch {}'\n", mark.display());
    for directory in [home.sandbox.home().join(".config/snell"), home.sandbox.project()] {
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("snell.toml"), &hook).unwrap();
    }
    home.run_successfully(&["trust"]);
    let rooms = home.sandbox.home().with_file_name("rooms");
    fs::create_dir(&rooms).unwrap();
    let before = (list_tree(&home.sandbox.home()), list_tree(&home.sandbox.data()));
    let mut command = home.snell_command(&["doctor", "--json"]);
    command.env("TMPDIR", &rooms);
    let found = list_findings(&run_with_stdin(&mut command, ""));
    // Another event than the one that the project waits for.
    assert!(
        found.iter().any(|one| one.contains("Proof ok SubagentStart by") && one.contains("recorded")),
        "{found:#?}"
    );
    assert_eq!((list_tree(&home.sandbox.home()), list_tree(&home.sandbox.data())), before);
    assert!(!mark.exists());
    assert_eq!(fs::read_dir(&rooms).unwrap().count(), 0);
}

/// Folds the log into the database.
fn checkpoint_and_remove_log(home: &InstallHome) {
    drop(home.sandbox.open_database_with("PRAGMA wal_checkpoint(TRUNCATE)"));
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.sandbox.data().join(format!("snell.db{end}")));
    }
}

#[test]
fn looking_changes_nothing_whatever_the_database_is_like() {
    type DatabasePreparation = fn(&InstallHome);
    let cases: [(&str, DatabasePreparation, &str); 4] = [
        ("it is whole", |_| (), "Records ok the database has no damage"),
        (
            "it is no database",
            |home| {
                checkpoint_and_remove_log(home);
                fs::write(home.sandbox.database(), "no database, but long enough to be taken for one".repeat(99))
                    .unwrap()
            },
            "Records warning ~data/snell.db: the database is damaged",
        ),
        (
            "it is gone",
            |home| fs::remove_file(home.sandbox.database()).unwrap(),
            "Records ok database: ~data/snell.db: no event has been recorded yet",
        ),
        ("its log is gone", checkpoint_and_remove_log, "Records ok the database has no damage"),
    ];
    for (name, prepare, expected) in cases {
        let home = create_healthy_home();
        home.sandbox.send_hook_event("11:00:00", "SessionStart", serde_json::json!({}));
        prepare(&home);
        let data = home.sandbox.data();
        // What readers share is not what is recorded.
        let recorded = || {
            let mut found = list_tree(&data);
            found.retain(|(path, _)| !path.ends_with("snell.db-shm"));
            found
        };
        let before = recorded();
        let found = run_doctor(&home);
        let shown = found.iter().map(|one| one.replace(data.to_str().unwrap(), "~data"));
        let shown: Vec<_> = shown.collect();
        assert!(shown.iter().any(|one| one.starts_with(expected)), "{name}: {shown:#?}");
        assert_eq!(recorded(), before, "{name}");
    }
}

#[test]
fn whoever_ends_the_doctor_ends_what_it_tries_too() {
    let home = create_healthy_home();
    let mark = home.sandbox.home().join("pid");
    let other = write_other_program(&home, &format!("echo $$ > '{}'; sleep 60", mark.display()), 0o755);
    replace_in_settings(&home, &format!("{}/bin/snell\"", home.sandbox.home().display()), &format!("{other}\""));
    let rooms = home.sandbox.home().with_file_name("rooms");
    fs::create_dir(&rooms).unwrap();
    let mut command = home.snell_command(&["doctor"]);
    command.env("TMPDIR", &rooms);
    let child = spawn_with_stdin(&mut command, "");
    let tried: i32 = wait_until(|| fs::read_to_string(&mark).ok()?.trim().parse().ok());
    assert_eq!(fs::read_dir(&rooms).unwrap().count(), 1);
    let doctor = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(doctor, rustix::process::Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(128 + 15), "{ended:?}");
    assert_eq!(fs::read_dir(&rooms).unwrap().count(), 0);
    let tried = rustix::process::Pid::from_raw(tried).unwrap();
    wait_until(|| rustix::process::test_kill_process(tried).is_err().then_some(()));
}
