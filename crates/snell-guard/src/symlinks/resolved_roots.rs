//! The real paths of the home directory, the project and temporary directories.

use std::path::Path;

use super::resolver::SymlinkResolver;
use crate::judge::context::{JudgeContext, filter_temp_dirs};
use crate::paths::normalize_path;

/// Real paths; `None` if no symlink is on the way.
#[derive(Clone, Debug)]
pub(super) struct ResolvedRoots {
    home: Option<String>,
    project: Option<String>,
    temp: Vec<String>,
}

impl ResolvedRoots {
    pub(super) fn resolve(context: &JudgeContext, links: &mut SymlinkResolver) -> Self {
        Self {
            home: links.resolve(&context.home),
            project: links.resolve(&context.project),
            temp: filter_temp_dirs(context.temp.iter().filter_map(|temp| links.resolve(temp))),
        }
    }

    /// The real path of the directory in which the call starts, if a symlink is on the way.
    pub(super) fn resolve_cwd(&self, context: &JudgeContext, links: &mut SymlinkResolver) -> Option<String> {
        if context.cwd == context.project { self.project.clone() } else { links.resolve(&context.cwd) }
    }

    /// The context with real paths and this working directory.
    pub(super) fn to_resolved_context(&self, context: &JudgeContext, cwd: Option<String>) -> JudgeContext {
        let mut real = context.clone();
        real.cwd = cwd.unwrap_or(real.cwd);
        real.home = self.home.clone().unwrap_or(real.home);
        real.project = self.project.clone().unwrap_or(real.project);
        real.temp.extend(self.temp.iter().cloned());
        real
    }

    /// The project's own name for a directory in it, if symlinks give it another one: agents use both.
    pub(super) fn to_project_path(
        &self,
        cwd: &str,
        context: &JudgeContext,
        links: &mut SymlinkResolver,
    ) -> Option<String> {
        let real = links.resolve(cwd);
        let project = self.project.as_deref().unwrap_or(&context.project);
        let inside = Path::new(real.as_deref().unwrap_or(cwd)).strip_prefix(project).ok()?;
        Some(normalize_path(&Path::new(&context.project).join(inside)))
    }
}
