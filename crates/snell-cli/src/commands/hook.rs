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
mod looping;
mod project;
mod received;
mod strange;
mod unnamed;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::anyhow;
use snell::{Decision, Diagnostic, Engine, Event, EventName, Guest, Severity, Timestamp, Verdict};
use snell_store::{Judgement, Note, Observation};

use super::{BLOCKED, DONE, adopt_orphans, block_on, concerns_a_hook};
use crate::around::{Around, variable};
use crate::caller::Caller;
use crate::guard::quietly;
use crate::handlers::{self, Occasion, Reminder, Unread};
use crate::pins::gone;
use crate::recording::Recording;
use crate::{faults, output};

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
    Guest::all().iter().map(|guest| guest.name).collect::<Vec<_>>().into()
}

/// A call of an agent: what it is about, and who calls.
struct HookCall {
    event: Event,
    unread: Option<Unread>,
    guest: Option<&'static Guest>,
    /// The working directory, where the event does not name it.
    added_cwd: Option<PathBuf>,
    project: PathBuf,
}

impl HookCall {
    fn receive(args: &Args) -> anyhow::Result<Self> {
        let (mut event, unread) = received::receive()?;
        let guest = match &args.agent {
            Some(name) => Guest::registered(name, &event.raw),
            None => Guest::recognise(&event.raw, &variable),
        };
        // A call under a name that no agent with an answer has, such as `pre_tool_use`: another agent reads the same settings.
        let is_foreign =
            |event: &Event| matches!(event.name, EventName::Other(_)) && Guest::foreign_call(&event.raw).is_some();
        let guest = guest.filter(|_| !is_foreign(&event));
        if guest.is_none() {
            let told = || Guest::foreign_call(&event.raw)?.cwd;
            event.cwd = event.cwd.take().or_else(told).filter(|cwd| cwd.is_absolute());
        }
        let added_cwd = event.cwd.is_none().then(std::env::current_dir).and_then(Result::ok);
        event.cwd = event.cwd.or_else(|| added_cwd.clone());
        Ok(Self {
            project: project::of(&event),
            event,
            unread,
            guest,
            added_cwd,
        })
    }
}

/// Judges the event on standard input and answers with the exit code. A fault in the arguments or a panic never ends in a tool
/// call that is not judged.
pub(crate) fn run(args: &Args) -> u8 {
    let started = Instant::now();
    output::never_wait_for_stderr();
    for mistake in &args.mistakes {
        faults::report(format!("{mistake}; the event is judged all the same"));
    }
    let call = match quietly::run(|| HookCall::receive(args)) {
        Ok(Ok(call)) => call,
        Ok(Err(error)) => {
            output::error(&error);
            return DONE;
        }
        Err(place) => {
            failure::report(&place);
            return BLOCKED;
        }
    };
    let answered = Cell::new(None);
    quietly::run(|| answer(&call, started, &answered)).unwrap_or_else(|place| {
        failure::report(&place);
        answered.get().unwrap_or_else(|| failure::answer(&call))
    })
}

/// Judges, answers and records. Once the agent has its answer, `answered` holds the exit code.
fn answer(call: &HookCall, started: Instant, answered: &Cell<Option<u8>>) -> u8 {
    let (mut event, unread, project) = (call.event.clone(), call.unread.as_ref(), &call.project);
    let caller = Caller::look();
    let (engine, findings) = engine_for(call.guest, project);
    let settings = engine.settings();
    let mut recording = Recording::new(&caller, &settings, &findings);
    let mut observation = Observation::new(&event, caller.now.unwrap_or_else(Timestamp::now));
    observation.sender = caller.sender(call.guest);
    observation.sender.cwd.clone_from(&call.added_cwd);
    observation.sender.context_window = settings.context_window;
    let Some(guest) = call.guest else {
        let now = observation.at;
        let sender = observation.sender.clone();
        let occasion = Occasion {
            event: &event,
            unread,
            sender: &sender,
            project,
            settings: &settings,
            now,
        };
        return strange::answer(&occasion, observation, recording, started);
    };
    if let Some(unread) = unread {
        output::note(&format!(
            "cannot read all of the event {}: {}",
            event.name.as_str(),
            unread.why
        ));
    }
    // Hooks take their time, and meanwhile the agent may lose its patience with us.
    let concerned = concerns_a_hook(&engine, &event);
    let mut note = concerned.then(|| recording.write_down(&observation)).flatten();
    event.platform.get_or_insert_with(|| guest.name.to_owned());
    let occasion = Occasion {
        event: &event,
        unread,
        sender: &observation.sender,
        project,
        settings: &settings,
        now: observation.at,
    };
    let handlers::Said {
        mut verdict,
        reminder,
        mut hearing,
    } = handlers::ask(&occasion, &mut recording);
    if concerned {
        adopt_orphans();
        // Without descriptors the runtime panics, and what the guard said must not be lost to that.
        match quietly::run(|| block_on(engine.fire(event.clone()))) {
            Ok(Ok(said)) => {
                verdict = verdict.followed_by(said);
                if engine.is_too_deep() {
                    failure::end_without_hooks(&anyhow!("SNELL_DEPTH says that hooks called each other"), &mut verdict);
                }
            }
            Ok(Err(error)) => failure::end_without_hooks(&error, &mut verdict),
            Err(place) => failure::end_without_hooks(&anyhow!("failed at {place}"), &mut verdict),
        }
        handlers::ask_again(&occasion, hearing.as_mut(), &mut verdict);
    }
    // What could not be remembered would be told again and again.
    let is_told_once = !reminder.reminded.is_nothing();
    if is_told_once && note.is_none() {
        note = recording.write_down(&observation);
    }
    let is_told = is_heard(&verdict) && (note.is_some() || !is_told_once);
    let reminder = if is_told { reminder } else { Reminder::default() };
    verdict.context.splice(0..0, reminder.texts);
    tell_faults(&findings, &event, &caller, &mut verdict);
    tell_withheld(&engine, &findings, &event, &caller, &mut verdict);
    tell_gone(&event, project, &mut verdict);
    for warning in &verdict.warnings {
        output::note(&warning.to_string());
    }
    looping::end(&event, &mut verdict, &caller);
    let mut judgement = Judgement::of(&verdict, started.elapsed());
    judgement.reminded = reminder.reminded;
    judgement.guard = hearing.map(|hearing| hearing.recorded()).unwrap_or_default();
    judgement.goes_on = is_told_more(&event, &verdict);
    observation.judgement = Some(judgement);
    // While its hooks ran, other events may have been stored.
    observation.delayed = concerned;
    let reply = guest.answer(&event, &verdict);
    let mut code = reply.exit_code;
    if let Some(line) = reply.stdout {
        // Once the agent has its answer it may end us at any moment.
        if let Some(judged) = recording.write_down(&observation) {
            // It is masked and cut there, so there is less of it to hand over.
            observation = Observation {
                delayed: observation.delayed,
                ..judged.observation.clone()
            };
            note.replace(judged).into_iter().for_each(Note::remove);
        }
        if let Some(reason) = tell(&line, &verdict) {
            code = BLOCKED;
            observation
                .judgement
                .iter_mut()
                .for_each(|kept| kept.become_refusal(&reason));
        }
    }
    answered.set(Some(code));
    recording.record(observation, note);
    code
}

/// Tells the agent. What must not be lost and cannot be heard this way is told by exit code: then the answer is why.
fn tell(line: &str, verdict: &Verdict) -> Option<String> {
    let matters = verdict.decision > Decision::Allow || verdict.tool_input.is_some();
    let error = if matters && output::is_nowhere() {
        anyhow!("cannot write the answer: standard output is closed, or leads nowhere")
    } else {
        output::answer(line).err()?
    };
    if !matters {
        output::error(&error);
        return None;
    }
    let unsaid = match verdict.decision {
        Decision::Deny => "blocked",
        Decision::Ask => "blocked, because nobody can be asked",
        Decision::None | Decision::Allow => "blocked, because a hook has changed the tool's input",
    };
    let why = verdict.reason.clone().unwrap_or_else(|| unsaid.into());
    output::error(&error.context(why.clone()));
    Some(why)
}

/// The engine with what counts here: our own files, and what they borrow. Without any, the guard judges by its defaults.
fn engine_for(guest: Option<&'static Guest>, project: &Path) -> (Engine, Vec<Diagnostic>) {
    let builder = Caller::engine(project.to_owned())
        .or_else(|error| {
            faults::report(format!("{error:#}"));
            Caller::engine("/".into())
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
fn tell_withheld(engine: &Engine, findings: &[Diagnostic], event: &Event, caller: &Caller, verdict: &mut Verdict) {
    let withheld = engine.withheld();
    if withheld.is_empty() {
        return;
    }
    let files = engine.project_files();
    for file in withheld {
        let content = files
            .iter()
            .find(|known| known.path == file.path)
            .map(|known| known.sha256.as_str());
        let session = event.session_id.as_deref().unwrap_or_default();
        let key = [
            session,
            &file.path.to_string_lossy(),
            content.unwrap_or_default(),
            why(file.why),
        ];
        if caller.is_first_time(&key) {
            let finding = findings.iter().find(|found| found.path == file.shown);
            let why = finding.map_or("is not trusted", |found| found.message.as_str());
            verdict.message(format!("Snell: {} {why}", file.shown));
        }
    }
}

/// A trusted file that is gone has no hooks any more. Its user is told when a session starts.
fn tell_gone(event: &Event, project: &Path, verdict: &mut Verdict) {
    if event.name != EventName::SessionStart {
        return;
    }
    for path in Around::of_guest(project.to_owned()).pins().gone_from(project) {
        verdict.message(format!("Snell: {}; {}", gone::what(&path), gone::remedy(project)));
    }
}

/// What trust says about a file, as a part of what was told.
fn why(judgement: snell::Judgement) -> &'static str {
    match judgement {
        snell::Judgement::Trusted => "trusted",
        snell::Judgement::Untrusted => "untrusted",
        snell::Judgement::Changed => "changed",
    }
}

/// A file that cannot be read has no hooks, and its user believes that it has. That is told once in each session, and so are
/// faults of variables and arguments.
fn tell_faults(findings: &[Diagnostic], event: &Event, caller: &Caller, verdict: &mut Verdict) {
    let session = event.session_id.as_deref().unwrap_or_default();
    for fault in findings.iter().filter(|found| found.severity == Severity::Error) {
        let fault = fault.to_string();
        output::note(&fault);
        if caller.is_first_time(&["fault", session, &fault]) {
            verdict.message(format!("Snell: {fault}"));
        }
    }
    for fault in faults::reported() {
        if caller.is_first_time(&["fault", session, &fault]) {
            verdict.message(format!("Snell: {fault}"));
        }
    }
}

/// Whether what is told with an event reaches the agent: not with a prompt that is blocked.
fn is_heard(verdict: &Verdict) -> bool {
    verdict.event != EventName::UserPromptSubmit || !verdict.is_blocked()
}

/// Whether an agent that is about to stop is told something that makes it go on.
fn is_told_more(event: &Event, verdict: &Verdict) -> bool {
    let stops = matches!(event.name, EventName::Stop | EventName::SubagentStop);
    stops && event.stop_hook_active != Some(true) && !verdict.context.is_empty()
}
