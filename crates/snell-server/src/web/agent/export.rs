//! One agent's timeline as a self-contained file.
//!
//! It is written page by page, so that a long session does not have to fit into memory. At the size limit, it ends with
//! a notice.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY};
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use futures_util::stream::unfold;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use snell::Timestamp;
use snell_store::{Result, SightingFilter, Store, TimelineFilter, TurnFilter, TurnView};

use super::header::AgentHeader;
use super::item_kind::TimelineKindFilter;
use super::render::{RowTarget, render_row};
use super::timeline_item::merge_timeline;
use super::{PageResult, parse_path_id, unknown_agent_error};
use crate::app_state::SharedAppState;
use crate::http::query_params::QueryParams;
use crate::http::routes::response_with_type;
use crate::web::format::{
    AgentName, MAX_NAME_CHARS, TimeStyle, confidence_label, render_clock, source_label, state_label, state_symbol,
    truncate_text,
};
use crate::web::{HTML_CONTENT_TYPE, escape_invisible_chars};

/// The maximum number of events in a file: the newest ones.
const MAX_EVENTS: u32 = 20_000;

/// The maximum size of a file.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Events and turns per read.
const ITEMS_PER_READ: u32 = 100;

/// The maximum number of sightings before the first event.
const MAX_EARLY_SIGHTINGS: u32 = 1_000;

/// The maximum number of turns per chunk.
const MAX_TURNS: usize = 400;

/// The maximum length of the reason of a state.
const MAX_REASON_CHARS: usize = 600;

/// The style sheet, which is part of the file.
const EXPORT_CSS: &str = include_str!("../../../assets/export.css");

/// The end of every file.
const CLOSING_TAGS: &str = "</ol></main></body></html>";

/// `GET /agents/{id}/export.html`
pub(crate) async fn get_agent_export(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    QueryParams::parse(uri.query(), &[])?;
    let agent_id = parse_path_id(&uri, 2)?;
    let prices = app.settings.prices.clone();
    let read = move |store: &mut Store| match AgentHeader::load(store, agent_id, &prices)? {
        Some(head) => Ok(Some((head, store.find_earlier_event(agent_id, None, MAX_EVENTS)?))),
        None => Ok(None),
    };
    let (head, omitted) = app.store_pool.with_store(read).await?.ok_or_else(|| unknown_agent_error(agent_id))?;
    let first = render_opening(&head, omitted.map(|(_, at)| at), app.clock.now());
    let writing = ExportWriter {
        app,
        agent_id,
        step: ExportStep::Opening(first),
        cursor: ExportCursor {
            event: omitted.map_or(0, |(id, _)| id),
            said_after: omitted.map(|(_, at)| at),
            ..ExportCursor::default()
        },
        written: 0,
    };
    let parts = unfold(writing, async |writing| writing.next_chunk().await);
    Ok(set_download_headers(response_with_type(HTML_CONTENT_TYPE, Body::from_stream(parts)), agent_id))
}

/// Makes browsers save the file. If a browser opens it, the file may run nothing.
fn set_download_headers(mut answer: Response, agent_id: i64) -> Response {
    let name = format!("attachment; filename=\"snell-agent-{agent_id}.html\"");
    let headers = answer.headers_mut();
    if let (Ok(name), Ok(policy)) =
        (HeaderValue::try_from(name), HeaderValue::try_from(build_csp() + "; frame-ancestors 'none'; sandbox"))
    {
        headers.insert(CONTENT_DISPOSITION, name);
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// The policy of the file: only its own style sheet.
fn build_csp() -> String {
    let style = encode_base64(&Sha256::digest(EXPORT_CSS));
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'")
}

/// Bytes as base64.
fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

pub(super) fn render_opening(head: &AgentHeader, omitted_until: Option<Timestamp>, now: Timestamp) -> String {
    let agent = &head.agent;
    let name = AgentName(agent);
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(build_csp());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (truncate_text(&name.to_text(), MAX_NAME_CHARS)) " – Snell" }
                style { (PreEscaped(EXPORT_CSS)) }
            }
            body {
                main {
                    h1 { (name) }
                    p { "Exported by Snell " (env!("CARGO_PKG_VERSION")) ", " (render_clock(now)) "." }
                    p data-state=(agent.state) {
                        strong { (state_symbol(agent.activity())) " " (state_label(agent.activity())) } ": " bdi { (truncate_text(&agent.why, MAX_REASON_CHARS)) }
                        " (" (confidence_label(agent.confidence)) ", " (source_label(agent.state_source)) ")"
                    }
                    (head.render_details(TimeStyle::Absolute))
                    h2 { "Timeline" }
                    @if let Some(until) = omitted_until {
                        p.cut { "This file has only the newest " (MAX_EVENTS) " events. It does not have events up to "
                            (render_clock(until)) "." }
                    }
                    ol.timeline {}
                }
            }
        }
    };
    // The closing tags follow after all rows.
    let mut text = whole.into_string();
    text.truncate(text.len() - CLOSING_TAGS.len());
    text
}

/// A file that is being written.
struct ExportWriter {
    app: SharedAppState,
    agent_id: i64,
    step: ExportStep,
    cursor: ExportCursor,
    written: usize,
}

/// The next step of an export.
enum ExportStep {
    Opening(String),
    Rows,
    /// The size limit is reached.
    Truncated,
    Done,
}

/// The position of an export.
#[derive(Clone, Debug, Default)]
struct ExportCursor {
    event: i64,
    turn: i64,
    /// Turns that were read, but belong to later events.
    pending_turns: Vec<TurnView>,
    no_more_turns: bool,
    /// Earlier turns are omitted.
    said_after: Option<Timestamp>,
}

impl ExportWriter {
    /// The next chunk; `None` at the end. If reading fails, the download fails.
    async fn next_chunk(mut self) -> Option<(std::io::Result<Bytes>, Self)> {
        let text = match std::mem::replace(&mut self.step, ExportStep::Rows) {
            ExportStep::Opening(text) => text,
            ExportStep::Rows => match self.read_rows().await {
                Ok(Some(text)) if self.written + text.len() > MAX_BYTES => {
                    self.step = ExportStep::Truncated;
                    String::new()
                }
                Ok(Some(text)) => text,
                Ok(None) => {
                    self.step = ExportStep::Done;
                    CLOSING_TAGS.to_owned()
                }
                Err(why) => {
                    self.step = ExportStep::Done;
                    return Some((Err(std::io::Error::other(why)), self));
                }
            },
            ExportStep::Truncated => {
                self.step = ExportStep::Done;
                render_truncation_notice().into_string() + CLOSING_TAGS
            }
            ExportStep::Done => return None,
        };
        let text = escape_invisible_chars(text);
        self.written += text.len();
        Some((Ok(text.into()), self))
    }

    /// The next rows; `None` at the end.
    async fn read_rows(&mut self) -> std::result::Result<Option<String>, String> {
        let (agent_id, mut reached) = (self.agent_id, std::mem::take(&mut self.cursor));
        let read = move |store: &mut Store| Ok((render_next_rows(store, agent_id, &mut reached)?, reached));
        let (rows, reached) =
            self.app.store_pool.with_store(read).await.map_err(|refusal| refusal.message().to_string())?;
        self.cursor = reached;
        Ok(rows)
    }
}

fn render_next_rows(store: &mut Store, agent_id: i64, reached: &mut ExportCursor) -> Result<Option<String>> {
    let mut events = store.query_timeline(&TimelineFilter {
        agent_id,
        after_id: Some(reached.event),
        limit: ITEMS_PER_READ,
        ..TimelineFilter::default()
    })?;
    let is_first = reached.event == 0 && reached.turn == 0;
    let first = if is_first {
        let mut first = store.list_sightings(&SightingFilter {
            agent_id,
            first_event: events.first().map(|event| event.id),
            before_id: None,
            limit: MAX_EARLY_SIGHTINGS,
        })?;
        first.reverse();
        first
    } else {
        Vec::new()
    };
    let until = events.last().map(|event| event.at);
    let turns = read_turns_until(store, agent_id, reached, until)?;
    if let Some(last) = turns.last().filter(|_| turns.len() >= MAX_TURNS) {
        // The later events belong after turns that are not read yet.
        events.truncate(events.partition_point(|event| event.at < last.timestamp));
    }
    reached.event = events.last().map_or(reached.event, |event| event.id);
    if events.is_empty() && turns.is_empty() && first.is_empty() {
        return Ok(None);
    }
    let moments = merge_timeline(first, events, turns, &TimelineKindFilter::all());
    let rows = moments.iter().map(|moment| render_row(moment, RowTarget::File).into_string());
    Ok(Some(rows.collect()))
}

/// The turns up to this time, or without it, some of the remaining ones.
fn read_turns_until(
    store: &mut Store,
    agent_id: i64,
    reached: &mut ExportCursor,
    until: Option<Timestamp>,
) -> Result<Vec<TurnView>> {
    let mut turns = Vec::new();
    loop {
        let is_due = |turn: &TurnView| until.is_none_or(|until| turn.timestamp <= until);
        let due = reached.pending_turns.iter().take_while(|turn| is_due(turn)).count();
        turns.extend(reached.pending_turns.drain(..due));
        let enough = until.is_none() && !turns.is_empty() || turns.len() >= MAX_TURNS;
        if !reached.pending_turns.is_empty() || reached.no_more_turns || enough {
            break;
        }
        let found = store.list_turns(&TurnFilter {
            agent_id,
            after_id: Some(reached.turn),
            limit: ITEMS_PER_READ,
            ..TurnFilter::default()
        })?;
        reached.no_more_turns = found.len() < ITEMS_PER_READ as usize;
        reached.turn = found.last().map_or(reached.turn, |turn| turn.turn_id);
        let is_shown = |turn: &TurnView| reached.said_after.is_none_or(|after| turn.timestamp > after);
        reached.pending_turns = found.into_iter().filter(is_shown).collect();
    }
    Ok(turns)
}

fn render_truncation_notice() -> Markup {
    html! {
        li.cut { "This file is limited to " (MAX_BYTES / 1024 / 1024) " MiB. It does not have later events." }
    }
}

#[cfg(test)]
mod tests {
    use super::encode_base64;

    #[test]
    fn digests_are_encoded_as_base64() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, expected) in cases {
            assert_eq!(encode_base64(bytes.as_bytes()), expected);
        }
    }
}
