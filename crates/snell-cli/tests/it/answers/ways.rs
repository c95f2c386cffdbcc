//! All ways of an answer: to each agent in its own words, and of several at once only the first.

use std::fs;
use std::process::Child;
use std::sync::Barrier;

use serde_json::{Value, json};
use snell::Timestamp;
use snell_server::{AnswerKey, AnswerLink};
use snell_store::requests::AnswerChoice;
use snell_test_support::files::{find_repository_root, write_script};
use snell_test_support::process::{CommandOutput, spawn_with_stdin, wait_for_output};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::wait::wait_until;

use super::{AnswerBench, ENABLED, decision};
use crate::serve::{ANYWHERE, start_server};

impl AnswerBench {
    /// A permission request with the variables and fields of a recorded payload. The hook's parent is its agent.
    fn spawn_recorded(&self, agent: &str, file: &str) -> Child {
        let path = find_repository_root().join("fixtures/agents").join(agent).join(file);
        let sample: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut payload = sample["payload"].clone();
        payload["cwd"] = json!(self.sandbox.project());
        if file == "PreToolUse.json" {
            payload["hook_event_name"] = json!("PermissionRequest");
            payload.as_object_mut().unwrap().remove("tool_use_id");
        }
        write_script(&self.sandbox.project().join("agent.sh"), "\"$SNELL\" hook");
        let mut command = self.sandbox.program("./agent.sh");
        command.env("SNELL", env!("CARGO_BIN_EXE_snell"));
        let variables = sample["env"].as_object().unwrap().iter();
        command.envs(variables.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())));
        spawn_with_stdin(&mut command, payload.to_string())
    }
}

#[test]
fn every_agent_that_takes_answers_gets_them_in_its_own_words() {
    let allowed = decision(json!({"behavior": "allow"}));
    let denied = decision(json!({"behavior": "deny", "message": "use make"}));
    for (agent, file) in
        [("claude", "PermissionRequest.json"), ("codex", "PreToolUse.json"), ("qwen", "PreToolUse.json")]
    {
        for (arguments, expected) in [(&["allow"][..], &allowed), (&["deny", "--message", "use make"], &denied)] {
            // The payloads are equal, so the second one would be the same event.
            let bench = AnswerBench::new(&format!("{ENABLED}hold = true\n"));
            let _watcher = bench.watch();
            let said = bench.answer_hook(bench.spawn_recorded(agent, file), arguments);
            assert_eq!((said.code, &said.json()), (0, expected), "{agent}: {said:?}");
        }
    }
    // These take none, so their hooks do not wait.
    for (agent, file) in [("copilot", "permissionRequest.json"), ("gemini", "BeforeTool.json")] {
        let bench = AnswerBench::new(&format!("{ENABLED}hold = true\n"));
        let _watcher = bench.watch();
        assert_eq!(wait_for_output(bench.spawn_recorded(agent, file)).code, 0, "{agent}");
        assert_eq!(bench.count_requests(), 0, "{agent}");
    }
}

/// A person with a page, a terminal, an API client and a link, who uses all of them at once.
struct AllWays<'a> {
    bench: &'a AnswerBench,
    server: &'a ServeProcess,
    key: AnswerKey,
    /// The hidden value of the page's forms.
    form: String,
}

impl<'a> AllWays<'a> {
    fn new(bench: &'a AnswerBench, server: &'a ServeProcess, uid: &str) -> Self {
        let read_form = || {
            let page = server.request("GET", "/requests").send().body;
            assert!(page.contains(uid), "{page}");
            Some(page.split_once("name=\"form\" value=\"")?.1.split_once('"')?.0.to_owned())
        };
        // While the machine is busy, the server may not find out at once who has connected.
        let form = wait_until(read_form);
        let key = AnswerKey::load_or_create(bench.sandbox.database().parent().unwrap()).unwrap();
        Self { bench, server, key, form }
    }

    /// Answers by this way. Returns whether the answer was accepted.
    fn answer(&self, way: usize, uid: &str, choice: AnswerChoice) -> bool {
        let response = match way {
            0 => {
                let body = format!("form={}&answer={choice}", self.form);
                let post = self.server.request("POST", &format!("/requests/{uid}/answer"));
                post.header("Content-Type: application/x-www-form-urlencoded").body(body.as_bytes()).send()
            }
            1 => {
                let body = json!({ "answer": choice }).to_string();
                self.server.request("POST", &format!("/api/requests/{uid}")).json(&body).send()
            }
            2 => {
                let expires_at = Timestamp::now().as_second() + 60;
                let link = self.key.sign_link(&AnswerLink { uid: uid.to_owned(), choice, expires_at });
                self.server.request("POST", &format!("/answer/{link}")).send()
            }
            _ => {
                let ran = self.bench.answer(&[uid, choice.as_str()]);
                assert!(ran.code == 0 || ran.stderr.contains("is closed"), "{ran:?}");
                return ran.code == 0;
            }
        };
        assert!([200, 303, 409].contains(&response.status), "way {way}: {} {}", response.status, response.body);
        response.status != 409
    }
}

fn assert_agent_got(said: &CommandOutput, choice: AnswerChoice) {
    let expected = match choice {
        AnswerChoice::Allow => json!({"behavior": "allow"}),
        AnswerChoice::Deny | AnswerChoice::Reply => {
            json!({"behavior": "deny", "message": "The user denied this call."})
        }
    };
    assert_eq!((said.code, said.json()), (0, decision(expected)), "{said:?}");
}

/// `SNELL_ANSWER_ROUNDS` runs more rounds.
#[test]
fn of_answers_by_all_ways_at_once_the_agent_gets_the_first() {
    let rounds = std::env::var("SNELL_ANSWER_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let server = start_server(&bench.sandbox, &[ANYWHERE, &["--log", "off"]].concat());
    let mut wins = [0; 4];
    for round in 0..rounds {
        let hook = bench.spawn_ask();
        let uid = bench.wait_for_waiting_hook();
        let ways = AllWays::new(&bench, &server, &uid);
        // Two of them allow, two deny, in changing order.
        let choice = |way: usize| if (way + round) % 4 < 2 { AnswerChoice::Allow } else { AnswerChoice::Deny };
        let start = Barrier::new(4);
        let accepted: Vec<bool> = std::thread::scope(|scope| {
            let (ways, start, uid) = (&ways, &start, uid.as_str());
            let threads: Vec<_> = (0..4)
                .map(|way| {
                    scope.spawn(move || {
                        start.wait();
                        ways.answer(way, uid, choice(way))
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winners: Vec<usize> = (0..4).filter(|way| accepted[*way]).collect();
        assert_eq!(winners.len(), 1, "round {round}: {accepted:?}");
        wins[winners[0]] += 1;
        assert_agent_got(&wait_for_output(hook), choice(winners[0]));
        // A link cannot be used again.
        assert!(!ways.answer(2, &uid, AnswerChoice::Allow), "round {round}");
    }
    assert_eq!(wins.iter().sum::<usize>(), rounds, "{wins:?}");
    // Those that the server listed for a moment are withdrawn.
    let requests = bench.query("SELECT status, channel, delivered_at FROM requests");
    assert!(requests.iter().all(|request| request["status"] != "open"), "{requests:?}");
    let is_delivered = |request: &&Value| request["channel"] == "reply" && !request["delivered_at"].is_null();
    assert_eq!(requests.iter().filter(is_delivered).count(), rounds);
}
