//! `snell trust`: which projects' hooks may run inside agents.

mod context_requests;
mod guard_requests;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use snell::{Diagnostic, GuardApproval, Hook, ProjectFile, Severity, TrustStatus, TrustStore, UserMessage, read_file};

use self::guard_requests::ProjectGuardRequest;
use super::{DONE, FAILED};
use crate::env::ConfigArgs;
use crate::handlers::find_project_context_files;
use crate::output::hook::{HookJsonView, trust_status_name};
use crate::output::{self, CommandError, Spinner, TableColumn, TextTable};
use crate::trust_file::TrustUpdate;

/// A larger file is not a hook file, so it cannot be trusted.
const MAX_PINNED_BYTES: u64 = 4 * 1024 * 1024;

/// Let a project's hooks run inside agents, until their files change
///
/// An agent runs Snell in every directory that you open, even in a repository that you cloned a minute ago. There, the hooks in
/// the project's own files run only after this command. It shows every hook that it trusts, the project's settings for the
/// guard, and the files that it gives to sessions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell trust\n  snell trust ~/work --revoke\n  snell trust --list")]
pub(crate) struct Args {
    /// Project directory [default: the nearest project upwards]
    ///
    /// The nearest directory upwards with a snell.toml or .git.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Also trust files that only hosts read
    ///
    /// Agents read only snell.toml and borrowed files. Hosts that pass --require-trust read the files of every format.
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    all: bool,
    /// Stop trusting all files in this directory and below
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List trusted projects
    #[arg(long, conflicts_with = "directory")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Use the settings of this home directory [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// The trusted files, as JSON.
#[derive(Serialize)]
struct TrustReport<'a> {
    directory: &'a Path,
    files: Vec<TrustedFileView<'a>>,
    /// The project's settings for the guard.
    guard: &'a [ProjectGuardRequest<'a>],
    /// Files of the project that sessions may get, whatever they contain.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    context_files: &'a [PathBuf],
    moved_aside: Option<PathBuf>,
    diagnostics: &'a [Diagnostic],
}

/// A file that is now trusted, as JSON.
#[derive(Serialize)]
struct TrustedFileView<'a> {
    path: &'a Path,
    contract: &'a str,
    sha256: &'a str,
    /// The status before.
    was: &'static str,
    /// The context files that it gives to sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<context_requests::ProjectContextRequest>,
    hooks: Vec<TrustedHookView<'a>>,
}

/// A hook that is now trusted, as JSON.
#[derive(Serialize)]
struct TrustedHookView<'a> {
    #[serde(flatten)]
    hook: HookJsonView<'a>,
    /// The headers of an HTTP hook.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    headers: &'a [(String, String)],
    /// The variables that headers may name.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allowed_env_vars: &'a [String],
}

impl<'a> TrustedHookView<'a> {
    fn from_hook(hook: &'a Hook) -> Self {
        Self {
            hook: HookJsonView::new(hook, Some(true)),
            headers: hook.headers(),
            allowed_env_vars: hook.allowed_env_vars(),
        }
    }

    /// Everything that the hook does, in one line: its condition runs too, and its headers leave the machine.
    fn format_command(&self) -> String {
        let mut text = self.hook.command.clone();
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let parts = [
            ("if", self.hook.condition.map(str::to_owned)),
            ("headers", join_if_any(headers.collect())),
            ("allowedEnvVars", join_if_any(self.allowed_env_vars.to_vec())),
        ];
        for (name, part) in parts {
            if let Some(part) = part {
                text.push_str(&format!("  [{name}: {part}]"));
            }
        }
        text
    }
}

/// The texts joined with commas; nothing if there are none.
fn join_if_any(parts: Vec<String>) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The files that are no longer trusted, as JSON.
#[derive(Serialize)]
struct RevokeReport {
    directory: PathBuf,
    revoked: Vec<PathBuf>,
    moved_aside: Option<PathBuf>,
}

/// A project with trusted files, as JSON.
#[derive(Serialize)]
struct TrustedProjectView {
    directory: PathBuf,
    files: Vec<PinnedFileView>,
}

/// A trusted file, as JSON.
#[derive(Serialize)]
struct PinnedFileView {
    path: PathBuf,
    state: &'static str,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.list {
        list_projects(args)
    } else if args.revoke {
        revoke_trust(args)
    } else {
        trust_project(args)
    }
}

fn trust_project(args: &Args) -> anyhow::Result<u8> {
    let around = ConfigArgs::new(args.directory.clone(), args.home.clone());
    let directory = around.resolve_project()?;
    let builder = around.engine_builder_with_trust()?;
    let builder = if args.all { builder.survey_all() } else { builder.survey() };
    let spinner = Spinner::start("reading hook files");
    let (engine, diagnostics) = builder.load();
    drop(spinner);
    // The content that is shown is pinned, even if the files change meanwhile.
    let files = engine.project_files();
    let settings = engine.settings();
    let requests = guard_requests::collect_guard_requests(&settings.guard, &files);
    let context_files = find_project_context_files(&settings.context, &directory);
    // Then programs may run the project's own code without a question.
    let approves_code = settings.guard.approve == GuardApproval::Project;
    let mut moved_aside = None;
    if !files.is_empty() || !context_files.is_empty() || approves_code {
        let resolved = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        let pin_all = |trust: &mut TrustStore| {
            files.iter().for_each(|file| trust.pin_file(file));
            trust.trust_project(resolved);
        };
        moved_aside = around.trust_file().update(pin_all)?.moved_aside;
    }
    let unreadable = diagnostics.iter().filter(|found| is_unreadable_project_file(found, &files)).count();
    if args.json {
        output::print_json(&TrustReport {
            directory: &directory,
            files: files.iter().map(to_trusted_file_view).collect(),
            guard: &requests,
            context_files: &context_files,
            moved_aside,
            diagnostics: &diagnostics,
        })?;
    } else {
        note_moved_trust_file(moved_aside.as_deref());
        diagnostics.iter().for_each(output::print_diagnostic);
        print_trusted(&directory, &files, &requests);
        context_requests::print_context_files(&directory, &context_files);
        let shown = directory.display();
        if approves_code {
            output::print_line(&format!(
                "The guard approves builds and tests in {shown}, which run its own code (approve = \"project\")."
            ));
        } else if files.is_empty() && context_files.is_empty() {
            output::print_line(&format!("Nothing to trust in {shown}: no file there has hooks for agents."));
        }
    }
    if unreadable > 0 {
        output::print_warning("files that cannot be parsed are not trusted");
        return Ok(FAILED);
    }
    Ok(DONE)
}

/// Whether the finding is an error in a file of the project that is not in `files`, because it cannot be parsed.
fn is_unreadable_project_file(found: &Diagnostic, files: &[ProjectFile]) -> bool {
    let is_in_project = !found.path.starts_with(['/', '~']);
    found.severity == Severity::Error && is_in_project && files.iter().all(|file| file.display_path != found.path)
}

fn to_trusted_file_view(file: &ProjectFile) -> TrustedFileView<'_> {
    TrustedFileView {
        path: &file.path,
        contract: file.contract,
        sha256: &file.sha256,
        was: trust_status_name(file.status),
        context: context_requests::collect_context_requests(file),
        hooks: file.hooks.iter().map(|hook| TrustedHookView::from_hook(hook)).collect(),
    }
}

fn print_trusted(directory: &Path, files: &[ProjectFile], requests: &[ProjectGuardRequest<'_>]) {
    let shown = directory.display();
    if files.is_empty() {
        return;
    }
    let mut table = TextTable::new([
        TableColumn::new("EVENT"),
        TableColumn::new("MATCHER"),
        TableColumn::new("COMMAND"),
        TableColumn::new("SOURCE"),
    ]);
    for hook in files.iter().flat_map(|file| &file.hooks) {
        let trusted = TrustedHookView::from_hook(hook);
        table.add_row([
            trusted.hook.events.join(","),
            trusted.hook.matcher.unwrap_or("-").to_owned(),
            trusted.format_command(),
            trusted.hook.location(),
        ]);
    }
    // Nothing is cut, so that a long line cannot hide anything.
    table.print_full_width();
    guard_requests::print_guard_requests(requests);
    context_requests::print_context_requests(files);
    output::print_line(&format!("Trusted in {shown}, until they change:"));
    for file in files {
        let before = match file.status {
            TrustStatus::Trusted => " (trusted before)",
            TrustStatus::Untrusted => "",
            TrustStatus::Changed => " (has changed since you trusted it)",
        };
        let hooks = output::format_count(file.hooks.len(), "hook");
        output::print_line(&format!("  {}: {hooks}{before}", file.display_path));
    }
}

fn revoke_trust(args: &Args) -> anyhow::Result<u8> {
    let around = ConfigArgs::new(None, args.home.clone());
    around.check_home_dir()?;
    let directory = match &args.directory {
        // A directory that does not exist any more can still be revoked.
        Some(directory) => {
            std::path::absolute(directory).with_context(|| format!("cannot find {}", directory.display()))?
        }
        None => find_trusted_directory(&around)?,
    };
    let directory = directory.canonicalize().unwrap_or(directory);
    let TrustUpdate { answer, moved_aside } = around.trust_file().update(|trust| trust.revoke_directory(&directory))?;
    if args.json {
        output::print_json(&RevokeReport { directory, revoked: answer, moved_aside })?;
        return Ok(DONE);
    }
    note_moved_trust_file(moved_aside.as_deref());
    if answer.is_empty() {
        output::print_line(&format!("No file in {} was trusted.", directory.display()));
    }
    for path in &answer {
        output::print_line(&format!("{} is no longer trusted.", path.display()));
    }
    Ok(DONE)
}

/// The directory to revoke if none is named: the current one if any file in it or below is trusted, even if the file is gone;
/// else the project around it.
fn find_trusted_directory(config_args: &ConfigArgs) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir()
        .context(CommandError::new("the current directory does not exist any more").with_hint("name a directory"))?;
    let here = here.canonicalize().unwrap_or(here);
    let projects = config_args.trust_file().load_or_empty().group_by_project();
    if projects.keys().any(|directory| directory.starts_with(&here)) {
        return Ok(here);
    }
    config_args.resolve_project()
}

fn list_projects(args: &Args) -> anyhow::Result<u8> {
    let around = ConfigArgs::new(None, args.home.clone());
    around.check_home_dir()?;
    let pins = around.trust_file();
    let trust = pins.load_or_empty();
    if let Some(fault) = trust.fault() {
        let mut message = UserMessage::new(format!("no file is trusted: {fault}"));
        if pins.will_be_moved_aside() {
            message = message.with_hint("the next `snell trust` moves the file aside");
        }
        return Err(CommandError::from(message).into());
    }
    let state = |path: &Path| match read_file(path, MAX_PINNED_BYTES).map(|content| trust.check_content(path, &content))
    {
        Ok(TrustStatus::Trusted) => "trusted",
        Ok(_) => "changed",
        Err(_) => "gone",
    };
    let projects = trust.group_by_project().into_iter().map(|(directory, files)| {
        let files = files.into_iter().map(|path| PinnedFileView { state: state(&path), path });
        TrustedProjectView { directory, files: files.collect() }
    });
    let projects: Vec<_> = projects.collect();
    if args.json {
        output::print_json(&projects)?;
        return Ok(DONE);
    }
    if projects.is_empty() {
        output::print_line("No project is trusted.");
        return Ok(DONE);
    }
    output::start_paging();
    let mut table =
        TextTable::new([TableColumn::new("PROJECT").flexible(), TableColumn::new("FILE"), TableColumn::new("STATE")]);
    for project in &projects {
        if project.files.is_empty() {
            table.add_row([project.directory.display().to_string(), "-".to_owned(), "context files".to_owned()]);
        }
        for file in &project.files {
            let inside = file.path.strip_prefix(&project.directory).unwrap_or(&file.path);
            table.add_row([
                project.directory.display().to_string(),
                inside.display().to_string(),
                file.state.to_owned(),
            ]);
        }
    }
    table.print();
    Ok(DONE)
}

fn note_moved_trust_file(aside: Option<&Path>) {
    if let Some(aside) = aside {
        output::print_warning(format!(
            "trust.json could not be parsed, so no file was trusted, and it was moved to {}",
            aside.display()
        ));
    }
}
