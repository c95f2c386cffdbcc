//! `snell guard`: judges calls, explains decisions, lists rules, judges recorded calls again, tests entries and adds them.

mod allow;
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
mod test;
mod wire;

/// Judge tool calls with the guard and show its rules
///
/// These commands run no call: the guard analyses what a command would do. Only `allow` changes a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell guard check 'rm -rf build'\n  snell guard explain 'x=rm; $x -rf ~'\n  \
    snell guard rules --tier secret\n  snell guard replay --since 7d --preset strict\n  snell guard test\n  snell guard allow --last --dry-run")]
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
    Test(test::Args),
    Allow(allow::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.command {
        GuardCommand::Check(args) => check::run(args),
        GuardCommand::Explain(args) => explain::run(args),
        GuardCommand::Rules(args) => rules::run(args),
        GuardCommand::Replay(args) => replay::run(args),
        GuardCommand::Test(args) => test::run(args),
        GuardCommand::Allow(args) => allow::run(args),
    }
}
