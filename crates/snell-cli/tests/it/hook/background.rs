//! Hooks that nobody waits for, as the store knows them afterwards.

use serde_json::json;
use snell_test_support::wait::wait_until;

use super::{HookSandbox, RecordingMode};

const HOOKS: &str = r#"
[[hook]]
event = "Stop"
background = true
run = "echo done"

[[hook]]
event = "Stop"
background = true
run = "echo broken >&2; exit 3"
"#;

#[test]
fn a_background_hook_that_has_ended_no_longer_says_that_its_outcome_is_to_come() {
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_user_config(mode, HOOKS);
        watched.send_silent_event("s1", "Stop", json!({}));
        let runs = wait_until(|| {
            let runs = watched.query_rows("SELECT status, exit_code, why FROM hook_runs ORDER BY line");
            runs.iter().all(|run| run["status"] != "started").then_some(runs)
        });
        let [well, badly] = &runs[..] else {
            panic!("{runs:?}");
        };
        assert_eq!(
            (&well["status"], &well["why"]),
            (&json!("ok"), &json!("ran in the background; Snell did not wait for it"))
        );
        assert_eq!((&badly["status"], &badly["exit_code"]), (&json!("failed"), &json!(3)));
        assert!(!badly["why"].as_str().unwrap_or("").contains("will be"), "{badly}");
    }
}
