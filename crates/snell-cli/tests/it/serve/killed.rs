//! A server that is killed loses nothing that it has acknowledged, and those who listen miss nothing.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use snell_test_support::database::{assert_database_intact, count_rows, query_texts};
use snell_test_support::http::{HttpRequest, find_unused_address};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::sse::SseClient;

use super::query_rows;
use crate::support::CliSandbox;

const KILLED: usize = 20;
const CLIENTS: usize = 6;

/// Far more than all of it takes: after so long something hangs.
const HANGS: Duration = Duration::from_secs(120);

/// What clients and listeners share while servers come and go.
pub(super) struct ServerRestartStory {
    /// Each receiver has the same address as long as the story lasts.
    pub(super) addresses: Vec<String>,
    /// Nobody begins another event any more.
    pub(super) is_over: AtomicBool,
    /// Ids of events that were answered with 200.
    pub(super) acknowledged: Mutex<BTreeSet<String>>,
    acknowledgements: AtomicUsize,
    /// The last change there will be, once that is known.
    pub(super) last_change: AtomicI64,
    began: Instant,
    /// After so long, something hangs.
    pub(super) limit: Duration,
}

impl ServerRestartStory {
    pub(super) fn new(receivers: usize) -> Self {
        Self {
            addresses: (0..receivers).map(|_| find_unused_address().to_string()).collect(),
            is_over: AtomicBool::new(false),
            acknowledged: Mutex::default(),
            acknowledgements: AtomicUsize::new(0),
            last_change: AtomicI64::new(i64::MAX),
            began: Instant::now(),
            limit: HANGS,
        }
    }

    pub(super) fn check_progress(&self) {
        assert!(self.began.elapsed() < self.limit, "it hangs");
        thread::yield_now();
    }

    /// The address of a receiver: each try is at the next one.
    fn address(&self, number: usize) -> &str {
        &self.addresses[number % self.addresses.len()]
    }

    /// Tells one event after the other, each until somebody has taken it.
    pub(super) fn send_events(&self, client: usize, host: Option<&str>, cwd: &str) {
        let mut tries = client;
        let routes = ["user-prompt-submit", "pre-tool-use", "post-tool-use", "stop"];
        for number in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let event_id = format!("{client}-{number}");
            let event = json!({"session_id": format!("s{client}"), "cwd": cwd, "event_id": event_id, "host": host,
                "prompt": event_id, "tool_name": "Bash", "tool_input": {"command": "ls"}});
            loop {
                tries += 1;
                let route = routes[number % routes.len()];
                match HttpRequest::for_hook(self.address(tries), route, &event).try_send() {
                    Ok(answer) if answer.status == 200 => break,
                    Ok(answer) => assert_eq!(answer.status, 503, "{answer:?}"),
                    Err(_) => {}
                }
                self.check_progress();
            }
            self.acknowledged.lock().unwrap().insert(event_id);
            self.acknowledgements.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Listens, and comes back as often as it is cut off, until it has heard the last change.
    pub(super) fn collect_changes(&self) -> Vec<(i64, String)> {
        let mut tries = 0;
        let mut heard = vec![(0, String::new())];
        loop {
            let seen = heard[heard.len() - 1].0;
            if seen >= self.last_change.load(Ordering::Relaxed) {
                return heard.split_off(1);
            }
            self.check_progress();
            tries += 1;
            let request = HttpRequest::new(self.address(tries), "GET", "/api/events/stream").without_chunking();
            let Ok(mut stream) = SseClient::try_open(&request.header(&format!("Last-Event-ID: {seen}"))) else {
                continue;
            };
            // A receiver without its database refuses for now.
            if stream.head.status == 503 {
                continue;
            }
            assert_eq!(stream.head.status, 200, "{:?}", stream.head);
            while let Ok(Some(next)) = stream.try_read_event() {
                assert_ne!(next.event, "gap", "after {seen}: {}", next.data);
                heard.push((next.id, next.event));
                if next.id >= self.last_change.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
    }

    /// Waits until so many more events were acknowledged.
    pub(super) fn wait_for_acknowledgements(&self, more: usize) {
        let enough = self.acknowledgements.load(Ordering::Relaxed) + more;
        while self.acknowledgements.load(Ordering::Relaxed) < enough {
            self.check_progress();
        }
    }

    /// A server at the same address as ever. For a moment somebody else may have it.
    pub(super) fn spawn_server(&self, sandbox: &CliSandbox, receiver: usize, args: &[&str]) -> ServeProcess {
        loop {
            let mut command = sandbox.command(&["serve", "--addr", self.address(receiver), "--log", "off"]);
            command.args(args);
            match ServeProcess::spawn(&mut command) {
                Ok(receiver) => return receiver,
                Err(said) => assert!(said.contains("is already in use"), "{said}"),
            }
            self.check_progress();
        }
    }
}

#[test]
fn what_was_acknowledged_is_there_once_and_whoever_listens_misses_nothing() {
    let sandbox = CliSandbox::new();
    let database = sandbox.database();
    let story = ServerRestartStory::new(1);
    let (story, sandbox) = (&story, &sandbox);
    let heard = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let cwd = sandbox.project().join(client.to_string());
                scope.spawn(move || story.send_events(client, None, cwd.to_str().unwrap()))
            })
            .collect();
        let listener = scope.spawn(|| story.collect_changes());
        for number in 0..KILLED {
            let receiver = story.spawn_server(sandbox, 0, &[]);
            // Sometimes at once, sometimes when everybody is busy; and not always at the same point of a request.
            story.wait_for_acknowledgements([0, 1, 90, 13, 200][number % 5]);
            thread::sleep(Duration::from_micros(number as u64 * 7919 % 3001));
            drop(receiver);
        }
        let _last = story.spawn_server(sandbox, 0, &[]);
        story.wait_for_acknowledgements(20);
        story.is_over.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().unwrap();
        }
        let newest = query_rows(&database, "SELECT max(change_id) FROM changes", [], |row| row.get(0))[0];
        story.last_change.store(newest, Ordering::Relaxed);
        // Somebody waits for what comes after the last: it is told one more.
        let event = json!({"session_id": "s0", "event_id": "last"});
        HttpRequest::for_hook(story.address(0), "notification", &event).try_send().unwrap();
        listener.join().unwrap()
    });
    let mut acknowledged = story.acknowledged.lock().unwrap().clone();
    acknowledged.insert("last".to_owned());
    let stored = query_texts(&database, "SELECT event_id FROM events ORDER BY event_id");
    assert_eq!(stored, acknowledged.iter().cloned().collect::<Vec<_>>(), "acknowledged and stored");
    // What follows from an event has happened once, too.
    let said = query_texts(&database, "SELECT text FROM turns WHERE actor = 'USER' ORDER BY text");
    let prompts = acknowledged.iter().filter(|id| is_prompt(id)).cloned();
    assert_eq!(said, prompts.collect::<Vec<_>>());
    assert_eq!(count_rows(&database, "agents"), CLIENTS as i64);
    let newest = story.last_change.load(Ordering::Relaxed);
    let changes = query_rows(
        &database,
        "SELECT change_id, kind FROM changes WHERE change_id <= ?1 ORDER BY change_id",
        [newest],
        |row| Ok((row.get(0)?, row.get(1)?)),
    );
    assert!(heard.starts_with(&changes), "{} heard, {} there", heard.len(), changes.len());
    assert_database_intact(&database);
}

/// Every fourth event of a client.
pub(super) fn is_prompt(event_id: &str) -> bool {
    let number = event_id.split_once('-').and_then(|(_, number)| number.parse::<usize>().ok());
    number.is_some_and(|number| number % 4 == 0)
}
