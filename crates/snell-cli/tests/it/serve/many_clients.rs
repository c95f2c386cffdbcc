//! Many who come at once.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use serde_json::json;
use snell_test_support::database::{assert_database_intact, count_rows};

use super::{ANYWHERE, query_rows, start_server};
use crate::support::CliSandbox;

const CLIENTS: usize = 32;
const EVENTS: usize = 50;
const SESSIONS: usize = 8;

#[test]
fn however_many_tell_of_a_new_session_at_once_it_has_one_agent() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let routes = ["session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "stop"];
    let together = Barrier::new(CLIENTS);
    let client = |client: usize| {
        let session = client % SESSIONS;
        let mut answers = Vec::with_capacity(EVENTS);
        together.wait();
        for number in 0..EVENTS {
            // They do not begin with the same event.
            let route = routes[(client / SESSIONS + number) % routes.len()];
            let event = json!({"session_id": format!("s{session}"), "event_id": format!("{client}-{number}"),
                "cwd": sandbox.project().join(session.to_string()), "prompt": "go on", "tool_name": "Bash"});
            answers.push((session, receiver.send_event(route, &event)));
        }
        answers
    };
    let client = &client;
    let answers: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || client(number))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(answers.len(), CLIENTS * EVENTS);
    assert!(answers.iter().all(|(_, answer)| answer["duplicate"] == false));
    let new = answers.iter().filter(|(_, answer)| answer["is_new_agent"] == true);
    assert_eq!(new.count(), SESSIONS);
    let mut agents = BTreeMap::new();
    for (session, answer) in &answers {
        let place = (&answer["agent_id"], &answer["project_id"]);
        assert_eq!(*agents.entry(session).or_insert(place), place, "of session {session}");
    }
    let database = sandbox.database();
    for (table, rows) in
        [("agents", SESSIONS), ("projects", SESSIONS), ("conversations", SESSIONS), ("events", CLIENTS * EVENTS)]
    {
        assert_eq!(count_rows(&database, table), rows as i64, "{table}");
    }
    let each: Vec<i64> = query_rows(&database, "SELECT count(*) FROM events GROUP BY agent_id", [], |row| row.get(0));
    assert_eq!(each, [(CLIENTS * EVENTS / SESSIONS) as i64; SESSIONS]);
    assert_eq!(receiver.hook_status()["events_received"], CLIENTS * EVENTS);
    assert_database_intact(&database);
}
