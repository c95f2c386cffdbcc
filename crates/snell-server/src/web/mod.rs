//! The page: the views for people in a browser.
//!
//! The server renders everything with `maud`, which escapes all values. Each view works without scripts. A part that
//! can change is a *region*: an element with
//!
//! | attribute | meaning |
//! |---|---|
//! | `id` | identifies the element that replaces it |
//! | `data-src` | the address of the fragment that replaces this element |
//! | `data-when` | the kinds of changes after which it is fetched; `*` for all |
//! | `data-agent` | only changes of this agent matter |
//! | `data-parts`, on a parent of regions | the address that fetches several of them at once; their names are appended |
//! | `data-part` | the name of a region there |
//! | `data-keyed` | its children have ids and are replaced one by one |
//! | `data-grow` | the fragment has the newest children; older ones stay up to this number, and a listener of `forgetting` can keep them |
//!
//! The same function renders a region in its view and as a fragment. `assets/live.js` listens to the stream, fetches
//! fragments and inserts them; it never builds markup from data.
//!
//! Times are `<time>` elements that the script updates (`times.js`). The policy of `http::middleware` allows no inline
//! scripts and no inline styles: widths and heights are attributes of `<meter>` and SVG, everything else is classes.

mod agent;
mod agents;
mod assets;
mod buckets;
mod chart;
mod error_page;
mod filter_form;
mod format;
mod guard;
mod hooks;
#[cfg(test)]
mod html_injection_tests;
mod input_diff;
mod layout;
mod logging;
mod login;
mod page_url;
mod project_names;
mod requests;
mod usage;

use std::borrow::Cow;

use axum::http::header::REFERRER_POLICY;
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use maud::Markup;
use snell::reveal_invisible_chars;
use snell_store::{Result, Store};

use crate::app_state::AppState;
use crate::http::errors::HttpError;
use crate::http::query_params;
use crate::http::routes::response_with_type;

pub(crate) use agent::{get_agent_export, get_agent_header_fragment, get_agent_page, get_timeline_fragment};
pub(crate) use agents::{get_agents_page, get_card_fragment, get_cards_fragment, get_waiting_fragment};
pub(crate) use assets::get_asset;
pub(crate) use error_page::render_error_page;
pub(crate) use guard::{get_guard_page, get_verdicts_fragment};
pub(crate) use hooks::{get_hooks_fragment, get_hooks_page};
pub(crate) use layout::{get_counts_fragment, get_request_count_fragment};
pub(crate) use logging::{
    get_event_page, get_log_fragment, get_logging_page, get_new_count_fragment, get_receiver_fragment,
};
pub(crate) use login::{get_login_page, log_in, log_out};
pub(crate) use requests::{
    answer_by_form, answer_by_link, forget_by_form, get_link_page, get_requests_fragment, get_requests_page,
};
pub(crate) use usage::{get_usage_fragment, get_usage_page};

use layout::PageFrame;

/// The result of a view.
type PageResult = std::result::Result<Response, HttpError>;

/// Loads a view and its frame. The frame comes first: the stream continues from its position and sends all changes that
/// happen while the view is loaded.
async fn load_with_frame<T: Send + 'static>(
    app: &AppState,
    query: impl FnOnce(&mut Store) -> Result<T> + Send + 'static,
) -> std::result::Result<(PageFrame, T), HttpError> {
    let can_log_out = app.has_login();
    let now = app.clock.now();
    let ask = move |store: &mut Store| {
        let frame = PageFrame::load(store, now)?;
        Ok((if can_log_out { frame.with_log_out() } else { frame }, query(store)?))
    };
    app.store_pool.with_store(ask).await
}

/// An HTML response. It contains texts of agents, so invisible characters are escaped here.
fn html_response(markup: Markup) -> Response {
    let mut answer = response_with_type(HTML_CONTENT_TYPE, escape_invisible_chars(markup.into_string()));
    answer.headers_mut().insert(REFERRER_POLICY, SAME_ORIGIN_REFERRER);
    answer
}

/// Escapes every invisible character. Our own markup has none.
fn escape_invisible_chars(rendered: String) -> String {
    match reveal_invisible_chars(&rendered) {
        Cow::Borrowed(_) => rendered,
        Cow::Owned(shown) => shown,
    }
}

/// The content type of every page.
const HTML_CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// Browsers send no referrer to other sites. They send it to us, because without it they would send forms without an
/// origin, which the gate refuses.
const SAME_ORIGIN_REFERRER: HeaderValue = HeaderValue::from_static("same-origin");

/// The agent number at this position of a path.
fn parse_path_id(uri: &Uri, place: usize) -> std::result::Result<i64, HttpError> {
    query_params::parse_path_id(uri, place, "agent", "/agents/17")
}
