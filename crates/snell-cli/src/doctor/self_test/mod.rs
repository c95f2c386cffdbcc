//! The self-test: runs what is registered exactly as the agent would, and shows what comes of it.
//!
//! It is run in a home directory of its own. So nothing of the user's is called, recorded or forwarded by it; only which
//! files of the project are trusted is taken along.

mod cleanup;
mod receiver;
mod run;

use serde_json::{Value, json};
use snell::{EventName, normalize_receiver_url};
use snell_store::{EventRecorder, GuardFilter};

use self::cleanup::SelfTestCleanup;
use self::receiver::SelfTestReceiver;
use self::run::{SelfTestEnd, SelfTestRun, SelfTestSandbox};
use super::subject::{self, InspectedSettingsFile};
use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding};
use crate::install::handler::InstallMode;
use crate::install::scan::RegisteredHandler;
use crate::output;

/// The session that all this happens in.
const SESSION_ID: &str = "snell-doctor";

/// Something that is shown of what is registered.
struct SelfTestCase {
    way: InstallMode,
    /// The events to show it by: the first that is registered, and that no hook of the project waits for.
    events: &'static [&'static str],
    aim: SelfTestAim,
    /// What the agent tells.
    payload: fn(&mut Value),
    /// Whether that is what should come of it.
    verify: fn(&SelfTestOutcome) -> Result<String, String>,
}

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelfTestAim {
    /// That events arrive. Any other event shows it as well, if none of these is registered. The agent is in the project.
    Delivery,
    /// That calls are judged. The agent is in a directory of its own, in which no hook waits for anything.
    Decision,
}

/// What there is to show, way by way.
const SELF_TESTS: &[SelfTestCase] = &[
    SelfTestCase {
        way: InstallMode::Hook,
        events: HARMLESS_EVENTS,
        aim: SelfTestAim::Delivery,
        payload: fill_notification,
        verify: verify_recorded,
    },
    SelfTestCase {
        way: InstallMode::Hook,
        events: &["PreToolUse"],
        aim: SelfTestAim::Decision,
        payload: fill_forbidden_call,
        verify: verify_denied,
    },
    SelfTestCase {
        way: InstallMode::Notify,
        events: HARMLESS_EVENTS,
        aim: SelfTestAim::Delivery,
        payload: fill_notification,
        verify: verify_received,
    },
];

/// Events after which an agent does the same as before, whatever it is answered.
const HARMLESS_EVENTS: &[&str] =
    &["Notification", "SubagentStart", "PostCompact", "InstructionsLoaded", "SessionStart"];

fn fill_notification(payload: &mut Value) {
    payload["message"] = "snell doctor tries this out".into();
    payload["notification_type"] = "auth_success".into();
}

/// A call that must be denied. It is reported, and never run.
fn fill_forbidden_call(payload: &mut Value) {
    payload["tool_name"] = "Bash".into();
    payload["tool_input"] = json!({"command": FORBIDDEN_COMMAND});
}

const FORBIDDEN_COMMAND: &str = "rm -rf /";

/// What came of a trial.
struct SelfTestOutcome {
    end: SelfTestEnd,
    sandbox: SelfTestSandbox,
    receiver: SelfTestReceiver,
    /// The receiver that it would have been told to.
    named_receiver: Option<String>,
}

pub(super) fn run_self_tests(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let awaited = find_awaited_events(subject);
    let cleanup = SelfTestCleanup::listen();
    let mut findings = Vec::new();
    for (_, file) in subject.installed_files() {
        for case in SELF_TESTS {
            let mut tried: Vec<&str> = Vec::new();
            for handler in file.own_handlers().filter(|handler| handler.way == Some(case.way)) {
                // Handlers differ by their event. It is enough to see each program work once.
                if !tried.contains(&handler.program()) {
                    tried.push(handler.program());
                    findings.push(run_self_test(
                        subject,
                        &cleanup,
                        case,
                        choose_handler(file, case, handler.program(), &awaited),
                    ));
                }
            }
        }
    }
    if !findings.is_empty() {
        findings.push(note_finding(
            "all of this was run in a home directory of its own: nothing of yours was called, recorded or forwarded",
        ));
    }
    findings
}

/// The events that hooks of the project wait for.
fn find_awaited_events(subject: &DoctorSubject) -> Vec<EventName> {
    let engine = subject::load_engine(&subject.project);
    let hooks = engine.map(|(engine, _)| engine.hooks()).unwrap_or_default();
    hooks.iter().flat_map(|hook| hook.events.clone()).collect()
}

/// The handler of this program by which a thing is best shown.
fn choose_handler<'a>(
    file: &'a InspectedSettingsFile,
    case: &SelfTestCase,
    program: &str,
    awaited: &[EventName],
) -> Option<&'a RegisteredHandler> {
    let same = file.own_handlers().filter(|handler| handler.way == Some(case.way) && handler.program() == program);
    let rank = |handler: &RegisteredHandler| case.events.iter().position(|event| *event == handler.event);
    let fits = |handler: &&RegisteredHandler| case.aim == SelfTestAim::Delivery || rank(handler).is_some();
    same.filter(fits).min_by_key(|handler| {
        let rank = rank(handler);
        let is_awaited = awaited.contains(&EventName::parse(&handler.event));
        (is_awaited, rank.unwrap_or(usize::MAX))
    })
}

fn run_self_test(
    subject: &DoctorSubject,
    cleanup: &SelfTestCleanup,
    case: &SelfTestCase,
    handler: Option<&RegisteredHandler>,
) -> DoctorFinding {
    let Some((handler, call)) = handler.and_then(|handler| Some((handler, handler.call.as_ref()?))) else {
        return note_finding(match case.aim {
            SelfTestAim::Delivery => "nothing is registered that could be shown".to_owned(),
            SelfTestAim::Decision => {
                format!("nothing is registered on {}, where it is decided", case.events.join(", "))
            }
        });
    };
    let what = format!("{} by {call}", handler.event);
    let again = "if nothing above says why, run `snell install` again";
    let prepared = cleanup
        .create_sandbox(|| SelfTestSandbox::new(&subject.data))
        .and_then(|sandbox| Ok((sandbox, SelfTestReceiver::open()?)));
    let (sandbox, listener) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return problem_finding(format!("{what}: cannot be tried: {error}"), again),
    };
    let project = match case.aim {
        SelfTestAim::Delivery => &subject.directory,
        SelfTestAim::Decision => sandbox.home_dir(),
    };
    let mut payload = json!({"session_id": SESSION_ID, "hook_event_name": handler.event, "cwd": project});
    (case.payload)(&mut payload);
    let trial = SelfTestRun {
        call,
        words: &handler.words,
        sandbox: &sandbox,
        project,
        receiver: listener.url(),
        payload: payload.to_string(),
    };
    let named = trial.named_receiver();
    if let Some(Err(fault)) = named.as_deref().map(normalize_receiver_url) {
        return problem_finding(format!("{what}: the receiver that is named {fault}"), again);
    }
    let end = trial.run(cleanup);
    let shown = SelfTestOutcome { end, sandbox, receiver: listener, named_receiver: named };
    match shown.check_exit().and_then(|well| Ok(format!("{well}; {}", (case.verify)(&shown)?))) {
        Ok(well) => ok_finding(format!("{what}: {well}")),
        Err(fault) => problem_finding(format!("{what}: {fault}"), again),
    }
}

impl SelfTestOutcome {
    /// How it ended and what the agent was answered, if that is as it should be.
    fn check_exit(&self) -> Result<String, String> {
        match &self.end {
            SelfTestEnd::NotStarted(error) => Err(format!("cannot be started: {error}")),
            SelfTestEnd::TimedOut(after) => Err(format!("did not end within {} s, and was ended", after.as_secs())),
            SelfTestEnd::Exited { code, took, stdout, stderr } => {
                let answer = output::shorten_to_one_line(stdout, 200);
                let answer = if answer.is_empty() { "no answer".to_owned() } else { format!("answers {answer}") };
                let shown_code = code.map_or("none (killed)".to_owned(), |code| code.to_string());
                let said = format!("exit code {shown_code}, {answer}, {} ms", took.as_millis());
                match code {
                    Some(0) => Ok(said),
                    _ => Err(format!("{said}: {}", output::shorten_to_one_line(stderr, 200))),
                }
            }
        }
    }
}

/// The event is in the store.
fn verify_recorded(shown: &SelfTestOutcome) -> Result<String, String> {
    let mut recorder = EventRecorder::new(shown.sandbox.data_dir());
    let recorded = recorder.open_store_for_reading().and_then(|store| store.count_totals());
    match recorded {
        Ok(totals) if totals.events > 0 => Ok("recorded".into()),
        Ok(_) => Err("nothing was recorded".into()),
        Err(error) => Err(format!("nothing was recorded: {error}")),
    }
}

/// The agent was told not to, and what the guard said is in the store.
fn verify_denied(shown: &SelfTestOutcome) -> Result<String, String> {
    let SelfTestEnd::Exited { stdout, .. } = &shown.end else {
        return Err("it did not answer".into());
    };
    let answer: Value = serde_json::from_str(stdout).unwrap_or_default();
    if answer["hookSpecificOutput"]["permissionDecision"] != "deny" {
        return Err(format!("`{FORBIDDEN_COMMAND}` is not denied: the guard of that program does not work"));
    }
    let mut recorder = EventRecorder::new(shown.sandbox.data_dir());
    let said = recorder
        .open_store_for_reading()
        .and_then(|store| store.query_guard_log(&GuardFilter { limit: 1, ..GuardFilter::default() }));
    let rules: Vec<_> = said.into_iter().flatten().map(|entry| entry.verdict.rule).collect();
    match rules.first() {
        Some(rule) => Ok(format!("`{FORBIDDEN_COMMAND}` is denied because of {rule}, and that is recorded")),
        None => Err(format!("`{FORBIDDEN_COMMAND}` is denied, and that is not recorded")),
    }
}

/// The event is at the receiver.
fn verify_received(shown: &SelfTestOutcome) -> Result<String, String> {
    let Some(request) = shown.receiver.wait_for_request() else {
        return Err("nothing arrived at a receiver that waited for it".into());
    };
    let fields: Vec<_> = request.body.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if request.body["session_id"] != SESSION_ID {
        return Err(format!("something else arrived: {} with {}", request.line, fields.join(", ")));
    }
    let usual = "the usual receiver".to_owned();
    Ok(format!(
        "arrived as {} with {}, at a receiver of the doctor's that stood in for {}",
        request.line,
        fields.join(", "),
        shown.named_receiver.clone().unwrap_or(usual)
    ))
}
