//! `snell guard`: what the guard makes of calls, why, by which rules, and of what was recorded.

mod call_args;
mod check;
mod explain;
mod json_lines;
mod location;
mod policy_lists;
mod project_guards;
mod render;
mod replay;
mod rules;
mod wire;

/// Judge tool calls as the guard does, and see by which rules
///
/// Nothing is run and nothing is changed: the guard reads what a command would do.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard check 'rm -rf build'\n  snell guard explain 'x=rm; $x -rf ~'\n  \
    snell guard rules --tier secret\n  snell guard replay --since 7d --preset strict")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: GuardCommand,
}

#[derive(Debug, clap::Subcommand)]
enum GuardCommand {
    Check(check::Args),
    Explain(explain::Args),
    Rules(rules::Args),
    Replay(replay::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.command {
        GuardCommand::Check(args) => check::run(args),
        GuardCommand::Explain(args) => explain::run(args),
        GuardCommand::Rules(args) => rules::run(args),
        GuardCommand::Replay(args) => replay::run(args),
    }
}
