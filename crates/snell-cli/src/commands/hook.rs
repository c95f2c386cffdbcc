//! `snell hook`: what agents call. Judges the event, answers in the agent's own words, records what happened.
//!
//! Whatever goes wrong here is Snell's own trouble and must not become the agent's: it is told on standard error in one
//! line, and the exit code stays 0. Only a verdict that cannot be delivered any other way ends with 2.

use std::path::{Path, PathBuf};
use std::time::Instant;

use snell::{Decision, Diagnostic, Engine, Event, EventName, Guest, Severity, Timestamp, Verdict};
use snell_store::{Judgement, Observation};

use super::run::payload_from_stdin;
use super::{BLOCKED, DONE, adopt_orphans, block_on};
use crate::around::variable;
use crate::caller::Caller;
use crate::output;
use crate::recording::Recording;

/// How often in a row hooks may keep an agent from ending its turn, unless the agent's own setting says otherwise.
const STOP_CAP: u32 = 8;

/// Answer an agent that calls Snell as one of its hooks
///
/// Reads the agent's payload from standard input, runs the built-in handlers and the hooks of snell.toml, records what
/// happened, and answers as that agent expects. An event that nobody objects to gets no answer at all.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Example, in .claude/settings.json:\n  \
    {\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"snell hook\"}]}]}}\n\n\
    Exit codes: 0, whatever happens to Snell itself; 2 only if a block cannot be told on standard output.")]
pub(crate) struct Args {
    /// Which agent calls [default: whoever the payload shows]
    #[arg(long, value_name = "NAME", value_parser = guest_names())]
    agent: Option<String>,
}

fn guest_names() -> clap::builder::PossibleValuesParser {
    Guest::all().iter().map(|guest| guest.name).collect::<Vec<_>>().into()
}

/// Never fails: its caller is in the middle of something.
pub(crate) fn run(args: &Args) -> u8 {
    match answer(args) {
        Ok(code) => code,
        Err(error) => {
            output::error(&error);
            DONE
        }
    }
}

fn answer(args: &Args) -> anyhow::Result<u8> {
    let started = Instant::now();
    let caller = Caller::look()?;
    let (mut event, _) = Event::from_json(None, &payload_from_stdin()?)?;
    event.cwd = event.cwd.or_else(|| std::env::current_dir().ok());
    let guest = match &args.agent {
        Some(name) => Guest::by_name(name),
        None => Guest::recognise(&event.raw, &variable),
    };
    let (engine, findings) = engine_for(guest, &event)?;
    let mut recording = Recording::new(&caller, &engine);
    let mut verdict = match guest {
        Some(_) => judge(&engine, &event)?,
        None => Verdict::new(event.name.clone()),
    };
    tell_withheld(&engine, &findings, &event, &caller, &mut verdict);
    if event.name == EventName::Stop && verdict.is_blocked() {
        end_loop(&event, &mut verdict, &mut recording);
    }
    let mut observation = Observation::new(&event, caller.now.unwrap_or_else(Timestamp::now));
    observation.sender = caller.sender(guest);
    observation.judgement = Some(Judgement::of(&verdict, started.elapsed()));
    let Some(guest) = guest else {
        let who = Guest::stranger(&event.raw, &variable).unwrap_or("an agent that Snell does not know");
        output::note(&format!(
            "called by {who}, whom it cannot answer; the event is only recorded"
        ));
        recording.record(observation, None);
        return Ok(DONE);
    };
    let reply = guest.answer(&event, &verdict);
    let code = match reply.stdout {
        None => {
            recording.record(observation, None);
            reply.exit_code
        }
        Some(line) => {
            // Once the agent has its answer it may end us at any moment.
            let note = recording.write_down(&observation);
            let code = tell(&line, &verdict).unwrap_or(reply.exit_code);
            recording.record(observation, note);
            code
        }
    };
    Ok(code)
}

/// Tells the agent. A block that it cannot hear this way is told by exit code.
fn tell(line: &str, verdict: &Verdict) -> Option<u8> {
    let error = output::answer(line).err()?;
    if !verdict.is_blocked() {
        output::error(&error);
        return None;
    }
    output::error(&error.context(verdict.reason.clone().unwrap_or_else(|| "blocked".into())));
    Some(BLOCKED)
}

/// The engine with what counts here: our own files, and what they borrow.
fn engine_for(guest: Option<&'static Guest>, event: &Event) -> anyhow::Result<(Engine, Vec<Diagnostic>)> {
    let builder = Caller::engine(project_of(event))?;
    let builder = match guest {
        Some(guest) => builder.guest(guest),
        // Nobody can be answered, so no hook runs; our own settings count all the same.
        None => builder.survey(),
    };
    let (engine, findings) = builder.load();
    for found in findings.iter().filter(|found| found.severity == Severity::Error) {
        output::note(&found.to_string());
    }
    Ok((engine, findings))
}

/// The project as the agent has it, else the nearest directory that looks like one.
fn project_of(event: &Event) -> PathBuf {
    let told = variable("CLAUDE_PROJECT_DIR")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    if let Some(project) = told.or_else(|| event.project_dir.clone()) {
        return project;
    }
    Caller::project_at(event.cwd.as_deref().unwrap_or(Path::new("/")))
}

/// What the hooks say. Without one for this event there is nothing to start.
fn judge(engine: &Engine, event: &Event) -> anyhow::Result<Verdict> {
    let concerns = |hook: &std::sync::Arc<snell::Hook>| hook.events.contains(&event.name);
    if !engine.hooks().iter().any(concerns) {
        return Ok(Verdict::new(event.name.clone()));
    }
    adopt_orphans();
    block_on(engine.fire(event.clone()))
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
        let key = [session, &file.path.to_string_lossy(), content.unwrap_or_default()];
        if caller.is_first_time(&key) {
            let finding = findings.iter().find(|found| found.path == file.shown);
            let why = finding.map_or("is not trusted", |found| found.message.as_str());
            verdict.message(format!("Snell: {} {why}", file.shown));
        }
    }
}

/// Lets an agent end its turn that hooks have kept from it too often in a row.
fn end_loop(event: &Event, verdict: &mut Verdict, recording: &mut Recording) {
    let told = variable("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").and_then(|cap| cap.parse().ok());
    let cap: u32 = told.unwrap_or(STOP_CAP);
    let session = event.session_id.as_deref().unwrap_or_default();
    if cap == 0 || event.stop_hook_active != Some(true) || session.is_empty() {
        return;
    }
    let blocked = recording.stops_blocked(session);
    if blocked >= cap {
        verdict.decision = Decision::None;
        let reason = verdict.reason.take().unwrap_or_default();
        verdict.message(format!(
            "hooks have kept the agent going {blocked} times in a row, so it may stop now; the last reason was: {reason}"
        ));
    }
}
