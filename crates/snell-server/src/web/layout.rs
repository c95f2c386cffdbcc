//! What stands around every view: the head of the page with its tabs, how many need somebody, and whether it is live.

use axum::extract::State;
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};
use snell::Timestamp;
use snell_store::{Result, State as AgentState, Store};

use super::words::{NAME_SHOWN, cut};
use super::{Answer, assets, html as answer};
use crate::app::Shared;

/// A tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    /// All agents, and each of them.
    Agents,
    /// How the receiver is, and the log of events.
    Logging,
    /// What hooks cost.
    Hooks,
    /// What the guard said.
    Guard,
}

/// Every tab: where it leads, and what it is called.
const TABS: &[(Tab, &str, &str)] = &[
    (Tab::Agents, "/", "Agents"),
    (Tab::Logging, "/logging", "Logging"),
    (Tab::Hooks, "/hooks", "Hooks"),
    (Tab::Guard, "/guard", "Guard"),
];

/// What a view shows.
pub(crate) struct View<'a> {
    /// The tab it belongs to; none if it belongs to no tab.
    pub(crate) tab: Option<Tab>,
    /// What it is called in the browser's tab.
    pub(crate) title: &'a str,
    /// Its content, which begins with an `h1`.
    pub(crate) main: Markup,
}

/// What stands around a view.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The last change before the view was read.
    pub(crate) seen: i64,
    /// When it was read.
    pub(crate) now: Timestamp,
    counts: Counts,
    /// Whether whoever looks has logged in.
    may_leave: bool,
}

/// How many agents there are.
#[derive(Clone, Copy, Debug)]
struct Counts {
    waiting: i64,
    working: i64,
    idle: i64,
}

impl Counts {
    fn read(store: &mut Store) -> Result<Self> {
        Ok(Self {
            waiting: store.count_agents(AgentState::AwaitingInput)?,
            working: store.count_agents(AgentState::Processing)?,
            idle: store.count_agents(AgentState::Idle)?,
        })
    }
}

impl Frame {
    /// Reads it. It comes before everything else that a view reads.
    pub(super) fn read(store: &mut Store, now: Timestamp, may_leave: bool) -> Result<Self> {
        Ok(Self {
            seen: store.change_range()?.newest,
            now,
            counts: Counts::read(store)?,
            may_leave,
        })
    }
}

/// A view as a whole page.
pub(crate) fn page(frame: &Frame, view: &View<'_>) -> Response {
    let title = cut(view.title, NAME_SHOWN);
    let title = match frame.counts.waiting {
        0 => format!("{title} – Snell"),
        waiting => format!("({waiting}) {title} – Snell"),
    };
    let head = html! {
        (tabs(view.tab))
        (shown(frame.counts))
        // The script says here whether the page is live, and since when it is not.
        p #connection role="status" data-seen=(frame.seen) data-now=(frame.now) {
            "not live: that needs JavaScript"
        }
        button #notify type="button" hidden { "Notify me" }
        p #notify-told role="status" hidden {}
        @if frame.may_leave {
            form.leave method="post" action="/logout" { button { "Log out" } }
        }
    };
    let icon = if frame.counts.waiting > 0 { WAITING } else { QUIET };
    answer(document(&title, icon, &head, &view.main))
}

/// A page that is not live, for those who are not let in.
pub(super) fn still(title: &str, main: &Markup) -> Markup {
    document(&format!("{title} – Snell"), QUIET, &html! {}, main)
}

/// A page that is not live, for those who have lost their way.
pub(super) fn lost(title: &str, main: &Markup) -> Markup {
    document(&format!("{title} – Snell"), QUIET, &tabs(None), main)
}

/// What the browser's tab shows beside the title: a sign upon it, and not only a colour, says that somebody waits.
const QUIET: &str = "icon.svg";
const WAITING: &str = "icon-waiting.svg";

fn document(title: &str, icon: &str, head: &Markup, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link #icon rel="icon" type="image/svg+xml" href=(assets::path(icon)) data-quiet=(assets::path(QUIET))
                    data-waiting=(assets::path(WAITING));
                link rel="stylesheet" href=(assets::path("page.css"));
                script type="module" src=(assets::path("page.js")) {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.brand href="/" { "Snell" }
                    (head)
                }
                main #main tabindex="-1" { (main) }
            }
        }
    }
}

fn tabs(current: Option<Tab>) -> Markup {
    html! {
        nav aria-label="Views" {
            ul {
                @for (tab, path, name) in TABS {
                    li { a href=(path) aria-current=[(current == Some(*tab)).then_some("page")] { (name) } }
                }
            }
        }
    }
}

/// How many agents there are, by what they do. The script takes the number for the title from here, and sees here when the
/// server has another page than the one it belongs to.
fn shown(counts: Counts) -> Markup {
    let Counts { waiting, working, idle } = counts;
    html! {
        p #counts data-src="/fragments/counts" data-when="state_changed session_created session_ended"
            data-waiting=(waiting) data-version=(*assets::VERSION) {
            @if waiting > 0 { strong.waiting { (waiting) @if waiting == 1 { " needs" } @else { " need" } " you" } " · " }
            span { (working) " working" } " · " span { (idle) " idle" }
        }
    }
}

/// `GET /fragments/counts`
pub(crate) async fn counts(State(app): State<Shared>) -> Answer {
    let counts = app.readers.ask(Counts::read).await?;
    Ok(answer(shown(counts)))
}
