//! The script of a machine that only forwards, on disk.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Target, difference};
use crate::install::disk::{self, Access, Seen};
use crate::install::entry::Way;
use crate::install::program;
use crate::install::remembered::{Installed, Remembered};
use crate::install::script;
use crate::install::signs::Signs;

/// The script as it is, and as it should be.
#[derive(Debug)]
pub(super) struct Script {
    path: PathBuf,
    text: String,
}

/// What was there before a script was written.
#[derive(Debug)]
pub(super) struct Replaced {
    was: Was,
    known: Option<Remembered>,
}

/// A script as it was.
#[derive(Debug)]
struct Was {
    text: Option<String>,
    mode: Option<u32>,
    /// The directories that were made for ours.
    made: Vec<PathBuf>,
}

/// What becomes of the script.
#[derive(Debug, Default)]
pub(super) struct Fate {
    pub(super) removed: Option<PathBuf>,
    /// It is again what somebody else wrote.
    pub(super) restored: Option<PathBuf>,
    pub(super) kept_because: Option<String>,
}

impl Fate {
    pub(super) fn is_decided(&self) -> bool {
        self.removed.is_some() || self.restored.is_some()
    }
}

impl Script {
    /// The script that forwards to this receiver; if none is named, to the one that it forwards to already.
    pub(super) fn of(target: &Target, program: &str, url: Option<&str>) -> Self {
        let own_path = target.agent.script(&target.around);
        let url = url.map(str::to_owned).or_else(|| receiver_in(&own_path));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let curl = std::env::split_paths(&path)
            .map(|directory| directory.join("curl"))
            .find(|curl| program::is_runnable(curl));
        Self {
            text: script::text(program, curl.as_deref(), url.as_deref()),
            path: own_path,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as it is registered.
    pub(super) fn path_text(&self) -> anyhow::Result<&str> {
        let shown = self.path.display();
        self.path
            .to_str()
            .with_context(|| format!("{shown} is not UTF-8 text, which a settings file has to be"))
    }

    pub(super) fn is_to_be_written(&self) -> bool {
        let is_right = disk::read_text(&self.path).is_some_and(|text| text == self.text);
        !is_right || !program::is_runnable(&self.path)
    }

    pub(super) fn difference(&self) -> String {
        let current = disk::read_text(&self.path);
        difference(&self.path, current.as_deref(), Some(&self.text))
    }

    /// Whether somebody else has written what is in its place.
    pub(super) fn is_somebody_elses(&self) -> bool {
        disk::beginning_of(&self.path).is_some_and(|text| !script::is_ours(&text))
    }

    /// Whether it is there as some Snell of this version wrote it.
    pub(super) fn is_untouched(&self) -> bool {
        disk::read_text(&self.path).is_some_and(|text| script::is_untouched(&text))
    }

    /// The signs by which entries are known once this has become of it.
    pub(super) fn signs_after(&self, fate: &Fate, target: &Target, installed: &Installed) -> Signs {
        let restored = fate.restored.as_ref().and_then(|path| installed.of(path)?.before);
        restored
            .into_iter()
            .fold(target.signs(), |signs, text| signs.once_the_script_says(&text))
    }

    /// The signs by which entries are known once it is written.
    pub(super) fn signs_when_written(&self, target: &Target) -> Signs {
        target.signs().once_the_script_says(&self.text)
    }

    /// Writes it, having remembered first what was there.
    pub(super) fn write(&self, installed: &Installed) -> anyhow::Result<Replaced> {
        let seen = Seen::look(&self.path)?;
        let known = installed.of(&self.path);
        let (before, mode) = match &known {
            Some(known) if known.is_as_left(seen.text.as_deref()) => (known.before.clone(), known.mode_before),
            _ if seen.text.as_deref().is_some_and(script::is_untouched) => (None, None),
            _ => (seen.text.clone(), seen.mode()),
        };
        let mut remembered = Remembered::new(&self.path, before, &self.text);
        remembered.mode_before = mode;
        remembered.made = seen.missing_directories();
        let replaced = Replaced {
            was: Was {
                text: seen.text.clone(),
                mode: seen.mode(),
                made: remembered.made.clone(),
            },
            known,
        };
        installed.remember(&remembered.after(replaced.known.as_ref()))?;
        if let Err(error) = seen.replace(&self.text, Access::Program) {
            installed.put_back(&self.path, replaced.known.as_ref());
            return Err(error);
        }
        if !program::is_runnable(&self.path) {
            self.take_back(installed, &replaced);
            let shown = self.path.display();
            bail!("{shown} cannot be run where it is, so it is not registered; is its disk mounted noexec?");
        }
        Ok(replaced)
    }

    /// Undoes [`Script::write`], because the rest could not be done.
    pub(super) fn take_back(&self, installed: &Installed, replaced: &Replaced) {
        // Why the rest could not be done is what people are told; this is only tidying up.
        let _ = self.restore(&replaced.was);
        installed.put_back(&self.path, replaced.known.as_ref());
    }

    /// What becomes of it once this file does not call it any more: it goes, if nobody else needs it and nobody has
    /// changed it.
    pub(super) fn fate(&self, target: &Target, installed: &Installed) -> anyhow::Result<Fate> {
        let kept = |why: String| Fate {
            kept_because: Some(why),
            ..Fate::default()
        };
        let shown = self.path.display();
        let registered = installed.of_others(&target.path()).into_iter().map(|known| known.path);
        let elsewhere = target.elsewhere(installed).into_iter().map(|other| other.path);
        let mut others = registered.chain(elsewhere);
        if let Some(other) = others.find(|other| target.way_in(other) == Some(Way::Notify)) {
            return Ok(kept(format!("{shown} stays, because {} calls it", other.display())));
        }
        let seen = Seen::look(&self.path)?;
        let Some(text) = seen.text.as_deref() else {
            return Ok(Fate::default());
        };
        let known = installed.of(&self.path).filter(|known| known.is_as_left(Some(text)));
        let path = Some(self.path.clone());
        Ok(match known {
            Some(known) if known.before.is_some() => Fate {
                restored: path,
                ..Fate::default()
            },
            None if !script::is_untouched(text) => kept(format!("{shown} stays, because it is not as Snell wrote it")),
            _ => Fate {
                removed: path,
                ..Fate::default()
            },
        })
    }

    /// Puts back what was there before Snell.
    pub(super) fn put_back(&self, installed: &Installed) -> anyhow::Result<()> {
        let was = installed.of(&self.path).map(|known| Was {
            text: known.before,
            mode: known.mode_before,
            made: known.made,
        });
        self.restore(&was.unwrap_or(Was {
            text: None,
            mode: None,
            made: Vec::new(),
        }))?;
        installed.forget(&self.path);
        Ok(())
    }

    fn restore(&self, was: &Was) -> anyhow::Result<()> {
        let seen = Seen::look(&self.path)?;
        match &was.text {
            Some(text) => seen.replace(text, was.mode.map_or(Access::Usual, Access::AsBefore))?,
            None if seen.exists() => seen.remove()?,
            None => {}
        }
        disk::remove_directories(&was.made);
        Ok(())
    }
}

/// The receiver that a script of ours forwards to, if it names one.
fn receiver_in(path: &Path) -> Option<String> {
    let text = disk::read_text(path)?;
    let url = script::assigned(&text, "url").filter(|_| script::is_ours(&text));
    url.filter(|url| !url.is_empty())
}
