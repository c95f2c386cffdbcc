//! Faults of `[guard]` that only the guard can find.

mod entries;

use std::path::Path;

use snell::{
    Diagnostic, GuardAuthor, GuardSettings, RuleChoice, SnellSettings, SourceLocation, Timestamp, UserMessage,
    did_you_mean,
};
use snell_guard::GuardPolicy;
use snell_guard::rules::RULES;

use super::ProjectGuard;
use super::policy::{self, choice_from_decision};

/// A fault of the settings and its remedy.
#[derive(Clone, Debug)]
pub(crate) struct GuardLintFinding {
    /// Where the setting is.
    pub(crate) origin: SourceLocation,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl GuardLintFinding {
    /// The finding as a diagnostic of its file.
    pub(crate) fn to_diagnostic(&self) -> Diagnostic {
        self.origin.make_warning(UserMessage::new(self.what.as_str()).with_hint(self.remedy.as_str()))
    }
}

/// Finds an unreadable configuration file, unknown rules, choices that a locked rule ignores, and entries without
/// effect.
pub(crate) fn lint_guard_settings(settings: &SnellSettings, project: &Path, now: Timestamp) -> Vec<GuardLintFinding> {
    let guard_settings = &settings.guard;
    let mut found: Vec<GuardLintFinding> = lint_unreadable_config(guard_settings).into_iter().collect();
    found.extend(guard_settings.rules.iter().filter_map(|choice| lint_rule_choice(choice, guard_settings)));
    if !guard_settings.entries.is_empty() {
        let guard = ProjectGuard::from_settings(settings, project, now);
        found.extend(entries::lint_entries(&guard, &guard_settings.entries, now));
    }
    found
}

/// Reports that the user's own file cannot be read, so that defaults apply.
pub(crate) fn lint_unreadable_config(settings: &GuardSettings) -> Option<GuardLintFinding> {
    settings.unreadable_file.as_ref().map(|file| GuardLintFinding {
        origin: file.origin.clone(),
        what: format!("the guard uses the preset claude-os, because this file {}", file.why),
        remedy: "fix the file; until then none of its settings apply".into(),
    })
}

/// Finds an unknown rule, or a choice that a locked rule ignores.
fn lint_rule_choice(choice: &RuleChoice, settings: &GuardSettings) -> Option<GuardLintFinding> {
    let finding = |what, remedy| GuardLintFinding { origin: choice.origin.clone(), what, remedy };
    let Some(rule) = RULES.iter().find(|rule| rule.id == choice.rule) else {
        let remedy = match suggest_rule(&choice.rule) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "run `snell guard rules` to list all rules".to_owned(),
        };
        return Some(finding(format!("unknown rule \"{}\", so this setting has no effect", choice.rule), remedy));
    };
    let usual = choice_from_decision(GuardPolicy::new(policy::preset_from_settings(settings.preset)).decide(rule));
    let is_ignored = rule.locked && choice.author != GuardAuthor::User && choice.choice < usual;
    is_ignored.then(|| {
        finding(
            format!("rule {} is locked, so a project cannot make it milder", rule.id),
            "remove the setting, or move it to your own snell.toml".into(),
        )
    })
}

/// The rule that was probably meant: the same words in another order, or a similar spelling.
fn suggest_rule(id: &str) -> Option<&'static str> {
    let words = |id: &str| {
        let mut words: Vec<_> = id.split(['.', '-']).map(str::to_lowercase).collect();
        words.sort();
        words
    };
    let meant = words(id);
    let mut ids = RULES.iter().map(|rule| rule.id);
    ids.find(|known| words(known) == meant).or_else(|| did_you_mean(id, RULES.iter().map(|rule| rule.id)))
}
