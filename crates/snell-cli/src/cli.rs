//! The command line: the subcommands, and the messages about mistakes.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use snell::UserMessage;

use crate::commands::{
    DONE, FAILED, agents, answer, completions, config, daemon, demo, docs, doctor, explain, export, guard, hook, init,
    install, lint, list, log, man, notices, notify, requests, run, serve, service, session, status, statusline,
    supervise, token, trust, undo, uninstall, usage, wake, worker,
};
use crate::{manual, output};

/// One hooks system for every coding agent
///
/// Snell runs the hook files of Claude Code, Codex, Gemini CLI and other agents, and its own snell.toml, each hook by the rules
/// of its format and under every agent. `snell list --agents` shows what each agent supports.
#[derive(Debug, Parser)]
#[command(name = "snell", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_long_help = "Example:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}' \\\n    \
      | snell run PreToolUse\n\n\
    Exit codes: 0 success, 1 failure, 2 blocked (run, hook, guard check)")]
pub(crate) struct Cli {
    #[command(flatten)]
    display: DisplayArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// How output is shown, for every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Display")]
struct DisplayArgs {
    /// Show and read times in UTC, not in the local time zone
    #[arg(long, global = true, hide_short_help = true)]
    utc: bool,
    /// Print long output directly, not in a pager
    #[arg(long, global = true, hide_short_help = true)]
    no_pager: bool,
}

impl DisplayArgs {
    fn apply(&self) {
        if self.utc {
            output::time::use_utc();
        }
        if self.no_pager {
            output::pager::disable_pager();
        }
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Run(run::Args),
    Hook(hook::Args),
    Notify(notify::Args),
    Notices(notices::Args),
    Init(init::Args),
    Config(config::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Doctor(doctor::Args),
    List(list::Args),
    Lint(lint::Args),
    Explain(explain::Args),
    Guard(guard::Args),
    Trust(trust::Args),
    Undo(undo::Args),
    Serve(serve::Args),
    Service(service::Args),
    Token(token::Args),
    Agents(agents::Args),
    Requests(requests::Args),
    Answer(answer::Args),
    Status(status::Args),
    Session(session::Args),
    Worker(worker::Args),
    Wake(wake::Args),
    Log(log::Args),
    Usage(usage::Args),
    Export(export::Args),
    Statusline(statusline::Args),
    Demo(demo::Args),
    Docs(docs::Args),
    Man(man::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Supervise(supervise::Args),
    // Earlier versions called its jobs `scribe` and `forward`.
    #[command(hide = true, alias = "scribe")]
    Daemon(daemon::Args),
    #[command(hide = true)]
    Forward(daemon::Args),
}

/// Parses the command line. The exit code of a mistake is 1, never 2, because 2 blocks. It is 0 for `notify`, because some agents
/// treat any failure of a hook as a block.
pub(crate) fn parse_command_line() -> Result<CliCommand, u8> {
    let parsed = Cli::try_parse().map(|cli| {
        cli.display.apply();
        cli.command
    });
    parsed.map_err(|error| {
        let is_requested = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        let is_notify = std::env::args_os().nth(1).is_some_and(|command| command == "notify");
        output::print_clap_message(&expand_help(remove_hidden_suggestions(sanitize_error(error))));
        if let Some(note) = suggest_quoted_command().filter(|_| !is_requested) {
            output::print_note(note);
        }
        if is_requested || is_notify { DONE } else { FAILED }
    })
}

/// The error with invisible characters of its arguments escaped, so that they cannot control a terminal or start a line.
fn sanitize_error(error: clap::Error) -> clap::Error {
    let given: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let escaped: Vec<_> = given.iter().map(|word| output::escape_invisible(word)).collect();
    if given == escaped {
        return error;
    }
    match Cli::try_parse_from(escaped) {
        Err(error) => error,
        // The invisible characters were the mistake.
        Ok(_) => Cli::command().error(error.kind(), output::escape_invisible(&error.render().to_string())),
    }
}

/// The error without suggestions of hidden commands.
fn remove_hidden_suggestions(mut error: clap::Error) -> clap::Error {
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(near)) = error.get(kind) {
        let root = Cli::command();
        let is_hidden = |name: &String| root.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
        let near: Vec<_> = near.iter().filter(|name| !is_hidden(name)).cloned().collect();
        if near.is_empty() {
            error.remove(kind);
        } else {
            error.insert(kind, ContextValue::Strings(near));
        }
    }
    error
}

/// A note with the quoted command, if `snell guard check` or `explain` got a command in several arguments.
fn suggest_quoted_command() -> Option<UserMessage> {
    let mut arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (guard, subcommand) = (arguments.next()?, arguments.next()?);
    let words: Vec<_> = arguments.collect();
    let is_command = words.len() > 1 && words.first().is_some_and(|word| !word.starts_with('-'));
    if guard != "guard" || !["check", "explain"].contains(&subcommand.as_str()) || !is_command {
        return None;
    }
    let command = words.join(" ").replace('\'', "'\\''");
    let note = UserMessage::new("the command must be one argument");
    Some(note.with_hint(format!("quote it: snell guard {subcommand} '{command}'")))
}

/// Help with groups, exit codes and pages of the documentation, which a normal call does not build.
fn expand_help(error: clap::Error) -> clap::Error {
    if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        return error;
    }
    manual::with_full_help(Cli::command()).try_get_matches().err().unwrap_or(error)
}
