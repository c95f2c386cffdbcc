//! `snell config`: shows and changes the settings in `snell.toml`.

mod edit;
mod effective;

use std::path::PathBuf;

use serde::Serialize;

use super::DONE;
use crate::config_edit::{ConfigFileChange, quote_toml_string, remove_key, set_key};
use crate::install::apply::ChangeMode;
use crate::output::{self, CommandError, TableColumn, TextTable};
use crate::settings_file::check::refuse_new_findings;
use crate::settings_file::schema::{SettingKey, SettingSchema};
use crate::settings_file::{ProjectFileArgs, SnellToml, SnellTomlScope};
use effective::{EffectiveSettings, SettingRow};

/// Show or change the settings in snell.toml
///
/// A key has the name of its table and a dot before it, such as guard.preset. `set` and `unset` keep all comments and the order of the file,
/// and write only a valid file.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  snell config list\n  snell config set guard.preset strict\n  snell config edit")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigAction {
    List(ListArgs),
    Get(GetArgs),
    Set(SetArgs),
    Unset(UnsetArgs),
    Edit(edit::EditArgs),
    Path(PathArgs),
}

/// List all settings with their values, and where each is set
///
/// Includes your own snell.toml and that of the nearest project.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell config list\n  snell config list guard")]
struct ListArgs {
    /// Only keys that start with this name: guard
    #[arg(value_name = "KEY")]
    prefix: Option<String>,
    /// Only keys that a file sets
    #[arg(long)]
    set: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The project whose file applies [default: the nearest one]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// Print the value of a key: a string without quotes, other values as TOML
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell config get guard.preset")]
struct GetArgs {
    /// The key: keep, guard.preset, handlers.comms …
    #[arg(value_name = "KEY")]
    key: String,
    /// The project whose file applies [default: the nearest one]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// Set a key, if the file is still valid then
///
/// Comments, order and layout of the file are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell config set keep 90d\n  snell config set handlers.comms false\n  \
    snell config set guard.protect '[\"infra/production\"]'\n  snell config set --project guard.preset strict")]
struct SetArgs {
    /// The key: keep, guard.preset, handlers.comms …
    #[arg(value_name = "KEY")]
    key: String,
    /// The value in TOML; a string needs no quotes
    #[arg(value_name = "VALUE")]
    value: String,
    #[command(flatten)]
    place: ProjectFileArgs,
    /// Only show the change
    #[arg(long)]
    dry_run: bool,
}

/// Remove a key, so that its default applies
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell config unset guard.preset")]
struct UnsetArgs {
    /// The key: keep, guard.preset, handlers.comms …
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    place: ProjectFileArgs,
    /// Only show the change
    #[arg(long)]
    dry_run: bool,
}

/// Print the path of snell.toml, which may be missing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell config path --project")]
struct PathArgs {
    #[command(flatten)]
    place: ProjectFileArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        ConfigAction::List(args) => list_settings(args),
        ConfigAction::Get(args) => print_setting(args),
        ConfigAction::Set(args) => set_setting(args),
        ConfigAction::Unset(args) => unset_setting(args),
        ConfigAction::Edit(args) => edit::edit_file(args),
        ConfigAction::Path(args) => {
            output::print_line(&args.place.locate_file()?.path.display().to_string());
            Ok(DONE)
        }
    }
}

/// A setting, as JSON.
#[derive(Debug, Serialize)]
struct SettingReport<'r> {
    key: &'r str,
    /// As TOML.
    value: Option<&'r str>,
    #[serde(flatten)]
    origin: &'r effective::SettingOrigin,
}

fn list_settings(args: &ListArgs) -> anyhow::Result<u8> {
    let schema = SettingSchema::load()?;
    let settings = EffectiveSettings::load(args.project.clone())?;
    let prefix = args.prefix.as_deref().unwrap_or_default();
    let is_wanted = |row: &SettingRow| {
        let rest = row.key.strip_prefix(prefix);
        let is_below = rest.is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('.'));
        is_below && (row.is_set() || !args.set)
    };
    let rows: Vec<_> = settings.list_rows(&schema).into_iter().filter(is_wanted).collect();
    if rows.is_empty() && !args.set {
        // A key that does not exist is an error, with a suggestion.
        schema.find_key(prefix)?;
    }
    if args.json {
        let report = |row: &SettingRow| {
            serde_json::to_value(SettingReport { key: &row.key, value: row.value.as_deref(), origin: &row.origin })
        };
        let reports = rows.iter().map(report).collect::<Result<Vec<_>, _>>()?;
        output::print_json(&reports)?;
        return Ok(DONE);
    }
    let mut table = TextTable::new([
        TableColumn::new("KEY"),
        TableColumn::new("VALUE").flexible(),
        TableColumn::new("SET IN").with_drop_rank(1),
    ]);
    for row in rows {
        table.add_row([row.key.clone(), row.value.clone().unwrap_or_else(|| "–".into()), row.origin.describe()]);
    }
    table.print();
    Ok(DONE)
}

fn print_setting(args: &GetArgs) -> anyhow::Result<u8> {
    let schema = SettingSchema::load()?;
    let key = schema.find_key(&args.key)?;
    let settings = EffectiveSettings::load(args.project.clone())?;
    match settings.find_value(&key) {
        Some(value) => output::print_line(&value),
        None => {
            let problem = format!("\"{}\" is not set, and has no fixed default", args.key);
            return Err(CommandError::new(problem).with_hint("`snell docs configuration` explains it").into());
        }
    }
    Ok(DONE)
}

fn set_setting(args: &SetArgs) -> anyhow::Result<u8> {
    let schema = SettingSchema::load()?;
    let key = schema.find_key(&args.key)?;
    let value = parse_value(&key, &args.value)?;
    let path: Vec<_> = key.parts.iter().map(String::as_str).collect();
    let file = args.place.locate_file()?;
    let edit = |text: Option<&str>| set_key(text.unwrap_or_default(), &path, &value).map(Some);
    let change = ConfigFileChange::prepare(&file.path, edit)?;
    write_change(&file, &change, choose_mode(args.dry_run))
}

fn unset_setting(args: &UnsetArgs) -> anyhow::Result<u8> {
    let schema = SettingSchema::load()?;
    let key = schema.find_key(&args.key)?;
    let path: Vec<_> = key.parts.iter().map(String::as_str).collect();
    let file = args.place.locate_file()?;
    let edit = |text: Option<&str>| match text {
        Some(text) => Ok(Some(remove_key(text, &path)?.unwrap_or_else(|| text.to_owned()))),
        None => Ok(None),
    };
    let change = ConfigFileChange::prepare(&file.path, edit)?;
    write_change(&file, &change, choose_mode(args.dry_run))
}

fn choose_mode(is_dry_run: bool) -> ChangeMode {
    if is_dry_run { ChangeMode::DryRun } else { ChangeMode::Write }
}

/// Checks the new text, then writes or shows it.
fn write_change(file: &SnellToml, change: &ConfigFileChange, mode: ChangeMode) -> anyhow::Result<u8> {
    let (before, after) = (change.text_before().unwrap_or_default(), change.text_after().unwrap_or_default());
    if before == after {
        output::print_line(&format!("Nothing to do: {} stays as it is.", file.display_path));
        return Ok(DONE);
    }
    refuse_new_findings(file, before, after)?;
    if mode == ChangeMode::DryRun {
        output::print_diff(&change.diff());
        return Ok(DONE);
    }
    change.write()?;
    output::print_line(&format!("Changed {}", file.display_path));
    if file.scope == SnellTomlScope::Project {
        output::print_note("agents use the change after `snell trust`");
    }
    Ok(DONE)
}

/// The value as TOML. A word without quotes is a string, if the key can be one.
fn parse_value(key: &SettingKey<'_>, written: &str) -> anyhow::Result<String> {
    let parses = |value: &str| {
        snell::SpannedNode::from_toml(&format!("value = {value}")).is_ok_and(|root| {
            // A line break could start another key.
            root.members().is_some_and(|members| members.len() == 1)
        })
    };
    let is_quoted = written.starts_with(['"', '\'', '[', '{']) && parses(written);
    match key.takes_text() {
        true if is_quoted => Ok(written.to_owned()),
        true => Ok(quote_toml_string(written)),
        false if parses(written) => Ok(written.to_owned()),
        false => {
            let problem = format!("\"{written}\" is not a value for \"{}\"", key.name());
            Err(CommandError::new(problem).with_hint(format!("use {}", key.describe_form())).into())
        }
    }
}
