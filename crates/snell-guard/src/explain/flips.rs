//! What would change a verdict. Nothing is claimed: every change is judged.

use serde::Serialize;
use serde_json::Value as Json;

use super::parts::Parts;
use super::toml;
use crate::effects::Effect;
use crate::judge::{Call, Judgement, Seen, judge, judge_seen};
use crate::policy::{Allowed, Author, Choice, Policy, Preset, Verdict};
use crate::rules::{self, Rule};
use crate::syntax::{Span, parse};
use crate::tools;
use crate::world::World;

/// So many changes are tried.
const MAX_TRIED: usize = 200;
/// So many bytes of commands are judged for it.
const MAX_BYTES: usize = 1 << 17;
/// So many are told.
const MAX_TOLD: usize = 8;
/// Nobody reads a longer command to see what is different in it.
const MAX_OFFERED: usize = 4096;

/// A change that flips the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// Of which kind it is.
    pub change: Change,
    /// What to do, as a sentence.
    pub what: String,
    /// What would be there then: the command, the path, or the lines of the settings.
    pub then: String,
    /// What would be done then.
    pub decision: Verdict,
    /// How many bytes are changed.
    pub bytes: usize,
}

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A command is left out.
    Command,
    /// A word or a redirection is left out.
    Word,
    /// Something inside the project is meant instead.
    Target,
    /// A rule is chosen differently in the settings.
    Rule,
    /// A command is allowed in the settings, or no longer.
    Allowed,
    /// Another preset is chosen.
    Preset,
}

/// The changes that flip a verdict, smallest first.
pub(super) fn find(call: &Call<'_>, seen: &Seen, judgement: &Judgement, policy: &Policy, world: &World) -> Vec<Flip> {
    let mut trial = Trial {
        call,
        policy,
        world,
        before: judgement.would,
        tried: 0,
        bytes: 0,
        flips: Vec::new(),
    };
    if judgement.would == Verdict::Allow {
        trial.towards_strict(seen);
    } else {
        trial.rules(seen);
        match tools::command_text(call) {
            Some((key, text)) => trial.command(key, text, seen),
            None => trial.files(),
        }
    }
    let mut flips = trial.flips;
    flips.sort_by_key(|flip| flip.bytes);
    flips.dedup_by(|one, other| one.then == other.then);
    flips.truncate(MAX_TOLD);
    flips
}

struct Trial<'a> {
    call: &'a Call<'a>,
    policy: &'a Policy,
    world: &'a World,
    before: Verdict,
    tried: usize,
    bytes: usize,
    flips: Vec<Flip>,
}

impl Trial<'_> {
    /// Whether there is work left for a text of this size.
    fn spend(&mut self, bytes: usize) -> bool {
        self.tried += 1;
        self.bytes += bytes;
        self.tried <= MAX_TRIED && self.bytes <= MAX_BYTES
    }

    /// Notes a change if it makes a difference: something milder, or for what is allowed, something stricter.
    fn note(&mut self, change: Change, what: String, then: String, after: Verdict, bytes: usize) {
        let flips = match self.before {
            Verdict::Allow => after > Verdict::Allow,
            before => after < before,
        };
        if flips {
            self.flips.push(Flip {
                change,
                what,
                then,
                decision: after,
                bytes,
            });
        }
    }

    /// The call with another text at a key.
    fn with(&mut self, key: &str, text: &str) -> Option<Verdict> {
        if !self.spend(text.len()) {
            return None;
        }
        let mut input = self.call.input.clone();
        *input.get_mut(key)? = Json::String(text.to_owned());
        let call = Call {
            tool: self.call.tool,
            input: &input,
        };
        Some(judge(&call, self.policy, self.world).would)
    }

    /// The call with another command at a key, if that is one.
    fn with_command(&mut self, key: &str, text: &str) -> Option<Verdict> {
        let is_one = text.len() <= MAX_OFFERED && !text.trim().is_empty() && is_sound(text);
        is_one.then(|| self.with(key, text)).flatten()
    }

    /// What was found anyhow, judged by another policy.
    fn under(&mut self, seen: &Seen, policy: &Policy) -> Option<Verdict> {
        self.spend(0).then(|| judge_seen(seen, policy).would)
    }

    /// For what is allowed: which setting lets it happen?
    fn towards_strict(&mut self, seen: &Seen) {
        let strict = Policy {
            preset: Preset::Strict,
            ..self.policy.clone()
        };
        if let Some(after) = self.under(seen, &strict) {
            let (what, then) = ("Choose the strict preset.", "[guard]\npreset = \"strict\"");
            self.note(Change::Preset, what.to_owned(), then.to_owned(), after, then.len());
        }
        for rule in matching(&seen.effects) {
            let mut policy = self.policy.clone();
            if policy.rules.remove(rule.id).is_some()
                && let Some(after) = self.under(seen, &policy)
            {
                let what = format!("Take back what the settings say about the rule {}.", rule.id);
                self.note(Change::Rule, what, String::new(), after, rule.id.len());
            }
        }
        for number in 0..self.policy.allowed.len() {
            let mut policy = self.policy.clone();
            let entry = policy.allowed.remove(number);
            if !self.spend(tools::command_text(self.call).map_or(0, |(_, text)| text.len())) {
                return;
            }
            let after = judge(self.call, &policy, self.world).would;
            let what = format!("Take back that `{}` is allowed.", entry.command);
            self.note(Change::Allowed, what, String::new(), after, entry.command.len());
        }
    }

    /// What is stopped, if single rules are turned off, or all that stop it.
    fn rules(&mut self, seen: &Seen) {
        let stopping: Vec<&Rule> = matching(&seen.effects)
            .into_iter()
            .filter(|rule| self.policy.verdict(rule) != Verdict::Allow)
            .collect();
        for rule in &stopping {
            self.turn_off(std::slice::from_ref(rule), seen);
        }
        if stopping.len() > 1 {
            self.turn_off(&stopping, seen);
        }
    }

    fn turn_off(&mut self, rules: &[&Rule], seen: &Seen) {
        let mut policy = self.policy.clone();
        let choice = Choice {
            verdict: Verdict::Allow,
            by: Author::User,
        };
        policy
            .rules
            .extend(rules.iter().map(|rule| (rule.id.to_owned(), choice)));
        let Some(after) = self.under(seen, &policy) else {
            return;
        };
        let lines: String = rules
            .iter()
            .map(|rule| format!("\n\"{}\" = \"allow\"", rule.id))
            .collect();
        let then = format!("[guard.rules]{lines}");
        let ids: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
        let are = if ids.len() == 1 { "is" } else { "are" };
        let what = format!(
            "Allow what {} {are} about, in the user's own settings.",
            ids.join(" and ")
        );
        let bytes = then.len();
        self.note(Change::Rule, what, then, after, bytes);
    }

    /// What a command would be without one of its parts.
    fn command(&mut self, key: &str, text: &str, seen: &Seen) {
        let spans = blamed(seen, self.policy);
        spans.iter().for_each(|span| self.allow(text, span));
        // Of a text that is no shell nobody knows what a part of it is.
        if text.len() > MAX_OFFERED || !is_sound(text) {
            return;
        }
        for span in &spans {
            self.leave_out(key, text, std::slice::from_ref(span));
        }
        if spans.len() > 1 {
            self.leave_out(key, text, &spans);
        }
        for span in &spans {
            let parts = Parts::of(text, span, seen);
            parts.needless.iter().for_each(|part| self.without(key, text, part));
            parts.files.iter().for_each(|part| self.inside(key, text, part));
        }
    }

    /// Without whole commands: `:` does nothing, and keeps what stands around it a command.
    fn leave_out(&mut self, key: &str, text: &str, spans: &[Span]) {
        let mut then = text.to_owned();
        for span in spans.iter().rev() {
            then = replaced(&then, span, ":");
        }
        // What belongs to a command may stand below it, and would be a command itself without it. And nobody needs to be
        // told that a call may be left alone.
        let is_nothing = then.chars().all(|c| ":;|&() \n".contains(c));
        if is_nothing || text.contains("<<") {
            return;
        }
        if let Some(after) = self.with_command(key, &then) {
            let left_out: Vec<String> = spans.iter().map(|span| shown(text, span)).collect();
            let what = format!("Leave out {}.", left_out.join(" and "));
            let bytes = spans.iter().map(ExactSizeIterator::len).sum();
            self.note(Change::Command, what, then, after, bytes);
        }
    }

    /// Without one word or redirection.
    fn without(&mut self, key: &str, text: &str, part: &Span) {
        let then = replaced(text, part, "");
        if let Some(after) = self.with_command(key, &then) {
            let what = format!("Leave out {}.", shown(text, part));
            self.note(Change::Word, what, then, after, part.len());
        }
    }

    /// With something inside the project instead.
    fn inside(&mut self, key: &str, text: &str, part: &Span) {
        let word = text.get(part.clone()).unwrap_or_default();
        let Some(name) = name_of(word) else {
            return;
        };
        let directory = if is_relative_to_project(self.world) {
            "."
        } else {
            self.world.project.as_str()
        };
        let path = format!("{directory}/{name}");
        let then = replaced(text, part, &path);
        if let Some(after) = self.with_command(key, &then) {
            let what = format!("Use {path} inside the project instead of {}.", shown(text, part));
            self.note(Change::Target, what, then, after, part.len().max(path.len()));
        }
    }

    /// With the command allowed in the settings.
    fn allow(&mut self, text: &str, span: &Span) {
        let entry = Allowed {
            command: text.get(span.clone()).unwrap_or_default().to_owned(),
            reason: String::new(),
        };
        if entry.command.len() > MAX_OFFERED || entry.fault().is_some() || !self.spend(text.len()) {
            return;
        }
        let then = format!(
            "[[guard.allow]]\ncommand = {}\nreason = \"…\"",
            toml::quoted(&entry.command)
        );
        let what = format!("Allow the command {}, with a reason.", shown(text, span));
        let mut policy = self.policy.clone();
        policy.allowed.push(entry);
        let after = judge(self.call, &policy, self.world).would;
        let bytes = then.len();
        self.note(Change::Allowed, what, then, after, bytes);
    }

    /// For tools that work on files: the same file inside the project.
    fn files(&mut self) {
        for (key, path) in tools::path_texts(self.call) {
            let Some(name) = name_of(path) else {
                continue;
            };
            let then = format!("{}/{name}", self.world.project);
            if let Some(after) = self.with(key, &then) {
                let what = format!("Use {then} inside the project instead of {path}.");
                let bytes = path.len().max(then.len());
                self.note(Change::Target, what, then, after, bytes);
            }
        }
    }
}

/// The rules that match something, each once.
fn matching(effects: &[Effect]) -> Vec<&'static Rule> {
    let mut found: Vec<&'static Rule> = rules::findings(effects).iter().map(|finding| finding.rule).collect();
    found.dedup_by_key(|rule| rule.id);
    found
}

/// Where the commands stand that are stopped, in order.
fn blamed(seen: &Seen, policy: &Policy) -> Vec<Span> {
    let findings = rules::findings(&seen.effects);
    let stopped = findings
        .iter()
        .filter(|finding| policy.verdict(finding.rule) != Verdict::Allow && !finding.is_let_through());
    let mut spans: Vec<Span> = stopped
        .map(|finding| finding.effect.span.clone())
        .filter(|span| !span.is_empty())
        .collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    // One within another is left out with it.
    spans.dedup_by(|next, before| next.start < before.end);
    spans
}

/// Whether a shell can read it.
fn is_sound(text: &str) -> bool {
    parse(text).problems.is_empty()
}

/// The last name of what looks like a path to somewhere else.
fn name_of(word: &str) -> Option<&str> {
    let word = word.trim_matches(['"', '\'']);
    let path = word.trim_end_matches('/');
    let name = path.rsplit('/').next()?;
    let elsewhere = word.starts_with(['/', '~', '$']) || word.starts_with("..");
    // What lies there is no file that could lie anywhere else.
    let made_by_the_system = ["/dev/", "/proc/", "/sys/"].iter().any(|place| word.starts_with(place));
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let is_name = !name.is_empty() && name.chars().all(plain) && !matches!(name, "." | "..");
    (elsewhere && !made_by_the_system && is_name && path.contains('/')).then_some(name)
}

/// Whether the call starts in the project itself.
fn is_relative_to_project(world: &World) -> bool {
    world.cwd == world.project
}

fn replaced(text: &str, part: &Span, by: &str) -> String {
    let before = text.get(..part.start).unwrap_or_default();
    let after = text.get(part.end..).unwrap_or_default();
    if by.is_empty() {
        // The blanks around it go as well, but for one between what is left.
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

fn shown(text: &str, span: &Span) -> String {
    format!("`{}`", super::shortened(text.get(span.clone()).unwrap_or_default()))
}
