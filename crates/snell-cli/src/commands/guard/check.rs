//! `snell guard check`: what the guard makes of a call, or of every call on standard input.

use std::io::IsTerminal;

use anyhow::bail;
use snell_guard::Verdict;

use super::call::{Call, Which};
use super::place::Place;
use super::wire::Answer;
use super::{lines, shown};
use crate::commands::{BLOCKED, DONE, FAILED};
use crate::output;

/// Say what the guard makes of a call; without one, of every call on stdin
///
/// On stdin is a JSON object on each line, {"tool": …, "input": …, "cwd": …}, and each is answered by one line,
/// {"decision", "rule", "tier", "reason", "advice", "coverage"}, in the same order. An agent's own names, tool_name and
/// tool_input, are understood too, and "cwd" may be missing. A line that is no call is answered by {"error", "line"}.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    snell guard check 'git push --force'\n  \
    snell guard check --tool Write --input '{\"file_path\":\"/etc/hosts\"}' --json\n  \
    snell guard check --project ~/api < calls.jsonl | jq -r .decision")]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Print JSON, as for calls on stdin
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match args.which.read()? {
        Some(call) => one(args, &call),
        None if std::io::stdin().is_terminal() => bail!(
            "there is no call to judge; name a command (snell guard check 'ls -l'), a tool with --tool and --input, or \
             write a JSON object for each call to stdin"
        ),
        None => all(args),
    }
}

fn one(args: &Args, call: &Call) -> anyhow::Result<u8> {
    let mut places = args.place.look_and_tell()?;
    let (guard, cwd) = places.at(None)?;
    let judgement = guard.judge(&call.tool, &call.input, Some(cwd));
    let written = if args.json {
        output::json_line(&Answer::of(&judgement))
    } else {
        output::text(&shown::judged(call, &judgement));
        Ok(())
    };
    // A denial is one, also for whoever does not hear why.
    if judgement.decision == Verdict::Deny {
        if let Err(error) = written {
            output::error(&error);
        }
        return Ok(BLOCKED);
    }
    written.map(|()| DONE)
}

fn all(args: &Args) -> anyhow::Result<u8> {
    let mut places = args.place.look_and_tell()?;
    let lines::Counted { all, bad } = lines::judge_all(&mut places)?;
    if bad == 0 {
        return Ok(DONE);
    }
    let (are, no_calls) = if bad == 1 {
        ("is", "no call")
    } else {
        ("are", "no calls")
    };
    output::note(&format!(
        "{bad} of {all} lines {are} {no_calls}; the answers in their places say why"
    ));
    Ok(FAILED)
}
