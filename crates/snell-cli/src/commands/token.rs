//! `snell token`: tokens of people and machines for the receiver.

use snell::Timestamp;
use snell_server::{AccessRole, NamedToken, NamedTokens, TokenFileError, TokenSummary};

use super::DONE;
use crate::env::ConfigArgs;
use crate::output::time::format_elapsed;
use crate::output::{self, CommandError, TableColumn, TextTable};
use crate::record::open_store::StoreHandle;
use crate::session_arg;

/// The longest name in a table.
const SHOWN_CELLS: usize = 60;

const NO_TOKENS: &str = "No tokens. To create one: snell token create NAME --role look";

/// Give people and machines tokens of their own for the receiver
///
/// A receiver that runs uses changes at once. Only digests of tokens are stored. An agent cannot create or revoke tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell token create ada --role answer\n  snell token revoke ada")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TokenCommand {
    Create(CreateArgs),
    List(TokenListArgs),
    Revoke(RevokeArgs),
}

/// Create a token, and print it
///
/// It is shown only now. `send` is for machines: it sends events. `look` reads, `answer` also answers requests, `administer` does
/// all of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell token create ada --role answer\n  \
    snell token create build-17 --role send > build-17.token")]
struct CreateArgs {
    /// The person or the machine
    #[arg(value_name = "NAME")]
    name: String,
    /// Its rights
    #[arg(long, value_name = "ROLE", value_parser = clap::builder::PossibleValuesParser::new(AccessRole::names()))]
    role: String,
}

/// List the tokens, without the tokens themselves
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell token list\n  snell token list --json | jq -r '.[].name'")]
struct TokenListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Revoke a token: it is refused from the next request on
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell token revoke build-17")]
struct RevokeArgs {
    /// The name or the id
    #[arg(value_name = "NAME")]
    name: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let tokens = NamedTokens::in_directory(&ConfigArgs::new(None, None).data_dir());
    match &args.command {
        TokenCommand::Create(args) => {
            refuse_agents()?;
            let role = AccessRole::parse(&args.role).unwrap_or(AccessRole::Look);
            let issued = tokens.create(&args.name, role, Timestamp::now()).map_err(explain)?;
            // Only the token goes to stdout, so that it can be written to a file.
            output::print_note(format!("the token of {} ({role}), which is shown only now:", args.name));
            output::print_line(&issued.text);
        }
        TokenCommand::List(args) => {
            let tokens = tokens.list().map_err(explain)?;
            if args.json {
                output::print_json(&tokens.iter().map(TokenSummary::from).collect::<Vec<_>>())?;
            } else if tokens.is_empty() {
                output::print_line(NO_TOKENS);
            } else {
                build_table(&tokens, Timestamp::now()).print();
            }
        }
        TokenCommand::Revoke(args) => {
            refuse_agents()?;
            let revoked = tokens.revoke(&args.name).map_err(explain)?;
            output::print_line(&format!("Revoked: {} ({}, {}).", revoked.name, revoked.role, revoked.id));
        }
    }
    Ok(DONE)
}

/// A token that an agent makes could answer the agent's own requests.
fn refuse_agents() -> anyhow::Result<()> {
    if session_arg::is_below_agent(&mut StoreHandle::open()?)? {
        let message = CommandError::new("an agent cannot create or revoke tokens");
        return Err(message.with_hint("run this command in a terminal of your own").into());
    }
    Ok(())
}

fn explain(error: TokenFileError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => CommandError::new(snell_store::format_error_chain(&error)).with_hint(hint).into(),
        None => error.into(),
    }
}

fn build_table(tokens: &[NamedToken], now: Timestamp) -> TextTable<4> {
    let mut table = TextTable::new([
        TableColumn::new("NAME").flexible(),
        TableColumn::new("ROLE"),
        TableColumn::new("CREATED").with_drop_rank(1),
        TableColumn::new("ID").with_drop_rank(2),
    ]);
    for token in tokens {
        table.add_row([
            output::shorten_to_one_line(&token.name, SHOWN_CELLS),
            token.role.to_string(),
            format!("{} ago", format_elapsed(token.created_at, now)),
            token.id.clone(),
        ]);
    }
    table
}
