//! The whole way: a tool call, to what would happen, to what is to be done about it.

use serde_json::Value as Json;

use crate::allowed;
use crate::effects::{Effect, Kind, What, handed};
use crate::invocation::Invocation;
use crate::paths::locate;
use crate::policy::{FAILURE, LIMIT, Policy, UNCLEAR, UNREAD, Verdict};
use crate::rules::{self, Finding, RULES, Tier};
use crate::shell::{Coverage, Reason};
use crate::syntax::Span;
use crate::tools;
use crate::world::World;

/// A function that starts itself twice, without end.
const FORK_BOMB: &str = "process.fork-bomb";

/// A tool that an agent is about to use.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its name, as the agent has it: `Bash`, `Write`, `mcp__server__tool`.
    pub tool: &'a str,
    /// What it is given.
    pub input: &'a Json,
}

/// What is to be done about a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is to be done.
    pub decision: Verdict,
    /// What would be done if the policy did not merely watch.
    pub would: Verdict,
    /// The gravest rule that matches. A call may be allowed all the same, if the policy only watches.
    pub rule: Option<&'static str>,
    /// How grave that is.
    pub tier: Option<Tier>,
    /// Why, as a sentence; empty if there is nothing to say.
    pub reason: String,
    /// What to do instead; empty if there is nothing to say.
    pub advice: &'static str,
    /// Where in the command it stands, in order.
    pub spans: Vec<Span>,
    /// Whether everything was seen.
    pub coverage: Coverage,
    /// Why it is let through, if it is because the user has allowed a command.
    pub allowed_by: Option<String>,
}

impl Judgement {
    /// Nothing stands against it.
    fn nothing(coverage: Coverage) -> Self {
        Self {
            decision: Verdict::Allow,
            would: Verdict::Allow,
            rule: None,
            tier: None,
            reason: String::new(),
            advice: "",
            spans: Vec::new(),
            coverage,
            allowed_by: None,
        }
    }

    /// What would be done if the policy did not merely watch; nothing if that makes no difference.
    pub fn watched(&self) -> Option<Verdict> {
        Some(self.would).filter(|would| *would != self.decision)
    }

    /// The guard itself has failed: what is to be done about a call of which nothing is known.
    pub fn failed(policy: &Policy) -> Self {
        Self::without_looking(policy, FAILURE, Reason::Failure, str::to_owned)
    }

    /// The call cannot be read, or only in part: why, as a sentence without its end.
    pub fn unread(policy: &Policy, why: &str) -> Self {
        let told = |reason: &str| {
            let whole = reason.replace("`{field}`", "all");
            format!("{}: {why}.", whole.trim_end_matches('.'))
        };
        Self::without_looking(policy, UNREAD, Reason::Unread, told)
    }

    /// A call that cannot be looked at, by the rule for that.
    fn without_looking(policy: &Policy, id: &str, lacks: Reason, told: impl FnOnce(&str) -> String) -> Self {
        let coverage = Coverage::Partial(vec![lacks]);
        let rule = RULES.iter().find(|rule| rule.id == id);
        let Some((rule, would)) = rule.map(|rule| (rule, policy.verdict(rule))) else {
            return Self::nothing(coverage);
        };
        Self {
            decision: policy.enforced(would),
            would,
            rule: Some(rule.id),
            tier: Some(rule.tier),
            reason: told(rule.reason),
            advice: rule.advice,
            ..Self::nothing(coverage)
        }
    }
}

/// What was seen of a call.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The programs that would run.
    pub(crate) invocations: Vec<Invocation>,
    /// What would happen, by them or by the tool itself.
    pub(crate) effects: Vec<Effect>,
    pub(crate) coverage: Coverage,
}

impl Seen {
    /// Something that a rule judges by itself.
    pub(crate) fn mark(&mut self, rule: &str, span: Span) {
        self.mark_by("the tool", rule, span);
    }

    fn mark_by(&mut self, program: &'static str, rule: &str, span: Span) {
        if let Some(number) = RULES.iter().position(|known| known.id == rule) {
            self.effects.push(Effect {
                what: What::Rule(number),
                place: None,
                recursive: false,
                program,
                by: None,
                allowed: None,
                span,
            });
        }
    }

    /// There is more to it than could be looked at.
    pub(crate) fn limit(&mut self, name: &'static str) {
        self.mark(LIMIT, Span::default());
        self.coverage.lacks(Reason::Limit(name));
    }

    /// A field is missing, or is not of the kind that the tool takes.
    pub(crate) fn unread(&mut self, field: &'static str) {
        self.mark_by(field, UNREAD, Span::default());
        self.coverage.lacks(Reason::Unread);
    }

    /// What happens behind links happens there.
    fn follow_links(&mut self, world: &World) {
        for effect in &mut self.effects {
            let Some(touched) = Touched::by(effect) else {
                continue;
            };
            let known = touched.path.as_str();
            // The link itself lies where its directory really is.
            let (directory, _) = known.rsplit_once('/').unwrap_or_default();
            let from = if touched.is_itself { directory } else { known };
            let real = world.links.iter().find(|(link, _)| link == from);
            if let (Some((_, real)), Some(place)) = (real, effect.place.as_mut()) {
                place.go(from, real, world);
            }
        }
    }

    /// Whoever passed a limit, what was seen is not all.
    fn own_up(&mut self) {
        let is_limit = |effect: &Effect| matches!(effect.what, What::Rule(number) if RULES.get(number).is_some_and(|rule| rule.id == LIMIT));
        if !self.coverage.is_limited() && self.effects.iter().any(is_limit) {
            self.coverage.lacks(Reason::Limit("code"));
        }
    }

    /// Functions that start themselves without end.
    pub(crate) fn fork_bombs(&mut self, spans: Vec<Span>) {
        for span in spans {
            self.mark(FORK_BOMB, span);
        }
    }

    /// What is known about how much is known.
    pub(crate) fn cover(&mut self, coverage: Coverage) {
        let Coverage::Partial(reasons) = coverage else {
            return;
        };
        for reason in reasons {
            match reason {
                Reason::Limit(name) => self.limit(name),
                other => self.coverage.lacks(other),
            }
        }
        self.mark(UNCLEAR, Span::default());
    }
}

/// A place that a call is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touched {
    /// Its path, as far as that is known.
    pub path: String,
    /// Whether it would be the link itself that is removed or moved, if it is one.
    pub is_itself: bool,
    /// Whether it is looked at and nothing else.
    pub is_read: bool,
    /// Whether it is a program that would run, called by its path.
    pub is_run: bool,
}

impl Touched {
    fn by(effect: &Effect) -> Option<Self> {
        let (path, is_all) = effect.place.as_ref()?.known()?;
        let takes_away = matches!(effect.what, What::Kind(Kind::Delete | Kind::Take));
        Some(Self {
            path,
            is_itself: takes_away && is_all,
            is_read: effect.what == What::Kind(Kind::Read),
            is_run: false,
        })
    }

    /// The program of an invocation, if it is called by its path.
    fn run_by(invocation: &Invocation, world: &World) -> Option<Self> {
        let program = invocation.argv.first().filter(|_| !invocation.elsewhere)?;
        program.as_text().filter(|name| name.contains('/'))?;
        Some(Self {
            path: locate(program, invocation.cwd.as_deref(), world).path?,
            is_itself: false,
            is_read: true,
            is_run: true,
        })
    }
}

/// Judges a call, and says which places it is about: whoever knows a disk can say where links on their ways lead, and have
/// it judged again with [`World::links`].
pub fn judge_with_places(call: &Call<'_>, policy: &Policy, world: &World) -> (Judgement, Vec<Touched>) {
    let seen = look(call, policy, world);
    let mut touched: Vec<Touched> = seen.effects.iter().filter_map(Touched::by).collect();
    let run = seen.invocations.iter();
    touched.extend(run.filter_map(|invocation| Touched::run_by(invocation, world)));
    touched.sort();
    touched.dedup();
    (judge_seen(&seen, policy), touched)
}

/// Judges a call: what would it do, and may it?
pub fn judge(call: &Call<'_>, policy: &Policy, world: &World) -> Judgement {
    let seen = look(call, policy, world);
    judge_seen(&seen, policy)
}

/// What would happen, and what that means to this policy.
pub(crate) fn look(call: &Call<'_>, policy: &Policy, world: &World) -> Seen {
    let permits = allowed::permits(&policy.allowed, world);
    let mut seen = tools::look(call, &permits, world);
    seen.own_up();
    if !world.links.is_empty() {
        seen.follow_links(world);
    }
    if !policy.protected.is_empty() {
        seen.effects
            .extend(handed::sealed(&seen.invocations, &policy.protected, world));
    }
    if !world.links.is_empty() {
        seen.follow_links(world);
    }
    if !policy.protected.is_empty() {
        let places = seen.effects.iter_mut().filter_map(|effect| effect.place.as_mut());
        places.for_each(|place| place.protect(&policy.protected, world));
    }
    seen
}

/// What is to be done about it.
pub(crate) fn judge_seen(seen: &Seen, policy: &Policy) -> Judgement {
    let findings = rules::findings(&seen.effects);
    let minded = |finding: &&Finding<'_>| policy.verdict(finding.rule) != Verdict::Allow;
    let (through, stopped): (Vec<&Finding<'_>>, Vec<&Finding<'_>>) = findings
        .iter()
        .filter(minded)
        .partition(|finding| finding.is_let_through());
    // They are sorted by gravity, but a policy may see it differently; of equals, the first is the gravest.
    let gravest = stopped
        .iter()
        .map(|finding| (policy.verdict(finding.rule), *finding))
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    let allowed = through.first().and_then(|finding| finding.effect.allowed);
    Judgement {
        allowed_by: allowed.and_then(|number| Some(policy.allowed.get(number)?.reason.clone())),
        ..match gravest {
            Some((verdict, finding)) => told(policy, verdict, finding, &stopped, seen.coverage.clone()),
            // Whoever lets through what could not be looked at is told so all the same.
            None => match findings
                .iter()
                .find(|finding| matches!(finding.rule.id, LIMIT | UNREAD))
            {
                Some(unseen) => told(policy, Verdict::Allow, unseen, &[unseen], seen.coverage.clone()),
                None => Judgement::nothing(seen.coverage.clone()),
            },
        }
    }
}

fn told(
    policy: &Policy,
    verdict: Verdict,
    finding: &Finding<'_>,
    all: &[&Finding<'_>],
    coverage: Coverage,
) -> Judgement {
    let rule = finding.rule;
    let mut spans: Vec<Span> = all
        .iter()
        .filter(|other| other.rule.id == rule.id)
        .map(|other| other.effect.span.clone())
        .filter(|span| *span != Span::default())
        .collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    Judgement {
        decision: policy.enforced(verdict),
        would: verdict,
        rule: Some(rule.id),
        tier: Some(rule.tier),
        reason: finding.reason(),
        advice: rule.advice,
        spans,
        ..Judgement::nothing(coverage)
    }
}

#[cfg(test)]
mod tests;
