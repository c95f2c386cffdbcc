use std::os::unix::fs::symlink;

use serde_json::json;
use tempfile::TempDir;

use super::input_paths::resolve_input_paths;
use super::resolver::{MAX_LINKS, SymlinkResolver};
use crate::judge::context::JudgeContext;
use crate::test_support::TestDisk;

fn make_resolver() -> SymlinkResolver {
    SymlinkResolver::new(std::rc::Rc::new(TestDisk::default()))
}

/// Resolves a path in a directory with these symlinks.
fn resolve_path(path: &str) -> Option<String> {
    make_resolver().resolve(path)
}

fn create_linked_dir(links: &[(&str, &str)]) -> (TempDir, String) {
    let room = TempDir::new().unwrap();
    let root = room.path().canonicalize().unwrap();
    for directory in ["home/secret", "work/src"] {
        std::fs::create_dir_all(root.join(directory)).unwrap();
    }
    for (link, target) in links {
        symlink(target.replace("ROOT", root.to_str().unwrap()), root.join(link)).unwrap();
    }
    let root = root.to_str().unwrap().to_owned();
    (room, root)
}

#[test]
fn a_path_leads_where_its_links_lead() {
    let (_room, root) = create_linked_dir(&[
        ("work/up", "../home"),
        ("work/there", "ROOT/home/secret"),
        ("work/file", "there/key"),
        ("work/again", "up/secret"),
        ("work/round", "round"),
        ("work/gone", "nowhere/at/all"),
    ]);
    let cases = [
        ("work/src/a.rs", None),
        ("work/up", Some("home")),
        ("work/up/secret/key", Some("home/secret/key")),
        ("work/there/new/deep", Some("home/secret/new/deep")),
        ("work/file", Some("home/secret/key")),
        ("work/again/key", Some("home/secret/key")),
        // After a symlink, `..` is the parent of its target.
        ("work/there/../key", Some("home/key")),
        ("work/gone", Some("work/nowhere/at/all")),
        ("work/round", None),
        ("not/there/../x", None),
        ("not/there/../../work/up", Some("home")),
    ];
    for (written, expected) in cases {
        let expected = expected.map(|path| format!("{root}/{path}"));
        assert_eq!(resolve_path(&format!("{root}/{written}")), expected, "{written}");
    }
    assert_eq!(resolve_path("work/up"), None);
    assert_eq!(resolve_path(&format!("/{}", "x/".repeat(4000))), None);
}

#[test]
fn a_long_chain_of_links_is_not_followed_to_its_end() {
    let (_room, root) = create_linked_dir(&[]);
    symlink("home", format!("{root}/0")).unwrap();
    for number in 1..=MAX_LINKS {
        symlink((number - 1).to_string(), format!("{root}/{number}")).unwrap();
    }
    assert_eq!(resolve_path(&format!("{root}/{}", MAX_LINKS - 1)), Some(format!("{root}/home")));
    assert_eq!(resolve_path(&format!("{root}/{MAX_LINKS}")), None);
}

#[test]
fn only_paths_of_a_call_are_followed() {
    let (_room, root) = create_linked_dir(&[("work/key", "../home/secret/key"), ("home/k", "secret/key")]);
    let world = JudgeContext {
        cwd: format!("{root}/work"),
        home: format!("{root}/home"),
        user: "me".into(),
        project: format!("{root}/work"),
        temp: Vec::new(),
        self_paths: Vec::new(),
        variables: Vec::new(),
        links: Vec::new(),
        current_push: None,
        ignores_case: false,
        agent_pid: None,
    };
    let real = format!("{root}/home/secret/key");
    let cases = [
        (json!({"file_path": "key", "content": "key"}), Some(json!({"file_path": real, "content": "key"}))),
        (json!({"file_path": format!("{root}/work/key")}), Some(json!({"file_path": real}))),
        (json!({"path": "~/k"}), Some(json!({"path": real}))),
        (json!({"uri": format!("file://{root}/work/key")}), Some(json!({"uri": real}))),
        (json!({"paths": ["a", "key"]}), Some(json!({"paths": ["a", real]}))),
        (json!({"edits": [{"a/b~c": {"file": "key"}}]}), Some(json!({"edits": [{"a/b~c": {"file": real}}]}))),
        (json!({"file_path": "src/a.rs"}), None),
        (json!({"command": "key"}), None),
        (json!({"file_path": "key\nkey"}), None),
        (json!("key"), None),
        (json!(null), None),
    ];
    for (input, expected) in cases {
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(resolve_input_paths(&input, &world, &mut make_resolver()), expected, "{input}");
    }
    // After a symlink, `..` is the parent of its target; many tools resolve `..` in the text first.
    std::os::unix::fs::symlink("../home", format!("{root}/work/up")).unwrap();
    assert_eq!(
        resolve_input_paths(&json!({"path": "up/../key"}), &world, &mut make_resolver()),
        [json!({"path": format!("{root}/key")}), json!({"path": real})]
    );
}

#[test]
fn a_resolver_that_knows_a_directory_still_follows_the_links_in_it() {
    let (_room, root) = create_linked_dir(&[("work/up", "../home"), ("home/key", "ROOT/home/secret")]);
    let mut links = make_resolver();
    let mut resolve = |path: &str| links.resolve(&format!("{root}/{path}")).map(|real| real.replace(&root, "ROOT"));
    for (path, expected) in [
        ("work/src/main.rs", None),
        ("work/src/main.rs", None),
        ("work/none/deeper", None),
        ("work/none/other", None),
        ("work/none/../up/secret", Some("ROOT/home/secret")),
        ("work/up/key", Some("ROOT/home/secret")),
        ("work/up", Some("ROOT/home")),
        ("work/src/../up/none", Some("ROOT/home/none")),
    ] {
        assert_eq!(resolve(path).as_deref(), expected, "{path}");
    }
}

#[test]
fn a_symlink_that_appears_between_two_calls_is_followed() {
    let (_room, root) = create_linked_dir(&[]);
    let mut links = make_resolver();
    assert_eq!(links.resolve(&format!("{root}/work/new/key")), None);
    symlink("../home", format!("{root}/work/new")).unwrap();
    links.forget_missing_paths();
    assert_eq!(links.resolve(&format!("{root}/work/new/key")), Some(format!("{root}/home/key")));
}
