//! What the documentation says is true: links lead somewhere, tables are made by driving the product, examples are run,
//! and tests that are named are there.

mod capability_tables;
mod cookbook;
mod data_dir_files;
mod examples;
mod links;
mod matchers;
mod promises;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use snell_test_support::files::find_repository_root;

/// A page that people read.
struct DocumentationPage {
    /// From the root: `docs/reference/guard.md`.
    name: String,
    text: String,
}

/// Every page: those at the root, those in `docs` and its directories, and those of single crates.
fn read_pages() -> Vec<DocumentationPage> {
    let root = find_repository_root();
    let crates = list_directories(&root.join("crates"));
    let docs = root.join("docs");
    let places = [root.clone(), docs.clone()].into_iter().chain(list_directories(&docs)).chain(crates);
    let mut pages: Vec<_> = places.flat_map(|place| list_files_ending(&place, ".md")).collect();
    pages.sort();
    let page = |path: PathBuf| DocumentationPage {
        name: path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
        text: fs::read_to_string(&path).unwrap(),
    };
    pages.into_iter().map(page).collect()
}

fn list_directories(place: &Path) -> Vec<PathBuf> {
    list_entries(place).into_iter().filter(|path| path.is_dir()).collect()
}

fn list_files_ending(place: &Path, end: &str) -> Vec<PathBuf> {
    let has_it = |path: &PathBuf| path.is_file() && path.to_str().is_some_and(|path| path.ends_with(end));
    list_entries(place).into_iter().filter(has_it).collect()
}

fn list_entries(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}
