//! What is wrong with what settings say about the guard, and only the guard can know.

use snell::{Diagnostic, GuardSettings, Origin, Severity, Timestamp, did_you_mean};
use snell_guard::rules::RULES;

/// A finding: what is wrong, and what to do about it.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Where it was written.
    pub(crate) origin: Origin,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl Finding {
    /// It, as one of the findings about files.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            path: self.origin.shown.clone(),
            line: self.origin.line,
            column: self.origin.column,
            message: format!("{}; {}", self.what, self.remedy),
        }
    }
}

/// Rules that nobody knows, and commands whose time is over.
pub(crate) fn findings(settings: &GuardSettings, now: Timestamp) -> Vec<Finding> {
    let is_known = |id: &str| RULES.iter().any(|rule| rule.id == id);
    let unknown = settings.rules.iter().filter(|choice| !is_known(&choice.rule));
    let unknown = unknown.map(|choice| {
        let near = nearest(&choice.rule).map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
        Finding {
            origin: choice.origin.clone(),
            what: format!("the guard has no rule \"{}\"{near}, so this has no effect", choice.rule),
            remedy: "`snell guard rules` shows all".into(),
        }
    });
    let expired = settings.allow.iter().filter(|entry| entry.is_expired(now));
    let expired = expired.map(|entry| {
        let until = entry.until.map(|until| until.to_string()).unwrap_or_default();
        Finding {
            origin: entry.origin.clone(),
            what: format!("\"{}\" was allowed until {until}, and is no longer", entry.command),
            remedy: "remove it, or write a later day".into(),
        }
    });
    unknown.chain(expired).collect()
}

/// The rule that was probably meant: one of the same words in another order, or one that is written nearly the same.
fn nearest(id: &str) -> Option<&'static str> {
    let words = |id: &str| {
        let mut words: Vec<_> = id.split(['.', '-']).map(str::to_lowercase).collect();
        words.sort();
        words
    };
    let meant = words(id);
    let mut ids = RULES.iter().map(|rule| rule.id);
    ids.find(|known| words(known) == meant)
        .or_else(|| did_you_mean(id, RULES.iter().map(|rule| rule.id)))
}
