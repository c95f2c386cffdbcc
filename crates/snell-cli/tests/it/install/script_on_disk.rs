//! `notify-headspace.sh` as a file: whose it is, and what becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{Home, handlers, look};
use crate::support::Ran;

/// A machine that only forwards.
fn forwarding() -> Home {
    let home = Home::new();
    home.done(&["install", "claude", "--notify"]);
    home
}

/// A home with a script of that name that another tool wrote, and entries that call it.
fn with_a_script_of_another_tool() -> (Home, String) {
    let home = Home::new();
    let script = home.script();
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, THEIRS).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o711)).unwrap();
    let call = |command: String| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {
        "Stop": call(format!("{} stop", script.display())),
        "SessionEnd": call("~/.claude/hooks/notify-headspace.sh session-end".into()),
    }});
    fs::write(home.settings(), settings.to_string()).unwrap();
    (home, settings.to_string())
}

const THEIRS: &str = "#!/bin/sh\n# tells somebody else\n";

#[test]
fn a_script_of_that_name_that_another_tool_wrote_stays_and_so_do_its_entries() {
    let (home, settings) = with_a_script_of_another_tool();
    let ran = home.done(&["uninstall", "claude"]);
    assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
    home.done(&["install", "claude"]);
    let found = handlers(&home.text());
    let theirs = found
        .iter()
        .filter(|(_, command, _)| command.contains("notify-headspace.sh "));
    assert_eq!((found.len(), theirs.count()), (31, 2), "{found:?}");
    let installed = home.text();
    let ran = home.snell(&["install", "claude", "--notify"]);
    assert!(
        ran.code == 1
            && ran
                .stderr
                .contains("notify-headspace.sh is not Snell's, so it is left as it is"),
        "{ran:?}"
    );
    assert_eq!(home.text(), installed);
    // Also if somebody has changed the file.
    fs::write(home.settings(), format!("{installed}\n")).unwrap();
    home.done(&["uninstall", "claude"]);
    assert_eq!(home.text(), format!("{settings}\n"));
    assert_eq!(look(&home.script()).bytes, THEIRS.as_bytes());
}

#[test]
fn a_script_that_was_replaced_on_demand_comes_back_as_it_was() {
    for is_link in [false, true] {
        let (home, settings) = with_a_script_of_another_tool();
        let real = home.sandbox.home().join("dotfiles.sh");
        if is_link {
            fs::rename(home.script(), &real).unwrap();
            std::os::unix::fs::symlink(&real, home.script()).unwrap();
        }
        let comes_back = |ran: &Ran| {
            assert!(ran.stdout.contains("notify-headspace.sh"), "{ran:?}");
            let now = look(&home.script());
            assert_eq!((now.bytes.as_slice(), now.mode), (THEIRS.as_bytes(), 0o711));
            assert_eq!(home.script().is_symlink(), is_link);
        };
        home.done(&["install", "claude", "--notify", "--force"]);
        assert_eq!(look(&home.script()).mode, 0o755);
        // Whoever called it would call ours now.
        assert_eq!(handlers(&home.text()).len(), 8, "{}", home.text());
        let installed = home.text();
        home.done(&["install", "claude", "--notify", "--url", "http://tower:7433"]);
        // The receiver stays until another one is named.
        home.done(&["install", "claude", "--notify"]);
        let text = fs::read_to_string(home.script()).unwrap();
        assert!(text.contains("url='http://tower:7433'\n"), "{text}");
        assert_eq!(home.text(), installed);
        // The other way gives it back, with those who call it.
        let ran = home.done(&["install", "claude"]);
        comes_back(&ran);
        assert_eq!(handlers(&home.text()).len(), 31, "{}", home.text());
        home.done(&["install", "claude", "--notify", "--force"]);
        let ran = home.done(&["uninstall", "claude"]);
        comes_back(&ran);
        assert!(
            ran.stdout
                .contains("notify-headspace.sh is again what it was before Snell"),
            "{ran:?}"
        );
        assert!(ran.stderr.is_empty(), "{ran:?}");
        assert_eq!(home.text(), settings);
    }
}

#[test]
fn a_script_that_its_user_has_changed_stays() {
    let home = forwarding();
    let mine = format!("{}\n# mine\n", fs::read_to_string(home.script()).unwrap());
    fs::write(home.script(), &mine).unwrap();
    let ran = home.done(&["uninstall", "claude"]);
    assert!(
        ran.stderr.contains("stays, because it is not as Snell wrote it"),
        "{ran:?}"
    );
    assert_eq!(fs::read_to_string(home.script()).unwrap(), mine);
}

#[test]
fn a_script_that_cannot_be_run_any_more_is_put_right() {
    let home = forwarding();
    fs::set_permissions(home.script(), fs::Permissions::from_mode(0o644)).unwrap();
    home.done(&["install", "claude", "--notify"]);
    assert_eq!(look(&home.script()).mode, 0o755);
    let ran = home.done(&["install", "claude", "--notify"]);
    assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
}
