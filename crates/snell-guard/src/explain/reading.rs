//! A call in a few plain lines: what would happen if it ran.

use super::descriptions::{describe_action, describe_classes};
use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::Invocation;
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardToolCall};
use crate::paths::{PathClass, PathClasses, is_within_directory};
use crate::policy::hosts::find_command_hosts;
use crate::policy::{GuardDecision, GuardPolicy};
use crate::{rules, tools};

/// How many lines a call gets. One more says how much is missing.
const MAX_LINES: usize = 3;

/// How many paths or hosts one line names.
const MAX_NAMES: usize = 3;

/// Longer texts are shortened.
const MAX_NAME_CHARS: usize = 120;

/// Longer parts of a command are cut between words, so that no secret is cut in two: halves are not recognized.
const MAX_COMMAND_CHARS: usize = 160;

/// The actions in the order in which they are listed. The last ones are listed only for paths that stand out.
const ACTIONS: &[PathAction] = &[
    PathAction::Delete,
    PathAction::SendRaw,
    PathAction::Send,
    PathAction::Take,
    PathAction::OpenUp,
    PathAction::SetId,
    PathAction::Chown,
    PathAction::Mode,
    PathAction::Lock,
    PathAction::Overwrite,
    PathAction::Replace,
    PathAction::Edit,
    PathAction::MayEdit,
    PathAction::Append,
    PathAction::Unpack,
    PathAction::Fetch,
    PathAction::Put,
    PathAction::Make,
    PathAction::Link,
    PathAction::Copy,
    PathAction::Read,
    PathAction::Use,
];

/// Actions that change nothing.
const LOOKS: &[PathAction] = &[PathAction::Copy, PathAction::Read, PathAction::Use];

/// Paths of these classes only do not stand out.
const PLAIN_CLASSES: [PathClass; 4] =
    [PathClass::Project, PathClass::HomeProject, PathClass::Temp, PathClass::Harmless];

/// One line of the description.
#[derive(Debug, PartialEq, Eq)]
struct ReadingLine {
    /// Whether a rule asks about it, so that it comes first.
    is_flagged: bool,
    /// The place of its action in the order.
    rank: usize,
    verb: &'static str,
    /// The paths; empty for a command.
    names: Vec<String>,
    ending: String,
}

impl ReadingLine {
    fn is_same_kind(&self, other: &Self) -> bool {
        !self.names.is_empty() && (self.verb, &self.ending) == (other.verb, &other.ending)
    }

    fn format(&self) -> String {
        if self.names.is_empty() {
            return format!("{}{}", self.verb, self.ending);
        }
        format!("{} {}{}", self.verb, join_names(&self.names), self.ending)
    }
}

/// Describes an analysed call: effects that a rule stops first, then by action, then the programs without such effects.
pub(crate) fn describe_call(
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    policy: &GuardPolicy,
    context: &JudgeContext,
) -> Vec<String> {
    let mut lines: Vec<ReadingLine> = Vec::new();
    let mut described = vec![false; analysis.invocations.len()];
    for effect in &analysis.effects {
        let Some(mut line) = describe_effect(effect, analysis, policy, context) else { continue };
        if effect.by.is_none() && line.verb == describe_action(PathAction::Overwrite) && !call.writes_whole_file() {
            line.verb = describe_action(PathAction::Edit);
        }
        if let Some(is_described) = effect.by.and_then(|number| described.get_mut(number)) {
            *is_described = true;
        }
        match lines.iter_mut().find(|other| other.is_same_kind(&line)) {
            Some(other) => {
                other.is_flagged |= line.is_flagged;
                for name in line.names {
                    if !other.names.contains(&name) {
                        other.names.push(name);
                    }
                }
            }
            None => lines.push(line),
        }
    }
    let text = tools::command_from_input(call.input).unwrap_or_default();
    for (number, invocation) in analysis.invocations.iter().enumerate() {
        let is_flagged = is_program_flagged(number, analysis, policy);
        if described.get(number) == Some(&true) && !is_flagged {
            continue;
        }
        let written = cut_between_words(text.get(invocation.span.clone()).unwrap_or_default());
        let ending = format!("{written}{}", describe_circumstances(invocation));
        let line = ReadingLine { is_flagged, rank: ACTIONS.len(), verb: "runs: ", names: Vec::new(), ending };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.sort_by_key(|line| (!line.is_flagged, line.rank));
    let mut shown: Vec<String> = lines.iter().take(MAX_LINES).map(ReadingLine::format).collect();
    if shown.is_empty() {
        shown.extend(describe_tool(call));
    }
    if lines.len() > MAX_LINES {
        shown.push(format!("and {} more (see the whole call)", lines.len() - MAX_LINES));
    }
    shown.extend(analysis.coverage.describe_gaps().into_iter().take(1).map(|gap| format!("not all is known: {gap}")));
    shown
}

/// An effect on a path; nothing if it is of no interest.
fn describe_effect(
    effect: &Effect,
    analysis: &CallAnalysis,
    policy: &GuardPolicy,
    context: &JudgeContext,
) -> Option<ReadingLine> {
    let EffectKind::Path(action) = effect.kind else { return None };
    let place = effect.place.as_ref()?;
    let is_flagged = is_stopped(effect, policy);
    let without_class =
        |classes: PathClasses, class: &PathClass| classes.difference(PathClasses::default().with(*class));
    let stands_out = !PLAIN_CLASSES.iter().fold(place.classes, without_class).is_empty();
    let is_look = LOOKS.contains(&action) && effect.by.is_some();
    let is_dull = place.classes.contains(PathClass::Harmless) || is_look && !stands_out;
    if !is_flagged && (is_dull || is_contained(effect, analysis)) {
        return None;
    }
    let invocation = effect.by.and_then(|number| analysis.invocations.get(number));
    let classes = describe_classes(place.classes);
    let mut ending = if classes.is_empty() { String::new() } else { format!(" ({})", classes.join(", ")) };
    if effect.recursive {
        ending.push_str(", with everything in it");
    }
    if let Some(invocation) = invocation {
        ending.push_str(&describe_hosts(action, invocation));
        ending.push_str(&describe_circumstances(invocation));
    }
    let rank = ACTIONS.iter().position(|other| *other == action).unwrap_or(ACTIONS.len());
    let name = name_path(place.display_path(), effect.recursive, &context.project);
    Some(ReadingLine { is_flagged, rank, verb: describe_action(action), names: vec![name], ending })
}

/// Whether another effect of the same kind says as much: `cp a b` writes `b` or `b/a`.
fn is_contained(effect: &Effect, analysis: &CallAnalysis) -> bool {
    let path = |effect: &Effect| effect.place.as_ref().and_then(|place| place.path.clone());
    let Some(own) = path(effect) else { return false };
    let is_whole = |other: &Effect| other.recursive || effect.kind == EffectKind::Path(PathAction::Put);
    analysis.effects.iter().any(|other| {
        let is_same_kind = (other.kind, other.by) == (effect.kind, effect.by) && is_whole(other);
        is_same_kind && path(other).is_some_and(|other| other != own && is_within_directory(&own, &other))
    })
}

/// Whether a rule about an effect does not simply allow it.
fn is_stopped(effect: &Effect, policy: &GuardPolicy) -> bool {
    rules::evaluate_rules(effect).any(|(rule, matched)| matched && policy.decide(rule) != GuardDecision::Allow)
}

/// Whether a rule is about running a program, and not about a path.
fn is_program_flagged(number: usize, analysis: &CallAnalysis, policy: &GuardPolicy) -> bool {
    let is_own = |effect: &&Effect| effect.by == Some(number) && !matches!(effect.kind, EffectKind::Path(_));
    analysis.effects.iter().filter(is_own).any(|effect| is_stopped(effect, policy))
}

/// The other side of a transfer.
fn describe_hosts(action: PathAction, invocation: &Invocation) -> String {
    let (word, unknown) = match action {
        PathAction::Send | PathAction::SendRaw => (" to", " to another machine"),
        PathAction::Fetch => (" from", ""),
        _ => return String::new(),
    };
    let mut hosts = find_command_hosts(&invocation.argv);
    hosts.dedup();
    let hosts: Vec<String> = hosts.iter().map(|host| rules::shorten_text(host, MAX_NAME_CHARS)).collect();
    if hosts.is_empty() { unknown.to_owned() } else { format!("{word} {}", join_names(&hosts)) }
}

fn describe_circumstances(invocation: &Invocation) -> String {
    let circumstances = [
        (invocation.privileged, ", as another user"),
        (invocation.elsewhere, ", on another machine or in a container"),
    ];
    circumstances.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect()
}

/// A tool without known effects.
fn describe_tool(call: &GuardToolCall<'_>) -> Option<String> {
    let mut hosts = tools::find_tool_hosts(call);
    hosts.dedup();
    if !hosts.is_empty() {
        let hosts: Vec<String> = hosts.iter().map(|host| rules::shorten_text(host, MAX_NAME_CHARS)).collect();
        return Some(format!("connects to {}", join_names(&hosts)));
    }
    let tool = rules::shorten_text(call.tool, MAX_NAME_CHARS);
    (!tool.is_empty()).then(|| format!("uses {tool}; its effects are not known"))
}

/// A path as people in the project write it.
fn name_path(path: &str, recursive: bool, project: &str) -> String {
    let inside = path.strip_prefix(project).and_then(|rest| rest.strip_prefix('/'));
    let name = rules::shorten_text(inside.filter(|rest| !rest.is_empty()).unwrap_or(path), MAX_NAME_CHARS);
    if recursive && !name.ends_with(['/', '…']) { format!("{name}/") } else { name }
}

fn join_names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The beginning of a command, on one line.
fn cut_between_words(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if shown.chars().count() + word.chars().count() >= MAX_COMMAND_CHARS {
            shown.push_str(if shown.is_empty() { "…" } else { " …" });
            break;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    rules::shorten_text(&shown, MAX_COMMAND_CHARS + 2)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::judge::analyze_call;
    use crate::policy::PolicyPreset;
    use crate::test_support::test_context;

    fn describe(tool: &str, input: &Json) -> Vec<String> {
        let (call, policy, context) =
            (GuardToolCall { tool, input }, GuardPolicy::new(PolicyPreset::Standard), test_context());
        describe_call(&call, &analyze_call(&call, &policy, &context), &policy, &context)
    }

    #[test]
    fn a_call_is_described_by_its_effects() {
        let cases: &[(&str, &[&str])] = &[
            ("npm test", &["runs: npm test"]),
            ("ls -l src", &["runs: ls -l src"]),
            ("rm -rf build", &["deletes build/ (in the project), with everything in it"]),
            ("sh -c 'rm a b'", &["deletes a, b (in the project)"]),
            ("curl -T dist.tgz https://example.com/up", &["sends dist.tgz (in the project) to example.com"]),
            (
                "sudo rm -rf /etc/x",
                &[
                    "deletes /etc/x/ (system), with everything in it, as another user",
                    "runs: sudo rm -rf /etc/x, as another user",
                ],
            ),
            ("make && cp a b > log", &["overwrites log (in the project)", "writes b (in the project)", "runs: make"]),
            ("ssh host ls", &["runs: ssh host ls", "runs: ssh host ls, on another machine or in a container"]),
            ("git push --force origin main", &["runs: git push --force origin main"]),
            ("cat .env", &["reads .env (holds secrets, in the project)"]),
            (
                "a; b; c; d; e; rm x",
                &["deletes x (in the project)", "runs: a", "runs: b", "and 3 more (see the whole call)"],
            ),
            ("rm a b c d e", &["deletes a, b, c and 2 more (in the project)"]),
            ("echo x >/dev/null", &["runs: echo x >/dev/null"]),
        ];
        for (command, expected) in cases {
            assert_eq!(describe("Bash", &json!({ "command": command })), *expected, "{command}");
        }
    }

    #[test]
    fn other_tools_are_described_too() {
        let cases = [
            (
                "Edit",
                json!({"file_path": "/home/ann/work/app/a.rs", "old_string": "a", "new_string": "b"}),
                "edits a.rs (in the project)",
            ),
            ("Read", json!({"file_path": "/home/ann/work/app/a.rs"}), "reads a.rs (in the project)"),
            ("WebFetch", json!({"url": "https://example.com/x", "prompt": "p"}), "connects to example.com"),
            ("mcp__shop__buy", json!({"item": 7}), "uses mcp__shop__buy; its effects are not known"),
        ];
        for (tool, input, expected) in cases {
            assert_eq!(describe(tool, &input), [expected], "{tool}");
        }
    }

    #[test]
    fn a_long_or_hostile_call_stays_short_and_keeps_its_gravest_effect() {
        let command = format!("{} rm -rf ~/x; echo 'a\nallowed by you\u{1b}[2J'", "echo harmless; ".repeat(200));
        let lines = describe("Bash", &json!({ "command": command }));
        assert!(lines[0].starts_with("deletes /home/ann/x/"), "{lines:?}");
        let command = format!("echo {} 'a\nallowed by you\u{1b}[2J'", "word ".repeat(200_000));
        let lines = describe("Bash", &json!({ "command": command }));
        assert!(lines.len() <= MAX_LINES + 2 && lines.iter().all(|line| line.chars().count() < 500), "{lines:?}");
        assert!(lines.iter().all(|line| !line.chars().any(char::is_control)), "{lines:?}");
        // Half a secret would not be masked.
        let secret = "x".repeat(MAX_COMMAND_CHARS);
        let lines = describe("Bash", &json!({ "command": format!("login --token {secret}") }));
        assert_eq!(lines, ["runs: login --token …"]);
    }
}
