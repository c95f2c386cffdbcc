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

mod address;
mod agent;
mod agents;
mod assets;
mod changed;
mod chart;
mod form;
mod guard;
mod hooks;
#[cfg(test)]
mod hostile;
mod layout;
mod logging;
mod login;
mod projects;
mod refused;
mod slots;
mod words;

use std::borrow::Cow;

use axum::http::header::REFERRER_POLICY;
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use maud::Markup;
use snell::show_unseen;
use snell_store::{Result, Store};

use crate::app::App;
use crate::error::Refusal;
use crate::query::id;
use crate::routes::typed;

pub(crate) use agent::{agent, export, head, timeline};
pub(crate) use agents::{agents, card, cards, needs};
pub(crate) use assets::asset;
pub(crate) use guard::{guard, verdicts};
pub(crate) use hooks::{hooks, table_of_hooks};
pub(crate) use layout::counts;
pub(crate) use logging::{event, log, log_new, logging, receiver};
pub(crate) use login::{log_in, log_out, login};
pub(crate) use refused::refused;

use layout::Frame;

/// What a view is answered with.
type Answer = std::result::Result<Response, Refusal>;

/// Reads what a view shows, and what stands around it. The latter first: whatever happens while the former is read is told
/// to the page by the stream, which goes on from there.
async fn look<T: Send + 'static>(
    app: &App,
    question: impl FnOnce(&mut Store) -> Result<T> + Send + 'static,
) -> std::result::Result<(Frame, T), Refusal> {
    let (now, may_leave) = (app.clock.now(), app.settings.token.is_some());
    let ask = move |store: &mut Store| Ok((Frame::read(store, now, may_leave)?, question(store)?));
    app.readers.ask(ask).await
}

/// An answer in HTML. All that agents sent is in it, and so this is where what nobody sees in that is made visible.
fn html(markup: Markup) -> Response {
    let mut answer = typed(HTML, visible(markup.into_string()));
    answer.headers_mut().insert(REFERRER_POLICY, REFERRER);
    answer
}

/// What was rendered, with an escape in place of every character that is not seen. Our own markup has none of these.
fn visible(rendered: String) -> String {
    match show_unseen(&rendered) {
        Cow::Borrowed(_) => rendered,
        Cow::Owned(shown) => shown,
    }
}

/// The type of every page.
const HTML: &str = "text/html; charset=utf-8";

/// Other sites are told nothing of where somebody comes from. We are: a browser that may not tell us sends forms without
/// their origin, and then they are not known to be ours.
const REFERRER: HeaderValue = HeaderValue::from_static("same-origin");

/// The number in a path, which stands in this place between its slashes.
fn number_in(uri: &Uri, place: usize) -> std::result::Result<i64, Refusal> {
    let named = uri.path().split('/').nth(place).unwrap_or_default();
    id(named).ok_or_else(|| Refusal::bad("an agent is named by its number: /agents/17"))
}
