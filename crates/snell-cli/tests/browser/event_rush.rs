//! Very many events, and what they leave in a tab.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::driver::BrowserSession;
use crate::server::BrowserTestServer;

/// Twenty events per second for an hour.
pub const AN_HOUR: usize = 72_000;

/// Views that show many new events.
pub const FOLLOWING: &[&str] = &["/", "/agents/1", "/logging"];

const AGENTS: usize = 4;
const SENDERS: usize = 4;

/// Sends these events as fast as possible until the time is up. Returns the number of the next event.
pub fn send_event_rush(server: &BrowserTestServer, numbers: Range<usize>, until: Option<Instant>) -> usize {
    let next = AtomicUsize::new(numbers.start);
    let is_time = || until.is_none_or(|until| Instant::now() < until);
    std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                while is_time() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    send_rush_event(server, number);
                }
            });
        }
    });
    next.into_inner().min(numbers.end)
}

/// Agents alternate; each gets a prompt, calls a tool and replies.
fn send_rush_event(server: &BrowserTestServer, number: usize) {
    let session = format!("rush-{}", number % AGENTS);
    let step = number / AGENTS;
    let call = json!({"tool_name": "Bash", "tool_use_id": format!("call-{}", step / 4),
        "tool_input": {"command": format!("cargo test --package part-{step}")}});
    match step % 4 {
        0 => server.send_event(&session, "user-prompt-submit", json!({"prompt": format!("Do number {step}.")})),
        1 => server.send_event(&session, "pre-tool-use", call),
        2 => server.send_event(&session, "post-tool-use", call),
        _ => server.send_event(&session, "stop", json!({"last_assistant_message": format!("Did number {step}.")})),
    };
}

/// The size of a page after all updates.
#[derive(Clone, Copy, Debug)]
pub struct PageFootprint {
    pub heap_bytes: u64,
    pub nodes: u64,
}

impl PageFootprint {
    /// Sends one more event and waits until it appears, so that the page has handled all earlier ones.
    pub fn measure_after(browser: &BrowserSession, server: &BrowserTestServer, number: usize) -> Self {
        let mark = format!("mark-{number}-");
        server.send_event("rush-0", "stop", json!({"last_assistant_message": mark}));
        browser.wait_for_text("main", &mark);
        Self { heap_bytes: browser.measure_heap_bytes(), nodes: browser.count_dom_nodes() }
    }

    /// The numbers as text.
    pub fn describe(self) -> String {
        format!("{} KiB, {} nodes", self.heap_bytes / 1024, self.nodes)
    }
}
