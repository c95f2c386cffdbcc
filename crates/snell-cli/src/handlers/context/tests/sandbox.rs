//! A place in which a session starts, built like a sentence.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use snell::{Timestamp, WorkProfile};

use crate::guard::ProjectGuard;
use crate::handlers::context::{ContextRequest, ContextTrust, LoadedContext, load_context};

/// A project, a home directory beside it, and what is set for a session.
pub(super) struct ContextSandbox {
    root: tempfile::TempDir,
    role: Option<String>,
    project_path: Option<String>,
}

impl ContextSandbox {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("home/os")).unwrap();
        Self { root, role: None, project_path: None }
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home().join("os")
    }

    /// A file of the project.
    pub(super) fn with_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// A link in the project.
    pub(super) fn with_link(self, path: &str, target: impl AsRef<Path>) -> Self {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// What the user's own settings say.
    pub(super) fn with_settings(self, text: &str) -> Self {
        self.with_file("../.config/snell/snell.toml", text)
    }

    /// A role that asks for files.
    pub(super) fn with_role(self, entries: &[&str]) -> Self {
        let list: Vec<_> = entries.iter().map(|entry| format!("  - '{entry}'\n")).collect();
        let text = format!("---\nauto_include:\n{}---\n# Chief\n", list.concat());
        self.with_file(".claude/roles/chief.md", text).in_role("chief")
    }

    pub(super) fn in_role(mut self, name: &str) -> Self {
        self.role = Some(name.into());
        self
    }

    pub(super) fn with_project_path(mut self, path: &str) -> Self {
        self.project_path = Some(path.into());
        self
    }

    pub(super) fn load_context(&self) -> LoadedContext {
        let (project, home) = (self.project(), self.home());
        let builder = snell::Engine::builder().project(&project).home(&home).launcher_profile(WorkProfile::ClaudeOs);
        let (engine, findings) = builder.config_dir(home.join(".config/snell")).load();
        assert!(findings.is_empty(), "{findings:?}");
        let settings = engine.settings();
        let request = ContextRequest {
            project: &project,
            role: self.role.as_deref(),
            project_path: self.project_path.as_deref(),
            home: Some(&home),
            settings: &settings.context,
            messages: &settings.messages,
            trust: ContextTrust::Sufficient,
        };
        let guard = ProjectGuard::from_settings(&settings, &project, Timestamp::now());
        load_context(&request, &|path| guard.find_rule_against_reading(path))
    }

    /// The list of files, and the faults.
    pub(super) fn listed_files(&self) -> (Vec<String>, Vec<String>) {
        let loaded = self.load_context();
        let text = loaded.text.unwrap_or_default();
        let lines = text.lines().skip_while(|line| !line.starts_with("- "));
        let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
        let files = lines.iter().filter(|line| line.starts_with("- ")).count();
        let headings = text.lines().filter(|line| line.starts_with("## ")).count();
        assert_eq!(headings, files, "{text}");
        let listed = lines.into_iter().map(|line| line.trim_start_matches("- ").to_owned());
        let listed = listed.collect();
        (listed, loaded.faults.iter().map(ToString::to_string).collect())
    }

    pub(super) fn assert_listed(&self, expected: &[&str]) {
        let (listed, faults) = self.listed_files();
        assert_eq!(listed, expected);
        assert!(faults.is_empty(), "{faults:?}");
    }

    /// These files, and one fault that says each of these things.
    pub(super) fn assert_fault(&self, expected: &[&str], says: &[&str]) {
        let (listed, faults) = self.listed_files();
        assert_eq!(listed, expected);
        assert_eq!(faults.len(), 1, "{faults:?}");
        for said in says {
            assert!(faults[0].contains(said), "{said} in {}", faults[0]);
        }
        assert!(!faults[0].contains('\n'), "{}", faults[0]);
    }
}
