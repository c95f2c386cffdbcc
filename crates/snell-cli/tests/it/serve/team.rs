//! Several receivers with the database of a team. Whatever is killed, an acknowledged event is there once, and every
//! follower sees the same changes in the same order.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use snell_test_support::database_proxy::DatabaseProxy;
use snell_test_support::postgres_cluster::PostgresCluster;
use snell_test_support::serve_process::ServeProcess;

use super::killed::{ServerRestartStory, is_prompt};
use super::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// How often each thing is killed, and the variable that says otherwise.
const KILLS: usize = 3;
const KILLS_VARIABLE: &str = "SNELL_KILLS";

const RECEIVERS: usize = 2;
const CLIENTS: usize = 6;
const FOLLOWERS: usize = 2;

/// A team's database, and the directories of its receivers.
struct Team {
    cluster: PostgresCluster,
    proxy: DatabaseProxy,
    sandboxes: Vec<CliSandbox>,
}

impl Team {
    /// Without PostgreSQL, there is none.
    fn start(settings: &[&str]) -> Option<Self> {
        let cluster = PostgresCluster::start(settings)?;
        cluster.run_sql("postgres", "CREATE DATABASE team");
        let proxy = DatabaseProxy::start(cluster.directory());
        Some(Self { cluster, proxy, sandboxes: (0..RECEIVERS).map(|_| CliSandbox::new()).collect() })
    }

    fn address(&self) -> String {
        format!("postgres://snell@127.0.0.1:{}/team?sslmode=disable", self.proxy.port)
    }

    /// The first column of a query's result.
    fn query(&self, sql: &str) -> Vec<String> {
        self.cluster.run_sql("team", sql)
    }
}

/// A part that fails.
#[derive(Clone, Copy, Debug)]
enum TeamFailure {
    Receiver,
    Database,
    CommitAnswer,
}

/// Kills each part so often, while clients send events. Returns the receivers that run then.
fn run_failures(team: &Team, story: &ServerRestartStory, kills: usize) -> Vec<ServeProcess> {
    let address = team.address();
    let spawn = |number: usize| story.spawn_server(&team.sandboxes[number], number, &["--db", &address]);
    let mut receivers: Vec<ServeProcess> = (0..RECEIVERS).map(spawn).collect();
    for number in 0..kills {
        for failure in [TeamFailure::Receiver, TeamFailure::Database, TeamFailure::CommitAnswer] {
            // Sometimes at once, sometimes when all are busy; and not always at the same point of a transaction.
            story.wait_for_acknowledgements([0, 1, 90, 13, 200][number % 5]);
            thread::sleep(Duration::from_micros(number as u64 * 7919 % 3001));
            match failure {
                TeamFailure::Receiver => {
                    let which = number % RECEIVERS;
                    receivers[which].kill();
                    receivers[which] = spawn(which);
                }
                TeamFailure::Database => {
                    team.cluster.kill();
                    team.cluster.restart();
                }
                TeamFailure::CommitAnswer => {
                    team.proxy.lose_next_commit();
                    while team.proxy.count_to_lose() > 0 {
                        story.check_progress();
                    }
                }
            }
        }
    }
    story.wait_for_acknowledgements(20);
    story.is_over.store(true, Ordering::Relaxed);
    receivers
}

#[test]
fn acknowledged_events_of_a_team_are_there_once_whatever_is_killed() {
    let kills = std::env::var(KILLS_VARIABLE).map_or(KILLS, |kills| kills.parse().unwrap());
    let Some(team) = Team::start(&[]) else { return };
    let mut story = ServerRestartStory::new(RECEIVERS);
    story.limit *= u32::try_from(kills).unwrap();
    let story = &story;
    let followed = thread::scope(|scope| {
        let send = |client: usize| {
            story.send_events(client, Some(&format!("box{}", client % 3)), &format!("/work/p{client}"));
        };
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || send(client))).collect();
        let followers: Vec<_> = (0..FOLLOWERS).map(|_| scope.spawn(|| story.collect_changes())).collect();
        let receivers = run_failures(&team, story, kills);
        clients.into_iter().for_each(|client| client.join().unwrap());
        let newest = team.query("SELECT max(change_id) FROM changes")[0].parse().unwrap();
        story.last_change.store(newest, Ordering::Relaxed);
        // Followers wait for what comes after the last change.
        let event = json!({"session_id": "s0", "event_id": "last", "host": "box0"});
        receivers[0].send_event("notification", &event);
        followers.into_iter().map(|follower| follower.join().unwrap()).collect::<Vec<_>>()
    });
    let mut acknowledged = story.acknowledged.lock().unwrap().clone();
    acknowledged.insert("last".to_owned());
    let stored = team.query("SELECT event_id FROM events ORDER BY event_id");
    assert_eq!(stored, acknowledged.iter().cloned().collect::<Vec<_>>(), "acknowledged and stored");
    // What follows from an event has happened once, too.
    let prompts = acknowledged.iter().filter(|id| is_prompt(id)).cloned();
    let turns = team.query("SELECT text FROM turns WHERE actor = 'USER' ORDER BY text");
    assert_eq!(turns, prompts.collect::<Vec<_>>());
    assert_eq!(team.query("SELECT count(*) FROM agents"), [CLIENTS.to_string()]);
    let newest = story.last_change.load(Ordering::Relaxed);
    let changes = team
        .query(&format!("SELECT change_id || ' ' || kind FROM changes WHERE change_id <= {newest} ORDER BY change_id"));
    assert_eq!(changes.len() as i64, newest, "the numbers are dense");
    for follower in followed {
        let seen: Vec<_> = follower.iter().map(|(id, kind)| format!("{id} {kind}")).collect();
        assert!(seen.starts_with(&changes), "{} seen, {} there", seen.len(), changes.len());
    }
}

/// So many events are timed, after a few that are not.
const TIMED_EVENTS: usize = 100;

#[test]
fn an_event_at_one_receiver_is_on_the_page_of_another_at_once() {
    let Some(team) = Team::start(&[]) else { return };
    let address = team.address();
    let start = |number: usize| start_server(&team.sandboxes[number], &[ANYWHERE, &["--db", &address]].concat());
    let (first, second) = (start(0), start(1));
    let mut stream = second.open_stream("");
    let mut delays = Vec::new();
    for number in 0..TIMED_EVENTS {
        let began = Instant::now();
        let text = format!("prompt {number}");
        first.send_event("user-prompt-submit", &json!({"session_id": "s1", "host": "box", "prompt": text}));
        while stream.next_event().data["text"] != text.as_str() {}
        delays.push(began.elapsed());
    }
    // A client of one receiver continues at the other.
    let seen = stream.next_event().id;
    drop(stream);
    first.send_event("stop", &json!({"session_id": "s1", "host": "box"}));
    let request = first.request("GET", "/api/events/stream").without_chunking();
    let mut resumed = snell_test_support::sse::SseClient::open(&request.header(&format!("Last-Event-ID: {seen}")));
    assert_eq!(resumed.next_event().id, seen + 1);
    delays.sort();
    print_delays(&delays);
}

#[allow(clippy::print_stderr, reason = "a time gates nothing, but is worth reading")]
fn print_delays(delays: &[Duration]) {
    let percentile = |part: usize| delays[delays.len() * part / 100];
    eprintln!("from one receiver to the page of another: p50 {:?}, p95 {:?}", percentile(50), percentile(95));
}
