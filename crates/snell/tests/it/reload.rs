//! Reloading the configuration while a host runs: hooks are replaced, never appended, and a half-saved file disables
//! nothing.

use std::fs;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use snell::{ConfigFile, Engine, Severity};

use crate::support::{TestProject, build_tool_call, render_native_hook, wait_until};

fn list_hook_commands(engine: &Engine) -> Vec<String> {
    engine.hooks().iter().map(|hook| hook.command_summary()).collect()
}

/// Saves `snell.toml` as editors do, in one step, so that a reader sees the old text or the new one.
fn save_config(project: &TestProject, text: &str) {
    project.write_file("unsaved", text);
    fs::rename(project.path().join("unsaved"), project.path().join("snell.toml")).unwrap();
}

/// A project with a hook in each of three files.
fn create_three_file_project() -> TestProject {
    let group = |command: &str| {
        let hook = json!({"type": "command", "command": command});
        json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}).to_string()
    };
    TestProject::with_hook("native", "")
        .with_file(".wave/settings.json", &group("wave"))
        .with_file(".claude/settings.json", &group("claude"))
}

#[test]
fn a_reload_replaces_every_files_hooks() {
    let project = create_three_file_project();
    let engine = project.load_engine();
    for _ in 0..3 {
        assert_eq!(engine.reload(), []);
        assert_eq!(list_hook_commands(&engine), ["native", "wave", "claude"]);
    }
    project.write_file("snell.toml", &(render_native_hook("one", "") + &render_native_hook("two", "")));
    assert_eq!(engine.reload(), []);
    assert_eq!(list_hook_commands(&engine), ["one", "two", "wave", "claude"]);
}

#[test]
fn a_new_file_in_a_directory_of_hook_files_is_noticed() {
    let file = |command: &str| json!({"hooks": {"preToolUse": [{"bash": command}]}}).to_string();
    let project = TestProject::new().with_file(".github/hooks/b.json", &file("b"));
    let engine = project.load_engine();
    assert_eq!(engine.reload_if_changed(), None);
    project.write_file(".github/hooks/a.json", &file("a"));
    assert_eq!(engine.reload_if_changed(), Some(vec![]));
    assert_eq!(list_hook_commands(&engine), ["a", "b"]);
}

#[test]
fn a_file_that_cannot_be_used_any_more_keeps_its_hooks_and_says_so() {
    let broken: [(&str, &[u8]); 4] = [
        ("half-saved", br#"{"hooks": {"PreToolUse": [{"matcher": "#),
        ("empty", b""),
        ("not UTF-8", b"\xff\xfe{\x00}\x00"),
        ("nested without end", &[b'['; 5000]),
    ];
    for (fault, bytes) in broken {
        let project = create_three_file_project();
        let engine = project.load_engine();
        fs::write(project.path().join(".wave/settings.json"), bytes).unwrap();
        for _ in 0..2 {
            let diagnostics = engine.reload();
            assert_eq!(diagnostics.len(), 1, "{fault}: {diagnostics:?}");
            assert_eq!(diagnostics[0].severity, Severity::Error, "{fault}");
            assert_eq!(diagnostics[0].path, ".wave/settings.json", "{fault}");
            assert!(diagnostics[0].message.ends_with("(using its last valid content)"), "{fault}");
            assert_eq!(list_hook_commands(&engine), ["native", "wave", "claude"], "{fault}");
        }
        project.write_file(".wave/settings.json", "{}");
        assert_eq!(engine.reload(), [], "{fault}");
        assert_eq!(list_hook_commands(&engine), ["native", "claude"], "{fault}");
    }
}

#[test]
fn a_directory_in_place_of_a_file_keeps_its_hooks() {
    let project = create_three_file_project();
    let engine = project.load_engine();
    let path = project.path().join(".wave/settings.json");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(engine.reload().len(), 1);
    assert_eq!(list_hook_commands(&engine), ["native", "wave", "claude"]);
}

#[test]
fn a_file_that_is_gone_takes_its_hooks_with_it_and_a_new_one_brings_its_own() {
    let project = create_three_file_project();
    let engine = project.load_engine();
    fs::remove_file(project.path().join(".wave/settings.json")).unwrap();
    assert_eq!(engine.reload(), []);
    assert_eq!(list_hook_commands(&engine), ["native", "claude"]);
    project.write_file(".whale/hooks.json", r#"[{"event": "BeforeTool", "command": "whale"}]"#);
    assert_eq!(engine.reload(), []);
    assert_eq!(list_hook_commands(&engine), ["native", "claude", "whale"]);
}

#[test]
fn a_file_that_was_never_usable_is_no_ones_guard() {
    let project = TestProject::new().with_file("snell.toml", "[[hook");
    let (engine, diagnostics) = project.engine_builder().load();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(engine.reload(), diagnostics);
    assert_eq!(list_hook_commands(&engine), Vec::<String>::new());
    project.write_file("snell.toml", &render_native_hook("mended", ""));
    assert_eq!(engine.reload(), []);
    assert_eq!(list_hook_commands(&engine), ["mended"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_under_way_keeps_the_list_it_started_with() {
    let project = TestProject::with_hook("echo > started; until [ -e go ]; do sleep 0.01; done", "")
        .add_native_hook("echo old >> log", "");
    let engine = project.load_engine();
    let firing = tokio::spawn({
        let engine = engine.clone();
        async move { engine.fire(build_tool_call()).await }
    });
    wait_until(|| project.has_file("started").then_some(())).await;
    project.write_file("snell.toml", &render_native_hook("echo new >> log", ""));
    assert_eq!(engine.reload(), []);
    project.write_file("go", "");
    assert_eq!(firing.await.unwrap().hooks.len(), 2);
    assert_eq!(project.read_file("log"), "old\n");
    engine.fire(build_tool_call()).await;
    assert_eq!(project.read_file("log"), "old\nnew\n");
}

#[test]
fn reloading_if_changed_looks_at_contents_creation_and_removal() {
    let project = create_three_file_project();
    let engine = project.load_engine();
    assert_eq!(engine.reload_if_changed(), None);
    let whale = project.path().join(".whale/hooks.json");
    let changes: [(&str, &dyn Fn()); 4] = [
        ("changed", &|| project.write_file("snell.toml", &render_native_hook("another", ""))),
        ("created", &|| project.write_file(".whale/hooks.json", "[]")),
        ("put in its place", &|| {
            project.write_file("new", "[ ]");
            fs::rename(project.path().join("new"), &whale).unwrap();
        }),
        ("removed", &|| fs::remove_file(&whale).unwrap()),
    ];
    for (change, make) in changes {
        make();
        assert_eq!(engine.reload_if_changed(), Some(Vec::new()), "{change}");
        assert_eq!(engine.reload_if_changed(), None, "{change}");
    }
    assert_eq!(list_hook_commands(&engine), ["another", "wave", "claude"]);
}

#[test]
fn clones_of_an_engine_share_its_hooks() {
    let project = create_three_file_project();
    let engine = project.load_engine();
    let clone = engine.clone();
    project.write_file("snell.toml", "# no hooks any more\n");
    clone.reload();
    assert_eq!(list_hook_commands(&engine), ["wave", "claude"]);
}

#[test]
fn a_file_that_is_empty_all_at_once_may_be_half_a_save_and_keeps_its_hooks() {
    let project = create_three_file_project();
    let engine = project.load_engine();
    let before = list_hook_commands(&engine);
    for empty in ["", " \n"] {
        project.write_file("snell.toml", empty);
        let found = engine.reload();
        assert!(found[0].message.contains("using its last valid content"), "{found:?}");
        assert_eq!(list_hook_commands(&engine), before, "{empty:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn watching_follows_changes_until_it_is_dropped() {
    let project = TestProject::with_hook("before", "");
    let engine = project.load_engine();
    let (sender, reloaded) = mpsc::channel();
    let watch = engine.watch(Duration::from_millis(5), move |diagnostics| {
        let _ = sender.send(diagnostics);
    });
    save_config(&project, &render_native_hook("while watched", ""));
    assert_eq!(wait_until(|| reloaded.try_recv().ok()).await, []);
    wait_until(|| (list_hook_commands(&engine) == ["while watched"]).then_some(())).await;

    save_config(&project, "[[hook");
    let diagnostics = wait_until(|| reloaded.try_recv().ok()).await;
    assert!(diagnostics[0].message.contains("using its last valid content"), "{diagnostics:?}");
    assert_eq!(list_hook_commands(&engine), ["while watched"]);

    drop(watch);
    // The sender is in the task, so it is dropped with the watch.
    wait_until(|| matches!(reloaded.try_recv(), Err(mpsc::TryRecvError::Disconnected)).then_some(())).await;
    save_config(&project, &render_native_hook("unwatched", ""));
    assert_eq!(list_hook_commands(&engine), ["while watched"]);
}

#[test]
fn named_files_are_followed_too() {
    let project = TestProject::new().with_file("hooks.json", r#"[{"event": "BeforeTool", "command": "one"}]"#);
    let file = ConfigFile::new(project.path().join("hooks.json"));
    let (engine, diagnostics) = project.engine_builder().files([file]).load();
    assert_eq!((diagnostics, list_hook_commands(&engine)), (Vec::new(), vec!["one".to_owned()]));
    project.write_file("hooks.json", r#"[{"event": "BeforeTool", "command": "another"}]"#);
    assert_eq!(engine.reload_if_changed(), Some(Vec::new()));
    assert_eq!(list_hook_commands(&engine), ["another"]);
    assert_eq!(engine.files(), [project.path().join("hooks.json")]);
}

#[test]
fn a_named_file_that_is_removed_takes_its_hooks_with_it_and_says_so() {
    let project = TestProject::new().with_file("hooks.json", r#"[{"event": "BeforeTool", "command": "one"}]"#);
    let (engine, _) = project.engine_builder().files([ConfigFile::new(project.path().join("hooks.json"))]).load();
    assert_eq!(list_hook_commands(&engine), ["one"]);
    fs::remove_file(project.path().join("hooks.json")).unwrap();
    let diagnostics = engine.reload_if_changed().unwrap();
    assert!(diagnostics.len() == 1 && diagnostics[0].message == "does not exist", "{diagnostics:?}");
    assert_eq!(list_hook_commands(&engine), Vec::<String>::new());
}

#[test]
fn a_half_saved_file_keeps_its_switches_too() {
    let guarded = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}).to_string();
    let project = TestProject::new()
        .with_file(".claude/settings.json", &guarded)
        .with_file(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    let (engine, _) = Engine::builder().project(project.path()).load();
    assert!(engine.hooks()[0].disabled.is_some());
    project.write_file(".claude/settings.local.json", r#"{"disableAllHooks": tr"#);
    assert_eq!(engine.reload().len(), 1);
    assert!(engine.hooks()[0].disabled.is_some());
}

#[test]
fn no_secret_of_the_environment_shows_in_a_debug_print() {
    let project = TestProject::new();
    let builder = Engine::builder().project(project.path()).env([("TOKEN", "s3cret")]);
    assert!(!format!("{builder:?}").contains("s3cret"));
    let (engine, _) = builder.load();
    assert!(!format!("{engine:?}").contains("s3cret"));
}
