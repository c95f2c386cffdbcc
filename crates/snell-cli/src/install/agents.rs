//! Agents in which Snell can be installed: the products with an install recipe.

use std::borrow::Cow;
use std::ops::Deref;
use std::path::{Path, PathBuf};

pub(crate) use snell::SettingsScope;
use snell::{
    AgentProduct, AgentSettingsFile, CommandStyle, HookCapability, InstallRecipe, RegistrationFormat, SpannedMember,
    SpannedNode, TrustRecord, did_you_mean, read_text_file,
};

use super::notify_script::{SCRIPT_DIR, SCRIPT_NAME};
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

/// A file from which an agent reads hooks.
#[derive(Clone, Debug)]
pub(crate) struct RegistrationFile {
    pub(crate) scope: SettingsScope,
    pub(crate) path: PathBuf,
    /// The events for which Snell registers there.
    pub(crate) events: Vec<&'static str>,
}

/// The place of the event in the name of a file that is for one event.
const EVENT_PLACE: &str = "{event}";

impl InstallAgent {
    /// The agent of this name.
    pub(crate) fn find_by_name(name: &str) -> anyhow::Result<Self> {
        match Self::all().find(|agent| agent.name == name) {
            Some(agent) => Ok(agent),
            None => {
                let names: Vec<_> = Self::all().map(|agent| agent.name).collect();
                let hint = match did_you_mean(name, names.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("use one of: {}", names.join(", ")),
                };
                Err(CommandError::new(format!("Snell knows no agent \"{name}\"")).with_hint(hint).into())
            }
        }
    }

    /// Whether its user answers the guard's questions. Otherwise they are denied.
    pub(crate) fn asks_questions(&self) -> bool {
        self.product.capabilities().support(HookCapability::Ask).is_supported()
    }

    /// Whether it skips new hooks until its user trusts them in it.
    pub(crate) fn skips_untrusted_handlers(&self) -> bool {
        matches!(self.trust, Some(TrustRecord::Handlers(..)))
    }

    /// All agents, by name.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let products = AgentProduct::all().iter();
        let agents = products
            .filter_map(|product| Some(Self { name: product.name, product, recipe: product.install.as_ref()? }));
        let mut agents: Vec<_> = agents.collect();
        agents.sort_by_key(|agent| agent.name);
        agents.into_iter()
    }

    /// The agent that is this product.
    pub(crate) fn from_product(product: &'static AgentProduct) -> Option<Self> {
        Some(Self { name: product.name, product, recipe: product.install.as_ref()? })
    }

    /// Whether its handlers have arguments that other agents may drop.
    pub(crate) fn registers_arguments(&self) -> bool {
        matches!(self.format, RegistrationFormat::Json(form) if form.command == CommandStyle::ProgramAndArgs)
    }

    /// Its display name.
    pub(crate) fn title(&self) -> &'static str {
        self.product.title
    }

    /// The variable for its directory.
    pub(crate) fn directory_variable(&self) -> Option<&'static str> {
        self.directory.variable
    }

    /// Its own directory.
    pub(crate) fn config_dir(&self, around: &AgentDirs) -> PathBuf {
        match &around.directory {
            Some(directory) => directory.join(self.directory.below),
            None => self.default_config_dir(around),
        }
    }

    /// Its own directory without the variable.
    pub(crate) fn default_config_dir(&self, around: &AgentDirs) -> PathBuf {
        around.home.join(self.directory.default)
    }

    /// The directory of its files in this scope.
    fn scope_dir(&self, scope: SettingsScope, around: &AgentDirs) -> PathBuf {
        match scope {
            SettingsScope::User => self.config_dir(around),
            SettingsScope::Project | SettingsScope::Local => around.project.clone(),
            SettingsScope::Managed => PathBuf::from("/"),
        }
    }

    /// The path of one of its files.
    pub(crate) fn settings_path(&self, file: &AgentSettingsFile, around: &AgentDirs) -> PathBuf {
        self.scope_dir(file.scope, around).join(file.path)
    }

    /// All its files, including those in `.d` directories.
    pub(crate) fn all_settings_files(&self, around: &AgentDirs) -> Vec<RegistrationFile> {
        let mut files = Vec::new();
        for file in self.files {
            if is_directory_of_files(file) {
                let inside = list_json_files(&self.settings_path(file, around)).into_iter();
                let events = || self.events().collect();
                files.extend(inside.map(|path| RegistrationFile { scope: file.scope, path, events: events() }));
            } else {
                files.extend(self.expand_file(file, around));
            }
        }
        files
    }

    /// The file for all events, or one file for each.
    fn expand_file(&self, file: &AgentSettingsFile, around: &AgentDirs) -> Vec<RegistrationFile> {
        let directory = self.scope_dir(file.scope, around);
        let with_events = |(path, event): (Cow<'static, str>, Option<&'static str>)| RegistrationFile {
            scope: file.scope,
            path: directory.join(&*path),
            events: event.map_or_else(|| self.events().collect(), |event| vec![event]),
        };
        self.expand_events(file).into_iter().map(with_events).collect()
    }

    /// The path of the file for all events, or one path for each event, in the directory of the scope.
    pub(crate) fn expand_events(&self, file: &AgentSettingsFile) -> Vec<(Cow<'static, str>, Option<&'static str>)> {
        if !file.path.contains(EVENT_PLACE) {
            return vec![(file.path.into(), None)];
        }
        self.events().map(|event| (file.path.replace(EVENT_PLACE, event).into(), Some(event))).collect()
    }

    /// The notes for its user after an installation in this scope.
    pub(crate) fn notes_in_scope(&self, scope: SettingsScope) -> Vec<&'static str> {
        self.notes.iter().filter(|(of, _)| *of == scope).map(|(_, note)| *note).collect()
    }

    /// Its files in this scope into which Snell is installed.
    pub(crate) fn files_in_scope(&self, scope: SettingsScope, around: &AgentDirs) -> Vec<RegistrationFile> {
        let file = self.files.iter().find(|file| file.scope == scope);
        file.map_or_else(Vec::new, |file| self.expand_file(file, around))
    }

    /// Whether it reads hooks of this scope.
    pub(crate) fn has_scope(&self, scope: SettingsScope) -> bool {
        self.files.iter().any(|file| file.scope == scope)
    }

    /// The notify script of a machine that only forwards events.
    pub(crate) fn script_path(&self, around: &AgentDirs) -> PathBuf {
        self.config_dir(around).join(SCRIPT_DIR).join(SCRIPT_NAME)
    }

    /// The events on which `snell hook` is registered.
    pub(crate) fn events(&self) -> impl Iterator<Item = &'static str> + use<> {
        let left_out = self.recipe.left_out;
        let is_left_out = move |event: &str| left_out.iter().any(|(name, _)| *name == event);
        self.product.events.iter().copied().filter(move |event| !is_left_out(event))
    }

    /// The timeout of its hook on this event in seconds, if it must be set.
    pub(crate) fn timeout_on(&self, event: &str) -> Option<u32> {
        let row = self.timeouts.iter().find(|(name, _)| *name == event);
        row.map(|(_, seconds)| *seconds).or(self.recipe.timeout)
    }

    /// Whether it is used on this machine, by its directory.
    pub(crate) fn is_used(&self, around: &AgentDirs) -> bool {
        around.home.join(self.signs.1).is_dir() || (around.directory.is_some() && self.config_dir(around).is_dir())
    }

    /// Whether its user trusts the project or a directory above; nothing if that is unknown.
    pub(crate) fn is_project_trusted(&self, around: &AgentDirs) -> Option<bool> {
        let Some(TrustRecord::Directories(name, [projects, trusted])) = self.trust else {
            return None;
        };
        let directory = around.directory.as_ref().unwrap_or(&around.home);
        let text = read_text_file(&directory.join(name), MAX_TRUST_BYTES).ok()?;
        let noted: serde_json::Value = serde_json::from_str(&text).ok()?;
        let noted = noted[projects].as_object()?;
        let mut directories = around.project.ancestors().filter_map(Path::to_str);
        Some(directories.any(|directory| noted.get(directory).is_some_and(|one| one[trusted] == true)))
    }

    /// The handlers that its user trusts, as it records them: `FILE:EVENT:GROUP:HANDLER`; nothing if it records none.
    pub(crate) fn find_trusted_handlers(&self, around: &AgentDirs) -> Option<Vec<String>> {
        let Some(TrustRecord::Handlers(name, [outer, inner])) = self.trust else {
            return None;
        };
        let text = read_text_file(&self.config_dir(around).join(name), MAX_TRUST_BYTES).unwrap_or_default();
        let noted = SpannedNode::from_toml(&text).ok()?;
        let states = noted.get(outer).and_then(|outer| outer.get(inner)).and_then(SpannedNode::members);
        let is_trusted = |state: &&SpannedMember| {
            let is_disabled = state.node.get("enabled").is_some_and(|enabled| !enabled.is_true());
            state.node.get("trusted_hash").is_some() && !is_disabled
        };
        Some(states.unwrap_or_default().iter().filter(is_trusted).map(|state| state.key.clone()).collect())
    }
}

/// Whether the entry is a directory of JSON files.
pub(crate) fn is_directory_of_files(file: &AgentSettingsFile) -> bool {
    file.path.ends_with(".d")
}

/// The JSON files of a directory.
pub(crate) fn list_json_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
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
