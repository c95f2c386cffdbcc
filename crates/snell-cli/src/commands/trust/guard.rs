//! What a project wants of the guard: whoever trusts it should have seen that.

use serde::Serialize;
use snell::{GuardAuthor, GuardChoice, GuardSettings, Origin};

use crate::output::{self, Table};

/// Something that a project wants to be done.
#[derive(Debug, Serialize)]
pub(super) struct Wish<'a> {
    /// `allow`, `ask` or `deny`.
    choice: &'static str,
    /// The rule that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    /// The command that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    source: &'a str,
    line: usize,
}

impl<'a> Wish<'a> {
    fn of(choice: &'static str, origin: &'a Origin) -> Self {
        Self {
            choice,
            rule: None,
            command: None,
            reason: None,
            until: None,
            source: &origin.shown,
            line: origin.line,
        }
    }
}

/// What its files say about rules and commands.
pub(super) fn wishes(settings: &GuardSettings) -> Vec<Wish<'_>> {
    let is_projects = |author| author == GuardAuthor::Project;
    let rules = settings.rules.iter().filter(|said| is_projects(said.author));
    let rules = rules.map(|said| Wish {
        rule: Some(&said.rule),
        ..Wish::of(said.choice.name(), &said.origin)
    });
    let allowed = settings.allow.iter().filter(|said| is_projects(said.author));
    let allowed = allowed.map(|said| Wish {
        command: Some(&said.command),
        reason: Some(&said.reason),
        until: said.until.map(|until| until.to_string()),
        ..Wish::of(GuardChoice::Allow.name(), &said.origin)
    });
    rules.chain(allowed).collect()
}

pub(super) fn show(wishes: &[Wish<'_>]) {
    if wishes.is_empty() {
        return;
    }
    let mut table = Table::new(["GUARD", "RULE OR COMMAND", "WHY", "SOURCE"], 1);
    for wish in wishes {
        let until = wish.until.as_ref().map(|until| format!(" (until {until})"));
        table.row([
            wish.choice.to_owned(),
            wish.rule.or(wish.command).unwrap_or_default().to_owned(),
            format!("{}{}", wish.reason.unwrap_or("-"), until.unwrap_or_default()),
            format!("{}:{}", wish.source, wish.line),
        ]);
    }
    table.print_whole();
    output::line("");
}
