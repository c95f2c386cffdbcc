//! What the receiver can take, how soon it tells, and what it costs while nothing happens.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use snell_test_support::postgres_cluster::PostgresCluster;
use snell_test_support::process::{ChildGuard, read_resident_kib};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::hook::fill_database;
use crate::measure::{TimeSamples, format_ratio, print_figure, time_contenders, to_micros, to_millis};

/// What this program is called with to be the yardstick.
pub(crate) const EMPTY_HANDLER: &str = "empty-handler";

/// How many connections send events at a time.
const CONNECTIONS: usize = 64;
/// How long each contender is loaded before it is the other's turn, and how often.
const TURN: Duration = Duration::from_millis(1500);
const TURNS: usize = 5;
/// How many events come in a second while it is measured how soon they are told, and for how long.
const EVENTS_PER_SECOND: u64 = 1000;
const SECONDS: u64 = 5;
/// How many listen at once.
const LISTENERS: usize = 500;
/// How many events the large database holds.
const MANY: usize = 1_000_000;
/// How many receivers share the database of a team.
const RECEIVERS: usize = 4;

/// Pages that are looked at in the large database. The numbers are those of an agent and of an event in its midst.
const PAGES: &[&str] = &[
    "/api/agents",
    "/api/agents/1",
    "/api/agents/1/turns",
    "/api/events",
    "/api/events?before=500000",
    "/api/events?agent_id=500",
    "/api/events?event=PreToolUse&tool=Bash",
    "/api/events?event=SessionEnd",
    "/api/events?session_id=earlier-7",
    "/api/hooks",
    "/api/guard",
    "/hook/status",
];

pub(crate) fn bench_server(root: &Path) {
    let server = ServerProcess::start_snell(&root.join("served"));
    std::thread::sleep(Duration::from_secs(1));
    print_figure("snell serve, ready after", &format!("{:.1} ms; budget 50", to_millis(server.ready_after)));
    print_figure(
        "snell serve, resident while idle",
        &format!("{:.1} MiB; budget 20", read_resident_kib(server.child.0.id()) as f64 / 1024.0),
    );
    bench_connections(&server, &root.join("served-with-token"));
    bench_event_rate(&server);
    bench_latency(&server);
    bench_listeners(&server);
    drop(server);
    bench_pages(&root.join("served-many"));
}

/// A connection and its first answer: with the question to the kernel whose connection it is, and without it, as where there
/// is a token.
fn bench_connections(server: &ServerProcess, home: &Path) {
    let with_token = ServerProcess::start_snell_with_token(home);
    let [asked, unasked] = time_contenders([&mut || drop(http_get(server.address, "/healthz")), &mut || {
        drop(http_get(with_token.address, "/healthz"))
    }]);
    print_figure(
        "a connection and an answer; its user is looked up",
        &format!(
            "p50 {:.0} µs; {} of {:.0} µs without looking",
            to_micros(asked.p50()),
            format_ratio(asked.p50(), unasked.p50()),
            to_micros(unasked.p50())
        ),
    );
}

/// Events in a second, beside a handler that does nothing. They take turns.
fn bench_event_rate(server: &ServerProcess) {
    let empty = ServerProcess::start_empty_handler();
    let contenders = [(&empty, CallStyle::WithId), (server, CallStyle::WithId), (server, CallStyle::WithoutId)];
    let mut rates = [const { Vec::new() }; 3];
    for _ in 0..TURNS {
        for (rates, (served, style)) in rates.iter_mut().zip(contenders) {
            rates.push(measure_load(&[served.address], style));
        }
    }
    let [empty, with_id, without_id] = rates.map(take_median);
    print_figure("empty axum handler, 64 connections", &format!("{empty:.0} requests/s"));
    for (name, rate) in [("with ids", with_id), ("without ids", without_id)] {
        print_figure(
            &format!("calls {name} stored and acknowledged, 64 connections"),
            &format!("{rate:.0} requests/s   {:.2} of the empty handler; budget 0.40", rate / empty),
        );
    }
}

fn take_median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Events in a second with the database of a team, beside a server with a database of its own. They take turns.
pub(crate) fn bench_team(root: &Path) {
    let Some(cluster) = PostgresCluster::start(&["shared_buffers = '256MB'", "max_wal_size = '4GB'"]) else { return };
    let alone = ServerProcess::start_snell(&root.join("alone"));
    let receivers: Vec<_> = (0..RECEIVERS)
        .map(|number| {
            let mut command = ServerProcess::snell_command(&root.join(format!("receiver-{number}")));
            command.args(["--db", &cluster.address_of("postgres")]);
            ServerProcess::spawn(command)
        })
        .collect();
    let all: Vec<_> = receivers.iter().map(|receiver| receiver.address).collect();
    let contenders = [&[alone.address][..], &all[..1], &all];
    for (name, style) in [("with ids", CallStyle::OfMachine), ("without ids", CallStyle::OfMachineWithoutId)] {
        let mut rates = [const { Vec::new() }; 3];
        for _ in 0..TURNS {
            for (rates, addresses) in rates.iter_mut().zip(contenders) {
                rates.push(measure_load(addresses, style));
            }
        }
        let [own, one, four] = rates.map(take_median);
        print_figure(&format!("calls {name}, SQLite"), &format!("{own:.0} requests/s"));
        print_figure(
            "  PostgreSQL, one receiver",
            &format!("{one:.0} requests/s   {:.2} of SQLite; goal 0.50", one / own),
        );
        print_figure(
            "  PostgreSQL, four receivers",
            &format!("{four:.0} requests/s   {:.2} of SQLite; goal 1.00", four / own),
        );
    }
}

/// Whether an agent gives its tool calls ids.
#[derive(Clone, Copy)]
enum CallStyle {
    WithId,
    /// The end of a call is recognised by its input.
    WithoutId,
    /// With ids, from many machines.
    OfMachine,
    OfMachineWithoutId,
}

/// Sends events over many connections for a while; answers how many were acknowledged in a second.
fn measure_load(addresses: &[SocketAddr], style: CallStyle) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let started = Instant::now();
    let answered = runtime.block_on(async {
        let address = |number: usize| addresses[number % addresses.len()];
        let senders =
            (0..CONNECTIONS).map(|number| tokio::spawn(send_until(address(number), number, started + TURN, style)));
        let senders: Vec<_> = senders.collect();
        let mut answered = 0;
        for sender in senders {
            answered += sender.await.unwrap();
        }
        answered
    });
    answered as f64 / started.elapsed().as_secs_f64()
}

async fn send_until(address: SocketAddr, connection: usize, end: Instant, style: CallStyle) -> u64 {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut answer = vec![0; 4096];
    let mut answered = 0;
    while Instant::now() < end {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let request = build_call_request(connection, answered, number, style);
        stream.write_all(request.as_bytes()).await.unwrap();
        let length = stream.read(&mut answer).await.unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..length]));
        answered += 1;
    }
    answered
}

/// The start of a call, then its end.
fn build_call_request(connection: usize, sent: u64, number: u64, style: CallStyle) -> String {
    let (route, event) =
        if sent.is_multiple_of(2) { ("pre-tool-use", "PreToolUse") } else { ("post-tool-use", "PostToolUse") };
    let call = sent / 2;
    let id = match style {
        CallStyle::WithId | CallStyle::OfMachine => format!(r#","tool_use_id":"toolu_{connection}_{call}""#),
        CallStyle::WithoutId | CallStyle::OfMachineWithoutId => String::new(),
    };
    let host = match style {
        CallStyle::WithId | CallStyle::WithoutId => String::new(),
        CallStyle::OfMachine | CallStyle::OfMachineWithoutId => format!(r#","host":"box{connection}""#),
    };
    let body = format!(
        r#"{{"session_id":"load-{connection}","cwd":"/tmp","hook_event_name":"{event}","tool_name":"Bash","tool_input":{{"command":"git status --short {call}","description":"Show what changed"}}{id}{host},"prompt":"number {number}."}}"#
    );
    frame_request(route, &body)
}

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A request as an agent's hook sends it.
fn build_event_request(session: &str, route: &str, number: u64) -> String {
    let body = format!(
        r#"{{"session_id":"{session}","cwd":"/tmp","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{{"command":"git status --short","description":"Show what changed"}},"tool_use_id":"toolu_{number}","prompt":"number {number}."}}"#
    );
    frame_request(route, &body)
}

fn frame_request(route: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /hook/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// How long it takes from an event's being sent to its being told.
fn bench_latency(server: &ServerProcess) {
    let total = EVENTS_PER_SECOND * SECONDS;
    let mut stream = open_stream(server.address, "?types=turn_created");
    let began = Instant::now();
    let first = NEXT_NUMBER.fetch_add(total, Ordering::Relaxed);
    let heard = std::thread::spawn(move || {
        let mut heard = vec![None; total as usize];
        let mut left = total;
        let mut line = String::new();
        while left > 0 {
            line.clear();
            stream.read_line(&mut line).unwrap();
            let text = line.split("\"text\":\"number ").nth(1);
            let number = text.and_then(|text| text.split('.').next()?.parse::<u64>().ok());
            if let Some(number) = number.and_then(|number| number.checked_sub(first)) {
                heard[number as usize] = Some(began.elapsed());
                left -= 1;
            }
        }
        heard
    });
    let sent = send_steadily(server.address, began, first, total);
    let heard = heard.join().unwrap();
    let times = sent.iter().zip(&heard).map(|(sent, heard)| heard.unwrap().saturating_sub(*sent));
    let times = TimeSamples::new(times.collect());
    print_figure(
        "event sent to event told, 1 000 events/s",
        &format!(
            "p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms; budget p95 20",
            to_millis(times.p50()),
            to_millis(times.percentile(0.95)),
            to_millis(times.percentile(0.99))
        ),
    );
}

/// Sends events at a steady rate; answers when each was sent.
fn send_steadily(address: SocketAddr, began: Instant, first: u64, total: u64) -> Vec<Duration> {
    const SENDERS: u64 = 8;
    let mut sent = vec![Duration::ZERO; total as usize];
    let every = Duration::from_secs(1) / EVENTS_PER_SECOND as u32;
    let parts: Vec<Vec<(u64, Duration)>> = std::thread::scope(|scope| {
        let senders = (0..SENDERS).map(|sender| {
            scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                let mut answer = [0; 4096];
                let numbers = (sender..total).step_by(SENDERS as usize);
                numbers
                    .map(|number| {
                        let due = every * number as u32;
                        std::thread::sleep(due.saturating_sub(began.elapsed()));
                        let at = began.elapsed();
                        let session = format!("told-{sender}");
                        stream
                            .write_all(build_event_request(&session, "user-prompt-submit", first + number).as_bytes())
                            .unwrap();
                        let length = stream.read(&mut answer).unwrap();
                        assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
                        (number, at)
                    })
                    .collect()
            })
        });
        let senders: Vec<_> = senders.collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    for (number, at) in parts.into_iter().flatten() {
        sent[number as usize] = at;
    }
    sent
}

/// Many listen, and each hears everything.
fn bench_listeners(server: &ServerProcess) {
    let streams: Vec<_> = (0..LISTENERS).map(|_| open_stream(server.address, "?types=turn_created")).collect();
    let began = Instant::now();
    let total = 100;
    let first = NEXT_NUMBER.fetch_add(total, Ordering::Relaxed);
    let last = format!("number {}.", first + total - 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            send_steadily(server.address, began, first, total);
        });
        for mut stream in streams {
            let mut line = String::new();
            while !line.contains(&last) {
                line.clear();
                assert!(stream.read_line(&mut line).unwrap() > 0);
            }
        }
    });
    print_figure(
        "100 events in 100 ms told to 500 listeners after",
        &format!(
            "{:.0} ms; then {:.1} MiB resident",
            to_millis(began.elapsed()),
            read_resident_kib(server.child.0.id()) as f64 / 1024.0
        ),
    );
}

/// How long pages take when there is much to look through.
fn bench_pages(root: &Path) {
    fill_database(&root.join("data"), MANY);
    let server = ServerProcess::start_snell(root);
    print_figure(
        "snell serve, 1 000 000 events, ready after",
        &format!("{:.1} ms; budget 50", to_millis(server.ready_after)),
    );
    for page in PAGES {
        let times = (0..20).map(|_| {
            let started = Instant::now();
            let answer = http_get(server.address, page);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            started.elapsed()
        });
        let times = TimeSamples::new(times.collect());
        print_figure(
            &format!("  {page}"),
            &format!(
                "p50 {:.1} ms, longest {:.1} ms; budget 50",
                to_millis(times.p50()),
                to_millis(times.percentile(1.0))
            ),
        );
    }
}

fn http_get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Listens to the stream, and has heard that it is heard.
fn open_stream(address: SocketAddr, query: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /api/events/stream{query} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with(": connected") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0);
    }
    stream
}

/// A server in a process of its own.
struct ServerProcess {
    child: ChildGuard,
    address: SocketAddr,
    ready_after: Duration,
}

impl ServerProcess {
    fn start_snell(home: &Path) -> Self {
        Self::spawn(Self::snell_command(home))
    }

    fn start_snell_with_token(home: &Path) -> Self {
        let mut command = Self::snell_command(home);
        let token = home.join("token");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&token).unwrap().write_all(b"secret").unwrap();
        command.arg("--token-file").arg(token);
        Self::spawn(command)
    }

    fn snell_command(home: &Path) -> Command {
        std::fs::create_dir_all(home).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_snell"));
        command
            .args(["serve", "--addr", "127.0.0.1:0", "--log", "warn"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home)
            .env("SNELL_HOME", home.join("data"));
        command
    }

    fn start_empty_handler() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(EMPTY_HANDLER);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let began = Instant::now();
        let mut child = ChildGuard::spawn(command.stdout(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready_after = began.elapsed();
        let address = line.trim().rsplit('/').next().unwrap().parse().unwrap();
        Self { child, address, ready_after }
    }
}

/// The yardstick: a server that answers and does nothing else, with as many threads as ours.
pub(crate) fn serve_empty_handler() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("http://{}", listener.local_addr().unwrap());
        let router = axum::Router::new().route("/hook/{event}", axum::routing::post(async || "{}"));
        axum::serve(listener, router).await.unwrap();
    });
}
