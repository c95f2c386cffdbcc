//! Taking Snell out of an agent's settings.

use std::path::PathBuf;

use serde::Serialize;

use super::forwarding::Script;
use super::{Target, difference, faulty};
use crate::install::disk::{self, Access, Seen};
use crate::install::document::Document;
use crate::install::entry::Way;
use crate::install::plan::{self, Before};
use crate::install::remembered::{Installed, Remembered, before};
use crate::install::survey;

/// What was undone, or would be.
#[derive(Debug, Serialize)]
pub(crate) struct Removal {
    pub(crate) agent: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) changed: bool,
    /// Whether the file says again, to the last byte, what it said before; not if somebody has changed it since.
    pub(crate) restored: bool,
    /// Whether the file is gone, because it was not there before.
    pub(crate) removed: bool,
    /// The script that was removed.
    pub(crate) script: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
    pub(crate) dry_run: bool,
    /// What changes, as a unified diff.
    pub(crate) diff: String,
}

/// Removes Snell.
pub(crate) fn uninstall(target: &Target, dry_run: bool) -> anyhow::Result<Removal> {
    let path = target.path();
    let program = target.program.to_string_lossy().into_owned();
    let mut done = Removal {
        agent: target.agent.name,
        file: path.clone(),
        changed: false,
        restored: false,
        removed: false,
        script: None,
        warnings: Vec::new(),
        dry_run,
        diff: String::new(),
    };
    let seen = Seen::look(&path)?;
    let document = Document::parse(seen.text.as_deref().unwrap_or_default()).map_err(|fault| faulty(&seen, &fault))?;
    let own = survey::own(&document, &program);
    if own.is_empty() {
        done.warnings = elsewhere(target);
        return Ok(done);
    }
    let installed = if dry_run {
        Installed::look(&target.data)
    } else {
        Installed::open(&target.data)?
    };
    let known = installed.of(&path);
    let mut was = before(known.as_ref(), seen.text.as_deref());
    if matches!(was, Before::Known(None)) && seen.is_link() {
        // It was made by Snell, and its owner has moved it elsewhere since: it is his now.
        was = Before::Unknown;
    }
    done.restored = matches!(was, Before::Known(_));
    let text = plan::uninstall(&document, &was, &program).map_err(|fault| faulty(&seen, &fault))?;
    let was_made = known.as_ref().is_some_and(|known| known.before.is_none()) && !seen.is_link();
    let text = text.filter(|text| !(was_made && text.trim().is_empty()));
    done.changed = true;
    done.removed = text.is_none();
    done.diff = difference(&path, seen.text.as_deref(), text.as_deref());
    let script = Script::of(target, &program, None);
    if own.iter().any(|handler| handler.way == Some(Way::Notify)) {
        let fate = script.fate(target, &installed)?;
        done.script = fate.removed;
        done.warnings.extend(fate.kept_because);
    }
    if dry_run {
        return Ok(done);
    }
    match &text {
        Some(text) => seen.replace(text, Access::Private)?,
        None => seen.remove()?,
    }
    if let Some(known) = &known {
        tidy_up(known, text.as_deref(), &mut done);
    }
    installed.forget(&path);
    if done.script.is_some() {
        script.put_back(&installed)?;
    }
    if let Some(known) = &known {
        // The script may have been the last thing in them.
        disk::remove_directories(&known.made);
    }
    Ok(done)
}

/// A copy that says nothing else than the file itself is not needed any more.
fn tidy_up(known: &Remembered, text: Option<&str>, done: &mut Removal) {
    let Some(backup) = &known.backup else {
        return;
    };
    match std::fs::read_to_string(backup) {
        Ok(copy) if Some(copy.as_str()) == text => {
            if let Err(error) = std::fs::remove_file(backup) {
                done.warnings.push(format!("{} stays: {error}", backup.display()));
            }
        }
        Ok(_) => {
            let shown = backup.display();
            done.warnings
                .push(format!("the file as it was before Snell is still in {shown}"));
        }
        Err(_) => {}
    }
}

fn elsewhere(target: &Target) -> Vec<String> {
    let found = target.elsewhere().into_iter().map(|(scope, path, _)| {
        let undo = target.to_undo(scope);
        format!("Snell is installed in {}; to remove it there: {undo}", path.display())
    });
    found.collect()
}
