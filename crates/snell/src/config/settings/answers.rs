//! `[answers]`: whether requests of agents can be answered from elsewhere.

use std::path::{Path, PathBuf};

use super::values::{expand_tilde, read_checked_texts};
use crate::config::reader::ConfigReader;
use crate::config::spanned::SpannedNode;

/// Whether requests of agents can be answered from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswersSettings {
    enabled: Option<bool>,
    agents: Option<Vec<String>>,
    projects: Option<Vec<PathBuf>>,
}

/// The keys of `[answers]`.
pub(super) const ANSWERS_KEYS: &[&str] = &["enabled", "agents", "projects"];

impl AnswersSettings {
    /// Whether requests of any agent may be answered.
    pub fn is_enabled(&self) -> bool {
        self.enabled == Some(true)
    }

    /// Whether requests of this agent may be answered in this project.
    pub fn is_enabled_for(&self, agent: &str, project: &Path) -> bool {
        let has_agent = |agents: &Vec<String>| agents.iter().any(|name| name == agent);
        let has_project = |projects: &Vec<PathBuf>| projects.iter().any(|root| project.starts_with(root));
        self.is_enabled()
            && self.agents.as_ref().is_none_or(has_agent)
            && self.projects.as_ref().is_none_or(has_project)
    }

    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            enabled: self.enabled.or(earlier.enabled),
            agents: self.agents.or(earlier.agents),
            projects: self.projects.or(earlier.projects),
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
    AnswersSettings {
        enabled: reader.read_bool(&fields, "enabled"),
        agents: fields.get("agents").map(|node| read_checked_texts(reader, node, "agents", Ok)),
        projects: fields
            .get("projects")
            .map(|node| read_checked_texts(reader, node, "projects", |text| Ok(PathBuf::from(text)))),
    }
}
