//! Manifests and settings with an address: what a tool applies from standard input, and where it gets packages from.

use super::collector::EffectCollector;
use super::handlers::interpreter::is_stdin_unseen;
use crate::invocation::{FileOpenMode, SymbolicText, UnknownKind, base_name};
use crate::programs::words::manifests as words;

/// `curl … | kubectl apply -f -`, `ansible-playbook <(curl …)`: a manifest from elsewhere.
pub(super) fn apply_manifest_reader(collector: &mut EffectCollector<'_>) {
    let invocation = collector.invocation;
    let Some((_, subcommands)) = words::READERS.iter().find(|(name, _)| *name == invocation.base_name()) else {
        return;
    };
    let arguments = invocation.arguments();
    let is_one_of =
        |names: &[&str]| arguments.iter().filter_map(SymbolicText::as_text).any(|word| names.contains(&word));
    let applies = subcommands.contains(&"*") || is_one_of(subcommands);
    let is_unseen = || {
        arguments.iter().any(|word| word.contains_unknown(UnknownKind::Unseen))
            || (is_one_of(words::STDIN_NAMES) && is_stdin_unseen(collector.stdin(), collector))
    };
    if applies && is_unseen() {
        collector.add_rule_effect("install.from-elsewhere");
    }
}

/// `echo registry=https://… > .npmrc`: another place for packages.
pub(super) fn apply_registry_file(collector: &mut EffectCollector<'_>) {
    let invocation = collector.invocation;
    let written = invocation.files.iter().filter(|file| file.mode != FileOpenMode::Read);
    let is_settings = |path: &SymbolicText| words::REGISTRY_FILES.contains(&base_name(path.leading_text()));
    if !written.map(|file| &file.path).any(is_settings) {
        return;
    }
    let texts = invocation.arguments().iter().chain(invocation.stdin.as_text()).map(ToString::to_string);
    let redirects = |line: &str| {
        let line: String = line.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
        words::REGISTRY_KEYS.iter().any(|key| line.starts_with(key))
            && !words::KNOWN_REGISTRIES.iter().any(|known| line.contains(known))
    };
    let mut texts = texts.map(|text| text.replace("\\n", "\n"));
    if texts.any(|text| text.lines().any(redirects)) {
        collector.add_rule_effect("install.redirect");
    }
}
