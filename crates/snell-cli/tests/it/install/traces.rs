//! What is left behind: nothing that Snell made.

use std::fs;

use super::{Home, tree};

#[test]
fn what_was_made_is_gone_in_the_end_whatever_happened_to_it_in_between() {
    type Between = fn(&Home);
    let cases: [(&str, Between); 4] = [
        ("the other way", |home| {
            drop(home.done(&["install", "claude", "--notify"]))
        }),
        ("an entry is lost", |home| {
            let kept = home.text();
            let kept = kept.lines().filter(|line| !line.contains("\"PreToolUse\""));
            fs::write(
                home.settings(),
                kept.map(|line| format!("{line}\n")).collect::<String>(),
            )
            .unwrap();
            home.done(&["install", "claude"]);
        }),
        ("a line more, and the other way", |home| {
            fs::write(home.settings(), format!("{}\n", home.text())).unwrap();
            home.done(&["install", "claude", "--notify"]);
        }),
        ("its user removes it", |home| {
            home.done(&["install", "claude", "--notify"]);
            fs::remove_file(home.settings()).unwrap();
        }),
    ];
    for (name, between) in cases {
        let home = Home::new();
        let before = tree(&home.sandbox.home());
        home.done(&["install", "claude"]);
        between(&home);
        assert!(!home.settings().with_file_name("settings.json.before-snell").exists());
        home.done(&["uninstall", "claude"]);
        assert_eq!(tree(&home.sandbox.home()), before, "{name}");
        let remembered = tree(&home.sandbox.data()).into_iter();
        assert_eq!(
            remembered.filter(|(path, _)| path.extension().is_some()).count(),
            0,
            "{name}"
        );
    }
}

#[test]
fn a_file_that_its_user_removed_takes_the_copy_and_the_script_along() {
    let home = Home::with("{\"model\": \"opus\"}");
    home.done(&["install", "claude", "--notify"]);
    fs::remove_file(home.settings()).unwrap();
    let ran = home.done(&["uninstall", "claude", "--dry-run"]);
    assert!(
        home.script().exists() && ran.stdout.contains("would be removed"),
        "{ran:?}"
    );
    let ran = home.done(&["uninstall", "claude"]);
    assert!(ran.stdout.starts_with("Nothing of Snell's was in"), "{ran:?}");
    assert_eq!(tree(home.settings().parent().unwrap()), []);
    let again = home.done(&["uninstall", "claude"]);
    assert!(again.stdout.starts_with("Nothing to do"), "{again:?}");
}

#[test]
fn without_its_memory_a_script_of_ours_is_known_by_what_it_says() {
    let home = Home::with("{}");
    home.done(&["install", "claude", "--notify", "--url", "http://tower:7433"]);
    fs::remove_dir_all(home.sandbox.data()).unwrap();
    home.done(&["uninstall", "claude"]);
    assert!(!home.script().exists());
    assert!(!home.text().contains("notify-headspace"), "{}", home.text());
}

#[test]
fn what_is_in_the_place_of_the_copy_stays_and_that_is_said() {
    let home = Home::with("{}");
    let copy = home.settings().with_file_name("settings.json.before-snell");
    fs::write(&copy, "mine").unwrap();
    let ran = home.done(&["install", "claude"]);
    assert!(
        ran.stderr.contains("before-snell is there already, and stays; no copy"),
        "{ran:?}"
    );
    home.done(&["uninstall", "claude"]);
    assert_eq!(
        (home.text(), fs::read_to_string(copy).unwrap()),
        ("{}".into(), "mine".into())
    );
}
