//! `snell docs`: the documentation, carried in the binary.

pub(crate) mod markdown;
mod render;
mod search;

use anyhow::bail;
use snell::did_you_mean;

use super::DONE;
use crate::install::notify_script::shell_quote;
use crate::output::{self, TextTable};

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Show the documentation, which the binary carries
///
/// At a terminal pages are set for reading and shown in $PAGER, else in less. Elsewhere they are printed as they are
/// written, in Markdown.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell docs\n  snell docs contracts\n  snell docs conf --raw > configuration.md\n  \
    snell docs --search 'exit code'\n  snell docs schema-config > snell.schema.json"
)]
pub(crate) struct Args {
    /// The topic, or the beginning of it; without it, the list of topics
    topic: Option<String>,
    /// Show where the documentation says this, on all of its pages or on that of the topic
    #[arg(long, value_name = "TEXT", conflicts_with = "raw", allow_hyphen_values = true)]
    search: Option<String>,
    /// Print the page as it is written, also at a terminal
    #[arg(long, requires = "topic")]
    raw: bool,
}

/// The topics there are.
pub(crate) fn topic_names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|page| page.topic)
}

/// A page of the documentation.
struct DocsPage {
    topic: &'static str,
    about: &'static str,
    text: &'static str,
}

impl DocsPage {
    /// Whether it is for people, rather than a schema for programs.
    fn is_prose(&self) -> bool {
        !self.topic.starts_with("schema-")
    }
}

macro_rules! page {
    ($topic:literal, $about:literal) => {
        page!($topic, $about, concat!($topic, ".md"))
    };
    ($topic:literal, $about:literal, $file:expr) => {
        DocsPage { topic: $topic, about: $about, text: include_str!(concat!("../../../../../docs/", $file)) }
    };
}

const PAGES: &[DocsPage] = &[
    page!("getting-started", "The demo, a first hook, and each of the four ways in"),
    page!("configuration", "Which files are read, and snell.toml key by key"),
    page!("contracts", "How each format's hooks are matched, run and understood"),
    page!("events", "The events and their names"),
    page!("install", "Snell in an agent's settings: two ways in, the way out, and the doctor"),
    page!("guest", "Inside an agent with hooks of its own: what is read and answered"),
    page!("trust", "Which projects' hooks may run where Snell is a guest"),
    page!("memory", "What is recorded, how long it is kept, and what states mean"),
    page!("lifecycle", "What is built in: files at the start, reminders, workers, who may send messages"),
    page!("guard", "What is judged before it runs: decisions, policy, limits, what is missed"),
    page!("server", "The receiver: events over HTTP, the stream, security"),
    page!("page", "What the receiver shows in a browser, and how to read it"),
    page!("notify", "Sending events to a receiver, here or on another machine"),
    page!("running", "How a hook's process is run, and its limits"),
    page!("commands", "Every command, its options and exit codes"),
    page!("security", "What is defended against whom, what is promised, and which test proves it", "../SECURITY.md"),
    page!("performance", "What Snell costs, and how to measure it"),
    page!("schema-config", "JSON Schema of snell.toml", "schema/snell.toml.json"),
    page!("schema-run", "JSON Schema of what `snell run` prints", "schema/run-result.json"),
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
        (None, None) => print_topics(),
    }
    Ok(DONE)
}

fn print_topics() {
    let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or_default();
    let room = output::terminal_width().map(|terminal| terminal.saturating_sub(width + 2).max(1));
    for page in PAGES {
        let mut topic = page.topic;
        for line in output::wrap_lines(page.about, room, usize::MAX) {
            output::print_line(&format!("{topic:width$}  {line}"));
            topic = "";
        }
    }
}

/// The page of a topic, which may be named by its beginning if no other begins like that.
fn find_page(topic: &str) -> anyhow::Result<&'static DocsPage> {
    let named = topic.strip_suffix(".md").unwrap_or(topic).to_lowercase();
    if let Some(page) = PAGES.iter().find(|page| page.topic == named) {
        return Ok(page);
    }
    let begin_like_that: Vec<_> = PAGES.iter().filter(|page| page.topic.starts_with(&named)).collect();
    let topics =
        |pages: &mut dyn Iterator<Item = &DocsPage>| pages.map(|page| page.topic).collect::<Vec<_>>().join(", ");
    match begin_like_that.as_slice() {
        [page] => Ok(page),
        [] => {
            let near = did_you_mean(&named, PAGES.iter().map(|page| page.topic));
            let near = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
            bail!(
                "there is no page \"{topic}\"{near}; the topics are {}; to look for a word: snell docs --search {}",
                topics(&mut PAGES.iter()),
                shell_quote(topic)
            );
        }
        several => bail!("several pages begin with \"{topic}\": {}", topics(&mut several.iter().copied())),
    }
}

fn show_page(page: &DocsPage, raw: bool) {
    if raw || !output::is_terminal() {
        output::print_text(page.text);
    } else if page.is_prose() {
        let width = output::terminal_width().unwrap_or(DEFAULT_WIDTH);
        output::print_paged(&render::render_page(page.text, width));
    } else {
        output::print_paged(page.text);
    }
}

fn search_pages(wanted: &str, page: Option<&'static DocsPage>) -> anyhow::Result<()> {
    if wanted.trim().is_empty() {
        bail!("--search needs a word to look for");
    }
    // What schemas say is for programs, so it is found only by those who ask for one.
    let pages = PAGES.iter().filter(|one| page.map_or(one.is_prose(), |page| page.topic == one.topic));
    let found = pages.flat_map(|page| {
        let look = if page.is_prose() { search::search_markdown } else { search::search_lines };
        let places = look(page.text, wanted.trim()).into_iter();
        places.map(|place| (page.topic, place))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let whose = page.map_or("the documentation", |page| page.topic);
        bail!("{whose} says nothing about \"{wanted}\"");
    }
    if output::is_terminal() {
        output::print_paged(&render::render_hits(&found, output::terminal_width().unwrap_or(DEFAULT_WIDTH)));
    } else {
        let mut table = TextTable::new(["TOPIC", "SECTION", "TEXT"], 2);
        for (topic, place) in found {
            table.add_row([topic.to_owned(), place.section, place.text]);
        }
        table.print();
    }
    Ok(())
}
