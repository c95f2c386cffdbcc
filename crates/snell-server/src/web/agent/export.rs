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

use super::head::Head;
use super::kind::Kinds;
use super::moment::merge;
use super::row::{On, row};
use super::{Answer, number_in, unknown};
use crate::app::Shared;
use crate::query::Query;
use crate::routes::typed;
use crate::web::words::{NAME_SHOWN, Name, Telling, clock, confidence, cut, mark, source, state};
use crate::web::{HTML, visible};

/// How many events a file has at most: the newest ones.
const MAX_EVENTS: u32 = 20_000;

/// How long a file may become.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// How many events and turns are read at a time.
const AT_ONCE: u32 = 100;

/// How much of what was seen before all events a file has: the newest.
const MAX_FIRST: u32 = 1_000;

/// How many turns are written at a time.
const MAX_TURNS: usize = 400;

/// How much is shown of why an agent does what it does.
const WHY_SHOWN: usize = 600;

/// The look of the file. Nothing else is needed to read it.
const STYLE: &str = include_str!("../../../assets/export.css");

/// The end of every file.
const END: &str = "</ol></main></body></html>";

/// `GET /agents/{id}/export.html`
pub(crate) async fn export(State(app): State<Shared>, uri: Uri) -> Answer {
    Query::read(uri.query(), &[])?;
    let agent_id = number_in(&uri, 2)?;
    let read = move |store: &mut Store| match Head::read(store, agent_id)? {
        Some(head) => Ok(Some((head, store.event_further_back(agent_id, None, MAX_EVENTS)?))),
        None => Ok(None),
    };
    let (head, left_out) = app.readers.ask(read).await?.ok_or_else(|| unknown(agent_id))?;
    let first = opening(&head, left_out.map(|(_, at)| at), app.clock.now());
    let writing = Writing {
        app,
        agent_id,
        next: Next::Opening(first),
        reached: Reached {
            event: left_out.map_or(0, |(id, _)| id),
            said_after: left_out.map(|(_, at)| at),
            ..Reached::default()
        },
        written: 0,
    };
    let parts = unfold(writing, async |writing| writing.go_on().await);
    Ok(headed(typed(HTML, Body::from_stream(parts)), agent_id))
}

/// It is kept rather than shown, and where it is shown all the same it may do nothing.
fn headed(mut answer: Response, agent_id: i64) -> Response {
    let name = format!("attachment; filename=\"snell-agent-{agent_id}.html\"");
    let headers = answer.headers_mut();
    if let (Ok(name), Ok(policy)) = (
        HeaderValue::try_from(name),
        HeaderValue::try_from(policy() + "; frame-ancestors 'none'; sandbox"),
    ) {
        headers.insert(CONTENT_DISPOSITION, name);
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// What the file may do: have this one style.
fn policy() -> String {
    let style = base64(&Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'")
}

/// Bytes as policies write digests.
fn base64(bytes: &[u8]) -> String {
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

pub(super) fn opening(head: &Head, left_out_until: Option<Timestamp>, now: Timestamp) -> String {
    let agent = &head.agent;
    let name = Name(agent);
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (cut(&name.text(), NAME_SHOWN)) " – Snell" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (name) }
                    p { "As of " (clock(now)) ", from Snell " (env!("CARGO_PKG_VERSION")) "." }
                    p data-state=(agent.state) {
                        strong { (mark(agent.state)) " " (state(agent.state)) } ": " bdi { (cut(&agent.why, WHY_SHOWN)) }
                        " (" (confidence(agent.confidence)) ", " (source(agent.state_source)) ")"
                    }
                    (head.told(Telling::ForGood))
                    h2 { "Timeline" }
                    @if let Some(until) = left_out_until {
                        p.cut { "What happened until " (clock(until)) " is left out: only the newest "
                            (MAX_EVENTS) " events are in this file." }
                    }
                    ol.timeline {}
                }
            }
        }
    };
    // What closes it comes when all rows are there.
    let mut text = whole.into_string();
    text.truncate(text.len() - END.len());
    text
}

/// A file that is being written.
struct Writing {
    app: Shared,
    agent_id: i64,
    next: Next,
    reached: Reached,
    written: usize,
}

/// What comes next.
enum Next {
    Opening(String),
    Rows,
    /// It has become too long.
    Cut,
    Nothing,
}

/// How far it was written.
#[derive(Clone, Debug, Default)]
struct Reached {
    event: i64,
    turn: i64,
    /// Turns that were read and belong to later events.
    waiting: Vec<TurnView>,
    no_more_turns: bool,
    /// What was said before this is left out.
    said_after: Option<Timestamp>,
}

impl Writing {
    /// The next part; nothing when it is complete. A part that cannot be read ends the file, and whoever reads it sees that.
    async fn go_on(mut self) -> Option<(std::io::Result<Bytes>, Self)> {
        let text = match std::mem::replace(&mut self.next, Next::Rows) {
            Next::Opening(text) => text,
            Next::Rows => match self.rows().await {
                Ok(Some(text)) if self.written + text.len() > MAX_BYTES => {
                    self.next = Next::Cut;
                    String::new()
                }
                Ok(Some(text)) => text,
                Ok(None) => {
                    self.next = Next::Nothing;
                    END.to_owned()
                }
                Err(why) => {
                    self.next = Next::Nothing;
                    return Some((Err(std::io::Error::other(why)), self));
                }
            },
            Next::Cut => {
                self.next = Next::Nothing;
                cut_here().into_string() + END
            }
            Next::Nothing => return None,
        };
        let text = visible(text);
        self.written += text.len();
        Some((Ok(text.into()), self))
    }

    /// The next rows; nothing if there are no more.
    async fn rows(&mut self) -> std::result::Result<Option<String>, String> {
        let (agent_id, mut reached) = (self.agent_id, std::mem::take(&mut self.reached));
        let read = move |store: &mut Store| Ok((next_rows(store, agent_id, &mut reached)?, reached));
        let (rows, reached) = self.app.readers.ask(read).await.map_err(|refusal| refusal.message())?;
        self.reached = reached;
        Ok(rows)
    }
}

fn next_rows(store: &mut Store, agent_id: i64, reached: &mut Reached) -> Result<Option<String>> {
    let mut events = store.timeline(&TimelineFilter {
        agent_id,
        after_id: Some(reached.event),
        limit: AT_ONCE,
        ..TimelineFilter::default()
    })?;
    let is_first = reached.event == 0 && reached.turn == 0;
    let first = if is_first {
        let mut first = store.seen_before(&SightingFilter {
            agent_id,
            first_event: events.first().map(|event| event.id),
            before_id: None,
            limit: MAX_FIRST,
        })?;
        first.reverse();
        first
    } else {
        Vec::new()
    };
    let until = events.last().map(|event| event.at);
    let turns = turns_until(store, agent_id, reached, until)?;
    if let Some(last) = turns.last().filter(|_| turns.len() >= MAX_TURNS) {
        // Much was said before the later ones of these.
        events.truncate(events.partition_point(|event| event.at < last.timestamp));
    }
    reached.event = events.last().map_or(reached.event, |event| event.id);
    if events.is_empty() && turns.is_empty() && first.is_empty() {
        return Ok(None);
    }
    let moments = merge(first, events, turns, &Kinds::all());
    let rows = moments.iter().map(|moment| row(moment, On::File).into_string());
    Ok(Some(rows.collect()))
}

/// The turns that were said until then, or a few of all that are left.
fn turns_until(
    store: &mut Store,
    agent_id: i64,
    reached: &mut Reached,
    until: Option<Timestamp>,
) -> Result<Vec<TurnView>> {
    let mut turns = Vec::new();
    loop {
        let is_due = |turn: &TurnView| until.is_none_or(|until| turn.timestamp <= until);
        let due = reached.waiting.iter().take_while(|turn| is_due(turn)).count();
        turns.extend(reached.waiting.drain(..due));
        let enough = until.is_none() && !turns.is_empty() || turns.len() >= MAX_TURNS;
        if !reached.waiting.is_empty() || reached.no_more_turns || enough {
            break;
        }
        let found = store.turns(&TurnFilter {
            agent_id,
            after_id: Some(reached.turn),
            limit: AT_ONCE,
            ..TurnFilter::default()
        })?;
        reached.no_more_turns = found.len() < AT_ONCE as usize;
        reached.turn = found.last().map_or(reached.turn, |turn| turn.turn_id);
        let is_shown = |turn: &TurnView| reached.said_after.is_none_or(|after| turn.timestamp > after);
        reached.waiting = found.into_iter().filter(is_shown).collect();
    }
    Ok(turns)
}

fn cut_here() -> Markup {
    html! {
        li.cut { "The file would become longer than " (MAX_BYTES / 1024 / 1024) " MiB, so what happened after this is left out." }
    }
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn digests_are_written_as_policies_write_them() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ];
        for (bytes, expected) in cases {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }
}
