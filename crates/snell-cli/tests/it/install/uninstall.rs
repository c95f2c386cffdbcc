//! What is left behind: nothing that Snell made.

use std::fs;

use snell_test_support::files::list_tree;

use super::InstallHome;

#[test]
fn what_was_made_is_gone_in_the_end_whatever_happened_to_it_in_between() {
    type IntermediateChange = fn(&InstallHome);
    let cases: [(&str, IntermediateChange); 4] = [
        ("the other way", |home| drop(home.run_successfully(&["install", "claude", "--notify"]))),
        ("an entry is lost", |home| {
            let kept = home.read_settings();
            let kept = kept.lines().filter(|line| !line.contains("\"PreToolUse\""));
            fs::write(home.settings_path(), kept.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
            home.run_successfully(&["install", "claude"]);
        }),
        ("a line more, and the other way", |home| {
            fs::write(home.settings_path(), format!("{}\n", home.read_settings())).unwrap();
            home.run_successfully(&["install", "claude", "--notify"]);
        }),
        ("its user removes it", |home| {
            home.run_successfully(&["install", "claude", "--notify"]);
            fs::remove_file(home.settings_path()).unwrap();
        }),
    ];
    for (name, between) in cases {
        let home = InstallHome::new();
        let before = list_tree(&home.sandbox.home());
        home.run_successfully(&["install", "claude"]);
        between(&home);
        assert!(!home.settings_path().with_file_name("settings.json.before-snell").exists());
        home.run_successfully(&["uninstall", "claude"]);
        assert_eq!(list_tree(&home.sandbox.home()), before, "{name}");
        let remembered = list_tree(&home.sandbox.data()).into_iter();
        assert_eq!(remembered.filter(|(path, _)| path.extension().is_some()).count(), 0, "{name}");
    }
}

#[test]
fn a_file_that_its_user_removed_takes_the_copy_and_the_script_along() {
    let home = InstallHome::with_settings("{\"model\": \"opus\"}");
    home.run_successfully(&["install", "claude", "--notify"]);
    fs::remove_file(home.settings_path()).unwrap();
    let ran = home.run_successfully(&["uninstall", "claude", "--dry-run"]);
    assert!(home.notify_script_path().exists() && ran.stdout.contains("Would remove "), "{ran:?}");
    let ran = home.run_successfully(&["uninstall", "claude"]);
    assert!(ran.stdout.contains(" contained no entries of Snell."), "{ran:?}");
    assert_eq!(list_tree(home.settings_path().parent().unwrap()), []);
    let again = home.run_successfully(&["uninstall", "claude"]);
    assert!(again.stdout.starts_with("Nothing to do"), "{again:?}");
}

#[test]
fn without_its_memory_a_script_of_ours_is_known_by_what_it_says() {
    let home = InstallHome::with_settings("{}");
    home.run_successfully(&["install", "claude", "--notify", "--url", "http://tower:7433"]);
    fs::remove_dir_all(home.sandbox.data()).unwrap();
    home.run_successfully(&["uninstall", "claude"]);
    assert!(!home.notify_script_path().exists());
    assert!(!home.read_settings().contains("notify-headspace"), "{}", home.read_settings());
}

#[test]
fn what_is_in_the_place_of_the_copy_stays_and_that_is_said() {
    let home = InstallHome::with_settings("{}");
    let copy = home.settings_path().with_file_name("settings.json.before-snell");
    fs::write(&copy, "mine").unwrap();
    let ran = home.run_successfully(&["install", "claude"]);
    assert!(ran.stderr.contains("before-snell already exists, so Snell makes no backup"), "{ran:?}");
    home.run_successfully(&["uninstall", "claude"]);
    assert_eq!((home.read_settings(), fs::read_to_string(copy).unwrap()), ("{}".into(), "mine".into()));
}
