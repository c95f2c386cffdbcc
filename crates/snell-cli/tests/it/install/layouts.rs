//! However a settings file is laid out: what was there stays, and comes back to the last byte.

use std::fs;
use std::os::unix::fs::symlink;

use snell_test_support::files::{list_tree, set_file_mode, snapshot_file};
use snell_test_support::process::run_with_stdin;

use super::InstallHome;

/// What people's files look like. `"opus"` stands in most of them, for somebody to change.
const LAYOUTS: &[(&str, &str)] = &[
    ("two blanks", "{\n  \"model\": \"opus\",\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n"),
    ("four blanks", "{\n    \"model\": \"opus\"\n}\n"),
    ("tabs", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n"),
    ("no end of line", "{\n  \"model\": \"opus\"\n}"),
    ("one line", "{\"model\":\"opus\",\"env\":{}}"),
    ("one line with blanks", "{ \"model\": \"opus\", \"env\": {} }\n"),
    ("other ends of lines", "{\r\n  \"model\": \"opus\",\r\n  \"env\": {}\r\n}\r\n"),
    ("a byte order mark", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
    ("a byte order mark and other ends", "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}"),
    (
        "trailing commas",
        "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      \"a.sh\",\n    ],\n  },\n}\n",
    ),
    (
        "comments everywhere",
        "// top\n{\n  // above\n  \"model\": \"opus\", // beside\n  /* before */ \"hooks\" /* mid */ : { // open\n    // only this\n  } // shut\n  // last\n}\n// bottom\n",
    ),
    ("the last line has a comment", "{\n  \"model\": \"opus\" // mine\n}\n"),
    ("one line and a comment", "{\"model\": \"opus\"} // mine"),
    ("nothing in it", "{}"),
    ("a blank in it", "{ }\n"),
    ("a line in it", "{\n}\n"),
    ("no hooks in hooks", "{\"hooks\": {}}\n"),
    ("hooks on lines, none in it", "{\n  \"model\": \"opus\",\n  \"hooks\": {\n  }\n}\n"),
    (
        "events without hooks",
        "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"SessionStart\": [ ],\n    \"SessionEnd\": [\n    ]\n  }\n}\n",
    ),
    (
        "hooks of other tools",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"guard.sh\"\n          }\n        ]\n      }\n    ],\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say 'done'\"}]}]\n  },\n  \"model\": \"opus\"\n}\n",
    ),
    (
        "hooks as paths",
        "{\n  \"hooks\": {\n    \"Stop\": [\"/a/b.sh\"],\n    \"PreToolUse\": [\n      \"/a/c.sh\"\n    ]\n  }\n}\n",
    ),
    ("strange places", "   {\n\"model\":\"opus\"\n     ,\"hooks\"\n:{\"Stop\":\n[]}\n }   \n\n"),
    (
        "comments in arrays",
        "{\n  \"hooks\": {\n    \"Stop\": [ // none yet\n    ],\n    \"Notification\": [/* none */]\n  }\n}\n",
    ),
    ("hooks of an event that nobody knows", "{\"hooks\": {\"Unheard\": 1}, \"model\": \"opus\"}"),
    (
        "texts like code",
        "{\n  \"a\": \"// no\",\n  \"b\": \"/* no */ {\\\"hooks\\\": [}\",\n  \"url\": \"http://x//y\"\n}\n",
    ),
    ("other scripts", "{\n  \"größe\": \"日本 \u{1f980}\",\n  \"e\": \"\\u00e9\\ud83e\\udd80\"\n}\n"),
    ("halves of characters", "{\n  \"a\": \"\\ud800 \\udc00\",\n  \"\\udfff\": \"opus\"\n}\n"),
    ("numbers as they are", "{\"a\": 1.0, \"b\": 1e400, \"c\": 12345678901234567890123, \"d\": -0}\n"),
];

/// Files without a value in them.
const EMPTY: &[(&str, &str)] =
    &[("empty", ""), ("blank", " \n"), ("a comment", "// later\n"), ("only a mark", "\u{feff}")];

fn iter_layouts() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    LAYOUTS.iter().chain(EMPTY)
}

#[test]
fn it_comes_and_goes_and_every_byte_is_as_before() {
    for (name, text) in iter_layouts() {
        let home = InstallHome::with_settings(text);
        home.run_successfully(&["install", "claude"]);
        let plain = snapshot_file(&home.settings_path());
        assert_ne!(plain.bytes, text.as_bytes(), "{name}");
        let again = home.run_successfully(&["install", "claude"]);
        assert!(again.stdout.starts_with("Nothing to do"), "{name}: {}", again.stdout);
        assert_eq!(snapshot_file(&home.settings_path()), plain, "{name}");
        home.run_successfully(&["install", "claude", "--notify"]);
        assert!(!home.read_settings().contains("\"hook\""), "{name}: {}", home.read_settings());
        assert_eq!(home.read_settings().matches("notify-headspace.sh").count(), 8, "{name}: {}", home.read_settings());
        home.run_successfully(&["install", "claude"]);
        assert_eq!(snapshot_file(&home.settings_path()).bytes, plain.bytes, "{name}");
        assert!(!home.notify_script_path().exists(), "{name}");
        home.run_successfully(&["uninstall", "claude"]);
        assert_eq!(home.read_settings(), *text, "{name}");
        let left: Vec<_> = fs::read_dir(home.settings_path().parent().unwrap()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{name}: {left:?}");
    }
}

#[test]
fn what_its_user_changes_in_between_stays_and_the_rest_is_as_before() {
    for (name, text) in iter_layouts() {
        let home = InstallHome::with_settings(text);
        home.run_successfully(&["install", "claude"]);
        let edit = |text: &str| format!("{}\n// and this\n", text.replace("\"opus\"", "\"sonnet\""));
        fs::write(home.settings_path(), edit(&home.read_settings())).unwrap();
        let ran = home.run_successfully(&["uninstall", "claude"]);
        assert!(ran.stdout.starts_with("Removed Snell's entries from"), "{name}: {}", ran.stdout);
        assert_eq!(home.read_settings(), edit(text), "{name}");
    }
}

#[test]
fn a_file_that_the_agent_has_written_anew_loses_only_our_entries() {
    let text = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"say\"\n          }\n        ]\n      }\n    ]\n  }\n}";
    let home = InstallHome::with_settings(text);
    home.run_successfully(&["install", "claude"]);
    let mut settings: serde_json::Value = serde_json::from_str(&home.read_settings()).unwrap();
    settings["theme"] = "dark".into();
    fs::write(home.settings_path(), serde_json::to_string_pretty(&settings).unwrap()).unwrap();
    home.run_successfully(&["uninstall", "claude"]);
    let mut expected: serde_json::Value = serde_json::from_str(text).unwrap();
    expected["theme"] = "dark".into();
    assert_eq!(home.read_settings(), serde_json::to_string_pretty(&expected).unwrap());
}

#[test]
fn without_its_memory_it_still_finds_its_entries() {
    for (name, text) in LAYOUTS {
        let home = InstallHome::with_settings(text);
        home.run_successfully(&["install", "claude"]);
        fs::remove_dir_all(home.sandbox.data()).unwrap();
        assert!(home.run_successfully(&["install", "claude"]).stdout.starts_with("Nothing to do"), "{name}");
        home.run_successfully(&["uninstall", "claude"]);
        assert!(!home.read_settings().contains("snell"), "{name}: {}", home.read_settings());
        // What held nothing before may be gone, and nothing else.
        if !text.contains("\"hooks\"") {
            assert_eq!(
                home.read_settings().trim_end(),
                text.trim_end().replace("{ }", "{}").replace("{\n}", "{}"),
                "{name}"
            );
        }
    }
}

#[test]
fn mode_and_links_stay_and_the_file_behind_the_link_is_written() {
    let text = "{\"model\": \"opus\"}\n";
    for mode in [0o640, 0o600, 0o644, 0o660] {
        let home = InstallHome::with_settings(text);
        let elsewhere = home.sandbox.home().join("dotfiles.json");
        fs::rename(home.settings_path(), &elsewhere).unwrap();
        set_file_mode(&elsewhere, mode);
        symlink("../dotfiles.json", home.settings_path()).unwrap();
        home.run_successfully(&["install", "claude"]);
        let backup = home.settings_path().with_file_name("settings.json.before-snell");
        assert_eq!((snapshot_file(&backup).bytes, snapshot_file(&backup).mode), (text.into(), mode));
        for _ in 0..2 {
            assert_eq!(fs::read_link(home.settings_path()).unwrap().to_str(), Some("../dotfiles.json"));
            assert_eq!(snapshot_file(&elsewhere).mode, mode);
            home.run_successfully(&["uninstall", "claude"]);
        }
        assert_eq!(snapshot_file(&elsewhere).bytes, text.as_bytes());
    }
}

#[test]
fn the_file_as_it_was_is_kept_once_and_never_overwritten() {
    let home = InstallHome::with_settings("{\"model\": \"opus\"}");
    let backup = home.settings_path().with_file_name("settings.json.before-snell");
    home.run_successfully(&["install", "claude"]);
    assert_eq!(fs::read_to_string(&backup).unwrap(), "{\"model\": \"opus\"}");
    fs::write(home.settings_path(), home.read_settings().replace("opus", "sonnet")).unwrap();
    home.run_successfully(&["install", "claude", "--notify"]);
    assert_eq!(fs::read_to_string(&backup).unwrap(), "{\"model\": \"opus\"}");
    let ran = home.run_successfully(&["uninstall", "claude"]);
    assert_eq!(home.read_settings(), "{\"model\": \"sonnet\"}");
    // It says something that is nowhere else.
    assert_eq!(fs::read_to_string(&backup).unwrap(), "{\"model\": \"opus\"}");
    assert!(ran.stderr.contains("before-snell"), "{ran:?}");
    home.run_successfully(&["install", "claude"]);
    assert_eq!(fs::read_to_string(&backup).unwrap(), "{\"model\": \"opus\"}");
}

#[test]
fn what_a_dry_run_shows_is_what_becomes_of_it() {
    let files = [
        "{\r\n\t\"a\": \"x\ty\",\r\n\t\"b\": 1\r\n}\r\n",
        "{\n\t\"a\": 1\n}",
        "{\n  \"a\": \"\u{7f}\u{85}\u{9b}\u{202e}\"\n}\n",
        "{\"a\": \r 1,\r\n\"b\": 2}\n",
        "",
    ];
    for text in files {
        let home = InstallHome::with_settings(text);
        let shown = home.run_successfully(&["install", "claude", "--notify", "--dry-run"]);
        let mut patch = home.sandbox.program("patch");
        patch.args(["--binary", "-s", "-d", "/", "-p1"]);
        let patched = run_with_stdin(&mut patch, &shown.stdout);
        assert_eq!((patched.code, patched.stderr.as_str()), (0, ""), "{}", shown.stdout);
        let (settings, script) = (home.read_settings(), fs::read_to_string(home.notify_script_path()).unwrap());
        fs::remove_file(home.notify_script_path()).unwrap();
        fs::write(home.settings_path(), text).unwrap();
        home.run_successfully(&["install", "claude", "--notify"]);
        assert_eq!((home.read_settings(), fs::read_to_string(home.notify_script_path()).unwrap()), (settings, script));
    }
}

#[test]
fn people_see_every_line_and_nothing_steers_their_terminal() {
    let home = InstallHome::with_settings("{\r\n\t\"a\": \"\u{7f}\u{9b}\"\r\n}\r\n");
    let mut command = home.sandbox.program("script");
    let line = format!("'{}' install claude --dry-run", home.program_path().display());
    command.args(["-qec", &line, "/dev/null"]).env("NO_COLOR", "1");
    let ran = run_with_stdin(&mut command, "");
    let shown = ran.stdout.replace("\r\n", "\n");
    assert!(shown.contains("\n-\t\"a\": \"\\u{7f}\\u{9b}\"\\r\n"), "{ran:?}");
    assert!(shown.contains("\n+\t\"hooks\": {\\r\n"), "{ran:?}");
    assert!(!shown.contains(|c: char| c.is_control() && !"\n\t".contains(c)), "{ran:?}");
}

#[test]
fn a_dry_run_shows_the_difference_and_leaves_no_trace() {
    let home = InstallHome::with_settings("{\n  \"model\": \"opus\"\n}\n");
    let before = list_tree(&home.sandbox.home());
    let ran = home.run_successfully(&["install", "claude", "--dry-run"]);
    let shown = ran.stdout.replace(home.sandbox.home().to_str().unwrap(), "~");
    assert!(
        shown.starts_with(
            "--- ~/.claude/settings.json\n+++ ~/.claude/settings.json\n@@ -1,3 +1,34 @@\n {\n-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n+  \"hooks\": {\n+    \"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"~/bin/snell\", \"args\": [\"hook\", \"--agent\", \"claude\"]}]}],\n"
        ),
        "{shown}"
    );
    let ran = home.run_successfully(&["install", "claude", "--notify", "--dry-run"]);
    assert!(ran.stdout.contains("--- /dev/null\n"), "{}", ran.stdout);
    assert_eq!(list_tree(&home.sandbox.home()), before);
    assert_eq!(fs::read_dir(home.sandbox.data()).unwrap().count(), 0);
    home.run_successfully(&["install", "claude", "--notify"]);
    let installed = list_tree(&home.sandbox.home());
    let ran = home.run_successfully(&["uninstall", "claude", "--dry-run"]);
    assert!(ran.stdout.contains("\n-  \"hooks\": {\n") && ran.stdout.contains("Would remove "), "{}", ran.stdout);
    assert_eq!(list_tree(&home.sandbox.home()), installed);
}
