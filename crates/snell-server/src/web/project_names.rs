//! Display names of projects. A name is usually the name of a directory; projects with the same name also show a part
//! of their paths.

use snell_store::{AgentView, LogEntry, ProjectView, Result, Store};

/// The maximum number of projects with display names.
const MAX_PROJECTS: u32 = 500;

/// The display names of all projects.
#[derive(Clone, Debug, Default)]
pub(super) struct ProjectNames(Vec<ProjectName>);

/// A project with its display name.
#[derive(Clone, Debug)]
pub(super) struct ProjectName {
    pub(super) view: ProjectView,
    pub(super) display_name: String,
}

impl ProjectNames {
    pub(super) fn load(store: &mut Store) -> Result<Self> {
        Ok(Self::new(store.list_projects(MAX_PROJECTS)?))
    }

    pub(super) fn new(views: Vec<ProjectView>) -> Self {
        let named = |view: &ProjectView| {
            let is_alike = |other: &&ProjectView| other.name == view.name && other.path != view.path;
            let alike: Vec<_> = views.iter().filter(is_alike).collect();
            ProjectName { display_name: disambiguate_name(view, &alike), view: view.clone() }
        };
        let mut projects: Vec<_> = views.iter().map(named).collect();
        projects.sort_by_cached_key(|project| project_sort_key(&project.view.name, &project.display_name));
        Self(projects)
    }

    /// All projects, sorted by name.
    pub(super) fn all(&self) -> &[ProjectName] {
        &self.0
    }

    /// The display name of an agent's project.
    pub(super) fn name_for_agent<'a>(&'a self, agent: &'a AgentView) -> &'a str {
        self.find_name(agent.project_id).unwrap_or(&agent.project)
    }

    /// The display name of an event's project.
    pub(super) fn name_for_event<'a>(&'a self, entry: &'a LogEntry) -> &'a str {
        self.find_name(entry.project_id).unwrap_or(&entry.project)
    }

    fn find_name(&self, project_id: i64) -> Option<&str> {
        let found = self.0.iter().find(|project| project.view.project_id == project_id);
        found.map(|project| project.display_name.as_str())
    }
}

/// The sort key of a project: its name without case. Projects with the same name are adjacent.
pub(super) fn project_sort_key(name: &str, called: &str) -> (String, String, String) {
    (name.to_lowercase(), name.to_owned(), called.to_owned())
}

/// The name of a project, with the shortest part of its path that none of the others has.
fn disambiguate_name(project: &ProjectView, others: &[&ProjectView]) -> String {
    if others.is_empty() {
        return project.name.clone();
    }
    let parts = project.path.matches('/').count() + 1;
    let ends = (2..=parts).map(|count| last_path_parts(&project.path, count));
    let mut unique = ends
        .filter(|own| others.iter().all(|other| last_path_parts(&other.path, own.matches('/').count() + 1) != *own));
    unique.next().unwrap_or(&project.path).to_owned()
}

/// The last parts of a path.
fn last_path_parts(path: &str, parts: usize) -> &str {
    let begin = path.rmatch_indices('/').nth(parts.saturating_sub(1));
    begin.map_or(path, |(slash, _)| &path[slash + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_projects(paths: &[&str]) -> ProjectNames {
        let view = |(number, path): (usize, &&str)| ProjectView {
            project_id: number as i64 + 1,
            name: path.rsplit('/').next().unwrap().to_owned(),
            path: (*path).to_owned(),
        };
        ProjectNames::new(paths.iter().enumerate().map(view).collect())
    }

    #[test]
    fn projects_with_the_same_name_show_their_paths() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["/srv/api", "/srv/shop"], &["api", "shop"]),
            (&["/srv/a/api", "/srv/b/api", "/srv/c"], &["a/api", "b/api", "c"]),
            (&["/a/x/api", "/b/x/api", "/b/y/api"], &["a/x/api", "b/x/api", "y/api"]),
            (&["/srv/z/api", "/srv/b/api", "/srv/c"], &["b/api", "z/api", "c"]),
            (&["/api", "/srv/api"], &["/api", "srv/api"]),
            (&["/x/api", "/srv/x/api"], &["/x/api", "srv/x/api"]),
            (&["/srv/beta", "/srv/Alpha", "/srv/alpha2"], &["Alpha", "alpha2", "beta"]),
        ];
        for (paths, expected) in cases {
            let called: Vec<_> = sample_projects(paths).0.into_iter().map(|project| project.display_name).collect();
            assert_eq!(called, *expected, "{paths:?}");
        }
    }
}
