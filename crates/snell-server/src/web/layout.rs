//! The frame of every view: the tabs, the counts of agents, and the state of the connection.

use axum::extract::State;
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};
use snell::Timestamp;
use snell_store::{AgentActivity, Result, Store};

use super::format::{MAX_NAME_CHARS, truncate_text};
use super::{PageResult, assets, html_response};
use crate::app_state::SharedAppState;

/// A tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NavTab {
    /// All agents, and the page of each.
    Agents,
    /// Requests of agents to the user.
    Requests,
    /// The state of the receiver, and the log of events.
    Logging,
    /// The durations of hooks.
    Hooks,
    /// The verdicts of the guard.
    Guard,
    /// Tokens and their cost.
    Usage,
}

/// Every tab with its path and label.
const TABS: &[(NavTab, &str, &str)] = &[
    (NavTab::Agents, "/", "Agents"),
    (NavTab::Requests, "/requests", "Requests"),
    (NavTab::Logging, "/logging", "Logging"),
    (NavTab::Hooks, "/hooks", "Hooks"),
    (NavTab::Guard, "/guard", "Guard"),
    (NavTab::Usage, "/usage", "Usage"),
];

/// The content of a view.
pub(crate) struct PageContent<'a> {
    /// The active tab, if there is one.
    pub(crate) tab: Option<NavTab>,
    /// The title in the browser's tab.
    pub(crate) title: &'a str,
    /// The content, which begins with an `h1`.
    pub(crate) main: Markup,
}

/// The data of the frame.
#[derive(Clone, Debug)]
pub(crate) struct PageFrame {
    /// The last change before the view was read.
    pub(crate) last_change_id: i64,
    /// The time of the read.
    pub(crate) now: Timestamp,
    counts: AgentCounts,
    open_requests: i64,
    /// Whether the user can log out.
    can_log_out: bool,
}

/// The numbers of agents by state.
#[derive(Clone, Copy, Debug)]
struct AgentCounts {
    waiting: i64,
    working: i64,
    in_background: i64,
    idle: i64,
}

impl AgentCounts {
    fn load(store: &mut Store) -> Result<Self> {
        Ok(Self {
            waiting: store.count_agents(AgentActivity::AwaitingInput)?,
            working: store.count_agents(AgentActivity::Processing)?,
            in_background: store.count_agents(AgentActivity::Background)?,
            idle: store.count_agents(AgentActivity::Idle)?,
        })
    }
}

impl PageFrame {
    /// Loads the frame, before all other data of a view.
    pub(super) fn load(store: &mut Store, now: Timestamp) -> Result<Self> {
        Ok(Self {
            last_change_id: store.change_range()?.newest,
            now,
            counts: AgentCounts::load(store)?,
            open_requests: store.count_open_requests()?,
            can_log_out: false,
        })
    }

    /// Adds a button to log out, if there is a token.
    pub(super) fn with_log_out(self) -> Self {
        Self { can_log_out: true, ..self }
    }
}

/// A view as a complete page.
pub(crate) fn render_page(frame: &PageFrame, view: &PageContent<'_>) -> Response {
    let title = truncate_text(view.title, MAX_NAME_CHARS);
    let title = match frame.counts.waiting {
        0 => format!("{title} – Snell"),
        waiting => format!("({waiting}) {title} – Snell"),
    };
    let head = html! {
        (render_tabs(view.tab, Some(frame.open_requests)))
        (render_counts(frame.counts))
        // The script shows the state of the connection here.
        p #connection role="status" data-seen=(frame.last_change_id) data-now=(frame.now) {
            "not live: live updates need JavaScript"
        }
        button #notify type="button" hidden { "Notify me" }
        p #notify-status role="status" hidden {}
        @if frame.can_log_out {
            form.leave method="post" action="/logout" { button { "Log out" } }
        }
    };
    let icon = if frame.counts.waiting > 0 { WAITING_ICON } else { QUIET_ICON };
    html_response(render_document(&title, icon, &head, &view.main))
}

/// A page without live updates and tabs, for users without a login.
pub(super) fn render_static_page(title: &str, main: &Markup) -> Markup {
    render_document(&format!("{title} – Snell"), QUIET_ICON, &html! {}, main)
}

/// A page without live updates, for errors.
pub(super) fn render_static_page_with_tabs(title: &str, main: &Markup) -> Markup {
    render_document(&format!("{title} – Snell"), QUIET_ICON, &render_tabs(None, None), main)
}

/// The icons of the browser's tab. A shape, not only a colour, marks that an agent waits.
const QUIET_ICON: &str = "icon.svg";
const WAITING_ICON: &str = "icon-waiting.svg";

fn render_document(title: &str, icon: &str, head: &Markup, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link #icon rel="icon" type="image/svg+xml" href=(assets::build_asset_url(icon)) data-quiet=(assets::build_asset_url(QUIET_ICON))
                    data-waiting=(assets::build_asset_url(WAITING_ICON));
                link rel="stylesheet" href=(assets::build_asset_url("page.css"));
                script type="module" src=(assets::build_asset_url("page.js")) {}
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

fn render_tabs(current: Option<NavTab>, open_requests: Option<i64>) -> Markup {
    html! {
        nav aria-label="Views" {
            ul {
                @for (tab, path, name) in TABS {
                    li {
                        a href=(path) aria-current=[(current == Some(*tab)).then_some("page")] {
                            (name)
                            @if let Some(open) = open_requests.filter(|_| *tab == NavTab::Requests) { (render_request_count(open)) }
                        }
                    }
                }
            }
        }
    }
}

/// The number of open requests, if there are any.
fn render_request_count(open: i64) -> Markup {
    html! {
        span #request-count data-src="/fragments/requests/count" data-when="request_opened request_closed" {
            @if open > 0 { " " strong.waiting { "(" (open) ")" } }
        }
    }
}

/// `GET /fragments/requests/count`
pub(crate) async fn get_request_count_fragment(State(app): State<SharedAppState>) -> PageResult {
    let open = app.store_pool.with_store(|store| store.count_open_requests()).await?;
    Ok(html_response(render_request_count(open)))
}

/// The numbers of agents by state. The script copies the number of waiting agents to the title, and reloads the page if
/// the version of the server changes.
fn render_counts(counts: AgentCounts) -> Markup {
    let AgentCounts { waiting, working, in_background, idle } = counts;
    html! {
        p #counts data-src="/fragments/counts" data-when="state_changed session_created session_ended"
            data-waiting=(waiting) data-version=(*assets::ASSETS_VERSION) {
            @if waiting > 0 { strong.waiting { (waiting) @if waiting == 1 { " needs" } @else { " need" } " you" } " · " }
            span { (working) " working" } " · "
            @if in_background > 0 { span { (in_background) " in the background" } " · " }
            span { (idle) " idle" }
        }
    }
}

/// `GET /fragments/counts`
pub(crate) async fn get_counts_fragment(State(app): State<SharedAppState>) -> PageResult {
    let counts = app.store_pool.with_store(AgentCounts::load).await?;
    Ok(html_response(render_counts(counts)))
}
