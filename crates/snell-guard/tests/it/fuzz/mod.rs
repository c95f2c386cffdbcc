//! Odd calls, made of ordinary ones for as long as there is time.
//!
//! `cargo xtask check` runs this for 20 seconds, `SNELL_FUZZ_SECONDS=600 cargo xtask fuzz` for ten minutes. What is found is
//! printed as a row for [`FOUND`] with the number it was made from; `SNELL_FUZZ_SEED=<number>` makes it again, and with
//! `SNELL_FUZZ_SECONDS` also what comes after it.
//!
//! It is made with proptest, which shrinks what it finds. What is guided by coverage needs a nightly compiler, and what else
//! runs on a stable one makes the same at random.

mod checks;
mod generator;

use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, panic};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};

use checks::find_fault;
use generator::any_fuzzed_call;
use snell_test_support::process::read_resident_kib;

/// What was found once. A command, or a tool's name and its input.
const FOUND: &[(&str, &str)] = &[
    // A file that is read into itself grew without end, and one that is written in branches doubled at each.
    ("Bash", "echo a>f;cat f f f f f f f f>>f;cat f f f f f f f f>>f;cat f f f f f f f f>>f;cat f f f f f f f f>>f"),
    ("Bash", "a&&echo b>>f;a&&echo b>>f;a||echo c>f;a&&echo b>>f;a||echo c>f"),
];

/// How long it takes among the other tests.
const USUAL: Duration = Duration::from_secs(2);

/// As many findings are enough for one day.
const MOST_FINDINGS: usize = 8;

/// How long a finding is tried to be made smaller.
const SHRINKING: Duration = Duration::from_secs(15);

/// After which a call counts as one that never ends.
const NEVER: Duration = Duration::from_secs(120);

/// More than all calls together need.
const FAR_TOO_MUCH_KIB: u64 = 2 << 20;

/// A call that nobody has made yet.
#[derive(Clone, Debug)]
struct FuzzedCall {
    tool: String,
    input: Json,
}

impl FuzzedCall {
    fn from_command(text: &str) -> Self {
        Self { tool: "Bash".to_owned(), input: json!({ "command": text }) }
    }

    /// As it stands in the table.
    fn to_table_row(&self) -> String {
        match self.input["command"].as_str() {
            Some(text) if self.tool == "Bash" => format!("(\"Bash\", {text:?}),"),
            _ => format!("({:?}, {:?}),", self.tool, self.input.to_string()),
        }
    }
}

#[test]
fn what_was_found_once_is_not_found_again() {
    let faults: Vec<String> = FOUND
        .iter()
        .filter_map(|(tool, text)| {
            let odd = match *tool {
                "Bash" => FuzzedCall::from_command(text),
                _ => FuzzedCall {
                    tool: (*tool).to_owned(),
                    input: serde_json::from_str(text).expect("an input is JSON"),
                },
            };
            Some(format!("{}\n{}", odd.to_table_row(), find_fault(&odd)?))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
#[expect(clippy::print_stdout, reason = "says how much was tried")]
fn odd_calls_are_judged_as_ordinary_ones_are() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let findings = match (number("SNELL_FUZZ_SEED"), number("SNELL_FUZZ_SECONDS")) {
        (Some(seed), None) => Vec::from_iter(find_for_seed(seed)),
        (Some(seed), Some(seconds)) => search_findings(seed, Duration::from_secs(seconds)),
        (None, Some(seconds)) => search_findings(seed_from_clock(), Duration::from_secs(seconds)),
        // Among the other tests, the same ones each time: whoever changes something else is not to be surprised.
        (None, None) => search_findings(0, USUAL),
    };
    println!("{} findings", findings.len());
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

fn seed_from_clock() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default() << 20
}

#[expect(clippy::print_stdout, reason = "says how much was tried")]
fn search_findings(first: u64, time: Duration) -> Vec<String> {
    println!("odd calls from seed {first} on");
    let until = Instant::now() + time;
    let mut findings = Vec::new();
    let mut slowest = (Duration::ZERO, first);
    let mut seed = first;
    let begun = spawn_watchdog();
    while Instant::now() < until && findings.len() < MOST_FINDINGS {
        let started = Instant::now();
        let _ = begun.send(seed);
        if let Some(found) = find_for_seed(seed) {
            println!("{found}");
            findings.push(found);
        }
        slowest = slowest.max((started.elapsed(), seed));
        seed += 1;
    }
    let (longest, which) = slowest;
    println!("{} odd calls; the longest took {longest:.1?} (seed {which})", seed - first);
    findings
}

/// Who waits for something that never ends can say nothing, nor who takes all memory there is; so another thread looks, and
/// ends it all.
#[expect(clippy::print_stderr, reason = "there is nobody left to return to")]
fn spawn_watchdog() -> mpsc::Sender<u64> {
    let (begun, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut last = (Instant::now(), None);
        loop {
            match told.recv_timeout(Duration::from_millis(100)) {
                Ok(seed) => last = (Instant::now(), Some(seed)),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let (since, seed) = last;
            let is_endless = since.elapsed() > NEVER;
            if is_endless
                || (since.elapsed() > Duration::from_millis(100)
                    && read_resident_kib(std::process::id()) > FAR_TOO_MUCH_KIB)
            {
                eprintln!("seed {seed:?} {}", if is_endless { "never ends" } else { "takes all memory" });
                std::process::exit(1);
            }
        }
    });
    begun
}

/// What is wrong with the judgement of the call that is made from a number, as a row and a remark.
fn find_for_seed(seed: u64) -> Option<String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let mut tree = any_fuzzed_call().new_tree(&mut runner).expect("a call can be made");
    let mut worst = (tree.current(), find_fault_or_panic(&tree.current())?);
    let until = Instant::now() + SHRINKING;
    while Instant::now() < until {
        let call = tree.current();
        let more = match find_fault_or_panic(&call) {
            Some(why) => {
                worst = (call, why);
                tree.simplify()
            }
            None => tree.complicate(),
        };
        if !more {
            break;
        }
    }
    let (call, why) = worst;
    Some(format!("    {} // seed {seed}: {why}", call.to_table_row()))
}

/// What is wrong, also if it ends in a panic.
fn find_fault_or_panic(call: &FuzzedCall) -> Option<String> {
    let judged = panic::catch_unwind(|| find_fault(call));
    judged.unwrap_or_else(|_| Some("it panics".to_owned()))
}
