//! Where the files of a contract are.

use std::path::Path;

/// A file of a contract, or a directory of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HookFileLocation {
    pub(crate) base: BaseDirectory,
    pub(crate) path: &'static str,
    pub(crate) form: LocationForm,
}

/// The files of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocationForm {
    /// The file at the path.
    File,
    /// The `*.json` files in the directory, by name.
    JsonFiles,
    /// The programs in the directory that are named after an event, by name.
    Programs,
}

impl HookFileLocation {
    pub(crate) const fn file(base: BaseDirectory, path: &'static str) -> Self {
        Self { base, path, form: LocationForm::File }
    }

    pub(crate) const fn json_files(base: BaseDirectory, path: &'static str) -> Self {
        Self { base, path, form: LocationForm::JsonFiles }
    }

    pub(crate) const fn programs(base: BaseDirectory, path: &'static str) -> Self {
        Self { base, path, form: LocationForm::Programs }
    }

    /// The directory of its files.
    pub(crate) fn directory(&self) -> &'static Path {
        let path = Path::new(self.path);
        match self.form {
            LocationForm::File => path.parent().unwrap_or(Path::new("")),
            LocationForm::JsonFiles | LocationForm::Programs => path,
        }
    }

    /// Whether a path is one of its files.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        match self.form {
            LocationForm::File => path.ends_with(self.path),
            LocationForm::JsonFiles | LocationForm::Programs => {
                path.parent().is_some_and(|parent| parent.ends_with(self.path))
            }
        }
    }
}

/// The base directory of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaseDirectory {
    Home,
    Project,
    /// The user's configuration directory.
    Config,
}
