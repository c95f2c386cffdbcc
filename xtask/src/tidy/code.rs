//! Names, module style and sizes.
//!
//! - A type's name is unique in the workspace, so that a search finds one thing.
//! - A type is not called by a participle (`Told`, `AgentsSeen`): it names a thing.
//! - A module with children is `foo/mod.rs`, so that a folder is a unit.
//! - A function has at most [`MAX_LINES`] lines and [`MAX_PARAMETERS`] parameters.
//! - A function that other modules can call takes no `bool`: `open(path, true)` cannot be read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::sources::{SourceFile, WorkspaceSources, is_test_only};
use super::{SourcePlace, Violation};

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

/// Checks the code of all sources.
pub(super) fn check_code(sources: &WorkspaceSources) -> Vec<Violation> {
    let mut checker = SourceChecker::default();
    for source in &sources.files {
        checker.check_file(source);
    }
    checker.check_type_names();
    checker.violations
}

/// Collects type names and violations, file by file.
#[derive(Default)]
struct SourceChecker {
    path: PathBuf,
    types: BTreeMap<String, Vec<SourcePlace>>,
    violations: Vec<Violation>,
}

impl SourceChecker {
    fn check_file(&mut self, source: &SourceFile) {
        self.path = source.path.clone();
        if source.has_folder_beside {
            self.report(1, "move this file to `mod.rs` in the folder beside it".to_owned());
        }
        self.visit_file(&source.syntax);
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

fn is_bool(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}

fn last_word(name: &str) -> &str {
    name.rfind(char::is_uppercase).map_or(name, |start| &name[start..])
}

fn is_participle(word: &str) -> bool {
    IRREGULAR_PARTICIPLES.contains(&word) || (word.ends_with("ed") && !NOUNS_IN_ED.contains(&word))
}
