//! The project of a directory.

use std::fs;
use std::os::unix::fs::symlink;

use snell_store::derive::project::find_project_root;

use crate::support::{TestStore, build_event};

#[test]
fn the_nearest_directory_with_a_marker_is_the_project() {
    // Columns: the markers, the agent's directory, and its project.
    let cases: &[(&[&str], &str, &str)] = &[
        (&["a/.git/"], "a/b/c", "a"),
        (&["a/.git"], "a/b/c", "a"),
        (&["a/.hg/"], "a/b", "a"),
        (&["a/.jj/"], "a/b", "a"),
        (&["a/.svn/"], "a/b", "a"),
        (&["a/Cargo.toml"], "a/src", "a"),
        (&["a/package.json"], "a/src", "a"),
        (&["a/pyproject.toml"], "a/src", "a"),
        (&["a/go.mod"], "a/cmd", "a"),
        (&["a/snell.toml"], "a/b", "a"),
        (&["a/.git/", "a/b/package.json"], "a/b/c", "a/b"),
        (&["a/.git/", "a/b/package.json"], "a/d", "a"),
        (&["a/README.md"], "a/b/c", "a/b/c"),
    ];
    for (files, directory, project) in cases {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(directory)).unwrap();
        for file in *files {
            let path = root.path().join(file);
            if file.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
        }
        let found = find_project_root(&root.path().join(directory));
        let expected = root.path().join(project).canonicalize().unwrap();
        assert_eq!(found, expected, "{files:?} {directory}");
    }
}

#[test]
fn a_directory_is_one_project_by_every_path() {
    let mut kept = TestStore::new();
    fs::create_dir_all(kept.project_dir().join("src/deep")).unwrap();
    symlink(kept.project_dir(), kept.path_of("link")).unwrap();
    let ways = ["project", "project/src", "project/src/deep", "project/src/../", "link", "link/src"];
    let mut seen = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let directory = kept.path_of(way).to_str().unwrap().to_owned();
        let receipt = kept.ingest_event(build_event("PreToolUse", &format!("s{number}")).with_field("cwd", directory));
        seen.push(receipt.project_id);
    }
    seen.dedup();
    assert_eq!(seen.len(), 1);
    assert!(kept.list_agents().iter().all(|agent| agent.project == "project"));
}

#[test]
fn a_missing_or_unknown_directory_is_a_project_too() {
    let mut kept = TestStore::new();
    let gone = kept.ingest_event(build_event("PreToolUse", "s1").with_field("cwd", "/nowhere/at/all"));
    let unknown = kept.ingest_event(build_event("PreToolUse", "s2").with_field("cwd", ""));
    assert_ne!(gone.project_id, unknown.project_id);
    assert!(kept.list_agents().iter().any(|agent| agent.project_path == "/nowhere/at/all"));
}

#[test]
fn an_agent_that_changes_its_directory_stays_the_same_agent() {
    let mut kept = TestStore::new();
    let elsewhere = kept.create_other_project("elsewhere");
    let first = kept.ingest_event(build_event("SessionStart", "s"));
    let later = kept.ingest_event(build_event("PreToolUse", "s").with_field("cwd", elsewhere));
    assert_eq!((first.agent_id, first.project_id), (later.agent_id, later.project_id));
}
