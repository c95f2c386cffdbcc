//! The files of the workspace that tidy reads.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// Everything that tidy checks.
pub(super) struct WorkspaceSources {
    pub(super) root: &'static Path,
    /// The `.rs` files of every `src` folder, without modules that are compiled for tests only.
    pub(super) files: Vec<SourceFile>,
}

/// One `.rs` file.
pub(super) struct SourceFile {
    /// Relative to the workspace.
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) syntax: syn::File,
    pub(super) has_folder_beside: bool,
}

impl WorkspaceSources {
    pub(super) fn read(root: &'static Path) -> anyhow::Result<Self> {
        let mut paths = list_files(&root.join("xtask/src"), "rs")?;
        for entry in std::fs::read_dir(root.join("crates"))? {
            paths.extend(list_files(&entry?.path().join("src"), "rs")?);
        }
        paths.sort();
        let files = paths.iter().map(|path| SourceFile::parse(root, path)).collect::<anyhow::Result<Vec<_>>>()?;
        let test_modules: Vec<PathBuf> = files.iter().flat_map(SourceFile::list_test_modules).collect();
        let is_tested = |file: &SourceFile| !test_modules.iter().any(|module| file.is_within(module));
        Ok(Self { root, files: files.into_iter().filter(is_tested).collect() })
    }

    /// The Markdown documents: those at the root, and the pages below `docs`. Paths are relative to the workspace.
    pub(super) fn read_documents(&self) -> anyhow::Result<Vec<(PathBuf, String)>> {
        let is_markdown = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
        let entries = std::fs::read_dir(self.root)?.collect::<Result<Vec<_>, _>>()?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_markdown).collect();
        paths.extend(list_files(&self.root.join("docs"), "md")?);
        self.read_texts(paths)
    }

    /// The data files of the crates, with the texts that rules show.
    pub(super) fn read_data(&self) -> anyhow::Result<Vec<(PathBuf, String)>> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(self.root.join("crates"))? {
            let folder = entry?.path().join("data");
            if folder.is_dir() {
                paths.extend(list_files(&folder, "toml")?);
            }
        }
        self.read_texts(paths)
    }

    fn read_texts(&self, mut paths: Vec<PathBuf>) -> anyhow::Result<Vec<(PathBuf, String)>> {
        paths.sort();
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok((path.strip_prefix(self.root)?.to_owned(), text))
        };
        paths.into_iter().map(read).collect()
    }
}

impl SourceFile {
    fn parse(root: &Path, path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let syntax = syn::parse_file(&text).with_context(|| format!("cannot parse {}", path.display()))?;
        let has_folder_beside = path.with_extension("").is_dir();
        Ok(Self { path: path.strip_prefix(root)?.to_owned(), text, syntax, has_folder_beside })
    }

    /// Its modules that are compiled for tests only, as paths without ".rs".
    fn list_test_modules(&self) -> Vec<PathBuf> {
        let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| self.path.ends_with(name));
        let folder = if is_root { self.path.with_file_name("") } else { self.path.with_extension("") };
        let modules = self.syntax.items.iter().filter_map(|item| match item {
            syn::Item::Mod(module) if module.content.is_none() && is_test_only(&module.attrs) => Some(module),
            _ => None,
        });
        modules.map(|module| folder.join(module.ident.to_string())).collect()
    }

    fn is_within(&self, module: &Path) -> bool {
        self.path.starts_with(module) || self.path.with_extension("") == module
    }
}

/// The files below a folder whose names end in this extension.
fn list_files(folder: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether an item is compiled for tests only.
pub(super) fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        attribute.path().is_ident("test") || is_cfg && attribute.parse_args::<syn::Path>().is_ok_and(is_test_condition)
    })
}

fn is_test_condition(condition: syn::Path) -> bool {
    condition.is_ident("test") || condition.is_ident("doctest")
}
