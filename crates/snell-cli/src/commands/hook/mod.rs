//! `snell hook`: what agents call. Judges the event, answers in the agent's own words, records what happened.
//!
//! Whatever goes wrong here is Snell's own trouble and must not become the agent's: it is told on standard error in one
//! line, and the exit code stays 0. Only a verdict that cannot be delivered any other way ends with 2: to an agent that does
//! not read what is written, or whose words Snell does not know.
//!
//! A tool call is always judged: `arguments` reads the command line as far as it can be understood, faults of variables have
//! a default that counts instead, and `failure` answers where Snell itself fails.

mod arguments;
mod failure;
mod payload;
mod project;
mod stdin_probe;
mod stop_loop_guard;
mod unsupported;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::anyhow;
use snell::{Decision, Diagnostic, Engine, Event, EventName, Guest, Severity, Timestamp, Verdict};
use snell_store::{DecisionRecord, EventRecord, PendingEvent};

use super::{BLOCKED, DONE, adopt_orphans, block_on, has_hook_for_event};
use crate::env::caller::CallerEnv;
use crate::env::{ConfigArgs, read_variable};
use crate::guard::catch_panic;
use crate::handlers::{self, AgentReminder, DecodeProblem, HandlerContext};
use crate::output;
use crate::process::faults;
use crate::record::record_event::HookRecorder;
use crate::trust_file::gone;

/// Answer an agent that calls Snell as one of its hooks
///
/// Reads the agent's payload from standard input, runs the built-in handlers and the hooks of snell.toml, records what
/// happened, and answers as that agent expects. An event that nobody objects to gets no answer at all.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Example, in .claude/settings.json:\n  \
    {\"hooks\": {\"PreToolUse\": [\n    \
      {\"hooks\": [{\"type\": \"command\", \"command\": \"snell hook --agent claude\"}]}\n  \
    ]}}")]
pub(crate) struct Args {
    /// Which agent calls, unless the payload shows another [default: whoever payload and environment show]
    #[arg(long, value_name = "NAME", value_parser = guest_names())]
    agent: Option<String>,
    /// Arguments that cannot be understood.
    #[arg(skip)]
    mistakes: Vec<String>,
}

fn guest_names() -> clap::builder::PossibleValuesParser {
    Guest::all_guests().iter().map(|guest| guest.name).collect::<Vec<_>>().into()
}

/// A call of an agent: what it is about, and who calls.
struct HookCall {
    event: Event,
    decode_problem: Option<DecodeProblem>,
    guest: Option<&'static Guest>,
    /// The working directory, where the event does not name it.
    added_cwd: Option<PathBuf>,
    project: PathBuf,
}

impl HookCall {
    fn from_stdin(args: &Args) -> anyhow::Result<Self> {
        let (mut event, unread) = payload::read_event_from_stdin()?;
        let guest = match &args.agent {
            Some(name) => Guest::find_registered(name, &event.raw),
            None => Guest::identify_caller(&event.raw, &read_variable),
        };
        // A call under a name that no agent with an answer has, such as `pre_tool_use`: another agent reads the same settings.
        let is_foreign = |event: &Event| {
            matches!(event.name, EventName::Other(_)) && Guest::decode_fallback_call(&event.raw).is_some()
        };
        let guest = guest.filter(|_| !is_foreign(&event));
        if guest.is_none() {
            let told = || Guest::decode_fallback_call(&event.raw)?.cwd;
            event.cwd = event.cwd.take().or_else(told).filter(|cwd| cwd.is_absolute());
        }
        let added_cwd = event.cwd.is_none().then(std::env::current_dir).and_then(Result::ok);
        event.cwd = event.cwd.or_else(|| added_cwd.clone());
        Ok(Self { project: project::find_event_project(&event), event, decode_problem: unread, guest, added_cwd })
    }
}

/// Judges the event on standard input and answers with the exit code. A fault in the arguments or a panic never ends in a tool
/// call that is not judged.
pub(crate) fn run(args: &Args) -> u8 {
    let started = Instant::now();
    output::never_wait_for_stderr();
    for mistake in &args.mistakes {
        faults::report_fault(format!("{mistake}; the event is judged all the same"));
    }
    let call = match catch_panic::catch_panic(|| HookCall::from_stdin(args)) {
        Ok(Ok(call)) => call,
        Ok(Err(error)) => {
            output::print_error(&error);
            return DONE;
        }
        Err(place) => {
            failure::report_panic(&place);
            return BLOCKED;
        }
    };
    let answered = Cell::new(None);
    catch_panic::catch_panic(|| handle_call(&call, started, &answered)).unwrap_or_else(|place| {
        failure::report_panic(&place);
        answered.get().unwrap_or_else(|| failure::reply_after_panic(&call))
    })
}

/// Judges, answers and records. Once the agent has its answer, `answered` holds the exit code.
fn handle_call(call: &HookCall, started: Instant, answered: &Cell<Option<u8>>) -> u8 {
    let (mut event, unread, project) = (call.event.clone(), call.decode_problem.as_ref(), &call.project);
    let caller = CallerEnv::from_env();
    let (engine, findings) = load_engine(call.guest, project);
    let settings = engine.settings();
    let mut recording = HookRecorder::new(&caller, &settings, &findings);
    let mut observation = EventRecord::new(&event, caller.now.unwrap_or_else(Timestamp::now));
    observation.sender = caller.build_sender(call.guest);
    observation.sender.cwd.clone_from(&call.added_cwd);
    observation.sender.context_window = settings.context_window;
    let Some(guest) = call.guest else {
        let now = observation.at;
        let sender = observation.sender.clone();
        let occasion = HandlerContext {
            event: &event,
            decode_problem: unread,
            sender: &sender,
            project,
            settings: &settings,
            now,
        };
        return unsupported::answer_unsupported_agent(&occasion, observation, recording, started);
    };
    if let Some(unread) = unread {
        output::print_note(&format!("cannot read all of the event {}: {}", event.name.as_str(), unread.why));
    }
    // Hooks take their time, and meanwhile the agent may lose its patience with us.
    let concerned = has_hook_for_event(&engine, &event);
    let mut note = concerned.then(|| recording.write_pending(&observation)).flatten();
    event.platform.get_or_insert_with(|| guest.name.to_owned());
    let occasion = HandlerContext {
        event: &event,
        decode_problem: unread,
        sender: &observation.sender,
        project,
        settings: &settings,
        now: observation.at,
    };
    let handlers::HandlerOutcome { mut verdict, reminder, guard_run: mut hearing } =
        handlers::run_handlers(&occasion, &mut recording);
    if concerned {
        adopt_orphans();
        // Without descriptors the runtime panics, and what the guard said must not be lost to that.
        match catch_panic::catch_panic(|| block_on(engine.fire(event.clone()))) {
            Ok(Ok(said)) => {
                verdict = verdict.merge_later(said);
                if engine.is_too_deep() {
                    failure::ask_after_hook_failure(
                        &anyhow!("SNELL_DEPTH says that hooks called each other"),
                        &mut verdict,
                    );
                }
            }
            Ok(Err(error)) => failure::ask_after_hook_failure(&error, &mut verdict),
            Err(place) => failure::ask_after_hook_failure(&anyhow!("failed at {place}"), &mut verdict),
        }
        handlers::rerun_on_changed_input(&occasion, hearing.as_mut(), &mut verdict);
    }
    // What could not be remembered would be told again and again.
    let is_told_once = !reminder.record.is_empty();
    if is_told_once && note.is_none() {
        note = recording.write_pending(&observation);
    }
    let is_told = can_reach_agent(&verdict) && (note.is_some() || !is_told_once);
    let reminder = if is_told { reminder } else { AgentReminder::default() };
    verdict.context.splice(0..0, reminder.texts);
    add_fault_notices(&findings, &event, &caller, &mut verdict);
    add_untrusted_notices(&engine, &findings, &event, &caller, &mut verdict);
    add_missing_file_notices(&event, project, &mut verdict);
    for warning in &verdict.warnings {
        output::print_note(&warning.to_string());
    }
    stop_loop_guard::limit_stop_blocks(&event, &mut verdict, &caller);
    let mut judgement = DecisionRecord::from_verdict(&verdict, started.elapsed());
    judgement.reminded = reminder.record;
    judgement.guard = hearing.map(|hearing| hearing.to_records()).unwrap_or_default();
    judgement.goes_on = is_stop_continued(&event, &verdict);
    observation.judgement = Some(judgement);
    // While its hooks ran, other events may have been stored.
    observation.delayed = concerned;
    let reply = guest.encode_reply(&event, &verdict);
    let mut code = reply.exit_code;
    if let Some(line) = reply.stdout {
        // Once the agent has its answer it may end us at any moment.
        if let Some(judged) = recording.write_pending(&observation) {
            // It is masked and cut there, so there is less of it to hand over.
            observation = EventRecord { delayed: observation.delayed, ..judged.observation.clone() };
            note.replace(judged).into_iter().for_each(PendingEvent::remove);
        }
        if let Some(reason) = write_reply(&line, &verdict) {
            code = BLOCKED;
            observation.judgement.iter_mut().for_each(|kept| kept.override_with_refusal(&reason));
        }
    }
    answered.set(Some(code));
    recording.record(observation, note);
    code
}

/// Tells the agent. What must not be lost and cannot be heard this way is told by exit code: then the answer is why.
fn write_reply(line: &str, verdict: &Verdict) -> Option<String> {
    let matters = verdict.decision > Decision::Allow || verdict.tool_input.is_some();
    let error = if matters && output::is_stdout_discarded() {
        anyhow!("cannot write the answer: standard output is closed, or leads nowhere")
    } else {
        output::write_answer(line).err()?
    };
    if !matters {
        output::print_error(&error);
        return None;
    }
    let unsaid = match verdict.decision {
        Decision::Deny => "blocked",
        Decision::Ask => "blocked, because nobody can be asked",
        Decision::None | Decision::Allow => "blocked, because a hook has changed the tool's input",
    };
    let why = verdict.reason.clone().unwrap_or_else(|| unsaid.into());
    output::print_error(&error.context(why.clone()));
    Some(why)
}

/// The engine with what counts here: our own files, and what they borrow. Without any, the guard judges by its defaults.
fn load_engine(guest: Option<&'static Guest>, project: &Path) -> (Engine, Vec<Diagnostic>) {
    let builder = CallerEnv::engine_builder(project.to_owned())
        .or_else(|error| {
            faults::report_fault(format!("{error:#}"));
            CallerEnv::engine_builder("/".into())
        })
        .unwrap_or_else(|_| Engine::builder());
    let builder = match guest {
        Some(guest) => builder.guest(guest),
        // Nobody can be answered in full, so no hook runs; our own settings count all the same.
        None => builder.survey(),
    };
    builder.load()
}

/// A file whose hooks do not run because nobody trusts it is never passed over in silence. Its user is told once in each
/// session, and again when the file changes.
fn add_untrusted_notices(
    engine: &Engine,
    findings: &[Diagnostic],
    event: &Event,
    caller: &CallerEnv,
    verdict: &mut Verdict,
) {
    let withheld = engine.untrusted_files();
    if withheld.is_empty() {
        return;
    }
    let files = engine.project_files();
    for file in withheld {
        let content = files.iter().find(|known| known.path == file.path).map(|known| known.sha256.as_str());
        let session = event.session_id.as_deref().unwrap_or_default();
        let key = [session, &file.path.to_string_lossy(), content.unwrap_or_default(), trust_status_name(file.status)];
        if caller.claim_once(&key) {
            let finding = findings.iter().find(|found| found.path == file.display_path);
            let why = finding.map_or("is not trusted", |found| found.message.as_str());
            verdict.add_message(format!("Snell: {} {why}", file.display_path));
        }
    }
}

/// A trusted file that is gone has no hooks any more. Its user is told when a session starts.
fn add_missing_file_notices(event: &Event, project: &Path, verdict: &mut Verdict) {
    if event.name != EventName::SessionStart {
        return;
    }
    for path in ConfigArgs::for_guest(project.to_owned()).trust_file().missing_files(project) {
        verdict.add_message(format!(
            "Snell: {}; {}",
            gone::missing_file_message(&path),
            gone::missing_file_remedy(project)
        ));
    }
}

/// What trust says about a file, as a part of what was told.
fn trust_status_name(judgement: snell::TrustStatus) -> &'static str {
    match judgement {
        snell::TrustStatus::Trusted => "trusted",
        snell::TrustStatus::Untrusted => "untrusted",
        snell::TrustStatus::Changed => "changed",
    }
}

/// A file that cannot be read has no hooks, and its user believes that it has. That is told once in each session, and so are
/// faults of variables and arguments.
fn add_fault_notices(findings: &[Diagnostic], event: &Event, caller: &CallerEnv, verdict: &mut Verdict) {
    let session = event.session_id.as_deref().unwrap_or_default();
    for fault in findings.iter().filter(|found| found.severity == Severity::Error) {
        let fault = fault.to_string();
        output::print_note(&fault);
        if caller.claim_once(&["fault", session, &fault]) {
            verdict.add_message(format!("Snell: {fault}"));
        }
    }
    for fault in faults::reported_faults() {
        if caller.claim_once(&["fault", session, &fault]) {
            verdict.add_message(format!("Snell: {fault}"));
        }
    }
}

/// Whether what is told with an event reaches the agent: not with a prompt that is blocked.
fn can_reach_agent(verdict: &Verdict) -> bool {
    verdict.event != EventName::UserPromptSubmit || !verdict.is_blocked()
}

/// Whether an agent that is about to stop is told something that makes it go on.
fn is_stop_continued(event: &Event, verdict: &Verdict) -> bool {
    let stops = matches!(event.name, EventName::Stop | EventName::SubagentStop);
    stops && event.stop_hook_active != Some(true) && !verdict.context.is_empty()
}
