//! The path of this program to register.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use rustix::fs::{Access, access};

use crate::output::CommandError;

/// How this process was started.
#[derive(Debug)]
pub(crate) struct ExeLocator {
    /// The program with symlinks resolved.
    pub(crate) program: PathBuf,
    /// The name by which it was called.
    pub(crate) called_as: Option<PathBuf>,
    /// The directories of PATH.
    pub(crate) search_path: Vec<PathBuf>,
    pub(crate) current_dir: PathBuf,
}

impl ExeLocator {
    pub(crate) fn from_env() -> anyhow::Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Ok(Self {
            program: std::env::current_exe().context("cannot find the path of this program")?,
            called_as: std::env::args_os().next().map(PathBuf::from),
            search_path: std::env::split_paths(&path).collect(),
            current_dir: std::env::current_dir().unwrap_or_default(),
        })
    }

    /// The path to register: the one by which people call it. A package manager puts a symlink in `PATH` that stays, and replaces its
    /// target with the next version.
    pub(crate) fn stable_path(&self) -> PathBuf {
        let called_as = self.called_as.as_deref().unwrap_or(Path::new("snell"));
        let has_directory = called_as.components().count() > 1;
        let name = called_as.file_name().unwrap_or(OsStr::new("snell"));
        let in_path = self.search_path.iter().filter(|directory| directory.is_absolute());
        let in_path = in_path.map(|directory| directory.join(name));
        let named = has_directory.then(|| normalize_path(&self.current_dir.join(called_as)));
        let candidates = in_path.chain(named);
        let is_this = |candidate: &PathBuf| candidate.canonicalize().is_ok_and(|path| path == self.real_path());
        candidates.into_iter().find(is_this).unwrap_or_else(|| self.program.clone())
    }

    /// The file that runs for this command.
    pub(crate) fn find_program(&self, called: &str) -> Option<PathBuf> {
        if called.contains('/') {
            return Some(self.current_dir.join(called));
        }
        let candidates = self.search_path.iter().map(|directory| directory.join(called));
        candidates.into_iter().find(|candidate| is_runnable(candidate))
    }

    fn real_path(&self) -> PathBuf {
        self.program.canonicalize().unwrap_or_else(|_| self.program.clone())
    }
}

/// A path without `.` and `..`.
fn normalize_path(path: &Path) -> PathBuf {
    let steps_back = path.components().any(|part| part == Component::ParentDir);
    // After a symlink, `..` may lead elsewhere.
    if let (true, Some(directory), Some(name)) = (steps_back, path.parent(), path.file_name())
        && let Ok(directory) = directory.canonicalize()
    {
        return directory.join(name);
    }
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The path for a settings file, if it can be registered.
pub(crate) fn check_registrable(path: &Path) -> anyhow::Result<&str> {
    let shown = path.display();
    let Some(text) = path.to_str() else {
        let problem = format!("{shown} is not UTF-8, and settings files must be UTF-8");
        return Err(CommandError::new(problem).with_hint("move the program to another directory").into());
    };
    if !is_runnable(path) {
        let problem = format!("{shown} does not exist or cannot be run");
        return Err(CommandError::new(problem).with_hint("install Snell again").into());
    }
    Ok(text)
}

/// Whether this is an executable file.
pub(crate) fn is_runnable(path: &Path) -> bool {
    path.is_absolute() && path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// The hint for a path that will not last.
pub(crate) const UNSTABLE_PATH_HINT: &str = "install it with: cargo install --path crates/snell-cli";

/// Why a path will not last, if it will not.
pub(crate) fn explain_unstable_path(path: &Path) -> Option<&'static str> {
    let mut inside = path.components().skip_while(|part| part.as_os_str() != "target").skip(1);
    let is_build = inside.any(|part| ["debug", "release"].map(OsStr::new).contains(&part.as_os_str()));
    is_build.then_some("is a build that the next `cargo clean` removes")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_path_that_stays_is_registered() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["cellar", "bin", "elsewhere"] {
            std::fs::create_dir(root.join(directory)).unwrap();
        }
        std::fs::write(root.join("cellar/snell"), "").unwrap();
        std::fs::write(root.join("elsewhere/snell"), "").unwrap();
        symlink(root.join("cellar/snell"), root.join("bin/snell")).unwrap();
        let (cellar, bin, elsewhere) = (root.join("cellar"), root.join("bin"), root.join("elsewhere"));
        let cases = [
            // The command, the directories of PATH, and the registered path.
            ("snell", vec![&bin, &cellar], bin.join("snell")),
            ("snell", vec![&elsewhere, &bin], bin.join("snell")),
            ("snell", vec![&elsewhere], cellar.join("snell")),
            ("./bin/snell", vec![&elsewhere], bin.join("snell")),
            ("./bin/snell", vec![&cellar], cellar.join("snell")),
            ("cellar/snell", vec![], cellar.join("snell")),
            ("elsewhere/../bin/snell", vec![], bin.join("snell")),
            ("", vec![], cellar.join("snell")),
        ];
        for (name, path, expected) in cases {
            let started = ExeLocator {
                program: cellar.join("snell"),
                called_as: Some(name.into()),
                search_path: path.into_iter().cloned().collect(),
                current_dir: root.clone(),
            };
            assert_eq!(started.stable_path(), expected, "{started:?}");
        }
    }

    #[test]
    fn a_build_is_no_place_to_stay() {
        let cases = [
            ("/home/me/snell/target/debug/snell", true),
            ("/home/me/snell/target/release/snell", true),
            ("/home/me/snell/target/x86_64-unknown-linux-musl/release/snell", true),
            ("/usr/local/bin/snell", false),
            ("/home/target/snell", false),
        ];
        for (path, expected) in cases {
            assert_eq!(explain_unstable_path(Path::new(path)).is_some(), expected, "{path}");
        }
    }
}
