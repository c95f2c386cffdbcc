//! The page about records names every file that lies in Snell's directory.

use std::fs;

use serde_json::json;
use snell_test_support::files::find_repository_root;

use super::list_entries;
use super::reference::find_section;
use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// The names before the colons of the list, of which `…` stands for anything.
fn list_documented_files() -> Vec<String> {
    let page = fs::read_to_string(find_repository_root().join("docs/reference/records.md")).unwrap();
    let section = find_section(&page, "Data directory").unwrap();
    let items = section.lines().take_while(|line| !line.starts_with('#')).filter_map(|line| line.strip_prefix("- "));
    let names = items.filter_map(|item| item.split_once(": ")).map(|(names, _)| names);
    names.flat_map(|names| names.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

fn is_documented(file: &str, named: &[String]) -> bool {
    let fits = |name: &String| match name.split_once('…') {
        Some((begin, _)) => file.starts_with(begin),
        None => file == name.trim_end_matches('/'),
    };
    named.iter().any(fits)
}

/// Everything that leaves something behind has been done once; what comes only with a fault is tested where the fault is.
#[test]
fn the_page_about_records_names_every_file_in_the_directory() {
    let hooks =
        json!({"PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "true", "async": true}]}]});
    let sandbox = CliSandbox::new()
        .env("SNELL_URL", "http://127.0.0.1:1")
        .file("snell.toml", "[[hook]]\nevent = \"Stop\"\nrun = \"true\"\n")
        .hooks(".wave/settings.json", &hooks);
    sandbox.send_hook_event("12:00:00", "SessionStart", json!({}));
    sandbox.run_snell(&["trust"], "");
    sandbox.run_snell(&["install", "claude"], "");
    sandbox.run_snell(&["notify", "stop"], r#"{"session_id":"s1"}"#);
    sandbox.run_event("PostToolUse", &json!({"tool_name": "Edit"}));
    sandbox.wait_for_background_outcomes(1);
    let receiver = start_server(&sandbox, ANYWHERE);
    receiver.get_json("/hook/status");
    let named = list_documented_files();
    let files = list_entries(&sandbox.data());
    let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    for expected in ["snell.db", "trust.json", "outbox", "installed", "background.jsonl", "snell.sock"] {
        assert!(names.contains(&expected), "{expected} is not there: {names:?}");
    }
    for name in names {
        assert!(is_documented(name, &named), "docs/reference/records.md does not say what {name} is");
    }
}
