//! Converts settings to the library's policy.

use snell::{GuardApproval, GuardAuthor, GuardChoice, GuardEntry, GuardPreset, GuardSettings};
use snell_guard::rules::RULES;
use snell_guard::{
    ApprovalLevel, ApprovalPolicy, ForbiddenAccess, GuardDecision, GuardPolicy, PathProtection, PolicyAuthor,
    PolicyEntry, PolicyPreset, RuleOverride,
};

/// The policy without entries.
pub(super) fn build_policy(settings: &GuardSettings) -> GuardPolicy {
    let protected = settings.protect.iter().map(|path| (path, ForbiddenAccess::Change));
    let secrets = settings.secrets.iter().map(|path| (path, ForbiddenAccess::Read));
    let mut policy = GuardPolicy {
        on_failure: decision_from_choice(settings.on_failure),
        protected: protected
            .chain(secrets)
            // A relative path protects nothing.
            .filter(|(protected, _)| protected.path.is_absolute())
            .map(|(protected, from)| PathProtection { path: protected.path.to_string_lossy().into_owned(), from })
            .collect(),
        ..GuardPolicy::new(preset_from_settings(settings.preset))
    };
    policy.approval = ApprovalPolicy {
        level: match settings.approve {
            GuardApproval::Off => ApprovalLevel::Off,
            GuardApproval::Read => ApprovalLevel::Read,
            GuardApproval::Project => ApprovalLevel::Project,
        },
        commands: settings.approve_commands.clone(),
        is_project_trusted: settings.is_project_trusted,
    };
    let branches = &settings.protected_branches;
    policy.protected_branches = branches.users.clone().unwrap_or(policy.protected_branches);
    policy.protected_branches.extend(branches.projects.iter().cloned());
    if !settings.rules.is_empty() {
        let chosen = RULES.iter().filter_map(|rule| {
            let usual = choice_from_decision(policy.decide(rule));
            let of_rule = |id: &str| settings.choice_for(id, usual);
            let choice = of_rule(rule.id).or_else(|| of_rule(rule.split_from?))?;
            let by = match choice.author {
                GuardAuthor::User => PolicyAuthor::User,
                GuardAuthor::Project | GuardAuthor::Untrusted => PolicyAuthor::Project,
            };
            let verdict = decision_from_choice(choice.choice);
            Some((rule.id.to_owned(), RuleOverride { decision: verdict, by }))
        });
        policy.rules = chosen.collect();
    }
    policy
}

/// The entry for the guard. The caller checks its tools and agents.
pub(crate) fn to_policy_entry(entry: &GuardEntry) -> PolicyEntry {
    PolicyEntry {
        command: entry.command.clone(),
        paths: entry.path.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        host: entry.host.clone(),
        reason: entry.reason.clone().unwrap_or_default(),
        id: entry.origin.to_string(),
        ..PolicyEntry::new(decision_from_choice(entry.action))
    }
}

pub(super) fn preset_from_settings(preset: GuardPreset) -> PolicyPreset {
    match preset {
        GuardPreset::Standard => PolicyPreset::Standard,
        GuardPreset::ClaudeOs => PolicyPreset::ClaudeOs,
        GuardPreset::Strict => PolicyPreset::Strict,
        GuardPreset::Audit => PolicyPreset::Audit,
    }
}

fn decision_from_choice(choice: GuardChoice) -> GuardDecision {
    match choice {
        GuardChoice::Allow => GuardDecision::Allow,
        GuardChoice::Ask => GuardDecision::Ask,
        GuardChoice::Deny => GuardDecision::Deny,
    }
}

/// The decision as settings write it.
pub(crate) fn choice_from_decision(verdict: GuardDecision) -> GuardChoice {
    match verdict {
        GuardDecision::Allow => GuardChoice::Allow,
        GuardDecision::Ask => GuardChoice::Ask,
        GuardDecision::Deny => GuardChoice::Deny,
    }
}
