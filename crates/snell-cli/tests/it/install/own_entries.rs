//! Which entries are Snell's own, and what becomes of them.

use std::fs;

use serde_json::json;
use snell_test_support::files::snapshot_file;

use super::{InstallHome, list_handlers};

#[test]
fn entries_of_an_older_program_are_brought_up_to_date_and_come_back() {
    let old = [
        json!({"type": "command", "command": "/opt/old/snell", "args": ["hook"]}),
        json!({"type": "command", "command": "/opt/old/snell", "args": ["hook", "--agent", "claude"]}),
        json!({"type": "command", "command": "snell hook"}),
        json!({"type": "command", "command": "snell hook --agent claude"}),
        json!({"type": "command", "command": "'/opt/o l d/snell' hook"}),
        json!({"type": "command", "command": "~/.claude/hooks/notify-headspace.sh stop"}),
    ];
    for handler in old {
        let mine = json!({"type": "command", "command": "say done"});
        let settings = json!({"hooks": {"Stop": [{"hooks": [handler.clone(), mine]}]}}).to_string();
        let home = InstallHome::with_settings(&settings);
        home.run_successfully(&["install", "claude"]);
        let found = list_handlers(&home.read_settings());
        let program = home.program_path().to_str().unwrap().to_owned();
        assert_eq!(found.len(), 30, "{handler}: {found:?}");
        let (ours, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, command, _)| *command == program);
        assert!(ours.len() == 29 && ours.iter().all(|(_, _, args)| args == &["hook", "--agent", "claude"]), "{ours:?}");
        assert_eq!(others, [("Stop".to_owned(), "say done".to_owned(), Vec::new())]);
        // No copy is kept of a file that something of ours was in.
        assert!(!home.settings_path().with_file_name("settings.json.before-snell").exists());
        let installed = snapshot_file(&home.settings_path());
        let again = home.run_successfully(&["install", "claude"]);
        assert!(again.stdout.starts_with("Nothing to do"), "{handler}: {again:?}");
        assert_eq!(snapshot_file(&home.settings_path()), installed, "{handler}");
        let ran = home.run_successfully(&["uninstall", "claude"]);
        assert_eq!(home.read_settings(), settings);
        assert!(ran.stderr.contains("entries of an earlier installation"), "{ran:?}");
        home.run_successfully(&["uninstall", "claude"]);
        assert_eq!(
            home.read_settings(),
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}]}}"
        );
    }
}

#[test]
fn what_only_looks_like_an_entry_of_ours_stays_where_it_is() {
    let theirs = [
        json!({"type": "command", "command": "snell hook && audit.sh"}),
        json!({"type": "command", "command": "snell hook > log"}),
        json!({"type": "command", "command": "snell hook # mine"}),
        json!({"type": "command", "command": "snell hook $(audit.sh)"}),
        json!({"type": "command", "command": "/bin/snell", "args": ["hook", "extra"]}),
        json!({"type": "command", "command": "/bin/snell", "args": ["hook", "--agent", "codex"]}),
        json!({"type": "command", "command": "snell notify stop"}),
        json!({"type": "http", "url": "http://x", "command": "snell hook"}),
        json!({"type": "command", "command": "/gone/notify-headspace.sh stop"}),
    ];
    for handler in theirs {
        let settings = json!({"hooks": {"Stop": [{"hooks": [handler]}]}}).to_string();
        let home = InstallHome::with_settings(&settings);
        let ran = home.run_successfully(&["uninstall", "claude"]);
        assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
        for way in [&[][..], &["--notify"]] {
            home.run_successfully(&[&["install", "claude"], way].concat());
            let installed: serde_json::Value = serde_json::from_str(&home.read_settings()).unwrap();
            assert_eq!(installed["hooks"]["Stop"][0]["hooks"][0], handler, "{}", home.read_settings());
        }
        // Also if somebody has changed the file.
        fs::write(home.settings_path(), format!("{}\n", home.read_settings())).unwrap();
        home.run_successfully(&["uninstall", "claude"]);
        assert_eq!(home.read_settings(), format!("{settings}\n"));
    }
}

#[test]
fn one_that_its_user_removed_comes_back_once_and_then_nothing_changes() {
    for text in ["{\n  \"model\": \"opus\"\n}\n", "{}", "{\n  \"hooks\": {\n  }\n}\n"] {
        let home = InstallHome::with_settings(text);
        home.run_successfully(&["install", "claude"]);
        let kept = home.read_settings();
        let kept = kept.lines().filter(|line| !line.contains("\"PreToolUse\""));
        fs::write(home.settings_path(), kept.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        home.run_successfully(&["install", "claude"]);
        let right = snapshot_file(&home.settings_path());
        assert_eq!(list_handlers(&home.read_settings()).len(), 29);
        let again = home.run_successfully(&["install", "claude"]);
        assert!(again.stdout.starts_with("Nothing to do"), "{again:?}");
        assert_eq!(snapshot_file(&home.settings_path()), right);
        home.run_successfully(&["uninstall", "claude"]);
        assert_eq!(home.read_settings().trim_end(), text.trim_end());
    }
}
