//! `notify-headspace.sh` as a file: whose it is, and what becomes of it.

use std::fs;

use serde_json::json;
use snell_test_support::files::{set_file_mode, snapshot_file};
use snell_test_support::process::CommandOutput;

use super::{InstallHome, list_handlers};

/// A machine that only forwards.
fn install_forwarding() -> InstallHome {
    let home = InstallHome::new();
    home.run_successfully(&["install", "claude", "--notify"]);
    home
}

/// A home with a script of that name that another tool wrote, and entries that call it.
fn create_foreign_script() -> (InstallHome, String) {
    let home = InstallHome::new();
    let script = home.notify_script_path();
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, THEIRS).unwrap();
    set_file_mode(&script, 0o711);
    let call = |command: String| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {
        "Stop": call(format!("{} stop", script.display())),
        "SessionEnd": call("~/.claude/hooks/notify-headspace.sh session-end".into()),
    }});
    fs::write(home.settings_path(), settings.to_string()).unwrap();
    (home, settings.to_string())
}

const THEIRS: &str = "#!/bin/sh\n# tells somebody else\n";

#[test]
fn a_script_of_that_name_that_another_tool_wrote_stays_and_so_do_its_entries() {
    let (home, settings) = create_foreign_script();
    let ran = home.run_successfully(&["uninstall", "claude"]);
    assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
    home.run_successfully(&["install", "claude"]);
    let found = list_handlers(&home.read_settings());
    let theirs = found.iter().filter(|(_, command, _)| command.contains("notify-headspace.sh "));
    assert_eq!((found.len(), theirs.count()), (31, 2), "{found:?}");
    let installed = home.read_settings();
    let ran = home.run_snell(&["install", "claude", "--notify"]);
    assert!(ran.code == 1 && ran.stderr.contains("notify-headspace.sh was not written by Snell"), "{ran:?}");
    assert_eq!(home.read_settings(), installed);
    // Also if somebody has changed the file.
    fs::write(home.settings_path(), format!("{installed}\n")).unwrap();
    home.run_successfully(&["uninstall", "claude"]);
    assert_eq!(home.read_settings(), format!("{settings}\n"));
    assert_eq!(snapshot_file(&home.notify_script_path()).bytes, THEIRS.as_bytes());
}

#[test]
fn a_script_that_was_replaced_on_demand_comes_back_as_it_was() {
    for is_link in [false, true] {
        let (home, settings) = create_foreign_script();
        let real = home.sandbox.home().join("dotfiles.sh");
        if is_link {
            fs::rename(home.notify_script_path(), &real).unwrap();
            std::os::unix::fs::symlink(&real, home.notify_script_path()).unwrap();
        }
        let comes_back = |ran: &CommandOutput| {
            assert!(ran.stdout.contains("notify-headspace.sh"), "{ran:?}");
            let now = snapshot_file(&home.notify_script_path());
            assert_eq!((now.bytes.as_slice(), now.mode), (THEIRS.as_bytes(), 0o711));
            assert_eq!(home.notify_script_path().is_symlink(), is_link);
        };
        home.run_successfully(&["install", "claude", "--notify", "--force"]);
        assert_eq!(snapshot_file(&home.notify_script_path()).mode, 0o755);
        // Whoever called it would call ours now.
        assert_eq!(list_handlers(&home.read_settings()).len(), 8, "{}", home.read_settings());
        let installed = home.read_settings();
        home.run_successfully(&["install", "claude", "--notify", "--url", "http://tower:7433"]);
        // The receiver stays until another one is named.
        home.run_successfully(&["install", "claude", "--notify"]);
        let text = fs::read_to_string(home.notify_script_path()).unwrap();
        assert!(text.contains("url='http://tower:7433'\n"), "{text}");
        assert_eq!(home.read_settings(), installed);
        // The other way gives it back, with those who call it.
        let ran = home.run_successfully(&["install", "claude"]);
        comes_back(&ran);
        assert_eq!(list_handlers(&home.read_settings()).len(), 31, "{}", home.read_settings());
        home.run_successfully(&["install", "claude", "--notify", "--force"]);
        let ran = home.run_successfully(&["uninstall", "claude"]);
        comes_back(&ran);
        assert!(ran.stdout.contains("Restored ") && ran.stdout.contains("notify-headspace.sh\n"), "{ran:?}");
        assert!(ran.stderr.is_empty(), "{ran:?}");
        assert_eq!(home.read_settings(), settings);
    }
}

#[test]
fn a_script_that_its_user_has_changed_stays() {
    let home = install_forwarding();
    let mine = format!("{}\n# mine\n", fs::read_to_string(home.notify_script_path()).unwrap());
    fs::write(home.notify_script_path(), &mine).unwrap();
    let ran = home.run_successfully(&["uninstall", "claude"]);
    assert!(ran.stderr.contains("stays, because it was changed after Snell wrote it"), "{ran:?}");
    assert_eq!(fs::read_to_string(home.notify_script_path()).unwrap(), mine);
}

#[test]
fn a_script_that_cannot_be_run_any_more_is_put_right() {
    let home = install_forwarding();
    set_file_mode(home.notify_script_path(), 0o644);
    home.run_successfully(&["install", "claude", "--notify"]);
    assert_eq!(snapshot_file(&home.notify_script_path()).mode, 0o755);
    let ran = home.run_successfully(&["install", "claude", "--notify"]);
    assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
}
