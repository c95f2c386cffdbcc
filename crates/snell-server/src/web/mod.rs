//! The page: what a person sees of all this in a browser.
//!
//! The server renders everything, with `maud`, which escapes whatever is put into it. Each view is complete without any
//! script. What can change is a *region*: an element with
//!
//! | attribute | meaning |
//! |---|---|
//! | `id` | by which its successor is known |
//! | `data-src` | the address of the fragment that is this element anew |
//! | `data-when` | the kinds of changes after which it is fetched; `*` for all |
//! | `data-agent` | only changes of this agent count |
//! | `data-parts`, on what is around regions | the address by which several of them are fetched at once, up to their names |
//! | `data-part` | its name there |
//! | `data-keyed` | its children have ids, and are replaced one by one |
//! | `data-grow` | the fragment has the newest children; older ones stay, up to so many, unless who listens to `forgetting` minds |
//!
//! A fragment is rendered by the very function that renders the region in its view, so there is one home for how a thing
//! looks. `assets/live.js` listens to the stream, fetches fragments and puts them in place; it never makes markup from data.
//!
//! Times are `<time>` elements that the script words anew as they pass (`words`). The policy that `front` sends allows no
//! inline scripts and no inline styles: widths and heights are attributes of `<meter>` and SVG, everything else is classes.

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
pub(crate) use layout::get_counts_fragment;
pub(crate) use logging::{
    get_event_page, get_log_fragment, get_logging_page, get_new_count_fragment, get_receiver_fragment,
};
pub(crate) use login::{get_login_page, log_in, log_out};

use layout::PageFrame;

/// What a view is answered with.
type PageResult = std::result::Result<Response, HttpError>;

/// Reads what a view shows, and what stands around it. The latter first: whatever happens while the former is read is told
/// to the page by the stream, which goes on from there.
async fn load_with_frame<T: Send + 'static>(
    app: &AppState,
    question: impl FnOnce(&mut Store) -> Result<T> + Send + 'static,
) -> std::result::Result<(PageFrame, T), HttpError> {
    let (now, can_log_out) = (app.clock.now(), app.settings.token.is_some());
    let ask = move |store: &mut Store| {
        let frame = PageFrame::load(store, now)?;
        Ok((if can_log_out { frame.with_log_out() } else { frame }, question(store)?))
    };
    app.store_pool.with_store(ask).await
}

/// An answer in HTML. All that agents sent is in it, and so this is where what nobody sees in that is made visible.
fn html_response(markup: Markup) -> Response {
    let mut answer = response_with_type(HTML_CONTENT_TYPE, escape_invisible_chars(markup.into_string()));
    answer.headers_mut().insert(REFERRER_POLICY, SAME_ORIGIN_REFERRER);
    answer
}

/// What was rendered, with an escape in place of every character that is not seen. Our own markup has none of these.
fn escape_invisible_chars(rendered: String) -> String {
    match reveal_invisible_chars(&rendered) {
        Cow::Borrowed(_) => rendered,
        Cow::Owned(shown) => shown,
    }
}

/// The type of every page.
const HTML_CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// Other sites are told nothing of where somebody comes from. We are: a browser that may not tell us sends forms without
/// their origin, and then they are not known to be ours.
const SAME_ORIGIN_REFERRER: HeaderValue = HeaderValue::from_static("same-origin");

/// The number in a path, which stands in this place between its slashes.
fn parse_path_id(uri: &Uri, place: usize) -> std::result::Result<i64, HttpError> {
    query_params::parse_path_id(uri, place, "an agent is named by its number: /agents/17")
}
