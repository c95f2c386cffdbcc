//! Which entries are Snell's own, and what becomes of them.

use std::fs;

use serde_json::json;

use super::{Home, handlers, look};

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
        let home = Home::with(&settings);
        home.done(&["install", "claude"]);
        let found = handlers(&home.text());
        let program = home.program().to_str().unwrap().to_owned();
        assert_eq!(found.len(), 30, "{handler}: {found:?}");
        let (ours, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, command, _)| *command == program);
        assert!(
            ours.len() == 29 && ours.iter().all(|(_, _, args)| args == &["hook", "--agent", "claude"]),
            "{ours:?}"
        );
        assert_eq!(others, [("Stop".to_owned(), "say done".to_owned(), Vec::new())]);
        // No copy is kept of a file that something of ours was in.
        assert!(!home.settings().with_file_name("settings.json.before-snell").exists());
        let installed = look(&home.settings());
        let again = home.done(&["install", "claude"]);
        assert!(again.stdout.starts_with("Nothing to do"), "{handler}: {again:?}");
        assert_eq!(look(&home.settings()), installed, "{handler}");
        let ran = home.done(&["uninstall", "claude"]);
        assert_eq!(home.text(), settings);
        assert!(ran.stderr.contains("are there again"), "{ran:?}");
        home.done(&["uninstall", "claude"]);
        assert_eq!(
            home.text(),
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
        let home = Home::with(&settings);
        let ran = home.done(&["uninstall", "claude"]);
        assert!(ran.stdout.starts_with("Nothing to do"), "{ran:?}");
        for way in [&[][..], &["--notify"]] {
            home.done(&[&["install", "claude"], way].concat());
            let installed: serde_json::Value = serde_json::from_str(&home.text()).unwrap();
            assert_eq!(installed["hooks"]["Stop"][0]["hooks"][0], handler, "{}", home.text());
        }
        // Also if somebody has changed the file.
        fs::write(home.settings(), format!("{}\n", home.text())).unwrap();
        home.done(&["uninstall", "claude"]);
        assert_eq!(home.text(), format!("{settings}\n"));
    }
}

#[test]
fn one_that_its_user_removed_comes_back_once_and_then_nothing_changes() {
    for text in ["{\n  \"model\": \"opus\"\n}\n", "{}", "{\n  \"hooks\": {\n  }\n}\n"] {
        let home = Home::with(text);
        home.done(&["install", "claude"]);
        let kept = home.text();
        let kept = kept.lines().filter(|line| !line.contains("\"PreToolUse\""));
        fs::write(
            home.settings(),
            kept.map(|line| format!("{line}\n")).collect::<String>(),
        )
        .unwrap();
        home.done(&["install", "claude"]);
        let right = look(&home.settings());
        assert_eq!(handlers(&home.text()).len(), 29);
        let again = home.done(&["install", "claude"]);
        assert!(again.stdout.starts_with("Nothing to do"), "{again:?}");
        assert_eq!(look(&home.settings()), right);
        home.done(&["uninstall", "claude"]);
        assert_eq!(home.text().trim_end(), text.trim_end());
    }
}
