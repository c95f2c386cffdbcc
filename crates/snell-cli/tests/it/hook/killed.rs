//! Hooks that are killed at any moment.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use snell_test_support::process::spawn_with_stdin;

use super::{HookSandbox, RecordingMode, render_answering_hook};

const AT_ONCE: usize = 4;
const KILLS: usize = 1000;

/// So many calls take in everything, also on a busy machine.
const MAX_CALLS_AFTER: usize = 20;

/// How long hooks live here and now: moments are chosen so that some die before they answer and some after.
struct HookLifetime(AtomicU64);

impl HookLifetime {
    /// A moment within the life of a hook, no two alike.
    fn pick_moment(&self, number: u64) -> Duration {
        let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Duration::from_micros((state ^ (state >> 31)) % self.0.load(Ordering::Relaxed))
    }

    fn adjust(&self, answered: bool) {
        let micros = self.0.load(Ordering::Relaxed);
        let better = if answered { micros - micros / 50 } else { micros + micros / 50 };
        self.0.store(better.clamp(2_000, 500_000), Ordering::Relaxed);
    }
}

/// Kills hooks until so many have been, and answers which events their agents were told about.
fn kill_hooks(watched: &HookSandbox, kills: usize) -> Vec<String> {
    let answered = Mutex::new(Vec::new());
    let counts = Mutex::new((0, 0));
    let lives = HookLifetime(AtomicU64::new(16_000));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = {
                        let mut counts = counts.lock().unwrap();
                        if counts.0 >= kills {
                            break;
                        }
                        counts.1 += 1;
                        counts.1
                    };
                    // Half of them are denied, and have an answer to write before they record.
                    let tool = if number % 2 == 0 { "Bash" } else { "Read" };
                    let fields = json!({"tool_name": tool, "tool_input": {"command": format!("n{number}")}});
                    let payload = watched.build_payload(&format!("s{}", number % 5), "PreToolUse", fields);
                    let mut hook = spawn_with_stdin(&mut watched.hook_command(), payload.to_string());
                    // Nothing is waited for here: any moment is as good as another.
                    std::thread::sleep(lives.pick_moment(number));
                    hook.kill().unwrap();
                    let output = hook.wait_with_output().unwrap();
                    if output.status.signal() == Some(9) {
                        counts.lock().unwrap().0 += 1;
                    }
                    let stdout = String::from_utf8(output.stdout).unwrap();
                    let told = output.status.code() == Some(0) || stdout.ends_with('\n');
                    lives.adjust(told);
                    if told {
                        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
                        answered.lock().unwrap().push(format!("n{number}"));
                    }
                }
            });
        }
    });
    answered.into_inner().unwrap()
}

fn check_answered_events_are_stored(mode: RecordingMode) {
    let text = render_answering_hook("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    let text = text.replace("modify", "tool = \"Bash\"\nmodify");
    let watched = HookSandbox::with_user_config(mode, &text);
    watched.send_prompt("s0", "Go.");
    let answered = kill_hooks(&watched, KILLS);
    // Further calls take in what was left behind, each for a short time.
    for _ in 0..MAX_CALLS_AFTER {
        watched.send_prompt("s0", "Go on.");
        if watched.count_pending() == 0 {
            break;
        }
    }
    assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok");
    assert_eq!(watched.query_rows("PRAGMA foreign_key_check"), Vec::<serde_json::Value>::new());
    let sql = "SELECT json_extract(payload, '$.tool_input.command') AS name, count(*) AS times \
               FROM payloads JOIN events USING (id) WHERE name = 'PreToolUse' GROUP BY 1";
    let rows = watched.query_rows(sql);
    let kept: BTreeMap<_, _> = rows.iter().map(|row| (row["name"].as_str().unwrap(), row["times"].as_i64())).collect();
    let twice: Vec<_> = kept.iter().filter(|(_, times)| **times != Some(1)).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let lost: Vec<_> = answered.iter().filter(|name| !kept.contains_key(name.as_str())).collect();
    assert!(lost.is_empty(), "of {} answered, {} are lost: {lost:?}", answered.len(), lost.len());
    assert!(answered.len() > KILLS / 10, "only {} were answered: kill them later", answered.len());
    assert_eq!(watched.count_pending(), 0);
    // A denied call ran no tool, and whoever was killed left no agent behind that is nobody's.
    assert!(watched.count_rows("agents") <= 5);
}

#[test]
fn a_thousand_killed_hooks_lose_nothing_their_agents_were_told() {
    check_answered_events_are_stored(RecordingMode::Alone);
}

#[test]
fn a_thousand_killed_hooks_with_a_scribe_lose_nothing_their_agents_were_told() {
    check_answered_events_are_stored(RecordingMode::WithDaemon);
}

#[test]
fn a_scribe_that_is_killed_while_many_hand_over_loses_nothing() {
    const EVENTS: usize = 30;
    const SCRIBES_KILLED: usize = 6;
    let watched = HookSandbox::new(RecordingMode::Hurried);
    watched.send_prompt("s0", "Go.");
    // So many that hooks do not wait for the scribe, but leave their events with it.
    let processes = 16 * std::thread::available_parallelism().unwrap().get();
    let answered = Mutex::new(Vec::new());
    let working = AtomicUsize::new(processes);
    std::thread::scope(|scope| {
        for process in 0..processes {
            let (watched, answered, working) = (&watched, &answered, &working);
            scope.spawn(move || {
                for number in 0..EVENTS {
                    let name = format!("p{process}-{number}");
                    let tool = json!({"tool_name": "Bash", "tool_input": {"command": name}});
                    let ran =
                        watched.run_hook(&watched.build_payload(&format!("s{}", process % 5), "PreToolUse", tool));
                    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
                    assert!(!ran.stderr.contains("lost"), "{ran:?}");
                    answered.lock().unwrap().push(name);
                }
                working.fetch_sub(1, Ordering::Relaxed);
            });
        }
        // Killed whenever another part of the work is done.
        for part in 1..=SCRIBES_KILLED {
            let enough = processes * EVENTS * part / (SCRIBES_KILLED + 2);
            while working.load(Ordering::Relaxed) > 0 && answered.lock().unwrap().len() < enough {
                std::thread::yield_now();
            }
            if let Some(pid) = watched.find_daemon_pid() {
                let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
            }
        }
    });
    assert!(watched.sandbox.data().join("handed").exists(), "nobody was in such a hurry: start more at once");
    let ran = watched.sandbox.run_snell(&["log", "--json", "--limit", "1000000"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut kept = BTreeMap::new();
    for line in ran.stdout.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = entry["payload"]["tool_input"]["command"].as_str().unwrap_or("Go.");
        *kept.entry(name.to_owned()).or_insert(0) += 1;
    }
    let answered = answered.into_inner().unwrap();
    assert_eq!(answered.len(), processes * EVENTS);
    let lost: Vec<_> = answered.iter().filter(|name| !kept.contains_key(*name)).collect();
    assert!(lost.is_empty(), "of {}, {} are lost: {lost:?}", answered.len(), lost.len());
    assert!(kept.values().all(|times| *times == 1), "{kept:?}");
    assert_eq!(watched.count_pending(), 0);
    assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok");
}
