//! `snell config edit`: opens the file in the user's editor, and checks it afterwards.

use std::process::{Command, ExitStatus};

use snell::Severity;

use super::super::{DONE, FAILED};
use crate::env::{ConfigArgs, read_variable};
use crate::install::atomic_file::FileSnapshot;
use crate::install::handler::split_shell_words;
use crate::output::{self, CommandError};
use crate::process::question;
use crate::settings_file::check::check_text;
use crate::settings_file::{ProjectFileArgs, SnellToml, SnellTomlScope};

/// The editor if no variable names one.
const DEFAULT_EDITOR: &str = "vi";

/// Open the file in your editor, and check it afterwards
///
/// The editor is $VISUAL, else $EDITOR, else vi. If the file has errors then, you can edit it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell config edit\n  EDITOR='code --wait' snell config edit --project")]
pub(super) struct EditArgs {
    #[command(flatten)]
    place: ProjectFileArgs,
}

pub(super) fn edit_file(args: &EditArgs) -> anyhow::Result<u8> {
    let file = args.place.locate_file()?;
    if !FileSnapshot::load(&file.path)?.exists() {
        let command = match file.scope {
            SnellTomlScope::User => "snell init",
            SnellTomlScope::Project => "snell init --project",
        };
        let problem = format!("{} does not exist", file.display_path);
        return Err(CommandError::new(problem).with_hint(format!("create it: {command}")).into());
    }
    let editor = find_editor()?;
    loop {
        let status = run_editor(&editor, &file)?;
        if !status.success() {
            return Err(CommandError::new(format!("the editor `{}` failed: {status}", editor.join(" "))).into());
        }
        let text = FileSnapshot::load(&file.path)?.text.unwrap_or_default();
        let findings = check_text(&file, &text)?;
        findings.iter().for_each(output::print_diagnostic);
        let is_faulty = findings.iter().any(|found| found.severity == Severity::Error);
        if !is_faulty {
            output::print_line(&format!("{} is valid.", file.display_path));
            return Ok(DONE);
        }
        if !question::can_ask() || !question::ask_yes_or_no("Edit it again?")? {
            return Ok(FAILED);
        }
    }
}

/// The words of the editor's command.
fn find_editor() -> anyhow::Result<Vec<String>> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| Some((name, read_variable(name)?)));
    let Some((variable, line)) = named else {
        if question::can_ask() {
            return Ok(vec![DEFAULT_EDITOR.to_owned()]);
        }
        let error = CommandError::new("no editor is named, and there is no terminal");
        return Err(error.with_hint("set VISUAL or EDITOR to an editor").into());
    };
    let home = ConfigArgs::new(None, None).home_dir().unwrap_or_default();
    let words = split_shell_words(&line, &home.to_string_lossy()).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        let problem = format!("{variable} is not a command with arguments: {}", output::escape_invisible(&line));
        CommandError::new(problem).with_hint("use a program and its options, such as `code --wait`").into()
    })
}

fn run_editor(editor: &[String], file: &SnellToml) -> anyhow::Result<ExitStatus> {
    let (program, arguments) = editor.split_first().ok_or_else(|| CommandError::new("there is no editor"))?;
    Command::new(program).args(arguments).arg(&file.path).status().map_err(|error| {
        let problem = format!("cannot run the editor {program}: {error}");
        CommandError::new(problem).with_hint("set VISUAL or EDITOR to an editor").into()
    })
}
