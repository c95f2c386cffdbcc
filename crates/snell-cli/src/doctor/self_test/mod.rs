//! The self-test: runs the registered commands as the agent would, and checks the result.
//!
//! It runs in a temporary home directory, so it calls, records and forwards nothing of the user's. Only the list of trusted
//! files is copied.

mod cleanup;
mod receiver;
mod run;

use std::path::Path;

use serde_json::{Value, json};
use snell::{DenialSign, EventName, GuardPreset, normalize_receiver_url};
use snell_store::{EventRecorder, GuardFilter};

use self::cleanup::SelfTestCleanup;
use self::receiver::SelfTestReceiver;
use self::run::{SelfTestEnd, SelfTestRun, SelfTestSandbox};
use super::subject::{self, InspectedSettingsFile};
use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, problem_finding};
use crate::env::caller::CallerEnv;
use crate::install::agents::InstallAgent;
use crate::install::handler::InstallMode;
use crate::install::scan::RegisteredHandler;
use crate::output;

/// The session of all self-tests.
const SESSION_ID: &str = "snell-doctor";

/// A self-test.
struct SelfTestCase {
    way: InstallMode,
    aim: SelfTestAim,
    /// Checks the outcome.
    verify: fn(&SelfTestOutcome) -> Result<String, String>,
}

impl SelfTestCase {
    /// Whether an agent can be tested with it. A harmless event is one of Claude Code, which many agents have.
    fn applies_to(&self, agent: InstallAgent, file: &InspectedSettingsFile) -> bool {
        match self.aim {
            SelfTestAim::Delivery => {
                !file.is_for_one_event() && agent.events().any(|event| HARMLESS_EVENTS.contains(&event))
            }
            SelfTestAim::Decision => file.events.contains(&agent.proof.event),
        }
    }
}

/// The aim of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelfTestAim {
    /// Events arrive. If none of the events is registered, any other does. The agent is in the project.
    Delivery,
    /// Calls are judged. The agent is in a temporary directory without hooks.
    Decision,
}

/// All self-tests, by the way of installation.
const SELF_TESTS: &[SelfTestCase] = &[
    SelfTestCase { way: InstallMode::Hook, aim: SelfTestAim::Delivery, verify: verify_recorded },
    SelfTestCase { way: InstallMode::Hook, aim: SelfTestAim::Decision, verify: verify_denied },
    SelfTestCase { way: InstallMode::Notify, aim: SelfTestAim::Delivery, verify: verify_received },
];

/// Events of Claude Code whose answer does not change the agent's behaviour.
const HARMLESS_EVENTS: &[&str] =
    &["Notification", "SubagentStart", "PostCompact", "InstructionsLoaded", "SessionStart"];

/// A call that must be denied. It never runs.
const FORBIDDEN_COMMAND: &str = "rm -rf /";

/// Its place in the payload of a recipe.
const COMMAND_PLACE: &str = "COMMAND";

impl SelfTestAim {
    /// The events to test with: the first that is registered, and that no hook of the project uses.
    fn events(self, agent: InstallAgent) -> Vec<&'static str> {
        match self {
            Self::Delivery => HARMLESS_EVENTS.to_vec(),
            Self::Decision => vec![agent.proof.event],
        }
    }

    /// The payload of an event.
    fn payload(self, agent: InstallAgent, event: &str, project: &Path) -> Value {
        let mut payload = match self {
            Self::Delivery => json!({
                "session_id": SESSION_ID,
                "hook_event_name": event,
                "cwd": project,
                "message": "snell doctor tries this out",
                "notification_type": "auth_success",
            }),
            Self::Decision => {
                let text = agent.proof.payload.replace(COMMAND_PLACE, FORBIDDEN_COMMAND);
                serde_json::from_str(&text).unwrap_or_default()
            }
        };
        payload["session_id"] = SESSION_ID.into();
        payload["cwd"] = project.to_string_lossy().into();
        payload
    }
}

/// The outcome of a self-test.
struct SelfTestOutcome {
    agent: InstallAgent,
    end: SelfTestEnd,
    sandbox: SelfTestSandbox,
    receiver: SelfTestReceiver,
    /// The receiver in the script, which the test replaces.
    named_receiver: Option<String>,
    /// The preset of the user. The test runs with the default.
    preset: GuardPreset,
}

pub(super) fn run_self_tests(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let awaited = find_awaited_events(subject);
    let cleanup = SelfTestCleanup::listen();
    let mut findings = Vec::new();
    for (one, file) in subject.installed_files() {
        for case in SELF_TESTS.iter().filter(|case| case.applies_to(one.agent, file)) {
            let mut tried: Vec<&str> = Vec::new();
            for handler in file.own_handlers().filter(|handler| handler.way == Some(case.way)) {
                // Handlers differ only in their event, so each program is tested once.
                if !tried.contains(&handler.program()) {
                    tried.push(handler.program());
                    let handler = choose_handler(one.agent, file, case, handler.program(), &awaited);
                    findings.push(run_self_test(subject, &cleanup, case, (one.agent, handler)));
                }
            }
        }
    }
    if !findings.is_empty() {
        findings.push(note_finding(
            "these tests ran in a temporary home directory: nothing was added to your records or sent to your receiver",
        ));
    }
    findings
}

/// The events that the project's hooks use.
fn find_awaited_events(subject: &DoctorSubject) -> Vec<EventName> {
    let engine = subject::load_engine(&subject.project);
    let hooks = engine.map(|(engine, _)| engine.hooks()).unwrap_or_default();
    hooks.iter().flat_map(|hook| hook.events.clone()).collect()
}

/// The best handler of this program for a self-test.
fn choose_handler<'a>(
    agent: InstallAgent,
    file: &'a InspectedSettingsFile,
    case: &SelfTestCase,
    program: &str,
    awaited: &[EventName],
) -> Option<&'a RegisteredHandler> {
    let same = file.own_handlers().filter(|handler| handler.way == Some(case.way) && handler.program() == program);
    let events = case.aim.events(agent);
    let rank = |handler: &RegisteredHandler| events.iter().position(|event| *event == handler.event);
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
    (agent, handler): (InstallAgent, Option<&RegisteredHandler>),
) -> DoctorFinding {
    let Some((handler, call)) = handler.and_then(|handler| Some((handler, handler.call.as_ref()?))) else {
        return note_finding(match case.aim {
            SelfTestAim::Delivery => "Snell is registered for no event that can be tested".to_owned(),
            SelfTestAim::Decision => {
                format!("{} is not registered, so decisions cannot be tested", agent.proof.event)
            }
        });
    };
    let what = format!("{} by {call}", handler.event);
    let again = "if no line above explains this, run `snell install` again";
    let prepared = cleanup
        .create_sandbox(|| SelfTestSandbox::new(&subject.data))
        .and_then(|sandbox| Ok((sandbox, SelfTestReceiver::open()?)));
    let (sandbox, listener) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return problem_finding(format!("{what}: cannot test it: {error}"), again),
    };
    let project = match case.aim {
        SelfTestAim::Delivery => &subject.directory,
        SelfTestAim::Decision => sandbox.home_dir(),
    };
    let trial = SelfTestRun {
        call,
        words: &handler.words,
        sandbox: &sandbox,
        project,
        receiver: listener.url(),
        payload: case.aim.payload(agent, &handler.event, project).to_string(),
        is_claude: agent.registers_arguments(),
    };
    let named = trial.named_receiver();
    if let Some(Err(fault)) = named.as_deref().map(normalize_receiver_url) {
        return problem_finding(format!("{what}: the address of the receiver {fault}"), again);
    }
    let end = trial.run(cleanup);
    let shown = SelfTestOutcome {
        agent,
        end,
        sandbox,
        receiver: listener,
        named_receiver: named,
        preset: find_preset(subject),
    };
    match shown.check_exit().and_then(|well| Ok(format!("{well}; {}", (case.verify)(&shown)?))) {
        Ok(well) => ok_finding(format!("{what}: {well}")),
        Err(fault) => problem_finding(format!("{what}: {fault}"), again),
    }
}

/// The preset that applies in the project.
fn find_preset(subject: &DoctorSubject) -> GuardPreset {
    let engine = CallerEnv::engine_builder(subject.project.clone()).map(|builder| builder.survey().require_trust());
    engine.map_or(GuardPreset::Standard, |engine| engine.load().0.settings().guard.preset)
}

impl SelfTestOutcome {
    /// The exit code and the answer, if both are correct.
    fn check_exit(&self) -> Result<String, String> {
        match &self.end {
            SelfTestEnd::NotStarted(error) => Err(format!("cannot start it: {error}")),
            SelfTestEnd::TimedOut(after) => Err(format!("it did not end within {} s, and was killed", after.as_secs())),
            SelfTestEnd::Exited { code, took, stdout, stderr } => {
                let answer = output::shorten_to_one_line(stdout, 200);
                let answer = if answer.is_empty() { "no answer".to_owned() } else { format!("answers {answer}") };
                let shown_code = code.map_or("none (killed)".to_owned(), |code| code.to_string());
                let result = format!("exit code {shown_code}, {answer}, {} ms", took.as_millis());
                match code {
                    Some(0) => Ok(result),
                    Some(code) if self.agent.proof.denies_by_exit_code(*code) => Ok(result),
                    _ => Err(format!("{result}: {}", output::shorten_to_one_line(stderr, 200))),
                }
            }
        }
    }
}

/// Checks that the event is in the store.
fn verify_recorded(shown: &SelfTestOutcome) -> Result<String, String> {
    let mut recorder = EventRecorder::new(shown.sandbox.data_dir());
    let recorded = recorder.open_store_for_reading().and_then(|store| store.count_totals());
    match recorded {
        Ok(totals) if totals.events > 0 => Ok("recorded".into()),
        Ok(_) => Err("nothing was recorded".into()),
        Err(error) => Err(format!("nothing was recorded: {error}")),
    }
}

/// Checks that the call was denied, and that the guard's finding is in the store.
fn verify_denied(shown: &SelfTestOutcome) -> Result<String, String> {
    let SelfTestEnd::Exited { stdout, code, .. } = &shown.end else {
        return Err("it did not answer".into());
    };
    let answer: Value = serde_json::from_str(stdout).unwrap_or_default();
    let is_denied = |sign: &DenialSign| match sign {
        DenialSign::Member(pointer, value) => {
            let value: Option<Value> = serde_json::from_str(value).ok();
            value.is_some() && answer.pointer(pointer) == value.as_ref()
        }
        DenialSign::ExitCode(denial) => *code == Some(*denial),
    };
    if !shown.agent.proof.signs.iter().any(is_denied) {
        return Err(format!("`{FORBIDDEN_COMMAND}` is not denied, so the guard of that program does not work"));
    }
    let mut recorder = EventRecorder::new(shown.sandbox.data_dir());
    let said = recorder
        .open_store_for_reading()
        .and_then(|store| store.query_guard_log(&GuardFilter { limit: 1, ..GuardFilter::default() }));
    let rules: Vec<_> = said.into_iter().flatten().map(|entry| entry.verdict.rule).collect();
    match rules.first() {
        Some(rule) if shown.preset == GuardPreset::Audit => {
            Ok(format!("`{FORBIDDEN_COMMAND}` would be denied by {rule} (preset audit), and that is recorded"))
        }
        Some(rule) => Ok(format!("`{FORBIDDEN_COMMAND}` is denied by {rule}, and that is recorded")),
        None => Err(format!("`{FORBIDDEN_COMMAND}` is denied, but that is not recorded")),
    }
}

/// Checks that the event is at the receiver.
fn verify_received(shown: &SelfTestOutcome) -> Result<String, String> {
    let Some(request) = shown.receiver.wait_for_request() else {
        return Err("no event arrived at the test receiver".into());
    };
    let fields: Vec<_> = request.body.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if request.body["session_id"] != SESSION_ID {
        return Err(format!("another event arrived: {} with {}", request.line, fields.join(", ")));
    }
    let usual = "the default receiver".to_owned();
    Ok(format!(
        "arrived as {} with the fields {} (at a test receiver, used instead of {})",
        request.line,
        fields.join(", "),
        shown.named_receiver.clone().unwrap_or(usual)
    ))
}
