//! Finds changes that flip a decision. Every suggested change was judged.

use serde::Serialize;
use serde_json::Value as Json;

use super::editable_spans::EditableSpans;
use super::toml_string::quote_toml_string;
use crate::effects::Effect;
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardJudgement, GuardToolCall, judge_analysis, judge_call};
use crate::policy::{GuardDecision, GuardPolicy, PolicyAuthor, PolicyEntry, PolicyPreset, RuleOverride};
use crate::rules::{self, GuardRule};
use crate::tools;
use snell_shell::{ByteSpan, parse};

/// How many changes are tried.
const MAX_TRIALS: usize = 200;
/// How many bytes of commands are judged for them.
const MAX_TRIED_BYTES: usize = 1 << 17;
/// How many flips are returned.
const MAX_FLIPS: usize = 8;
/// Longer commands are not edited: the change would be hard to see.
const MAX_COMMAND_BYTES: usize = 4096;

/// A change that flips the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionFlip {
    /// The kind of change.
    pub change: FlipKind,
    /// The instruction, as a sentence.
    pub what: String,
    /// The result of the change: the command, the path, or the lines of the settings.
    pub then: String,
    /// The decision after the change.
    pub decision: GuardDecision,
    /// The number of changed bytes.
    pub bytes: usize,
}

/// The subject of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlipKind {
    /// Removes a command.
    Command,
    /// Removes a word or a redirection.
    Word,
    /// Uses a path inside the project instead.
    Target,
    /// Changes the decision of a rule in the settings.
    Rule,
    /// Adds or removes an allowed command in the settings.
    Allowed,
    /// Changes the preset.
    Preset,
}

/// The changes that flip a verdict, smallest first.
pub(super) fn find_flips(
    call: &GuardToolCall<'_>,
    analysis: &CallAnalysis,
    judgement: &GuardJudgement,
    policy: &GuardPolicy,
    world: &JudgeContext,
) -> Vec<DecisionFlip> {
    let mut trial =
        FlipSearch { call, policy, context: world, before: judgement.unaudited, tried: 0, bytes: 0, flips: Vec::new() };
    if judgement.unaudited == GuardDecision::Allow {
        trial.try_stricter_settings(analysis);
    } else {
        trial.try_disabling_rules(analysis);
        trial.try_removing_entries(judgement.unaudited);
        match tools::find_command_text(call) {
            Some((key, text)) => trial.try_command_edits(key, text, analysis),
            None => trial.try_project_files(),
        }
    }
    let mut flips = trial.flips;
    flips.sort_by_key(|flip| flip.bytes);
    flips.dedup_by(|one, other| one.then == other.then);
    flips.truncate(MAX_FLIPS);
    flips
}

struct FlipSearch<'a> {
    call: &'a GuardToolCall<'a>,
    policy: &'a GuardPolicy,
    context: &'a JudgeContext,
    before: GuardDecision,
    tried: usize,
    bytes: usize,
    flips: Vec<DecisionFlip>,
}

impl FlipSearch<'_> {
    /// Whether the budget allows another trial with a text of this size.
    fn spend_budget(&mut self, bytes: usize) -> bool {
        self.tried += 1;
        self.bytes += bytes;
        self.tried <= MAX_TRIALS && self.bytes <= MAX_TRIED_BYTES
    }

    /// Records a change that makes the decision milder, or stricter if the call is allowed.
    fn record_flip(&mut self, change: FlipKind, what: String, then: String, after: GuardDecision, bytes: usize) {
        let flips = match self.before {
            GuardDecision::Allow => after > GuardDecision::Allow,
            before => after < before,
        };
        if flips {
            self.flips.push(DecisionFlip { change, what, then, decision: after, bytes });
        }
    }

    /// Judges the call with another text at a key.
    fn judge_with_text(&mut self, key: &str, text: &str) -> Option<GuardDecision> {
        if !self.spend_budget(text.len()) {
            return None;
        }
        let mut input = self.call.input.clone();
        *input.get_mut(key)? = Json::String(text.to_owned());
        let call = GuardToolCall { tool: self.call.tool, input: &input };
        Some(judge_call(&call, self.policy, self.context).unaudited)
    }

    /// Judges the call with another command at a key, if it is valid.
    fn judge_with_command(&mut self, key: &str, text: &str) -> Option<GuardDecision> {
        let is_valid = text.len() <= MAX_COMMAND_BYTES && !text.trim().is_empty() && is_valid_shell(text);
        is_valid.then(|| self.judge_with_text(key, text)).flatten()
    }

    /// Judges the same effects under another policy.
    fn judge_under_policy(&mut self, analysis: &CallAnalysis, policy: &GuardPolicy) -> Option<GuardDecision> {
        self.spend_budget(0).then(|| judge_analysis(analysis, policy).unaudited)
    }

    /// For an allowed call: tries the settings that would stop it.
    fn try_stricter_settings(&mut self, analysis: &CallAnalysis) {
        let strict = GuardPolicy { preset: PolicyPreset::Strict, ..self.policy.clone() };
        if let Some(after) = self.judge_under_policy(analysis, &strict) {
            let (what, then) = ("Set the strict preset.", "[guard]\npreset = \"strict\"");
            self.record_flip(FlipKind::Preset, what.to_owned(), then.to_owned(), after, then.len());
        }
        for rule in find_matching_rules(&analysis.effects) {
            let mut policy = self.policy.clone();
            if policy.rules.remove(rule.id).is_some()
                && let Some(after) = self.judge_under_policy(analysis, &policy)
            {
                let what = format!("Remove the setting for rule {}.", rule.id);
                self.record_flip(FlipKind::Rule, what, String::new(), after, rule.id.len());
            }
        }
        self.try_removing_entries(GuardDecision::Allow);
    }

    /// Tries to remove each entry with this action.
    fn try_removing_entries(&mut self, action: GuardDecision) {
        for number in 0..self.policy.entries.len() {
            let mut policy = self.policy.clone();
            let entry = policy.entries.remove(number);
            if entry.action != action {
                continue;
            }
            if !self.spend_budget(tools::find_command_text(self.call).map_or(0, |(_, text)| text.len())) {
                return;
            }
            let after = judge_call(self.call, &policy, self.context).unaudited;
            let (what, size) = match (action, &entry.command) {
                (GuardDecision::Allow, Some(command)) => {
                    (format!("Remove `{command}` from the allowed commands."), command.len())
                }
                _ => (format!("Remove [[guard.{}]] in {}.", action.name(), entry.id), entry.id.len()),
            };
            self.record_flip(FlipKind::Allowed, what, String::new(), after, size);
        }
    }

    /// Tries to allow each rule that stops the call, and all of them.
    fn try_disabling_rules(&mut self, analysis: &CallAnalysis) {
        let stopping: Vec<&GuardRule> = find_matching_rules(&analysis.effects)
            .into_iter()
            .filter(|rule| self.policy.decide(rule) != GuardDecision::Allow)
            .collect();
        for rule in &stopping {
            self.disable_rules(std::slice::from_ref(rule), analysis);
        }
        if stopping.len() > 1 {
            self.disable_rules(&stopping, analysis);
        }
    }

    fn disable_rules(&mut self, rules: &[&GuardRule], analysis: &CallAnalysis) {
        let mut policy = self.policy.clone();
        let choice = RuleOverride { decision: GuardDecision::Allow, by: PolicyAuthor::User };
        policy.rules.extend(rules.iter().map(|rule| (rule.id.to_owned(), choice)));
        let Some(after) = self.judge_under_policy(analysis, &policy) else {
            return;
        };
        let lines: String = rules.iter().map(|rule| format!("\n\"{}\" = \"allow\"", rule.id)).collect();
        let then = format!("[guard.rules]{lines}");
        let ids: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
        let rule = if ids.len() == 1 { "rule" } else { "rules" };
        let what = format!("Turn off {rule} {} in your own settings.", ids.join(" and "));
        let bytes = then.len();
        self.record_flip(FlipKind::Rule, what, then, after, bytes);
    }

    /// Tries the command without one of its parts.
    fn try_command_edits(&mut self, key: &str, text: &str, analysis: &CallAnalysis) {
        let spans = find_blamed_spans(analysis, self.policy);
        spans.iter().for_each(|span| self.try_allow_entry(text, span));
        // A text that is not shell has no known parts.
        if text.len() > MAX_COMMAND_BYTES || !is_valid_shell(text) {
            return;
        }
        for span in &spans {
            self.omit_commands(key, text, std::slice::from_ref(span));
        }
        if spans.len() > 1 {
            self.omit_commands(key, text, &spans);
        }
        for span in &spans {
            let parts = EditableSpans::from_command(text, span, analysis);
            parts.needless.iter().for_each(|part| self.omit_word(key, text, part));
            parts.files.iter().for_each(|part| self.move_into_project(key, text, part));
        }
    }

    /// Replaces whole commands by `:`, which does nothing and keeps the syntax valid.
    fn omit_commands(&mut self, key: &str, text: &str, spans: &[ByteSpan]) {
        let mut then = text.to_owned();
        for span in spans.iter().rev() {
            then = replace_span(&then, span, ":");
        }
        // Without its command, the text of a here-document would run. An empty call is no useful suggestion.
        let is_nothing = then.chars().all(|c| ":;|&() \n".contains(c));
        if is_nothing || text.contains("<<") {
            return;
        }
        if let Some(after) = self.judge_with_command(key, &then) {
            let removed: Vec<String> = spans.iter().map(|span| quote_span(text, span)).collect();
            let what = format!("Remove {}.", removed.join(" and "));
            let bytes = spans.iter().map(ExactSizeIterator::len).sum();
            self.record_flip(FlipKind::Command, what, then, after, bytes);
        }
    }

    /// Removes one word or redirection.
    fn omit_word(&mut self, key: &str, text: &str, part: &ByteSpan) {
        let then = replace_span(text, part, "");
        if let Some(after) = self.judge_with_command(key, &then) {
            let what = format!("Remove {}.", quote_span(text, part));
            self.record_flip(FlipKind::Word, what, then, after, part.len());
        }
    }

    /// Uses a path inside the project instead.
    fn move_into_project(&mut self, key: &str, text: &str, part: &ByteSpan) {
        let word = text.get(part.clone()).unwrap_or_default();
        let Some(name) = outside_file_name(word) else {
            return;
        };
        let directory = if self.context.cwd == self.context.project { "." } else { self.context.project.as_str() };
        let path = format!("{directory}/{name}");
        let then = replace_span(text, part, &path);
        if let Some(after) = self.judge_with_command(key, &then) {
            let what = format!("Use {path} in the project instead of {}.", quote_span(text, part));
            self.record_flip(FlipKind::Target, what, then, after, part.len().max(path.len()));
        }
    }

    /// Allows the command in the settings.
    fn try_allow_entry(&mut self, text: &str, span: &ByteSpan) {
        let command = text.get(span.clone()).unwrap_or_default();
        let entry = PolicyEntry::allow(command, "");
        if command.len() > MAX_COMMAND_BYTES || entry.pattern_error().is_some() || !self.spend_budget(text.len()) {
            return;
        }
        let then = format!("[[guard.allow]]\ncommand = {}\nreason = \"…\"", quote_toml_string(command));
        let what = format!("Allow the command {} in your settings, with a reason.", quote_span(text, span));
        let mut policy = self.policy.clone();
        policy.entries.push(entry);
        let after = judge_call(self.call, &policy, self.context).unaudited;
        let bytes = then.len();
        self.record_flip(FlipKind::Allowed, what, then, after, bytes);
    }

    /// For file tools: uses a file of the same name inside the project.
    fn try_project_files(&mut self) {
        for (key, path) in tools::find_path_texts(self.call) {
            let Some(name) = outside_file_name(path) else {
                continue;
            };
            let then = format!("{}/{name}", self.context.project);
            if let Some(after) = self.judge_with_text(key, &then) {
                let what = format!("Use {then} in the project instead of {path}.");
                let bytes = path.len().max(then.len());
                self.record_flip(FlipKind::Target, what, then, after, bytes);
            }
        }
    }
}

/// The matching rules, each once.
fn find_matching_rules(effects: &[Effect]) -> Vec<&'static GuardRule> {
    let mut found: Vec<&'static GuardRule> =
        rules::collect_findings(effects).iter().map(|finding| finding.rule).collect();
    found.dedup_by_key(|rule| rule.id);
    found
}

/// The spans of the commands that are stopped, in order.
fn find_blamed_spans(analysis: &CallAnalysis, policy: &GuardPolicy) -> Vec<ByteSpan> {
    let findings = rules::collect_findings(&analysis.effects);
    let stopped =
        findings.iter().filter(|finding| policy.decide(finding.rule) != GuardDecision::Allow && !finding.is_exempt());
    let mut spans: Vec<ByteSpan> =
        stopped.map(|finding| finding.effect.span.clone()).filter(|span| !span.is_empty()).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    // A nested span is removed with its outer one.
    spans.dedup_by(|next, before| next.start < before.end);
    spans
}

/// Whether the text is valid shell.
fn is_valid_shell(text: &str) -> bool {
    parse(text).problems.is_empty()
}

/// The last name of a path outside the project.
fn outside_file_name(word: &str) -> Option<&str> {
    let word = word.trim_matches(['"', '\'']);
    let path = word.trim_end_matches('/');
    let name = path.rsplit('/').next()?;
    let elsewhere = word.starts_with(['/', '~', '$']) || word.starts_with("..");
    // These files exist only there.
    let is_kernel_file = ["/dev/", "/proc/", "/sys/"].iter().any(|place| word.starts_with(place));
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let is_name = !name.is_empty() && name.chars().all(plain) && !matches!(name, "." | "..");
    (elsewhere && !is_kernel_file && is_name && path.contains('/')).then_some(name)
}

fn replace_span(text: &str, part: &ByteSpan, by: &str) -> String {
    let before = text.get(..part.start).unwrap_or_default();
    let after = text.get(part.end..).unwrap_or_default();
    if by.is_empty() {
        // Also removes the blanks around the part, except one between its neighbours.
        let (before, rest) = (before.trim_end_matches(' '), after.trim_start_matches(' '));
        let is_edge = before.is_empty()
            || before.ends_with('(')
            || rest.is_empty()
            || before.ends_with('\n')
            || rest.starts_with(['\n', ';', ')']);
        format!("{before}{}{rest}", if is_edge { "" } else { " " })
    } else {
        format!("{before}{by}{after}")
    }
}

fn quote_span(text: &str, span: &ByteSpan) -> String {
    format!("`{}`", super::shorten_text(text.get(span.clone()).unwrap_or_default()))
}
