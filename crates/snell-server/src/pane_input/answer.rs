//! Answers to requests, typed into the agent's pane where no hook waits for them.
//!
//! Order: check the pane, accept the answer, take it, type it, store the result. Whatever fails before the answer is accepted
//! leaves the request open. Taking an answer marks it, so it is typed at most once.

use std::time::{Duration, Instant};

use snell::{Timestamp, UserMessage};
use snell_store::requests::{
    AnswerAuthor, AnswerChannel, AnswerOutcome, PaneAnswer, RequestAnswer, RequestStatus, RequestView,
};
use snell_store::{AgentLocation, Result, Store, StoreError};

use super::{PaneLock, find_pane_objection};
use crate::answers::find_request;
use crate::reconciler::tmux::{TmuxError, TmuxPaneDetails, TmuxServer};

/// How long an agent may take to show the typed text, and how often its screen is read.
const ECHO_TIMEOUT: Duration = Duration::from_secs(3);
const ECHO_INTERVAL: Duration = Duration::from_millis(30);

/// How much of the end of a text is searched on the screen. An input box may show only its last lines.
const ECHO_CHARS: usize = 24;

/// Answers the request with this id, and types the answer if it goes to a tmux pane. It blocks for as long as tmux takes.
///
/// # Errors
///
/// When the database cannot be used.
pub fn answer_request(
    store: &mut Store,
    uid: &str,
    answer: &RequestAnswer,
    author: &AnswerAuthor,
    now: Timestamp,
) -> Result<AnswerOutcome> {
    let is_typed = |found: &RequestView| found.channel == AnswerChannel::Pane && found.status == RequestStatus::Open;
    let Some(request) = find_request(store, uid)?.filter(is_typed) else {
        return store.answer_request(uid, answer, author, now);
    };
    let _turn = match lock_pane(store, request.agent_id) {
        Ok(turn) => turn,
        Err(why) => return Ok(refuse(request, why)),
    };
    if let Some(why) = check_pane(store, &request)? {
        return Ok(refuse(request, why));
    }
    match store.answer_request(uid, answer, author, now)? {
        AnswerOutcome::Accepted(accepted) => type_answer(store, *accepted, now),
        other => Ok(other),
    }
}

/// Types an answer whose own process did not get that far. Returns why it could not; the request says so too.
///
/// # Errors
///
/// When the database cannot be used.
pub fn deliver_answer(store: &mut Store, request: RequestView, now: Timestamp) -> Result<AnswerOutcome> {
    match lock_pane(store, request.agent_id) {
        Ok(_turn) => type_answer(store, request, now),
        Err(why) => Ok(refuse(request, why)),
    }
}

fn refuse(request: RequestView, why: String) -> AnswerOutcome {
    let place = request.place().unwrap_or("its terminal is not known");
    let hint = match request.status {
        RequestStatus::Open => format!("answer again later, or in the agent's terminal: {place}"),
        _ => format!("answer in the agent's terminal: {place}"),
    };
    AnswerOutcome::Refused(Box::new(request), UserMessage::new(why).with_hint(hint))
}

fn lock_pane(store: &Store, agent: i64) -> std::result::Result<PaneLock, String> {
    let directory = store.directory().ok_or("the data directory is not known")?;
    PaneLock::acquire(directory, agent).map_err(|error| snell_store::format_error_chain(&error))
}

/// Why the answer to a request cannot be typed now.
fn check_pane(store: &mut Store, request: &RequestView) -> Result<Option<String>> {
    if !store.still_waits_for(request)? {
        return Ok(Some("the agent no longer waits for this answer".to_owned()));
    }
    let Some(agent) = store.find_agent_location(request.agent_id)? else {
        return Ok(Some("the agent was removed, because it is too old".to_owned()));
    };
    Ok(run_blocking(find_pane(&agent))?.err())
}

/// Takes an accepted answer, and types it. If the database cannot be used meanwhile, the answer stays accepted: a dispatcher
/// types it later, or the request says that Snell began to.
fn type_answer(store: &mut Store, request: RequestView, now: Timestamp) -> Result<AnswerOutcome> {
    let (agent, line) = match store.take_pane_answer(request.request_id, now) {
        Ok(PaneAnswer::Line(agent, line)) => (agent, line),
        Ok(PaneAnswer::Over(why)) => return Ok(refuse(request, why)),
        Ok(PaneAnswer::Missing) | Err(_) => return Ok(AnswerOutcome::Accepted(Box::new(request))),
    };
    let typed = run_blocking(async {
        let (server, pane) = find_pane(&agent).await?;
        type_visibly(&server, &pane, &line).await
    })?;
    let result = typed.as_ref().map(drop).map_err(String::as_str);
    let request = store.finish_pane_answer(request.request_id, result, now).unwrap_or(request);
    Ok(match typed {
        Ok(()) => AnswerOutcome::Accepted(Box::new(request)),
        Err(why) => refuse(request, why),
    })
}

fn run_blocking<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| StoreError::Database(format!("cannot start tmux: {error}")))?;
    Ok(runtime.block_on(work))
}

/// The pane of an agent that reads what is typed there, or why not.
async fn find_pane(agent: &AgentLocation) -> std::result::Result<(TmuxServer, TmuxPaneDetails), String> {
    if !agent.is_here {
        return Err(format!("the agent runs on {}", agent.host.as_deref().unwrap_or("another host")));
    }
    let pane = agent.tmux_pane.as_deref().ok_or("no tmux pane of the agent is known")?;
    let server = TmuxServer::new(agent.tmux_server.clone());
    let panes = server.list_panes().await.map_err(|error| error.to_string())?;
    // Only an id that tmux reported is passed to tmux.
    let found = panes.into_iter().find(|found| found.pane.id == pane);
    let found = found.ok_or_else(|| format!("the tmux pane {pane} is closed"))?;
    let obstacle = if found.pane.is_dead {
        Some("the program there has ended".to_owned())
    } else if found.is_in_mode {
        Some("it shows its history (copy mode)".to_owned())
    } else {
        find_pane_objection(agent, &found)
    };
    match obstacle {
        Some(why) => Err(format!("the agent would not read a line in the tmux pane {pane}: {why}")),
        None => Ok((server, found)),
    }
}

/// Types a line. Enter is pressed only after the line has appeared on the screen: a dialog does not show what is typed.
async fn type_visibly(server: &TmuxServer, pane: &TmuxPaneDetails, line: &str) -> std::result::Result<(), String> {
    let explain = |error: TmuxError| format!("cannot type into the tmux pane {}: {error}", pane.pane.id);
    let before = count_echoes(&server.read_screen(pane).await.map_err(explain)?, line);
    server.type_text(pane, line).await.map_err(explain)?;
    let began = Instant::now();
    while count_echoes(&server.read_screen(pane).await.map_err(explain)?, line) <= before {
        if began.elapsed() > ECHO_TIMEOUT {
            return Err(format!(
                "the terminal did not show the answer, so Enter was not pressed: look at the tmux pane {}",
                pane.pane.id
            ));
        }
        tokio::time::sleep(ECHO_INTERVAL).await;
    }
    server.press_enter(pane).await.map_err(explain)
}

/// How often the end of a line is on a screen. An agent wraps lines and draws boxes, so only letters and digits count, if there
/// are any.
fn count_echoes(screen: &str, line: &str) -> usize {
    let has_letters = line.chars().any(char::is_alphanumeric);
    let keep = |c: &char| if has_letters { c.is_alphanumeric() } else { !c.is_whitespace() };
    let screen: String = screen.chars().filter(keep).collect();
    let line: Vec<char> = line.chars().filter(keep).collect();
    let end: String = line[line.len().saturating_sub(ECHO_CHARS)..].iter().collect();
    screen.matches(&end).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_in_wrapped_lines_and_boxes() {
        let cases = [
            ("> yes", "yes", 1),
            ("Shall I? (yes or no)\n> yes\n", "yes", 2),
            ("╭────╮\n│ > the first │\n│ one, please │\n╰────╯", "the first one, please", 1),
            ("> ...", "...", 1),
            ("Pick one:\n❯ 1. Red\n  2. Blue", "green", 0),
        ];
        for (screen, line, expected) in cases {
            assert_eq!(count_echoes(screen, line), expected, "{screen}");
        }
        let line = format!("{} and then stop here", "word ".repeat(300));
        let screen = format!("… {}and then stop here", "word ".repeat(20));
        assert_eq!(count_echoes(&screen, &line), 1);
    }
}
