//! What settings say, as the library understands it.

use snell::{GuardAuthor, GuardChoice, GuardPreset, GuardSettings, Timestamp};
use snell_guard::rules::RULES;
use snell_guard::{Allowed, Author, Choice, Guarded, Policy, Preset, Protected, Verdict};

pub(super) fn of(settings: &GuardSettings, now: Timestamp) -> Policy {
    let protected = settings.protect.iter().map(|path| (path, Guarded::Change));
    let secrets = settings.secrets.iter().map(|path| (path, Guarded::Look));
    let mut policy = Policy {
        on_failure: verdict(settings.on_failure),
        protected: protected
            .chain(secrets)
            // One that begins nowhere in particular protects nothing.
            .filter(|(protected, _)| protected.path.is_absolute())
            .map(|(protected, from)| Protected {
                path: protected.path.to_string_lossy().into_owned(),
                from,
            })
            .collect(),
        allowed: settings
            .allow
            .iter()
            .filter(|entry| !entry.is_expired(now))
            .map(|entry| Allowed {
                command: entry.command.clone(),
                reason: entry.reason.clone(),
            })
            .collect(),
        ..Policy::new(preset(settings.preset))
    };
    if !settings.rules.is_empty() {
        let chosen = RULES.iter().filter_map(|rule| {
            let said = settings.choice_for(rule.id, choice(policy.verdict(rule)))?;
            let by = match said.author {
                GuardAuthor::User => Author::User,
                GuardAuthor::Project | GuardAuthor::Untrusted => Author::Project,
            };
            let verdict = verdict(said.choice);
            Some((rule.id.to_owned(), Choice { verdict, by }))
        });
        policy.rules = chosen.collect();
    }
    policy
}

pub(super) fn preset(preset: GuardPreset) -> Preset {
    match preset {
        GuardPreset::Standard => Preset::Standard,
        GuardPreset::Strict => Preset::Strict,
        GuardPreset::Audit => Preset::Audit,
    }
}

fn verdict(choice: GuardChoice) -> Verdict {
    match choice {
        GuardChoice::Allow => Verdict::Allow,
        GuardChoice::Ask => Verdict::Ask,
        GuardChoice::Deny => Verdict::Deny,
    }
}

/// A verdict as settings write it.
pub(crate) fn choice(verdict: Verdict) -> GuardChoice {
    match verdict {
        Verdict::Allow => GuardChoice::Allow,
        Verdict::Ask => GuardChoice::Ask,
        Verdict::Deny => GuardChoice::Deny,
    }
}
