//! `snell trust`: which projects' hooks may run where Snell is a guest.

mod context;
mod guard;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;
use snell::{Diagnostic, Hook, Judgement, ProjectFile, Severity, Trust, read_file};

use self::guard::Wish;
use super::{DONE, FAILED};
use crate::around::Around;
use crate::hook_view::HookView;
use crate::output::{self, Table};
use crate::pins::Changed;

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
struct Trusted<'a> {
    directory: &'a Path,
    files: Vec<TrustedFile<'a>>,
    /// What the project wants of the guard.
    guard: &'a [Wish<'a>],
    moved_aside: Option<PathBuf>,
    diagnostics: &'a [Diagnostic],
}

/// A file that was trusted, for programs.
#[derive(Serialize)]
struct TrustedFile<'a> {
    path: &'a Path,
    contract: &'a str,
    sha256: &'a str,
    /// What it was before.
    was: &'static str,
    /// What it wants sessions to get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<context::Wish>,
    hooks: Vec<TrustedHook<'a>>,
}

/// A hook that was trusted, for programs.
#[derive(Serialize)]
struct TrustedHook<'a> {
    #[serde(flatten)]
    hook: HookView<'a>,
    /// What a request carries beside the event.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    headers: &'a [(String, String)],
    /// The variables that headers may name.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allowed_env_vars: &'a [String],
}

impl<'a> TrustedHook<'a> {
    fn of(hook: &'a Hook) -> Self {
        Self {
            hook: HookView::of(hook, Some(true)),
            headers: hook.headers(),
            allowed_env_vars: hook.allowed_env_vars(),
        }
    }

    /// All that it does, in one line: a condition is run as well, and headers leave the machine.
    fn whole(&self) -> String {
        let mut whole = self.hook.command.clone();
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let parts = [
            ("if", self.hook.condition.map(str::to_owned)),
            ("headers", listed(headers.collect())),
            ("allowedEnvVars", listed(self.allowed_env_vars.to_vec())),
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
fn listed(parts: Vec<String>) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What was revoked, for programs.
#[derive(Serialize)]
struct Revoked {
    directory: PathBuf,
    revoked: Vec<PathBuf>,
    moved_aside: Option<PathBuf>,
}

/// A project in which files are trusted, for programs.
#[derive(Serialize)]
struct Project {
    directory: PathBuf,
    files: Vec<PinnedFile>,
}

/// A trusted file, for programs.
#[derive(Serialize)]
struct PinnedFile {
    path: PathBuf,
    state: &'static str,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.list {
        list(args)
    } else if args.revoke {
        revoke(args)
    } else {
        trust(args)
    }
}

fn trust(args: &Args) -> anyhow::Result<u8> {
    let around = Around::of(args.directory.clone(), args.home.clone());
    let directory = around.project()?;
    let builder = around.engine_with_pins()?;
    let builder = if args.all {
        builder.survey_all()
    } else {
        builder.survey()
    };
    let (engine, diagnostics) = builder.load();
    // What was read here is what is shown and what is pinned, whatever the files say by now.
    let files = engine.project_files();
    let settings = engine.settings();
    let wishes = guard::wishes(&settings.guard, &files);
    let mut moved_aside = None;
    if !files.is_empty() {
        let pin_all = |trust: &mut Trust| files.iter().for_each(|file| trust.pin_file(file));
        moved_aside = around.pins().change(pin_all)?.moved_aside;
    }
    let left_out = diagnostics.iter().filter(|found| is_left_out(found, &files)).count();
    if args.json {
        output::json(&Trusted {
            directory: &directory,
            files: files.iter().map(for_programs).collect(),
            guard: &wishes,
            moved_aside,
            diagnostics: &diagnostics,
        })?;
    } else {
        tell_of_moving(moved_aside.as_deref());
        diagnostics.iter().for_each(output::diagnostic);
        show(&directory, &files, &wishes);
    }
    if left_out > 0 {
        output::note("what cannot be read cannot be trusted");
        return Ok(FAILED);
    }
    Ok(DONE)
}

/// Whether it is about a file of the project that could not be read, and so is none of those that are trusted.
fn is_left_out(found: &Diagnostic, files: &[ProjectFile]) -> bool {
    let of_the_project = !found.path.starts_with(['/', '~']);
    found.severity == Severity::Error && of_the_project && files.iter().all(|file| file.shown != found.path)
}

fn for_programs(file: &ProjectFile) -> TrustedFile<'_> {
    TrustedFile {
        path: &file.path,
        contract: file.contract,
        sha256: &file.sha256,
        was: match file.judgement {
            Judgement::Trusted => "trusted",
            Judgement::Untrusted => "untrusted",
            Judgement::Changed => "changed",
        },
        context: context::wishes(file),
        hooks: file.hooks.iter().map(|hook| TrustedHook::of(hook)).collect(),
    }
}

fn show(directory: &Path, files: &[ProjectFile], wishes: &[Wish<'_>]) {
    let shown = directory.display();
    if files.is_empty() {
        output::line(&format!(
            "Nothing in {shown} needs to be trusted: no file of it runs hooks for a guest."
        ));
        return;
    }
    let mut table = Table::new(["EVENT", "MATCHER", "COMMAND", "SOURCE"], 2);
    let hooks: Vec<_> = files.iter().flat_map(|file| &file.hooks).collect();
    for hook in &hooks {
        let trusted = TrustedHook::of(hook);
        table.row([
            trusted.hook.events.join(","),
            trusted.hook.matcher.unwrap_or("-").to_owned(),
            trusted.whole(),
            trusted.hook.place(),
        ]);
    }
    if !hooks.is_empty() {
        // Nothing may hide at the end of a long line.
        table.print_whole();
        output::line("");
    }
    guard::show(wishes);
    context::show(files);
    output::line(&format!("Trusted in {shown}, as long as they stay as they are:"));
    for file in files {
        let before = match file.judgement {
            Judgement::Trusted => " (as before)",
            Judgement::Untrusted => "",
            Judgement::Changed => " (changed since it was trusted)",
        };
        let hooks = output::count(file.hooks.len(), "hook");
        output::line(&format!("  {}: {hooks}{before}", file.shown));
    }
}

fn revoke(args: &Args) -> anyhow::Result<u8> {
    let around = Around::of(None, args.home.clone());
    around.check_home()?;
    let directory = match &args.directory {
        // Trust in a directory that is gone can still be ended.
        Some(directory) => {
            std::path::absolute(directory).with_context(|| format!("cannot find {}", directory.display()))?
        }
        None => whose_trust(&around)?,
    };
    let directory = directory.canonicalize().unwrap_or(directory);
    let Changed { answer, moved_aside } = around.pins().change(|trust| trust.revoke(&directory))?;
    if args.json {
        output::json(&Revoked {
            directory,
            revoked: answer,
            moved_aside,
        })?;
        return Ok(DONE);
    }
    tell_of_moving(moved_aside.as_deref());
    if answer.is_empty() {
        output::line(&format!("Nothing in {} was trusted.", directory.display()));
    }
    for path in &answer {
        output::line(&format!("{} is no longer trusted.", path.display()));
    }
    Ok(DONE)
}

/// The directory whose trust is to be ended if none was named: this one if anything in it or below is trusted, also if it is
/// gone, else the project around it.
fn whose_trust(around: &Around) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("the current directory is gone; name one")?;
    let here = here.canonicalize().unwrap_or(here);
    let projects = around.pins().read().projects();
    if projects.keys().any(|directory| directory.starts_with(&here)) {
        return Ok(here);
    }
    around.project()
}

fn list(args: &Args) -> anyhow::Result<u8> {
    let around = Around::of(None, args.home.clone());
    around.check_home()?;
    let pins = around.pins();
    let trust = pins.read();
    if let Some(fault) = trust.fault() {
        let fate = if pins.is_to_be_moved() {
            "; the next `snell trust` moves it aside"
        } else {
            ""
        };
        bail!("nothing is trusted: {fault}{fate}");
    }
    let state = |path: &Path| match read_file(path, MAX_PINNED_BYTES).map(|content| trust.judge(path, &content)) {
        Ok(Judgement::Trusted) => "trusted",
        Ok(_) => "changed",
        Err(_) => "gone",
    };
    let projects = trust.projects().into_iter().map(|(directory, files)| {
        let files = files.into_iter().map(|path| PinnedFile {
            state: state(&path),
            path,
        });
        Project {
            directory,
            files: files.collect(),
        }
    });
    let projects: Vec<_> = projects.collect();
    if args.json {
        output::json(&projects)?;
        return Ok(DONE);
    }
    if projects.is_empty() {
        output::line("No project is trusted.");
        return Ok(DONE);
    }
    let mut table = Table::new(["PROJECT", "FILE", "STATE"], 0);
    for project in &projects {
        for file in &project.files {
            let inside = file.path.strip_prefix(&project.directory).unwrap_or(&file.path);
            table.row([
                project.directory.display().to_string(),
                inside.display().to_string(),
                file.state.to_owned(),
            ]);
        }
    }
    table.print();
    Ok(DONE)
}

fn tell_of_moving(aside: Option<&Path>) {
    if let Some(aside) = aside {
        output::note(&format!(
            "trust.json could not be understood, so nothing was trusted; it is now {}",
            aside.display()
        ));
    }
}
