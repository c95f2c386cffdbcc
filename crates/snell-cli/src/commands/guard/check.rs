//! `snell guard check`: judges one call, or every call on standard input.

use std::io::IsTerminal;

use snell::UserMessage;
use snell_guard::GuardDecision;

use super::call_args::{GuardCallArgs, ToolCallRequest};
use super::location::GuardLocationArgs;
use super::wire::GuardAnswerWire;
use super::{json_lines, render};
use crate::commands::{BLOCKED, DONE, FAILED};
use crate::output::{self, CommandError};

/// Judge one call, or every call on stdin
///
/// Stdin has one JSON object per line: {"tool": …, "input": …, "cwd": …}. Each line gets one line as its answer, in the
/// same order: {"decision", "rule", "tier", "reason", "advice", "coverage"}. The names that agents use, tool_name and
/// tool_input, work too, and "cwd" is optional. The answer to an invalid line is {"error", "line"}.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    snell guard check 'git push --force'\n  \
    snell guard check --tool Write --input '{\"file_path\":\"/etc/hosts\"}' --json\n  \
    snell guard check --project ~/api < calls.jsonl | jq -r .decision")]
pub(crate) struct Args {
    #[command(flatten)]
    which: GuardCallArgs,
    /// Print JSON, as for calls on stdin
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: GuardLocationArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match args.which.parse_call()? {
        Some(call) => judge_one(args, &call),
        None if std::io::stdin().is_terminal() => {
            let hint =
                "pass a command (snell guard check 'ls -l'), a tool (--tool and --input), or JSON lines on stdin";
            Err(CommandError::new("no call to judge").with_hint(hint).into())
        }
        None => judge_stdin(args),
    }
}

fn judge_one(args: &Args, call: &ToolCallRequest) -> anyhow::Result<u8> {
    let mut places = args.place.resolve_locations()?;
    let (guard, cwd) = places.guard_for_cwd(None)?;
    let judgement = guard.for_agent(args.place.agent()).judge(&call.tool, &call.input, Some(cwd));
    let written = if args.json {
        output::print_json_line(&GuardAnswerWire::from_judgement(&judgement))
    } else {
        output::print_text(&render::render_judgement(call, &judgement));
        if args.place.agent().is_none() {
            output::print_text(&render::render_agent_hint(guard, call, cwd, &judgement));
        }
        Ok(())
    };
    // A denial exits with its own code even if the answer could not be printed.
    if judgement.decision == GuardDecision::Deny {
        if let Err(error) = written {
            output::print_error(&error);
        }
        return Ok(BLOCKED);
    }
    written.map(|()| DONE)
}

fn judge_stdin(args: &Args) -> anyhow::Result<u8> {
    let mut places = args.place.resolve_locations()?;
    let json_lines::JudgedLineCounts { all, bad } = json_lines::judge_lines(&mut places)?;
    if bad == 0 {
        return Ok(DONE);
    }
    let are = if bad == 1 { "is not a valid call" } else { "are not valid calls" };
    let warning = UserMessage::new(format!("{bad} of {all} lines {are}"));
    output::print_warning(warning.with_hint("read \"error\" in the answers to these lines"));
    Ok(FAILED)
}
