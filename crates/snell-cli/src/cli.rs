//! What can be typed: the subcommands, and how a mistake in typing ends.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    DONE, FAILED, agents, completions, daemon, demo, docs, doctor, explain, export, guard, hook, install, lint, list,
    log, man, notify, run, serve, session, status, statusline, supervise, trust, uninstall, wake, worker,
};
use crate::{manual, output};

/// One hooks system for every coding agent
///
/// Snell reads the hook files of Wave, Claude Code, whale, the flat specification and its own snell.toml, runs each hook
/// under the contract it was written for, and decides.
#[derive(Debug, Parser)]
#[command(name = "snell", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Example:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}' \\\n    \
      | snell run PreToolUse\n\n\
    Exit codes: 0 go on, 2 blocked (run, hook, guard check), 1 anything else.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Run(run::Args),
    Hook(hook::Args),
    Notify(notify::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Doctor(doctor::Args),
    List(list::Args),
    Lint(lint::Args),
    Explain(explain::Args),
    Guard(guard::Args),
    Trust(trust::Args),
    Serve(serve::Args),
    Agents(agents::Args),
    Status(status::Args),
    Session(session::Args),
    Worker(worker::Args),
    Wake(wake::Args),
    Log(log::Args),
    Export(export::Args),
    Statusline(statusline::Args),
    Demo(demo::Args),
    Docs(docs::Args),
    Man(man::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Supervise(supervise::Args),
    // `scribe` and `forward` are the names of its jobs in earlier versions.
    #[command(hide = true, alias = "scribe")]
    Daemon(daemon::Args),
    #[command(hide = true)]
    Forward(daemon::Args),
}

/// Reads the command line. A mistake ends with 1, never with 2: to a host, 2 is a block. Under some agents any failure of a
/// hook is one, so `notify`, which only tells others, ends with 0 even then.
pub(crate) fn parse_command_line() -> Result<CliCommand, u8> {
    Cli::try_parse().map(|cli| cli.command).map_err(|error| {
        let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        let only_tells = std::env::args_os().nth(1).is_some_and(|command| command == "notify");
        output::print_clap_message(&expand_help(remove_hidden_suggestions(sanitize_error(error))));
        if let Some(hint) = suggest_quoted_command().filter(|_| !asked_for) {
            output::print_note(hint);
        }
        if asked_for || only_tells { DONE } else { FAILED }
    })
}

/// The same mistake, told so that no argument in it can steer a terminal or begin a line.
fn sanitize_error(error: clap::Error) -> clap::Error {
    let given: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let shown: Vec<_> = given.iter().map(|word| output::escape_invisible(word)).collect();
    if given == shown {
        return error;
    }
    match Cli::try_parse_from(shown) {
        Err(told) => told,
        // It was about what cannot be seen.
        Ok(_) => Cli::command().error(error.kind(), output::escape_invisible(&error.render().to_string())),
    }
}

/// The same mistake, without suggestions of what is hidden from people.
fn remove_hidden_suggestions(mut error: clap::Error) -> clap::Error {
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(near)) = error.get(kind) {
        let whole = Cli::command();
        let is_hidden = |name: &String| whole.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
        let near: Vec<_> = near.iter().filter(|name| !is_hidden(name)).cloned().collect();
        if near.is_empty() {
            error.remove(kind);
        } else {
            error.insert(kind, ContextValue::Strings(near));
        }
    }
    error
}

/// What to write instead, where the command that the guard is asked about is not one argument.
fn suggest_quoted_command() -> Option<String> {
    // Text that is not UTF-8 is no reason to stop here.
    let mut arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let asked = [arguments.next()?, arguments.next()?];
    let [guard, asked] = asked.each_ref().map(String::as_str);
    let words: Vec<_> = arguments.collect();
    let is_command = words.len() > 1 && words.first().is_some_and(|word| !word.starts_with('-'));
    if guard != "guard" || !["check", "explain"].contains(&asked) || !is_command {
        return None;
    }
    let command = words.join(" ").replace('\'', "'\\''");
    Some(format!("a command is one argument, so quote it: snell guard {asked} '{command}'"))
}

/// Help with all that is said only to those who ask for it.
fn expand_help(error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::DisplayHelp {
        return error;
    }
    let asked_again = manual::with_all_exit_codes(Cli::command()).try_get_matches();
    asked_again.err().unwrap_or(error)
}
