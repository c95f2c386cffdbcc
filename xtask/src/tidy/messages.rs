//! The catalogue of messages: every text that Snell prints, shows or answers, module by module, in `fixtures/messages.txt`.
//!
//! It is generated from the sources, so no message can be missing: all string literals with two words or more, the help
//! of the command line, and the texts of guard rules. It shows all messages at a glance, and changes of them in a
//! review.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::sources::{SourceFile, WorkspaceSources, is_test_only};
use super::{SourcePlace, Violation};

const CATALOGUE: &str = "fixtures/messages.txt";

const HEADER: &str = "\
# Every message of Snell, by module. `SNELL_BLESS=1 cargo xtask tidy` writes this file.
# {…} is a value. \"help:\" lines are the help of a command or option.
";

/// Sources whose literals are queries, word lists or texts for tests instead of messages.
const NO_MESSAGES: &[&str] = &[
    "xtask/",
    "crates/snell-test-support/",
    "crates/snell-secrets/",
    "crates/snell-shell/",
    "crates/snell-store/src/db/sqlite/",
    "crates/snell-guard/src/test_support.rs",
];

/// Keys of guard data whose values people read.
const RULE_TEXT_KEYS: &[&str] = &["reason", "advice", "title", "summary"];

/// One text that Snell prints.
pub(super) struct Message {
    pub(super) line: usize,
    pub(super) text: String,
}

/// Compares the catalogue with the sources, or writes it if `SNELL_BLESS` is set.
pub(super) fn check_catalogue(sources: &WorkspaceSources) -> anyhow::Result<Vec<Violation>> {
    let path = sources.root.join(CATALOGUE);
    let expected = render_catalogue(sources)?;
    if std::env::var_os("SNELL_BLESS").is_some() {
        std::fs::write(&path, expected).with_context(|| format!("cannot write {CATALOGUE}"))?;
        return Ok(Vec::new());
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    if written == expected {
        return Ok(Vec::new());
    }
    let line = 1 + written.lines().zip(expected.lines()).take_while(|(old, new)| old == new).count();
    let message = "a message changed: review it, then run `SNELL_BLESS=1 cargo xtask tidy`".to_owned();
    Ok(vec![Violation { place: SourcePlace { path: PathBuf::from(CATALOGUE), line }, message }])
}

fn render_catalogue(sources: &WorkspaceSources) -> anyhow::Result<String> {
    let mut catalogue = HEADER.to_owned();
    for source in &sources.files {
        let texts = list_messages(source).into_iter().map(|message| message.text);
        write_section(&mut catalogue, &source.path, texts)?;
    }
    for (path, text) in sources.read_data()? {
        write_section(&mut catalogue, &path, text.lines().filter(|line| is_rule_text(line)).map(str::to_owned))?;
    }
    Ok(catalogue)
}

fn write_section(catalogue: &mut String, path: &Path, texts: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut texts = texts.peekable();
    if texts.peek().is_some() {
        let module = path.strip_prefix("crates").unwrap_or(path).with_extension("").display().to_string();
        writeln!(catalogue, "\n## {}", module.replace("/src/", "/").trim_end_matches("/mod"))?;
    }
    for text in texts {
        writeln!(catalogue, "{}", text.replace('\n', "\\n"))?;
    }
    Ok(())
}

/// Whether a line of a data file has a text that people read.
pub(super) fn is_rule_text(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(key, _)| RULE_TEXT_KEYS.contains(&key))
}

/// The messages of one file, in its order.
pub(super) fn list_messages(source: &SourceFile) -> Vec<Message> {
    let path = source.path.to_string_lossy();
    if NO_MESSAGES.iter().any(|prefix| path.starts_with(prefix)) {
        return Vec::new();
    }
    let mut collector = MessageCollector::default();
    collector.visit_file(&source.syntax);
    collector.messages
}

/// Collects the string literals of code that is not for tests.
#[derive(Default)]
struct MessageCollector {
    messages: Vec<Message>,
}

impl MessageCollector {
    fn add_literal(&mut self, literal: &syn::LitStr) {
        let text = literal.value();
        if is_message(&text) {
            self.messages.push(Message { line: literal.span().start().line, text });
        }
    }

    fn add_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(literal) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()) {
                        self.add_literal(&literal);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// The doc comments of a clap type are its help.
    fn add_help(&mut self, attributes: &[syn::Attribute]) {
        let mut lines = attributes.iter().filter_map(doc_line).peekable();
        let Some((line, _)) = lines.peek() else { return };
        let line = *line;
        let text: Vec<String> = lines.map(|(_, text)| text.trim().to_owned()).collect();
        self.messages.push(Message { line, text: format!("help: {}", text.join(" ").replace("  ", "\n")) });
    }
}

fn doc_line(attribute: &syn::Attribute) -> Option<(usize, String)> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    pair.path.is_ident("doc").then(|| (text.span().start().line, text.value()))
}

impl<'ast> Visit<'ast> for MessageCollector {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test_only(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if is_clap_type(&item.attrs) {
            self.add_help(&item.attrs);
            item.fields.iter().filter(|field| !is_skipped(&field.attrs)).for_each(|field| self.add_help(&field.attrs));
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if is_clap_type(&item.attrs) {
            for variant in &item.variants {
                self.add_help(&variant.attrs);
                variant.fields.iter().for_each(|field| self.add_help(&field.attrs));
            }
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        const WITH_MESSAGES: &[&str] = &["arg", "command", "error", "value"];
        if let syn::Meta::List(list) = &attribute.meta
            && WITH_MESSAGES.iter().any(|name| list.path.is_ident(name))
        {
            self.add_tokens(list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.add_tokens(item.tokens.clone());
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add_literal(literal);
    }
}

fn is_clap_type(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let derived = list.tokens.to_string();
        ["Args", "Subcommand", "Parser", "ValueEnum"].iter().any(|name| derived.contains(name))
    })
}

fn is_skipped(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("arg") && list.tokens.to_string().starts_with("skip"),
        _ => false,
    })
}

/// Whether people read a literal: two words or more, and no query.
fn is_message(text: &str) -> bool {
    const QUERY_STARTS: &[&str] =
        &["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "WITH ", "PRAGMA ", "BEGIN "];
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() >= 2 && !word.contains("::");
    let words = text.split_whitespace().filter(is_word).count();
    words >= 2 && !QUERY_STARTS.iter().any(|start| text.trim_start().starts_with(start))
}
