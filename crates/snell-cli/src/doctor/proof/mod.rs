//! The proof: what is registered is run exactly as the agent would, and what comes of it is shown.
//!
//! It is run in a home directory of its own. So nothing of the user's is called, recorded or forwarded by it; only which
//! files of the project are trusted is taken along.

mod listener;
mod trial;
mod watch;

use serde_json::{Value, json};
use snell::{EventName, receiver_url};
use snell_store::{GuardFilter, Recorder};

use self::listener::Listener;
use self::trial::{End, Room, Trial};
use self::watch::Watch;
use super::patient::{self, File};
use super::{Found, Patient, note, ok, problem};
use crate::install::entry::Way;
use crate::install::survey::Registered;
use crate::output;

/// The session that all this happens in.
const SESSION: &str = "snell-doctor";

/// Something that is shown of what is registered.
struct Proof {
    way: Way,
    /// The events to show it by: the first that is registered, and that no hook of the project waits for.
    events: &'static [&'static str],
    /// Whether it can be shown by any other event, if none of these is registered.
    otherwise: Otherwise,
    /// Where it is shown.
    place: Place,
    /// What the agent tells.
    payload: fn(&mut Value),
    /// Whether that is what should come of it.
    judge: fn(&Shown) -> Result<String, String>,
}

/// What is done where no event is registered by which something is best shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    AnyEvent,
    Nothing,
}

/// Where the agent would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the project.
    Project,
    /// In a directory of its own, in which no hook waits for anything.
    Room,
}

/// What there is to show, way by way.
const PROOFS: &[Proof] = &[
    Proof {
        way: Way::Hook,
        events: HARMLESS,
        otherwise: Otherwise::AnyEvent,
        place: Place::Project,
        payload: greeting,
        judge: is_recorded,
    },
    Proof {
        way: Way::Hook,
        events: &["PreToolUse"],
        otherwise: Otherwise::Nothing,
        place: Place::Room,
        payload: ruin,
        judge: is_denied,
    },
    Proof {
        way: Way::Notify,
        events: HARMLESS,
        otherwise: Otherwise::AnyEvent,
        place: Place::Project,
        payload: greeting,
        judge: has_arrived,
    },
];

/// Events after which an agent does the same as before, whatever it is answered.
const HARMLESS: &[&str] = &[
    "Notification",
    "SubagentStart",
    "PostCompact",
    "InstructionsLoaded",
    "SessionStart",
];

fn greeting(payload: &mut Value) {
    payload["message"] = "snell doctor tries this out".into();
    payload["notification_type"] = "auth_success".into();
}

/// A call that must be denied. It is told, and never run.
fn ruin(payload: &mut Value) {
    payload["tool_name"] = "Bash".into();
    payload["tool_input"] = json!({"command": RUIN});
}

const RUIN: &str = "rm -rf /";

/// What came of a trial.
struct Shown {
    end: End,
    room: Room,
    listener: Listener,
    /// The receiver that it would have been told to.
    named: Option<String>,
}

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let awaited = awaited(patient);
    let watch = Watch::begin();
    let mut findings = Vec::new();
    for (_, file) in patient.homes() {
        for proof in PROOFS {
            let mut tried: Vec<&str> = Vec::new();
            for handler in file.own().filter(|handler| handler.way == Some(proof.way)) {
                // Handlers differ by what they are told, and it is enough to see each program work once.
                if !tried.contains(&handler.program()) {
                    tried.push(handler.program());
                    findings.push(show(
                        patient,
                        &watch,
                        proof,
                        best(file, proof, handler.program(), &awaited),
                    ));
                }
            }
        }
    }
    if !findings.is_empty() {
        findings.push(note(
            "all of this was run in a home directory of its own: nothing of yours was called, recorded or forwarded",
        ));
    }
    findings
}

/// The events that hooks of the project wait for.
fn awaited(patient: &Patient) -> Vec<EventName> {
    let engine = patient::engine(&patient.project);
    let hooks = engine.map(|(engine, _)| engine.hooks()).unwrap_or_default();
    hooks.iter().flat_map(|hook| hook.events.clone()).collect()
}

/// The handler of this program by which a thing is best shown.
fn best<'a>(file: &'a File, proof: &Proof, program: &str, awaited: &[EventName]) -> Option<&'a Registered> {
    let same = file
        .own()
        .filter(|handler| handler.way == Some(proof.way) && handler.program() == program);
    let rank = |handler: &Registered| proof.events.iter().position(|event| *event == handler.event);
    let fits = |handler: &&Registered| proof.otherwise == Otherwise::AnyEvent || rank(handler).is_some();
    same.filter(fits).min_by_key(|handler| {
        let rank = rank(handler);
        let is_awaited = awaited.contains(&EventName::parse(&handler.event));
        (is_awaited, rank.unwrap_or(usize::MAX))
    })
}

fn show(patient: &Patient, watch: &Watch, proof: &Proof, handler: Option<&Registered>) -> Found {
    let Some((handler, call)) = handler.and_then(|handler| Some((handler, handler.call.as_ref()?))) else {
        return note(match proof.otherwise {
            Otherwise::AnyEvent => "nothing is registered that could be shown".to_owned(),
            Otherwise::Nothing => format!(
                "nothing is registered on {}, where it is decided",
                proof.events.join(", ")
            ),
        });
    };
    let what = format!("{} by {call}", handler.event);
    let again = "if nothing above says why, run `snell install` again";
    let prepared = watch
        .enter(|| Room::new(&patient.data))
        .and_then(|room| Ok((room, Listener::open()?)));
    let (room, listener) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return problem(format!("{what}: cannot be tried: {error}"), again),
    };
    let project = match proof.place {
        Place::Project => &patient.directory,
        Place::Room => room.home(),
    };
    let mut payload = json!({"session_id": SESSION, "hook_event_name": handler.event, "cwd": project});
    (proof.payload)(&mut payload);
    let trial = Trial {
        call,
        words: &handler.words,
        room: &room,
        project,
        receiver: listener.url(),
        payload: payload.to_string(),
    };
    let named = trial.named_receiver();
    if let Some(Err(fault)) = named.as_deref().map(receiver_url) {
        return problem(format!("{what}: the receiver that is named {fault}"), again);
    }
    let end = trial.run(watch);
    let shown = Shown {
        end,
        room,
        listener,
        named,
    };
    match shown
        .ended_well()
        .and_then(|well| Ok(format!("{well}; {}", (proof.judge)(&shown)?)))
    {
        Ok(well) => ok(format!("{what}: {well}")),
        Err(fault) => problem(format!("{what}: {fault}"), again),
    }
}

impl Shown {
    /// How it ended and what the agent was answered, if that is as it should be.
    fn ended_well(&self) -> Result<String, String> {
        match &self.end {
            End::NotStarted(error) => Err(format!("cannot be started: {error}")),
            End::TooLate(after) => Err(format!("did not end within {} s, and was ended", after.as_secs())),
            End::Exited {
                code,
                took,
                stdout,
                stderr,
            } => {
                let answer = output::in_brief(stdout, 200);
                let answer = if answer.is_empty() {
                    "no answer".to_owned()
                } else {
                    format!("answers {answer}")
                };
                let said = format!("exit code {}, {answer}, {} ms", code_in_words(*code), took.as_millis());
                match code {
                    Some(0) => Ok(said),
                    _ => Err(format!("{said}: {}", output::in_brief(stderr, 200))),
                }
            }
        }
    }
}

fn code_in_words(code: Option<i32>) -> String {
    code.map_or("none (killed)".to_owned(), |code| code.to_string())
}

/// The event is in the store.
fn is_recorded(shown: &Shown) -> Result<String, String> {
    let mut recorder = Recorder::new(shown.room.data());
    let recorded = recorder.look().and_then(|store| store.totals());
    match recorded {
        Ok(totals) if totals.events > 0 => Ok("recorded".into()),
        Ok(_) => Err("nothing was recorded".into()),
        Err(error) => Err(format!("nothing was recorded: {error}")),
    }
}

/// The agent was told not to, and what the guard said is in the store.
fn is_denied(shown: &Shown) -> Result<String, String> {
    let End::Exited { stdout, .. } = &shown.end else {
        return Err("it did not answer".into());
    };
    let answer: Value = serde_json::from_str(stdout).unwrap_or_default();
    if answer["hookSpecificOutput"]["permissionDecision"] != "deny" {
        return Err(format!(
            "`{RUIN}` is not denied: the guard of that program does not work"
        ));
    }
    let mut recorder = Recorder::new(shown.room.data());
    let said = recorder.look().and_then(|store| {
        store.guard_log(&GuardFilter {
            limit: 1,
            ..GuardFilter::default()
        })
    });
    let rules: Vec<_> = said.into_iter().flatten().map(|entry| entry.verdict.rule).collect();
    match rules.first() {
        Some(rule) => Ok(format!("`{RUIN}` is denied because of {rule}, and that is recorded")),
        None => Err(format!("`{RUIN}` is denied, and that is not recorded")),
    }
}

/// The event is at the receiver.
fn has_arrived(shown: &Shown) -> Result<String, String> {
    let Some(request) = shown.listener.wait() else {
        return Err("nothing arrived at a receiver that waited for it".into());
    };
    let fields: Vec<_> = request
        .body
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    if request.body["session_id"] != SESSION {
        return Err(format!(
            "something else arrived: {} with {}",
            request.line,
            fields.join(", ")
        ));
    }
    let usual = "the usual receiver".to_owned();
    Ok(format!(
        "arrived as {} with {}, at a receiver of the doctor's that stood in for {}",
        request.line,
        fields.join(", "),
        shown.named.clone().unwrap_or(usual)
    ))
}
