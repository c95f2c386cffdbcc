//! The answers to the questions: from options, from the user, or the defaults.

use snell::did_you_mean;

use super::Args;
use crate::commands::install::{AgentTargets, InstallTargetArgs};
use crate::install::agents::InstallAgent;
use crate::output::{self, CommandError};
use crate::process::question;
use crate::settings_file::SnellTomlScope;
use crate::settings_file::schema::SettingSchema;

/// The key of the guard's strictness, and its default.
const PRESET_KEY: &str = "guard.preset";
const DEFAULT_PRESET: &str = "standard";

/// The presets to choose from. Others, such as the preset of a profile, are accepted too.
const OFFERED_PRESETS: &[(&str, &str)] = &[
    ("standard", "denies disasters, asks about risks"),
    ("strict", "denies instead of asking"),
    ("audit", "only judges and records, stops nothing"),
];

/// The key of what the guard approves, and its default.
const APPROVE_KEY: &str = "guard.approve";
const DEFAULT_APPROVAL: &str = "off";

/// The calls that the guard may approve, so that agents ask less.
const OFFERED_APPROVALS: &[(&str, &str)] = &[
    ("off", "agents ask as they do now"),
    ("read", "they need not ask about calls that change nothing"),
    ("project", "nor about editing, building and testing the project"),
];

/// A key of the table of notices. If the schema lacks it, this version cannot notify.
const NOTIFY_KEY: &str = "notify.desktop";

/// How Snell notifies the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotifyChoice {
    Nothing,
    Desktop,
    /// The URL of an ntfy topic.
    Ntfy(String),
}

/// All answers.
#[derive(Debug)]
pub(super) struct InitAnswers {
    /// The names of the agents to install in.
    pub(super) agents: Vec<String>,
    pub(super) preset: String,
    /// The calls that the guard approves; nothing in a project's file.
    pub(super) approve: Option<String>,
    /// Nothing if this file or this version has no such setting.
    pub(super) notify: Option<NotifyChoice>,
}

impl InitAnswers {
    pub(super) fn collect(args: &Args, scope: SnellTomlScope, agents: &InstallTargetArgs) -> anyhow::Result<Self> {
        let schema = SettingSchema::load()?;
        let asks = question::can_ask() && !args.yes;
        let found = agents.resolve_found()?;
        let agents = match (&args.agents, scope) {
            (Some(written), _) => parse_agents(written, &found)?,
            (None, _) if found.is_empty() => {
                output::print_line("No known agent was found on this machine.");
                Vec::new()
            }
            (None, _) if asks => ask_agents(&found, default_agents(scope))?,
            (None, _) => parse_agents(default_agents(scope), &found)?,
        };
        let key = schema.find_key(PRESET_KEY)?;
        let presets = key.choices();
        let preset = match &args.guard {
            Some(written) => parse_choice("--guard", written, &presets)?,
            None if asks => ask_preset(&presets)?,
            None => DEFAULT_PRESET.to_owned(),
        };
        let is_own = scope == SnellTomlScope::User;
        let approve_key = schema.find_key(APPROVE_KEY)?;
        let approvals = approve_key.choices();
        let approve = match &args.approve {
            Some(written) => parse_choice("--approve", written, &approvals)?,
            None if asks && is_own => ask_approval(&approvals)?,
            None => DEFAULT_APPROVAL.to_owned(),
        };
        let can_notify = scope == SnellTomlScope::User && schema.find_key(NOTIFY_KEY).is_ok();
        let notify = match &args.notify {
            Some(written) if can_notify || written == "none" => Some(parse_notify(written)?),
            Some(_) => {
                return Err(CommandError::new("this version cannot notify you").with_hint("leave out --notify").into());
            }
            None if asks && can_notify => {
                let question = "How does Snell notify you? none, desktop, or the URL of an ntfy topic";
                Some(question::ask_until_valid(question, "none", parse_notify)?)
            }
            None => Some(NotifyChoice::Nothing),
        };
        Ok(Self { agents, preset, approve: is_own.then_some(approve), notify: notify.filter(|_| can_notify) })
    }
}

/// A project's settings of agents are shared with others, so they are changed only on request.
fn default_agents(scope: SnellTomlScope) -> &'static str {
    match scope {
        SnellTomlScope::User => "all",
        SnellTomlScope::Project => "none",
    }
}

fn ask_agents(found: &[AgentTargets], default: &str) -> anyhow::Result<Vec<String>> {
    let names: Vec<_> = found.iter().map(|one| one.agent.name).collect();
    output::print_line(&format!("Agents on this machine: {}", names.join(", ")));
    let question = "Install Snell in which of them? all, none, or names";
    question::ask_until_valid(question, default, |written| parse_agents(written, found))
}

fn ask_preset(presets: &[&str]) -> anyhow::Result<String> {
    output::print_line("How strict is the guard?");
    for (preset, effect) in OFFERED_PRESETS {
        output::print_line(&format!("  {preset:<10} {effect}"));
    }
    let question = join_choices(&list_offered_presets());
    question::ask_until_valid(&question, DEFAULT_PRESET, |word| parse_choice("the guard", word, presets))
}

fn ask_approval(approvals: &[&str]) -> anyhow::Result<String> {
    output::print_line("Which harmless calls does the guard approve, so that agents ask less?");
    for (approval, effect) in OFFERED_APPROVALS {
        output::print_line(&format!("  {approval:<10} {effect}"));
    }
    let question = join_choices(approvals);
    question::ask_until_valid(&question, DEFAULT_APPROVAL, |word| parse_choice("the guard's approval", word, approvals))
}

fn list_offered_presets() -> Vec<&'static str> {
    OFFERED_PRESETS.iter().map(|(preset, _)| *preset).collect()
}

/// Names with commas or spaces, `all` or `none`.
fn parse_agents(written: &str, found: &[AgentTargets]) -> anyhow::Result<Vec<String>> {
    match written.trim() {
        "none" => return Ok(Vec::new()),
        "all" => return Ok(found.iter().map(|one| one.agent.name.to_owned()).collect()),
        _ => {}
    }
    let names = written.split([',', ' ']).filter(|name| !name.is_empty());
    names.map(|name| InstallAgent::find_by_name(name).map(|agent| agent.name.to_owned())).collect()
}

fn parse_choice(what: &str, written: &str, choices: &[&str]) -> anyhow::Result<String> {
    if choices.contains(&written) {
        return Ok(written.to_owned());
    }
    let hint = match did_you_mean(written, choices.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if choices.contains(&DEFAULT_APPROVAL) => format!("use {}", join_choices(choices)),
        None => format!("use {}", join_choices(&list_offered_presets())),
    };
    Err(CommandError::new(format!("{what} cannot be \"{written}\"")).with_hint(hint).into())
}

fn parse_notify(written: &str) -> anyhow::Result<NotifyChoice> {
    match written {
        "none" => Ok(NotifyChoice::Nothing),
        "desktop" => Ok(NotifyChoice::Desktop),
        url if url.starts_with("https://") || url.starts_with("http://") => Ok(NotifyChoice::Ntfy(url.to_owned())),
        other => {
            let problem = format!("Snell cannot notify you by \"{other}\"");
            Err(CommandError::new(problem)
                .with_hint("use none, desktop, or a URL such as https://ntfy.sh/TOPIC")
                .into())
        }
    }
}

/// `standard, strict or audit`.
fn join_choices(choices: &[&str]) -> String {
    match choices {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
