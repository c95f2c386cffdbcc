//! Agents in which Snell can be installed: the products with an install recipe.

use std::ops::Deref;
use std::path::{Path, PathBuf};

pub(crate) use snell::SettingsScope;
use snell::{AgentProduct, AgentSettingsFile, InstallRecipe, read_text_file};

use crate::output::CommandError;

/// A larger file is not read. Claude Code keeps its history in the same file as trust.
const MAX_TRUST_BYTES: u64 = 64 * 1024 * 1024;

/// An agent in which Snell can be installed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstallAgent {
    /// Its name in options: `claude`.
    pub(crate) name: &'static str,
    product: &'static AgentProduct,
    recipe: &'static InstallRecipe,
}

impl Deref for InstallAgent {
    type Target = InstallRecipe;

    fn deref(&self) -> &InstallRecipe {
        self.recipe
    }
}

/// The directories of an agent's files.
#[derive(Clone, Debug)]
pub(crate) struct AgentDirs {
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    /// The value of the agent's directory variable.
    pub(crate) directory: Option<PathBuf>,
}

impl InstallAgent {
    /// The agent of this name.
    pub(crate) fn find_by_name(name: &str) -> anyhow::Result<Self> {
        match Self::all().find(|agent| agent.name == name) {
            Some(agent) => Ok(agent),
            None => {
                let names: Vec<_> = Self::all().map(|agent| agent.name).collect();
                let problem = format!("Snell cannot be installed in \"{name}\"");
                Err(CommandError::new(problem).with_hint(format!("use one of: {}", names.join(", "))).into())
            }
        }
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let products = AgentProduct::all().iter();
        products.filter_map(|product| Some(Self { name: product.name, product, recipe: product.install.as_ref()? }))
    }

    /// Its display name.
    pub(crate) fn title(&self) -> &'static str {
        self.product.title
    }

    /// The variable for its directory.
    pub(crate) fn directory_variable(&self) -> &'static str {
        self.directory.0
    }

    /// Its own directory.
    pub(crate) fn config_dir(&self, around: &AgentDirs) -> PathBuf {
        let usual = || self.default_config_dir(around);
        around.directory.clone().unwrap_or_else(usual)
    }

    /// Its own directory without the variable.
    pub(crate) fn default_config_dir(&self, around: &AgentDirs) -> PathBuf {
        around.home.join(self.directory.1)
    }

    /// The path of one of its files.
    pub(crate) fn settings_path(&self, file: &AgentSettingsFile, around: &AgentDirs) -> PathBuf {
        match file.scope {
            SettingsScope::User => self.config_dir(around).join(file.path),
            SettingsScope::Project | SettingsScope::Local => around.project.join(file.path),
            SettingsScope::Managed => PathBuf::from(file.path),
        }
    }

    /// All its files, including those in `.d` directories.
    pub(crate) fn all_settings_paths(&self, around: &AgentDirs) -> Vec<(SettingsScope, PathBuf)> {
        let mut places = Vec::new();
        for file in self.files {
            let path = self.settings_path(file, around);
            if !file.path.ends_with(".d") {
                places.push((file.scope, path));
                continue;
            }
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut inside: Vec<_> = entries.map(|entry| entry.path()).collect();
            inside.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
            inside.sort();
            places.extend(inside.into_iter().map(|path| (file.scope, path)));
        }
        places
    }

    /// The path of its file in this scope.
    pub(crate) fn settings_path_in_scope(&self, scope: SettingsScope, around: &AgentDirs) -> PathBuf {
        let file = self.files.iter().find(|file| file.scope == scope);
        file.map_or_else(|| self.config_dir(around), |file| self.settings_path(file, around))
    }

    /// The notify script of a machine that only forwards events.
    pub(crate) fn script_path(&self, around: &AgentDirs) -> PathBuf {
        self.config_dir(around).join("hooks").join(super::notify_script::SCRIPT_NAME)
    }

    /// The events on which `snell hook` is registered.
    pub(crate) fn events(&self) -> impl Iterator<Item = &'static str> + use<> {
        let left_out = self.recipe.left_out;
        let is_left_out = move |event: &str| left_out.iter().any(|(name, _)| *name == event);
        self.product.events.iter().copied().filter(move |event| !is_left_out(event))
    }

    /// The timeout of its hook on this event in seconds, if it must be set.
    pub(crate) fn timeout(&self, event: &str) -> Option<u32> {
        let row = self.timeouts.iter().find(|(name, _)| *name == event);
        row.map(|(_, seconds)| *seconds)
    }

    /// Whether its user trusts the project or a directory above; nothing if that is unknown.
    pub(crate) fn is_project_trusted(&self, around: &AgentDirs) -> Option<bool> {
        let (name, [projects, trusted]) = self.trust;
        let directory = around.directory.as_ref().unwrap_or(&around.home);
        let text = read_text_file(&directory.join(name), MAX_TRUST_BYTES).ok()?;
        let noted: serde_json::Value = serde_json::from_str(&text).ok()?;
        let noted = noted[projects].as_object()?;
        let mut directories = around.project.ancestors().filter_map(Path::to_str);
        Some(directories.any(|directory| noted.get(directory).is_some_and(|one| one[trusted] == true)))
    }

    /// Other products on this machine that read its files.
    pub(crate) fn find_other_readers(&self, home: &Path) -> Vec<&'static str> {
        let readers = self.recipe.readers.iter().filter(|(_, sign)| home.join(sign).exists());
        readers.map(|(name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_claude_code_is_registered_or_left_out_for_a_reason() {
        let claude = InstallAgent::find_by_name("claude").unwrap();
        let events: Vec<_> = claude.events().collect();
        let known = claude.product.events;
        assert_eq!((events.len(), known.len()), (29, 31));
        let named = claude.left_out.iter().map(|(event, _)| event);
        let named = named.chain(claude.timeouts.iter().map(|(event, _)| event));
        for event in named.chain(claude.forwarded.iter().map(|(event, _)| event)) {
            assert!(known.contains(event), "{event}");
        }
    }
}
