//! `snell docs`: the documentation, carried in the binary.

use anyhow::bail;

use super::DONE;
use crate::output;

/// Show the documentation
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell docs\n  snell docs contracts\n  snell docs schema-config > snell.schema.json"
)]
pub(crate) struct Args {
    /// The topic; without it, the list of topics
    topic: Option<String>,
}

/// A page of the documentation.
struct Page {
    topic: &'static str,
    about: &'static str,
    text: &'static str,
}

macro_rules! page {
    ($topic:literal, $about:literal, $file:literal) => {
        Page {
            topic: $topic,
            about: $about,
            text: include_str!(concat!("../../../../docs/", $file)),
        }
    };
}

const PAGES: &[Page] = &[
    page!(
        "getting-started",
        "Embed the engine, or call it from any language",
        "getting-started.md"
    ),
    page!(
        "configuration",
        "Which files are read, and snell.toml key by key",
        "configuration.md"
    ),
    page!(
        "contracts",
        "How each format's hooks are matched, run and understood",
        "contracts.md"
    ),
    page!("events", "The events and their names", "events.md"),
    page!(
        "install",
        "Snell in an agent's settings: two ways in, the way out, and the doctor",
        "install.md"
    ),
    page!(
        "guest",
        "Inside an agent with hooks of its own: what is read and answered",
        "guest.md"
    ),
    page!(
        "trust",
        "Which projects' hooks may run where Snell is a guest",
        "trust.md"
    ),
    page!(
        "memory",
        "What is recorded, how long it is kept, and what states mean",
        "memory.md"
    ),
    page!(
        "lifecycle",
        "What is built in: files at the start, reminders, workers, who may send messages",
        "lifecycle.md"
    ),
    page!(
        "guard",
        "What is judged before it runs: decisions, policy, limits, what is missed",
        "guard.md"
    ),
    page!(
        "server",
        "The receiver: events over HTTP, the stream, security",
        "server.md"
    ),
    page!(
        "page",
        "What the receiver shows in a browser, and how to read it",
        "page.md"
    ),
    page!(
        "notify",
        "Sending events to a receiver, here or on another machine",
        "notify.md"
    ),
    page!("running", "How a hook's process is run, and its limits", "running.md"),
    page!("commands", "Every command, its options and exit codes", "commands.md"),
    page!(
        "performance",
        "What Snell costs, and how to measure it",
        "performance.md"
    ),
    page!("schema-config", "JSON Schema of snell.toml", "schema/snell.toml.json"),
    page!(
        "schema-run",
        "JSON Schema of what `snell run` prints",
        "schema/run-result.json"
    ),
];

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let Some(topic) = &args.topic else {
        let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or_default();
        for page in PAGES {
            output::line(&format!("{:width$}  {}", page.topic, page.about));
        }
        return Ok(DONE);
    };
    let Some(page) = PAGES.iter().find(|page| page.topic == topic) else {
        let topics: Vec<_> = PAGES.iter().map(|page| page.topic).collect();
        bail!("there is no page \"{topic}\"; the topics are {}", topics.join(", "));
    };
    output::text(page.text);
    Ok(DONE)
}
