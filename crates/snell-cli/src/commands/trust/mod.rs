//! `snell trust`: which projects' hooks may run where Snell is a guest.

mod context_requests;
mod guard_requests;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;
use snell::{Diagnostic, Hook, ProjectFile, Severity, TrustStatus, TrustStore, read_file};

use self::guard_requests::ProjectGuardRequest;
use super::{DONE, FAILED};
use crate::env::ConfigArgs;
use crate::output::hook::{HookJsonView, trust_status_name};
use crate::output::{self, TextTable};
use crate::trust_file::TrustUpdate;

/// A larger file is no hook configuration, and so was not trusted.
const MAX_PINNED_BYTES: u64 = 4 * 1024 * 1024;

/// Let a project's hooks run where Snell is a guest, as long as their files stay as they are
///
/// As a guest Snell sits in every directory that you open, also in one that was cloned a minute ago. There, the hooks in
/// the project's own files run only after this command. It shows every hook that it trusts,
/// what the project wants the guard to do, and which files it wants sessions to get.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell trust\n  snell trust ~/work --revoke\n  snell trust --list")]
pub(crate) struct Args {
    /// The project [default: the nearest directory upwards with a snell.toml or .git]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Trust files of every agent, not only those that count for a guest: for hosts that require trust
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    all: bool,
    /// End the trust in all files of this directory and below
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// Show every project that is trusted
    #[arg(long, conflicts_with = "directory")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The home directory whose settings apply [default: $HOME]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// What was trusted, for programs.
#[derive(Serialize)]
struct TrustReport<'a> {
    directory: &'a Path,
    files: Vec<TrustedFileView<'a>>,
    /// What the project wants of the guard.
    guard: &'a [ProjectGuardRequest<'a>],
    moved_aside: Option<PathBuf>,
    diagnostics: &'a [Diagnostic],
}

/// A file that was trusted, for programs.
#[derive(Serialize)]
struct TrustedFileView<'a> {
    path: &'a Path,
    contract: &'a str,
    sha256: &'a str,
    /// What it was before.
    was: &'static str,
    /// What it wants sessions to get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<context_requests::ProjectContextRequest>,
    hooks: Vec<TrustedHookView<'a>>,
}

/// A hook that was trusted, for programs.
#[derive(Serialize)]
struct TrustedHookView<'a> {
    #[serde(flatten)]
    hook: HookJsonView<'a>,
    /// What a request carries beside the event.
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

    /// All that it does, in one line: a condition is run as well, and headers leave the machine.
    fn format_command(&self) -> String {
        let mut whole = self.hook.command.clone();
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let parts = [
            ("if", self.hook.condition.map(str::to_owned)),
            ("headers", join_if_any(headers.collect())),
            ("allowedEnvVars", join_if_any(self.allowed_env_vars.to_vec())),
        ];
        for (name, part) in parts {
            if let Some(part) = part {
                whole.push_str(&format!("  [{name}: {part}]"));
            }
        }
        whole
    }
}

/// Several as one text; nothing if there are none.
fn join_if_any(parts: Vec<String>) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What was revoked, for programs.
#[derive(Serialize)]
struct RevokeReport {
    directory: PathBuf,
    revoked: Vec<PathBuf>,
    moved_aside: Option<PathBuf>,
}

/// A project in which files are trusted, for programs.
#[derive(Serialize)]
struct TrustedProjectView {
    directory: PathBuf,
    files: Vec<PinnedFileView>,
}

/// A trusted file, for programs.
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
    let (engine, diagnostics) = builder.load();
    // What was read here is what is shown and what is pinned, whatever the files say by now.
    let files = engine.project_files();
    let settings = engine.settings();
    let wishes = guard_requests::collect_guard_requests(&settings.guard, &files);
    let mut moved_aside = None;
    if !files.is_empty() {
        let pin_all = |trust: &mut TrustStore| files.iter().for_each(|file| trust.pin_file(file));
        moved_aside = around.trust_file().update(pin_all)?.moved_aside;
    }
    let left_out = diagnostics.iter().filter(|found| is_unreadable_project_file(found, &files)).count();
    if args.json {
        output::print_json(&TrustReport {
            directory: &directory,
            files: files.iter().map(to_trusted_file_view).collect(),
            guard: &wishes,
            moved_aside,
            diagnostics: &diagnostics,
        })?;
    } else {
        note_moved_trust_file(moved_aside.as_deref());
        diagnostics.iter().for_each(output::print_diagnostic);
        print_trusted(&directory, &files, &wishes);
    }
    if left_out > 0 {
        output::print_warning("files that cannot be read are not trusted");
        return Ok(FAILED);
    }
    Ok(DONE)
}

/// Whether it is about a file of the project that could not be read, and so is none of those that are trusted.
fn is_unreadable_project_file(found: &Diagnostic, files: &[ProjectFile]) -> bool {
    let of_the_project = !found.path.starts_with(['/', '~']);
    found.severity == Severity::Error && of_the_project && files.iter().all(|file| file.display_path != found.path)
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

fn print_trusted(directory: &Path, files: &[ProjectFile], wishes: &[ProjectGuardRequest<'_>]) {
    let shown = directory.display();
    if files.is_empty() {
        output::print_line(&format!("Nothing in {shown} needs to be trusted: no file of it runs hooks for a guest."));
        return;
    }
    let mut table = TextTable::new(["EVENT", "MATCHER", "COMMAND", "SOURCE"], 2);
    for hook in files.iter().flat_map(|file| &file.hooks) {
        let trusted = TrustedHookView::from_hook(hook);
        table.add_row([
            trusted.hook.events.join(","),
            trusted.hook.matcher.unwrap_or("-").to_owned(),
            trusted.format_command(),
            trusted.hook.location(),
        ]);
    }
    // Nothing may hide at the end of a long line.
    table.print_full_width();
    guard_requests::print_guard_requests(wishes);
    context_requests::print_context_requests(files);
    output::print_line(&format!("Trusted in {shown}, as long as they stay as they are:"));
    for file in files {
        let before = match file.status {
            TrustStatus::Trusted => " (as before)",
            TrustStatus::Untrusted => "",
            TrustStatus::Changed => " (changed since it was trusted)",
        };
        let hooks = output::format_count(file.hooks.len(), "hook");
        output::print_line(&format!("  {}: {hooks}{before}", file.display_path));
    }
}

fn revoke_trust(args: &Args) -> anyhow::Result<u8> {
    let around = ConfigArgs::new(None, args.home.clone());
    around.check_home_dir()?;
    let directory = match &args.directory {
        // Trust in a directory that is gone can still be ended.
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
        output::print_line(&format!("Nothing in {} was trusted.", directory.display()));
    }
    for path in &answer {
        output::print_line(&format!("{} is no longer trusted.", path.display()));
    }
    Ok(DONE)
}

/// The directory whose trust is to be ended if none was named: this one if anything in it or below is trusted, also if it is
/// gone, else the project around it.
fn find_trusted_directory(config_args: &ConfigArgs) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("the current directory is gone; name one")?;
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
        let fate = if pins.will_be_moved_aside() { "; the next `snell trust` moves it aside" } else { "" };
        bail!("nothing is trusted: {fault}{fate}");
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
    let mut table = TextTable::new(["PROJECT", "FILE", "STATE"], 0);
    for project in &projects {
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
            "trust.json could not be understood, so nothing was trusted; it is now {}",
            aside.display()
        ));
    }
}
