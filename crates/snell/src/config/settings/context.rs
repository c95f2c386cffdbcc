//! `[context]`: the files whose content an agent gets when its session starts.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::get_user_only;
use super::profile::{ActiveProfile, WorkProfile};
use super::values::{expand_tilde, read_checked_text, read_checked_texts, read_size, resolve_in_home};
use crate::config::discovery::FileOwner;
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;

/// The default core files: paths in the project, and descriptions.
pub(super) const CORE_FILES: [(&str, &str); 3] = [
    ("Desktop/TODAY.md", "daily memory"),
    ("Desktop/MEMORY.md", "weekly/medium-term"),
    ("Desktop/SYSTEM-INDEX.md", "complete file"),
];

const KIB: u64 = 1024;

/// The default sizes of one file and of all files together.
const DEFAULT_SIZES: (u64, u64) = (64 * KIB, 256 * KIB);
/// The same with the profile `claude-os`, whose core files are given complete.
const CLAUDE_OS_SIZES: (u64, u64) = (1024 * KIB, 4096 * KIB);

/// A file that every session gets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreFile {
    /// Its path. A relative path starts in the project.
    pub path: PathBuf,
    /// A short description, if there is one.
    pub about: Option<String>,
    /// Whether it may be outside of the project: only if the user's own file has its absolute path or a path below `~`. The
    /// project decides what a relative path leads to.
    pub may_be_outside_project: bool,
}

/// The files whose content an agent gets when its session starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextSettings {
    core: Option<Vec<CoreFile>>,
    max_file: Option<u64>,
    max_all: Option<u64>,
    allow: Vec<PathBuf>,
    require_trust: Option<bool>,
}

/// The keys of `[context]`.
pub(super) const CONTEXT_KEYS: &[&str] = &["core", "max_file", "max_all", "allow", "require_trust"];

impl ContextSettings {
    /// The files that every session gets, in the order in which it gets them.
    pub fn core_files(&self) -> Cow<'_, [CoreFile]> {
        let default = |(path, about): &(&str, &str)| CoreFile {
            path: path.into(),
            about: Some((*about).to_owned()),
            may_be_outside_project: false,
        };
        self.core.as_deref().map_or_else(|| CORE_FILES.iter().map(default).collect(), Cow::Borrowed)
    }

    /// The maximum size of one file.
    pub fn max_file_bytes(&self) -> u64 {
        self.max_file.unwrap_or(DEFAULT_SIZES.0)
    }

    /// The maximum size of all files together.
    pub fn max_total_bytes(&self) -> u64 {
        self.max_all.unwrap_or(DEFAULT_SIZES.1)
    }

    /// The keys that are set, with their values as texts for people.
    pub fn explicit_entries(&self) -> Vec<(&'static str, String)> {
        let about = |about: &String| format!(" ({about})");
        let file = |file: &CoreFile| {
            let about = file.about.as_ref().map(about).unwrap_or_default();
            ("core", format!("{}{about}", file.path.display()))
        };
        let files = self.core.as_deref().map(|files| match files {
            [] => vec![("core", "none".to_owned())],
            files => files.iter().map(file).collect(),
        });
        let sizes = [("max_file", self.max_file), ("max_all", self.max_all)];
        let sizes = sizes.into_iter().filter_map(|(key, size)| Some((key, format!("{} bytes", size?))));
        let places = self.allow.iter().map(|place| ("allow", place.display().to_string()));
        files.into_iter().flatten().chain(sizes).chain(places).collect()
    }

    /// Further directories or files that may be read.
    pub fn allowed_paths(&self) -> &[PathBuf] {
        &self.allow
    }

    /// Whether the user demands trust in a project before sessions get its files.
    pub(super) fn requires_trust(&self) -> bool {
        self.require_trust.unwrap_or(false)
    }

    /// The same with the default sizes of a profile.
    pub(super) fn with_limits_of(self, profile: Option<ActiveProfile>) -> Self {
        let (file, all) = match profile.map(|active| active.profile) {
            Some(WorkProfile::ClaudeOs) => CLAUDE_OS_SIZES,
            None => DEFAULT_SIZES,
        };
        Self { max_file: self.max_file.or(Some(file)), max_all: self.max_all.or(Some(all)), ..self }
    }

    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            core: self.core.or(earlier.core),
            max_file: self.max_file.or(earlier.max_file),
            max_all: self.max_all.or(earlier.max_all),
            allow: if self.allow.is_empty() { earlier.allow } else { self.allow },
            require_trust: self.require_trust.or(earlier.require_trust),
        }
    }

    /// The same with absolute paths.
    pub(super) fn resolve_paths(mut self, home: Option<&Path>) -> Self {
        for file in self.core.iter_mut().flatten() {
            file.path = expand_tilde(&file.path, home);
        }
        for place in &mut self.allow {
            *place = resolve_in_home(place, home);
        }
        self
    }
}

pub(super) fn read_context(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> ContextSettings {
    let Some(fields) = reader.read_table(node, "[context]", CONTEXT_KEYS) else {
        return ContextSettings::default();
    };
    ContextSettings {
        core: read_core(reader, &fields),
        max_file: read_size(reader, &fields, "max_file", "64KiB"),
        max_all: read_size(reader, &fields, "max_all", "256KiB"),
        // Otherwise a project could send any file to the agent.
        allow: get_user_only(reader, &fields, "allow")
            .map(|node| read_checked_texts(reader, node, "allow", check_path))
            .unwrap_or_default(),
        // Otherwise a project could lift the demand of its user.
        require_trust: get_user_only(reader, &fields, "require_trust")
            .and_then(|_| reader.read_bool(&fields, "require_trust")),
    }
}

fn read_core(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<Vec<CoreFile>> {
    let items = reader.read_array(fields.get("core")?, "\"core\"")?;
    Some(items.iter().filter_map(|item| read_core_file(reader, item)).collect())
}

const ENTRY_EXAMPLE: &str = "{path = \"notes/PLAN.md\", about = \"the plan\"}";

fn read_core_file(reader: &mut ConfigReader<'_>, item: &SpannedNode) -> Option<CoreFile> {
    let (path, about) = match &item.value {
        NodeValue::String(_) => (read_checked_text(reader, item, "core", check_path)?, None),
        NodeValue::Object(_) => {
            let fields = reader.read_table(item, "an entry of \"core\"", &["path", "about"])?;
            let Some(path) = fields.get("path") else {
                let message = UserMessage::new("an entry of \"core\" has no \"path\"");
                reader.add_error(item.offset, message.with_hint(format!("write {ENTRY_EXAMPLE}")));
                return None;
            };
            (read_checked_text(reader, path, "path", check_path)?, reader.read_text(&fields, "about"))
        }
        _ => {
            let kind = reader.kind_name(item);
            let message = UserMessage::new(format!("an entry of \"core\" must be a path, not {kind}"));
            reader.add_error(item.offset, message.with_hint(format!("write \"notes/PLAN.md\" or {ENTRY_EXAMPLE}")));
            return None;
        }
    };
    let named = || CORE_FILES.iter().find(|(known, _)| Path::new(known) == path);
    let about = about.filter(|about| !about.trim().is_empty());
    Some(CoreFile {
        about: about.or_else(|| named().map(|(_, about)| (*about).to_owned())),
        may_be_outside_project: reader.owner == FileOwner::User && (path.is_absolute() || path.starts_with("~")),
        path,
    })
}

fn check_path(text: String) -> Result<PathBuf, UserMessage> {
    if text.trim().is_empty() {
        return Err(UserMessage::new("has an empty path").with_hint("write a path such as \"~/notes\""));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_core_file(path: &str) -> CoreFile {
        CoreFile { path: path.into(), about: None, may_be_outside_project: false }
    }

    #[test]
    fn a_later_file_overrides_the_keys_that_it_sets() {
        let earlier = ContextSettings {
            core: Some(vec![make_core_file("earlier.md")]),
            max_file: Some(1),
            max_all: None,
            allow: vec!["/earlier".into()],
            require_trust: Some(true),
        };
        let later = ContextSettings { core: Some(Vec::new()), max_all: Some(2), ..ContextSettings::default() };
        let both = later.merge_over(earlier);
        assert!(both.core_files().is_empty());
        assert_eq!((both.max_file_bytes(), both.max_total_bytes()), (1, 2));
        assert_eq!(both.allowed_paths(), [Path::new("/earlier")]);
        assert!(both.requires_trust());
    }

    #[test]
    fn without_settings_there_are_three_core_files_in_the_project() {
        let settings = ContextSettings::default();
        let core = settings.core_files();
        let shown: Vec<_> =
            core.iter().map(|file| (file.path.to_str(), file.about.as_deref(), file.may_be_outside_project)).collect();
        let expected = CORE_FILES.map(|(path, about)| (Some(path), Some(about), false));
        assert_eq!(shown, expected);
        assert_eq!((settings.max_file_bytes(), settings.max_total_bytes()), (65536, 262_144));
    }

    #[test]
    fn only_paths_in_the_home_directory_are_resolved() {
        let settings = ContextSettings {
            core: Some(["~/a.md", "b.md", "/c.md", "~d/e.md"].map(make_core_file).into()),
            allow: ["~/notes", "notes", "/srv"].map(PathBuf::from).into(),
            ..ContextSettings::default()
        };
        let settings = settings.resolve_paths(Some(Path::new("/home/me")));
        let core: Vec<_> = settings.core_files().iter().map(|file| file.path.clone()).collect();
        assert_eq!(core, ["/home/me/a.md", "b.md", "/c.md", "~d/e.md"].map(PathBuf::from));
        let allow = ["/home/me/notes", "/home/me/notes", "/srv"].map(PathBuf::from);
        assert_eq!(settings.allowed_paths(), allow);
    }
}
