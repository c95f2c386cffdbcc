//! `snell hook`: the command that agents call. It judges the event, answers in the agent's own format, and records what
//! happened.
//!
//! A failure of Snell must not become a failure of the agent: it is reported on standard error, and the exit code stays 0.
//! Exit code 2 is for denials that cannot be delivered any other way: if the agent does not read the answer, or Snell does not
//! know the agent's format.
//!
//! A tool call is always judged: `arguments` ignores invalid arguments, invalid variables have a default, and `failure` answers
//! if Snell itself fails.

mod answers;
mod arguments;
mod backups;
mod failure;
mod foreign_call;
mod headless;
mod notices;
mod payload;
mod pipeline;
mod project;
mod stdin_probe;
mod stop_loop_guard;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Instant;

use snell::{AgentProduct, Event, EventName, StderrUse, SupportLevel, UserMessage};

use super::{BLOCKED, DONE};
use crate::env::env_vars::EnvVars;
use crate::guard::catch_panic;
use crate::handlers::DecodeProblem;
use crate::output;
use crate::process::faults;
use pipeline::{HookPipeline, HookSetup};

/// Answer an agent that calls Snell as one of its hooks
///
/// Reads the agent's payload from standard input, runs the built-in handlers and the hooks of snell.toml, records the
/// event, and answers in the agent's format. If there is nothing to say, it prints no answer.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Example, in .claude/settings.json:\n  \
    {\"hooks\": {\"PreToolUse\": [\n    \
      {\"hooks\": [{\"type\": \"command\", \"command\": \"snell hook --agent claude\"}]}\n  \
    ]}}")]
pub(crate) struct Args {
    /// The calling agent, unless the payload shows another [default: detected from the payload and the environment]
    #[arg(long, value_name = "NAME", value_parser = agent_names())]
    agent: Option<String>,
    /// Arguments that were ignored.
    #[arg(skip)]
    mistakes: Vec<UserMessage>,
}

pub(super) fn agent_names() -> clap::builder::PossibleValuesParser {
    AgentProduct::fully_supported().map(|product| product.name).collect::<Vec<_>>().into()
}

/// The event of an agent, and the agent that sent it.
struct HookCall {
    product: &'static AgentProduct,
    event: Event,
    decode_problem: Option<DecodeProblem>,
    /// The working directory of this process, if the event names none.
    added_cwd: Option<PathBuf>,
    project: PathBuf,
    vars: EnvVars,
}

impl HookCall {
    /// The first steps: read the payload, identify the agent, decode the event. Nothing if the agent's own file calls Snell too.
    fn from_stdin(args: &Args) -> anyhow::Result<Option<Self>> {
        let vars = EnvVars::read();
        let payload = payload::read_payload()?;
        let product = AgentProduct::identify(&payload.fields, &|name| vars.text(name), args.agent.as_deref());
        if product.stderr == StderrUse::ShownToUser {
            output::mute_messages();
        }
        if payload.problem.is_none()
            && foreign_call::is_answered_by_own_file(product, args.agent.as_deref(), &payload.fields)
        {
            return Ok(None);
        }
        let mut event = product.decode(payload.event_name, payload.fields)?;
        let added_cwd = event.cwd.is_none().then(std::env::current_dir).and_then(Result::ok);
        event.cwd = event.cwd.or_else(|| added_cwd.clone());
        if product.support == SupportLevel::Full {
            event.platform.get_or_insert_with(|| product.name.to_owned());
        }
        let project = project::find_event_project(&event, product, &vars);
        Ok(Some(Self { product, event, decode_problem: payload.problem, added_cwd, project, vars }))
    }

    fn session_id(&self) -> &str {
        self.event.session_id.as_deref().unwrap_or_default()
    }
}

/// Judges the event on standard input. Returns the exit code. Neither an invalid argument nor a panic lets a tool call go
/// unjudged.
pub(crate) fn run(args: &Args) -> u8 {
    let started = Instant::now();
    output::set_called_by_agent();
    for mistake in &args.mistakes {
        faults::report_fault(mistake.clone());
    }
    let call = match catch_panic::catch_panic(|| HookCall::from_stdin(args)) {
        Ok(Ok(Some(call))) => call,
        Ok(Ok(None)) => return DONE,
        Ok(Err(error)) => {
            output::print_error(&error);
            return DONE;
        }
        Err(place) => {
            failure::report_panic(&place);
            return BLOCKED;
        }
    };
    let replied = Cell::new(None);
    catch_panic::catch_panic(|| handle_call(&call, started, &replied)).unwrap_or_else(|place| {
        failure::report_panic(&place);
        replied.get().unwrap_or_else(|| failure::reply_after_panic(&call))
    })
}

/// The steps after decoding. Once the agent has its answer, `replied` holds the exit code.
fn handle_call(call: &HookCall, started: Instant, replied: &Cell<Option<u8>>) -> u8 {
    let setup = HookSetup::load_config(call);
    let mut pipeline = HookPipeline::new(call, &setup);
    pipeline.run_builtin_handlers();
    pipeline.fire_hooks();
    // Without the session, the call is still judged.
    let _ = catch_panic::catch_panic(|| pipeline.note_session());
    if let Some(plan) = pipeline.plan_request() {
        return pipeline.ask_elsewhere(plan, started, replied);
    }
    pipeline.settle_headless_question();
    pipeline.save_lost_files();
    pipeline.append_notices();
    let is_request = call.event.name == EventName::PermissionRequest;
    let answers_request = is_request && pipeline.is_approved();
    let code = pipeline.reply(started);
    replied.set(Some(code));
    pipeline.prune_backups();
    if answers_request {
        pipeline.record_approved_request()
    } else {
        pipeline.record()
    }
    code
}
