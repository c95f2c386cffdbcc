//! `[answers]`: whether requests of agents can be answered from elsewhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::server::check_receiver_url;
use super::values::{Fallback, expand_tilde, read_checked_text, read_checked_texts, read_interval};
use crate::agents::AgentProduct;
use crate::config::discovery::FileOwner;
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::SpannedNode;
use crate::diagnostic::UserMessage;

/// How long a hook waits for an answer by default, and at most: agents end hooks after 600 s, which is what `snell install`
/// registers. An answer must come before that.
const MAX_WAIT: Duration = Duration::from_secs(590);

/// The effect of a request without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnansweredChoice {
    /// The agent does what it would have done without Snell.
    Agent,
    /// The call is denied.
    Deny,
}

/// Whether requests of agents can be answered from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswersSettings {
    enabled: Option<bool>,
    agents: Option<Vec<String>>,
    projects: Option<Vec<PathBuf>>,
    wait: Option<Duration>,
    no_answer: Option<UnansweredChoice>,
    hold: Option<bool>,
    /// The address under which other devices reach the receiver.
    pub url: Option<String>,
}

/// The keys of `[answers]`.
pub(super) const ANSWERS_KEYS: &[&str] = &["enabled", "agents", "projects", "wait", "no_answer", "hold", "url"];

/// The keys that a project's file can have. They can only narrow the user's settings.
const PROJECT_KEYS: &[&str] = &["enabled", "agents"];

impl AnswersSettings {
    /// Whether hooks of any agent may wait for an answer.
    pub fn is_enabled(&self) -> bool {
        self.enabled == Some(true)
    }

    /// Whether hooks of this agent may wait for an answer in this project.
    pub fn is_enabled_for(&self, agent: &str, project: &Path) -> bool {
        let has_agent = |agents: &Vec<String>| agents.iter().any(|name| name == agent);
        let has_project = |projects: &Vec<PathBuf>| projects.iter().any(|root| project.starts_with(root));
        self.is_enabled()
            && self.agents.as_ref().is_none_or(has_agent)
            && self.projects.as_ref().is_none_or(has_project)
    }

    /// How long a hook waits for an answer, counted from the start of the hook.
    pub fn wait(&self) -> Duration {
        self.wait.unwrap_or(MAX_WAIT)
    }

    /// The effect of a request without an answer.
    pub fn no_answer(&self) -> UnansweredChoice {
        self.no_answer.unwrap_or(UnansweredChoice::Agent)
    }

    /// Whether a hook waits, too, where the agent's own dialog cannot be used meanwhile.
    pub fn hold(&self) -> bool {
        self.hold.unwrap_or(false)
    }

    /// Fills keys that these settings lack from an earlier file. Of agents, only those of both files remain.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            enabled: self.enabled.or(earlier.enabled),
            agents: match (self.agents, earlier.agents) {
                (Some(later), Some(earlier)) => {
                    Some(later.into_iter().filter(|agent| earlier.contains(agent)).collect())
                }
                (later, earlier) => later.or(earlier),
            },
            projects: self.projects.or(earlier.projects),
            wait: self.wait.or(earlier.wait),
            no_answer: self.no_answer.or(earlier.no_answer),
            hold: self.hold.or(earlier.hold),
            url: self.url.or(earlier.url),
        }
    }

    /// The same with absolute paths.
    pub(super) fn resolve_paths(self, home: Option<&Path>) -> Self {
        let resolve = |paths: Vec<PathBuf>| paths.iter().map(|path| expand_tilde(path, home)).collect();
        Self { projects: self.projects.map(resolve), ..self }
    }
}

pub(super) fn read_answers(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> AnswersSettings {
    let Some(fields) = reader.read_table(node, "[answers]", ANSWERS_KEYS) else {
        return AnswersSettings::default();
    };
    let enabled = reader.read_bool(&fields, "enabled");
    // A name that cannot be read stands for no agent.
    let agents = fields.get("agents").map(|node| read_checked_texts(reader, node, "agents", check_agent));
    if reader.owner == FileOwner::Project {
        warn_of_user_keys(reader, &fields, enabled);
        return AnswersSettings { enabled: enabled.filter(|enabled| !enabled), agents, ..AnswersSettings::default() };
    }
    AnswersSettings {
        enabled,
        agents,
        projects: fields.get("projects").map(|node| read_checked_texts(reader, node, "projects", check_project)),
        wait: read_wait(reader, &fields),
        no_answer: fields
            .get("no_answer")
            .and_then(|node| read_checked_text(reader, node, "no_answer", parse_unanswered_choice)),
        hold: reader.read_bool(&fields, "hold"),
        url: fields.get("url").and_then(|node| read_checked_text(reader, node, "url", check_receiver_url)),
    }
}

fn read_wait(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<Duration> {
    let wait = read_interval(reader, fields, "wait", "5m", Fallback::Default)?;
    if let Some(node) = fields.get("wait").filter(|_| wait > MAX_WAIT) {
        let text = format!("\"wait\" is {} s, because agents end hooks that run longer", MAX_WAIT.as_secs());
        let hint = format!("write \"{}s\" or less", MAX_WAIT.as_secs());
        reader.add_warning(node.offset, UserMessage::new(text).with_hint(hint));
    }
    Some(wait.min(MAX_WAIT))
}

/// A project can only switch answers off, for all or for some agents.
fn warn_of_user_keys(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, enabled: Option<bool>) {
    let foreign: Vec<_> = fields
        .members
        .iter()
        .filter(|member| {
            let key = member.key.as_str();
            let is_known = ANSWERS_KEYS.contains(&key);
            is_known && (!PROJECT_KEYS.contains(&key) || (key == "enabled" && enabled == Some(true)))
        })
        .map(|member| (member.key_offset, member.key.clone()))
        .collect();
    for (offset, key) in foreign {
        let text = match key.as_str() {
            "enabled" => "a project's file cannot switch answers on".to_owned(),
            _ => format!("\"{key}\" has no effect in a project's file"),
        };
        reader.add_warning(offset, UserMessage::new(text).with_hint("move it to ~/.config/snell/snell.toml"));
    }
}

fn check_agent(name: String) -> Result<String, UserMessage> {
    if AgentProduct::find_by_name(&name).is_some() {
        return Ok(name);
    }
    let known = AgentProduct::all().iter().map(|product| product.name);
    let message = UserMessage::new(format!("has the unknown agent \"{name}\"")).with_suggestion(&name, known);
    let has_hint = message.hint.is_some();
    Err(if has_hint { message } else { message.with_hint("run `snell list --agents` for the names") })
}

fn check_project(text: String) -> Result<PathBuf, UserMessage> {
    let is_absolute = text.starts_with('/') || text == "~" || text.starts_with("~/");
    if is_absolute {
        return Ok(PathBuf::from(text));
    }
    Err(UserMessage::new("must have absolute paths").with_hint("write a path such as \"~/src/shop\""))
}

fn parse_unanswered_choice(text: String) -> Result<UnansweredChoice, UserMessage> {
    match text.as_str() {
        "agent" => Ok(UnansweredChoice::Agent),
        "deny" => Ok(UnansweredChoice::Deny),
        _ => Err(UserMessage::new("must be \"agent\" or \"deny\"").with_suggestion(&text, ["agent", "deny"])),
    }
}
