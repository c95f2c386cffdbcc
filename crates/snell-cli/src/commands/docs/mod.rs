//! `snell docs`: the documentation, which is part of the binary.

pub(crate) mod markdown;
mod render;
mod search;

use anyhow::bail;
use snell::did_you_mean;

use super::DONE;
use crate::install::notify_script::shell_quote;
use crate::output::{self, CommandError, TableColumn, TextTable};

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Show the documentation
///
/// On a terminal a page is formatted, and shown in a pager if it is long. Elsewhere it is printed as Markdown.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell docs\n  snell docs contracts\n  snell docs conf --raw > configuration.md\n  \
    snell docs --search 'exit code'\n  snell docs schema-config > snell.schema.json"
)]
pub(crate) struct Args {
    /// Topic, or its beginning [default: list all topics]
    topic: Option<String>,
    /// Search for this text in all pages, or in the topic
    #[arg(long, value_name = "TEXT", conflicts_with = "raw", allow_hyphen_values = true)]
    search: Option<String>,
    /// Print Markdown, even on a terminal
    #[arg(long, requires = "topic")]
    raw: bool,
}

/// The names of all topics.
pub(crate) fn topic_names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|page| page.topic)
}

/// A page of the documentation.
struct DocsPage {
    topic: &'static str,
    about: &'static str,
    group: DocsGroup,
    text: &'static str,
}

/// The part of the documentation that a page belongs to.
#[derive(Clone, Copy, PartialEq)]
enum DocsGroup {
    Guide,
    Reference,
    Internals,
    Schemas,
}

impl DocsGroup {
    const ALL: [Self; 4] = [Self::Guide, Self::Reference, Self::Internals, Self::Schemas];

    fn heading(self) -> &'static str {
        match self {
            Self::Guide => "Guide",
            Self::Reference => "Reference",
            Self::Internals => "Internals",
            Self::Schemas => "JSON Schemas",
        }
    }
}

impl DocsPage {
    /// Whether the page is for people, not a schema.
    fn is_prose(&self) -> bool {
        self.group != DocsGroup::Schemas
    }
}

macro_rules! page {
    ($group:ident, $topic:literal, $about:literal, $file:expr) => {
        DocsPage {
            topic: $topic,
            about: $about,
            group: DocsGroup::$group,
            text: include_str!(concat!("../../../../../docs/", $file)),
        }
    };
}

macro_rules! guide {
    ($topic:literal, $about:literal) => {
        page!(Guide, $topic, $about, concat!("guide/", $topic, ".md"))
    };
}

macro_rules! reference {
    ($topic:literal, $about:literal) => {
        page!(Reference, $topic, $about, concat!("reference/", $topic, ".md"))
    };
}

macro_rules! internals {
    ($topic:literal, $about:literal) => {
        page!(Internals, $topic, $about, concat!("internals/", $topic, ".md"))
    };
}

const PAGES: &[DocsPage] = &[
    guide!("start", "Build Snell, watch the demo, choose a way in"),
    guide!("write-hooks", "Write a hook, check it, see it block a command"),
    guide!("use-agents", "Install Snell in an agent, check it, trust a project, remove it"),
    guide!("build-an-agent", "Run hooks from your own agent: snell run, or the Rust library"),
    guide!("run-a-receiver", "Collect events over HTTP, from this machine and others"),
    guide!("team", "Share one database in a team"),
    guide!("read-the-page", "The page in a browser, view by view"),
    guide!("set-up-the-guard", "Choose what the guard allows, asks about and denies"),
    guide!("sessions", "Context files, reminders, workers, messages to people"),
    guide!("answers", "Answer agents from another terminal, a page or a phone"),
    guide!("notices", "Notices when an agent waits, ends or was blocked"),
    guide!("usage", "How many tokens agents use, and what they cost"),
    guide!("send-telemetry", "Traces, logs and metrics for an OpenTelemetry collector"),
    guide!("cookbook", "Recipes: block, format, notify, share, move to Snell"),
    guide!("faq", "Questions and answers"),
    guide!("troubleshoot", "Find the fault: the doctor, common problems, known limits"),
    reference!("commands", "Every command, its options and exit codes"),
    reference!("configuration", "Configuration files, and snell.toml key by key"),
    reference!("contracts", "Hook file formats: matchers, input, output, failures"),
    reference!("events", "The events, their names and fields"),
    reference!("agents", "Agents that call Snell: settings, input, answers"),
    reference!("trust", "When a project's hooks run inside an agent"),
    reference!("guard", "The guard's decisions, policy, limits and known misses"),
    reference!("records", "Recorded data, retention, and the states of agents"),
    reference!("lifecycle", "Built-in handlers: context files, reminders, workers, messages"),
    reference!("http", "The receiver's routes, stream, access rules and wire format"),
    reference!("processes", "How a hook's process is run, and its limits"),
    reference!("compatibility", "Supported agents and formats, as tests found them"),
    reference!("losses", "What every agent does with a hook's answer, as tests found it"),
    reference!("comparison", "How Snell compares, and what it does not do"),
    page!(Reference, "security", "Threats, promises, and the test that proves each promise", "../SECURITY.md"),
    page!(Reference, "glossary", "The words that all pages use", "glossary.md"),
    internals!("decisions", "Why Snell is built as it is"),
    internals!("performance", "The cost of Snell, and how to measure it"),
    page!(Schemas, "schema-config", "JSON Schema of snell.toml", "schema/snell.toml.json"),
    page!(Schemas, "schema-run", "JSON Schema of what `snell run` prints", "schema/run-result.json"),
];

/// The JSON Schema of `snell.toml`.
pub(crate) fn config_schema() -> &'static str {
    PAGES.iter().find(|page| page.topic == "schema-config").map_or("{}", |page| page.text)
}

/// Topics by their names in version 0.1.0, which still work.
const FORMER_TOPICS: &[(&str, &str)] = &[
    ("getting-started", "start"),
    ("guest", "agents"),
    ("install", "use-agents"),
    ("memory", "records"),
    ("notify", "run-a-receiver"),
    ("page", "read-the-page"),
    ("running", "processes"),
    ("server", "http"),
];

/// The text of a page; nothing if there is no such topic.
pub(crate) fn page_text(topic: &str) -> &'static str {
    let page = PAGES.iter().find(|page| page.topic == topic);
    page.map_or("", |page| page.text)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let page = args.topic.as_deref().map(find_page).transpose()?;
    match (&args.search, page) {
        (Some(wanted), page) => search_pages(wanted, page)?,
        (None, Some(page)) => show_page(page, args.raw),
        (None, None) => {
            output::start_paging();
            print_topics();
        }
    }
    Ok(DONE)
}

fn print_topics() {
    let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or_default();
    let room = output::terminal_width().map(|terminal| terminal.saturating_sub(width + 4).max(1));
    for (index, group) in DocsGroup::ALL.into_iter().enumerate() {
        if index > 0 {
            output::print_line("");
        }
        output::print_line(group.heading());
        for page in PAGES.iter().filter(|page| page.group == group) {
            let mut topic = page.topic;
            for line in output::wrap_lines(page.about, room, usize::MAX) {
                output::print_line(&format!("  {topic:width$}  {line}"));
                topic = "";
            }
        }
    }
}

/// The page of a topic. A unique beginning is enough.
fn find_page(topic: &str) -> anyhow::Result<&'static DocsPage> {
    let named = topic.strip_suffix(".md").unwrap_or(topic).to_lowercase();
    let former = FORMER_TOPICS.iter().find(|(former, _)| *former == named);
    let named = former.map_or(named, |(_, now)| (*now).to_owned());
    if let Some(page) = PAGES.iter().find(|page| page.topic == named) {
        return Ok(page);
    }
    let candidates: Vec<_> = PAGES.iter().filter(|page| page.topic.starts_with(&named)).collect();
    match candidates.as_slice() {
        [page] => Ok(page),
        [] => {
            let near = did_you_mean(&named, PAGES.iter().map(|page| page.topic));
            let hint = near.map_or_else(
                || format!("`snell docs` lists all topics, and `snell docs --search {}` finds it", shell_quote(topic)),
                |near| format!("did you mean \"{near}\"?"),
            );
            Err(CommandError::new(format!("unknown topic \"{topic}\"")).with_hint(hint).into())
        }
        several => {
            let topics: Vec<_> = several.iter().map(|page| page.topic).collect();
            bail!("several topics start with \"{topic}\": {}", topics.join(", "))
        }
    }
}

fn show_page(page: &DocsPage, raw: bool) {
    if raw || !output::is_terminal() {
        output::print_text(page.text);
        return;
    }
    output::start_paging();
    if page.is_prose() {
        let width = output::terminal_width().unwrap_or(DEFAULT_WIDTH);
        output::print_text(&render::render_page(page.text, width));
    } else {
        output::print_text(page.text);
    }
}

fn search_pages(wanted: &str, page: Option<&'static DocsPage>) -> anyhow::Result<()> {
    if wanted.trim().is_empty() {
        bail!("--search needs a text");
    }
    // A schema is searched only if it is named, because it is for programs.
    let pages = PAGES.iter().filter(|one| page.map_or(one.is_prose(), |page| page.topic == one.topic));
    let found = pages.flat_map(|page| {
        let search = if page.is_prose() { search::search_markdown } else { search::search_lines };
        let hits = search(page.text, wanted.trim()).into_iter();
        hits.map(|hit| (page.topic, hit))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let pages = page.map_or("the documentation", |page| page.topic);
        bail!("cannot find \"{wanted}\" in {pages}");
    }
    if output::is_terminal() {
        output::start_paging();
        output::print_text(&render::render_hits(&found, output::terminal_width().unwrap_or(DEFAULT_WIDTH)));
    } else {
        let mut table = TextTable::new([
            TableColumn::new("TOPIC"),
            TableColumn::new("SECTION"),
            TableColumn::new("TEXT").flexible(),
        ]);
        for (topic, hit) in found {
            table.add_row([topic.to_owned(), hit.section, hit.text]);
        }
        table.print();
    }
    Ok(())
}
