//! `cargo xtask tidy`: the rules of this codebase that neither the compiler nor clippy checks.
//!
//! - A type's name is unique in the workspace, so that a search finds one thing.
//! - A type is not called by a participle (`Told`, `AgentsSeen`): it names a thing.
//! - A module with children is `foo/mod.rs`, so that a folder is a unit.
//! - A function has at most [`MAX_LINES`] lines and [`MAX_PARAMETERS`] parameters.
//! - A function that other modules can call takes no `bool`: `open(path, true)` cannot be read.
//!
//! Test code is exempt.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const MAX_LINES: usize = 60;
const MAX_PARAMETERS: usize = 5;

/// Names that several types may share: every command has its `Args`.
const SHARED_NAMES: &[&str] = &["Args", "Error", "Result"];

/// Participles that do not end in "ed".
const IRREGULAR_PARTICIPLES: &[&str] = &[
    "Begun",
    "Chosen",
    "Done",
    "Found",
    "Given",
    "Gone",
    "Heard",
    "Held",
    "Hidden",
    "Kept",
    "Known",
    "Left",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Spoken",
    "Taken",
    "Taught",
    "Told",
    "Understood",
    "Was",
    "Written",
];

/// Nouns that end in "ed".
const NOUNS_IN_ED: &[&str] = &["Embed", "Feed", "Need", "Seed", "Speed"];

/// Checks all sources of the workspace.
pub(crate) fn check_sources() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    let sources = list_sources(root)?.iter().map(|path| SourceFile::parse(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let test_modules: Vec<PathBuf> = sources.iter().flat_map(SourceFile::list_test_modules).collect();
    let mut checker = SourceChecker::default();
    for source in sources.iter().filter(|source| !test_modules.iter().any(|module| source.is_within(module))) {
        checker.check_file(root, source)?;
    }
    checker.check_type_names();
    let violations = checker.violations;
    if violations.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
    bail!("{} violations of the rules in xtask/src/tidy.rs:\n{}", list.len(), list.join("\n"));
}

/// The `.rs` files of every `src` folder.
fn list_sources(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![root.join("xtask/src")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path().join("src"));
    }
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources.sort();
    Ok(sources)
}

/// One `.rs` file.
struct SourceFile {
    path: PathBuf,
    syntax: syn::File,
}

impl SourceFile {
    fn parse(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let syntax = syn::parse_file(&text).with_context(|| format!("cannot parse {}", path.display()))?;
        Ok(Self { path: path.to_owned(), syntax })
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

/// A rule that a place in the sources breaks.
struct Violation {
    place: SourcePlace,
    message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourcePlace { path, line } = &self.place;
        write!(formatter, "{}:{line}: {}", path.display(), self.message)
    }
}

/// A line of a file, relative to the workspace.
#[derive(Clone)]
struct SourcePlace {
    path: PathBuf,
    line: usize,
}

/// Collects type names and violations, file by file.
#[derive(Default)]
struct SourceChecker {
    path: PathBuf,
    types: BTreeMap<String, Vec<SourcePlace>>,
    violations: Vec<Violation>,
}

impl SourceChecker {
    fn check_file(&mut self, root: &Path, source: &SourceFile) -> anyhow::Result<()> {
        self.path = source.path.strip_prefix(root)?.to_owned();
        if source.path.with_extension("").is_dir() {
            self.report(1, "move this file to `mod.rs` in the folder beside it".to_owned());
        }
        self.visit_file(&source.syntax);
        Ok(())
    }

    fn check_type_names(&mut self) {
        for (name, places) in std::mem::take(&mut self.types) {
            if places.len() > 1 && !SHARED_NAMES.contains(&name.as_str()) {
                for place in places {
                    let message = format!("rename `{name}`: another type has this name");
                    self.violations.push(Violation { place, message });
                }
            }
        }
    }

    fn check_type(&mut self, name: &syn::Ident) {
        let line = name.span().start().line;
        let name = name.to_string();
        if is_participle(last_word(&name)) {
            self.report(line, format!("rename `{name}`: a type is a noun, not a participle"));
        }
        self.types.entry(name).or_default().push(SourcePlace { path: self.path.clone(), line });
    }

    fn check_function(
        &mut self,
        visibility: Option<&syn::Visibility>,
        signature: &syn::Signature,
        whole: proc_macro2::Span,
    ) {
        let name = &signature.ident;
        let line = name.span().start().line;
        let lines = whole.end().line - signature.span().start().line + 1;
        if lines > MAX_LINES {
            self.report(line, format!("split `{name}`: {lines} lines, at most {MAX_LINES}"));
        }
        let parameters: Vec<&syn::PatType> = signature
            .inputs
            .iter()
            .filter_map(|input| match input {
                syn::FnArg::Typed(typed) => Some(typed),
                syn::FnArg::Receiver(_) => None,
            })
            .collect();
        if parameters.len() > MAX_PARAMETERS {
            let count = parameters.len();
            self.report(line, format!("give `{name}` a struct: {count} parameters, at most {MAX_PARAMETERS}"));
        }
        let is_public = visibility.is_none_or(|visibility| !matches!(visibility, syn::Visibility::Inherited));
        if is_public && parameters.iter().any(|parameter| is_bool(&parameter.ty)) {
            self.report(line, format!("replace the `bool` parameter of `{name}` by an enum"));
        }
    }

    fn report(&mut self, line: usize, message: String) {
        let place = SourcePlace { path: self.path.clone(), line };
        self.violations.push(Violation { place, message });
    }
}

impl<'ast> Visit<'ast> for SourceChecker {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test_only(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !is_test_only(&item.attrs) {
            self.check_type(&item.ident);
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if !is_test_only(&item.attrs) {
            self.check_type(&item.ident);
        }
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.check_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check_function(None, &item.sig, item.span());
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test_only(&item.attrs) {
            self.check_function(Some(&item.vis), &item.sig, item.span());
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test_only(&item.attrs) {
            self.check_function(Some(&item.vis), &item.sig, item.span());
            visit::visit_block(self, &item.block);
        }
    }
}

/// Whether an item is compiled for tests only.
fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        attribute.path().is_ident("test") || is_cfg && attribute.parse_args::<syn::Path>().is_ok_and(is_test_condition)
    })
}

fn is_test_condition(condition: syn::Path) -> bool {
    condition.is_ident("test") || condition.is_ident("doctest")
}

fn is_bool(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}

fn last_word(name: &str) -> &str {
    name.rfind(char::is_uppercase).map_or(name, |start| &name[start..])
}

fn is_participle(word: &str) -> bool {
    IRREGULAR_PARTICIPLES.contains(&word) || (word.ends_with("ed") && !NOUNS_IN_ED.contains(&word))
}
