//! One agent's timeline as a file that needs nothing else: to keep, to send, to read later.
//!
//! It is written while it is read, a page at a time, so a long session does not have to fit into memory; and it ends when it
//! has become too long, and says so.

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

/// How many events a file has at most: the newest ones.
const MAX_EVENTS: u32 = 20_000;

/// How long a file may become.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// How many events and turns are read at a time.
const ITEMS_PER_READ: u32 = 100;

/// How much of what was seen before all events a file has: the newest.
const MAX_EARLY_SIGHTINGS: u32 = 1_000;

/// How many turns are written at a time.
const MAX_TURNS: usize = 400;

/// How much is shown of why an agent does what it does.
const MAX_REASON_CHARS: usize = 600;

/// The look of the file. Nothing else is needed to read it.
const EXPORT_CSS: &str = include_str!("../../../assets/export.css");

/// The end of every file.
const CLOSING_TAGS: &str = "</ol></main></body></html>";

/// `GET /agents/{id}/export.html`
pub(crate) async fn get_agent_export(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    QueryParams::parse(uri.query(), &[])?;
    let agent_id = parse_path_id(&uri, 2)?;
    let read = move |store: &mut Store| match AgentHeader::load(store, agent_id)? {
        Some(head) => Ok(Some((head, store.find_earlier_event(agent_id, None, MAX_EVENTS)?))),
        None => Ok(None),
    };
    let (head, left_out) = app.store_pool.with_store(read).await?.ok_or_else(|| unknown_agent_error(agent_id))?;
    let first = render_opening(&head, left_out.map(|(_, at)| at), app.clock.now());
    let writing = ExportWriter {
        app,
        agent_id,
        step: ExportStep::Opening(first),
        cursor: ExportCursor {
            event: left_out.map_or(0, |(id, _)| id),
            said_after: left_out.map(|(_, at)| at),
            ..ExportCursor::default()
        },
        written: 0,
    };
    let parts = unfold(writing, async |writing| writing.next_chunk().await);
    Ok(set_download_headers(response_with_type(HTML_CONTENT_TYPE, Body::from_stream(parts)), agent_id))
}

/// It is kept rather than shown, and where it is shown all the same it may do nothing.
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

/// What the file may do: have this one style.
fn build_csp() -> String {
    let style = encode_base64(&Sha256::digest(EXPORT_CSS));
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'")
}

/// Bytes as policies write digests.
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

pub(super) fn render_opening(head: &AgentHeader, left_out_until: Option<Timestamp>, now: Timestamp) -> String {
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
                    p { "As of " (render_clock(now)) ", from Snell " (env!("CARGO_PKG_VERSION")) "." }
                    p data-state=(agent.state) {
                        strong { (state_symbol(agent.state)) " " (state_label(agent.state)) } ": " bdi { (truncate_text(&agent.why, MAX_REASON_CHARS)) }
                        " (" (confidence_label(agent.confidence)) ", " (source_label(agent.state_source)) ")"
                    }
                    (head.render_details(TimeStyle::Absolute))
                    h2 { "Timeline" }
                    @if let Some(until) = left_out_until {
                        p.cut { "What happened until " (render_clock(until)) " is left out: only the newest "
                            (MAX_EVENTS) " events are in this file." }
                    }
                    ol.timeline {}
                }
            }
        }
    };
    // What closes it comes when all rows are there.
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

/// What comes next.
enum ExportStep {
    Opening(String),
    Rows,
    /// It has become too long.
    Truncated,
    Done,
}

/// How far it was written.
#[derive(Clone, Debug, Default)]
struct ExportCursor {
    event: i64,
    turn: i64,
    /// Turns that were read and belong to later events.
    pending_turns: Vec<TurnView>,
    no_more_turns: bool,
    /// What was said before this is left out.
    said_after: Option<Timestamp>,
}

impl ExportWriter {
    /// The next part; nothing when it is complete. A part that cannot be read ends the file, and whoever reads it sees that.
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

    /// The next rows; nothing if there are no more.
    async fn read_rows(&mut self) -> std::result::Result<Option<String>, String> {
        let (agent_id, mut reached) = (self.agent_id, std::mem::take(&mut self.cursor));
        let read = move |store: &mut Store| Ok((render_next_rows(store, agent_id, &mut reached)?, reached));
        let (rows, reached) = self.app.store_pool.with_store(read).await.map_err(|refusal| refusal.message())?;
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
        // Much was said before the later ones of these.
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

/// The turns that were said until then, or a few of all that are left.
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
        li.cut { "The file would become longer than " (MAX_BYTES / 1024 / 1024) " MiB, so what happened after this is left out." }
    }
}

#[cfg(test)]
mod tests {
    use super::encode_base64;

    #[test]
    fn digests_are_written_as_policies_write_them() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, expected) in cases {
            assert_eq!(encode_base64(bytes.as_bytes()), expected);
        }
    }
}
