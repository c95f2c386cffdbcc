//! Which branches a forced or deleting `git push` affects. If all of them are known and none is protected, a milder rule
//! judges the push.

use super::{Effect, EffectKind, find_rule_index};
use crate::invocation::{Invocation, SymbolicText};
use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, matches_glob};
use crate::programs::argv::ParsedArgs;
use crate::programs::resolve_program_call;

/// The effect of a push on a branch of the remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PushAction {
    Overwrite,
    Delete,
}

/// The rule for a push to a protected or unknown branch, the one for any other branch, and the action.
const PUSH_RULES: &[(&str, &str, PushAction)] = &[
    ("git.push-force", "git.push-force-branch", PushAction::Overwrite),
    ("git.push-delete", "git.push-delete-branch", PushAction::Delete),
];

/// The milder rule for such a push, if this is the rule for protected branches.
pub(crate) fn find_branch_rule(rule: &str) -> Option<&'static str> {
    PUSH_RULES.iter().find(|(protected, ..)| *protected == rule).map(|(_, branch, _)| *branch)
}

/// Flags that push more than the named branches.
const WHOLE_REMOTE_FLAGS: &[&str] = &["--all", "--branches", "--mirror", "--prune", "--tags"];

/// Git commands that stay on the current branch.
const STEADY_COMMANDS: &[&str] =
    &["add", "commit", "diff", "fetch", "log", "pull", "push", "rev-parse", "show", "status"];

/// Gives pushes to branches that are not protected to the milder rules.
pub(crate) fn relax_branch_pushes(analysis: &mut CallAnalysis, protected: &[String], context: &JudgeContext) {
    for (rule, branch_rule, action) in PUSH_RULES {
        let kind = EffectKind::Rule(find_rule_index(rule));
        let is_such = |effect: &&mut Effect| effect.kind == kind;
        for effect in analysis.effects.iter_mut().filter(is_such) {
            let invocation = effect.by.and_then(|number| analysis.invocations.get(number));
            let current = if analysis.coverage.is_full() && stays_on_branch(&analysis.invocations) {
                context.current_push.as_deref()
            } else {
                None
            };
            let branches =
                invocation.and_then(|invocation| find_pushed_branches(invocation, *action, current, context));
            let is_protected = |branch: &String| protected.iter().any(|pattern| matches_glob(branch, pattern));
            if let Some(branches) = branches.filter(|branches| !branches.iter().any(is_protected)) {
                effect.kind = EffectKind::Rule(find_rule_index(branch_rule));
                effect.place = Some(ClassifiedPath { written: branches.join(", "), ..ClassifiedPath::default() });
            }
        }
    }
}

/// The branches that a push overwrites or deletes; `None` if any of them is unknown.
fn find_pushed_branches(
    invocation: &Invocation,
    action: PushAction,
    current: Option<&[String]>,
    context: &JudgeContext,
) -> Option<Vec<String>> {
    let called = resolve_program_call(&invocation.argv).filter(|called| called.name == "git push")?;
    let args = ParsedArgs::parse(called.program, called.arguments);
    let outer: Vec<&SymbolicText> = called.outer.iter().flat_map(|(_, before)| before.iter()).collect();
    // Settings can map a branch to another one on the remote.
    let has_settings = outer.iter().any(|word| word.leading_text().starts_with("-c") || word.as_text().is_none())
        || outer.iter().any(|word| word.leading_text().starts_with("--config"))
        || invocation.variables.iter().any(|(name, _)| name.starts_with("GIT_"));
    if has_settings || args.has_any_flag(WHOLE_REMOTE_FLAGS) {
        return None;
    }
    let is_here = outer.is_empty() && !invocation.elsewhere && invocation.cwd.as_deref() == Some(&*context.cwd);
    let current = current.filter(|_| is_here);
    let Some((remote, refspecs)) = args.operands.split_first().filter(|(_, refspecs)| !refspecs.is_empty()) else {
        return current.filter(|_| action == PushAction::Overwrite).map(<[String]>::to_vec);
    };
    // An unknown word may be several words.
    remote.as_text()?;
    let (all_forced, all_deleted) = (args.has_any_flag(&["-f", "--force"]), args.has_any_flag(&["-d", "--delete"]));
    let mut branches = Vec::new();
    for refspec in refspecs {
        let refspec = refspec.as_text()?;
        let is_forced = all_forced || refspec.starts_with('+');
        let refspec = refspec.trim_start_matches('+');
        let is_affected = match action {
            PushAction::Overwrite => is_forced,
            PushAction::Delete => all_deleted || refspec.starts_with(':'),
        };
        if is_affected {
            branches.extend(find_remote_branches(refspec, current)?);
        }
    }
    Some(branches)
}

/// The branches on the remote that a refspec names. `HEAD` is the current branch.
fn find_remote_branches(refspec: &str, current: Option<&[String]>) -> Option<Vec<String>> {
    let target = refspec.split_once(':').map_or(refspec, |(_, target)| target);
    if matches!(target, "HEAD" | "@") {
        return current.map(<[String]>::to_vec);
    }
    // A pattern, or an expression that git resolves.
    if target.is_empty() || target.contains(['*', '?', '[', '^', '~', '@', ':']) {
        return None;
    }
    let name = target.strip_prefix("refs/heads/").or_else(|| target.strip_prefix("heads/"));
    Some(vec![name.unwrap_or(target).to_owned()])
}

/// Whether no git command of the call can switch to another branch.
fn stays_on_branch(invocations: &[Invocation]) -> bool {
    invocations.iter().filter(|invocation| invocation.base_name() == "git").all(|invocation| {
        let words = invocation.arguments();
        match words.first().and_then(SymbolicText::as_text) {
            // `git rebase main` stays, `git rebase main feature` switches first.
            Some("rebase") => words.len() <= 2,
            Some(command) => STEADY_COMMANDS.contains(&command),
            None => false,
        }
    })
}
