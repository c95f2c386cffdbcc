//! Which files a guest reads: its own, what they borrow, and of a project only what is trusted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use snell::{Diagnostic, Engine, EngineBuilder, Guest, Handler, Judgement, Keep, Settings, Severity, Trust};
use tempfile::TempDir;

use crate::support::{native_hook, tool_call};

/// A project, a home directory, and what is trusted.
struct Desk {
    root: TempDir,
    trust: Trust,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        Self {
            root,
            trust: Trust::default(),
        }
    }

    fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("project")
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    fn file(self, path: &str, text: &str) -> Self {
        write(&self.project().join(path), text);
        self
    }

    fn home_file(self, path: &str, text: &str) -> Self {
        write(&self.home().join(path), text);
        self
    }

    /// Trusts a file of the project as it is.
    fn trusting(mut self, path: &str) -> Self {
        let path = self.project().join(path);
        let content = fs::read(&path).unwrap();
        self.trust.pin(path, &content);
        self
    }

    fn builder(&self) -> EngineBuilder {
        Engine::builder()
            .project(self.project())
            .home(self.home())
            .trust(self.trust.clone())
    }

    fn guest(&self) -> (Engine, Vec<Diagnostic>) {
        self.builder().guest(claude()).load()
    }
}

fn claude() -> &'static Guest {
    Guest::by_name("claude").unwrap()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A settings file with one hook.
fn group(command: &str) -> String {
    let hook = json!({"type": "command", "command": command});
    json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}).to_string()
}

/// The commands of hooks that may run.
fn commands(engine: &Engine) -> Vec<String> {
    let hooks = engine.hooks();
    let on = hooks.iter().filter(|hook| hook.disabled.is_none());
    on.map(|hook| hook.command()).collect()
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(ToString::to_string).collect()
}

/// A desk with a hook in every kind of file.
fn every_file() -> Desk {
    Desk::new()
        .home_file(".config/snell/snell.toml", &native_hook("user", ""))
        .home_file(".wave/settings.json", &group("user wave"))
        .home_file(".claude/settings.json", &group("user claude"))
        .file("snell.toml", &native_hook("project", ""))
        .file(".wave/settings.json", &group("project wave"))
        .file(".claude/settings.json", &group("project claude"))
}

fn borrowing(contracts: &str, run: &str) -> String {
    format!("borrow = {contracts}\n{}", native_hook(run, ""))
}

#[test]
fn a_guest_reads_its_own_files_and_no_others() {
    let (engine, diagnostics) = every_file().trusting("snell.toml").guest();
    assert_eq!(messages(&diagnostics), [""; 0]);
    assert_eq!(commands(&engine), ["user", "project"]);
    assert_eq!(engine.withheld(), []);
}

#[test]
fn the_user_borrows_everywhere_and_a_project_only_from_itself() {
    let wave = ".wave/settings.json";
    let by_the_user = every_file()
        .home_file(".config/snell/snell.toml", &borrowing(r#"["wave"]"#, "user"))
        .trusting("snell.toml")
        .trusting(wave);
    let (engine, diagnostics) = by_the_user.guest();
    assert_eq!(messages(&diagnostics), [""; 0]);
    assert_eq!(commands(&engine), ["user", "project", "user wave", "project wave"]);
    assert_eq!(engine.settings().borrow, ["wave"]);

    let by_the_project = every_file()
        .file("snell.toml", &borrowing(r#"["wave"]"#, "project"))
        .trusting("snell.toml")
        .trusting(wave);
    let (engine, diagnostics) = by_the_project.guest();
    assert_eq!(messages(&diagnostics), [""; 0]);
    assert_eq!(commands(&engine), ["user", "project", "project wave"]);
}

#[test]
fn the_calling_agents_own_files_cannot_be_borrowed() {
    let desk = every_file()
        .home_file(".config/snell/snell.toml", &borrowing(r#"["claude", "wave"]"#, "user"))
        .trusting("snell.toml")
        .trusting(".wave/settings.json");
    let (engine, diagnostics) = desk.guest();
    assert_eq!(
        messages(&diagnostics),
        [
            "~/.config/snell/snell.toml:1:11: warning: Claude Code runs the hooks of \"claude\" by itself; they are not \
             borrowed here"
        ]
    );
    assert_eq!(commands(&engine), ["user", "project", "user wave", "project wave"]);
}

#[tokio::test]
async fn a_project_that_nobody_trusts_runs_nothing_and_that_is_said() {
    let three = native_hook("touch ran", "").repeat(3);
    let desk = Desk::new()
        .home_file(".config/snell/snell.toml", &native_hook("true", ""))
        .home_file(".wave/settings.json", &group("true"))
        .file("snell.toml", &format!("borrow = [\"wave\"]\n{three}"))
        .file(".wave/settings.json", &group("touch ran"));
    let (engine, diagnostics) = desk.guest();
    assert_eq!(
        messages(&diagnostics),
        ["snell.toml:1:1: warning: is not trusted, so its 3 hooks do not run; look at it, then run: snell trust"]
    );
    let withheld = engine.withheld();
    assert_eq!(withheld.len(), 1);
    assert_eq!(withheld[0].path, desk.project().join("snell.toml"));
    assert_eq!(
        (withheld[0].shown.as_str(), withheld[0].why, withheld[0].hooks),
        ("snell.toml", Judgement::Untrusted, 3)
    );
    // What it borrows does not count either, and its hooks are listed as off.
    assert_eq!(commands(&engine), ["true"]);
    let listed: Vec<_> = engine.hooks().iter().map(|hook| hook.disabled.clone()).collect();
    let off = Some("its file is not trusted; run: snell trust".to_owned());
    assert_eq!(listed, [None, off.clone(), off.clone(), off.clone()]);
    let verdict = engine.fire(tool_call()).await;
    assert_eq!(verdict.hooks.len(), 1);
    assert!(!desk.project().join("ran").exists());
    assert!(
        engine
            .explain(&tool_call())
            .iter()
            .skip(1)
            .all(|one| !one.fires && Some(&one.why) == off.as_ref())
    );
}

#[test]
fn trust_ends_with_the_first_change() {
    let desk = Desk::new()
        .file("snell.toml", &native_hook("one", ""))
        .trusting("snell.toml");
    let (engine, diagnostics) = desk.guest();
    assert_eq!(
        (messages(&diagnostics), commands(&engine)),
        (vec![], vec!["one".to_owned()])
    );

    write(&desk.project().join("snell.toml"), &native_hook("another", ""));
    let diagnostics = engine.reload_if_changed().unwrap();
    assert_eq!(
        messages(&diagnostics),
        [
            "snell.toml:1:1: warning: was changed since it was trusted, so its hook does not run; look at it, then run: \
             snell trust"
        ]
    );
    assert_eq!(commands(&engine), [""; 0]);
    assert_eq!(engine.withheld()[0].why, Judgement::Changed);
    assert_eq!(engine.reload_if_changed(), None);

    write(&desk.project().join("snell.toml"), &native_hook("one", ""));
    assert_eq!(engine.reload(), []);
    assert_eq!(commands(&engine), ["one"]);
}

#[test]
fn a_half_saved_file_keeps_what_was_trusted_and_nothing_else() {
    let half = "[[hook";
    let desk = Desk::new()
        .file("snell.toml", &native_hook("one", ""))
        .trusting("snell.toml");
    let (trusting, _) = desk.guest();
    let (doubting, _) = Desk::guest(&Desk {
        trust: Trust::default(),
        ..desk
    });
    let project = trusting.project_files()[0].path.clone();
    write(&project, half);
    let found = trusting.reload();
    assert_eq!(found[0].severity, Severity::Error);
    assert!(
        found[0].message.ends_with("what it said before stays in force"),
        "{found:?}"
    );
    assert_eq!(commands(&trusting), ["one"]);
    doubting.reload();
    assert_eq!(commands(&doubting), [""; 0]);
    assert_eq!(doubting.withheld().len(), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_reported_and_neither_trusted_nor_not() {
    let (engine, diagnostics) = Desk::new().file("snell.toml", "[[hook").guest();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].severity, Severity::Error);
    assert_eq!(engine.withheld(), []);
    assert_eq!(engine.hooks().len(), 0);
}

#[test]
fn switches_in_a_file_that_is_not_trusted_switch_nothing() {
    let off = json!({"disableAllHooks": true}).to_string();
    let desk = Desk::new()
        .home_file(".config/snell/snell.toml", &native_hook("user", ""))
        .home_file(".claude/settings.json", &group("user claude"))
        .file(".claude/settings.json", &off);
    let (engine, diagnostics) = desk.builder().require_trust().load();
    assert_eq!(commands(&engine), ["user", "user claude"]);
    assert_eq!(
        messages(&diagnostics),
        [
            ".claude/settings.json:1:1: warning: is not trusted, so nothing in it counts; look at it, then run: snell \
             trust --all"
        ]
    );
    let desk = desk.trusting(".claude/settings.json");
    let (engine, _) = desk.builder().require_trust().load();
    assert_eq!(commands(&engine), ["user"]);
}

#[test]
fn a_file_that_says_nothing_needs_no_trust() {
    let user = borrowing(r#"["wave"]"#, "user");
    let desk = Desk::new()
        .home_file(".config/snell/snell.toml", &user)
        .file("snell.toml", "# nothing yet\n")
        .file(".wave/settings.json", r#"{"model": "opus"}"#);
    let (engine, diagnostics) = desk.guest();
    assert_eq!((messages(&diagnostics), engine.withheld()), (vec![], vec![]));
}

#[test]
fn a_link_is_pinned_by_its_own_path_and_by_what_is_behind_it() {
    let desk = Desk::new().file("shared/hooks.toml", &native_hook("one", ""));
    symlink("shared/hooks.toml", desk.project().join("snell.toml")).unwrap();
    let desk = desk.trusting("snell.toml");
    assert_eq!(commands(&desk.guest().0), ["one"]);
    write(&desk.project().join("shared/hooks.toml"), &native_hook("two", ""));
    assert_eq!(desk.guest().0.withheld()[0].why, Judgement::Changed);
}

#[test]
fn a_project_is_the_same_whichever_way_leads_there() {
    let desk = Desk::new()
        .file("snell.toml", &native_hook("one", ""))
        .trusting("snell.toml");
    let way = desk.root.path().join("way");
    symlink(desk.project(), &way).unwrap();
    let (engine, diagnostics) = desk.builder().project(way).guest(claude()).load();
    assert_eq!(
        (messages(&diagnostics), commands(&engine)),
        (vec![], vec!["one".to_owned()])
    );
}

#[test]
fn what_lies_in_the_users_own_place_is_the_users() {
    let desk = Desk::new()
        .home_file("snell.toml", &native_hook("at home", ""))
        .home_file(".config/snell/snell.toml", &native_hook("user", ""));
    for (project, expected) in [
        (desk.home(), &["user", "at home"][..]),
        (desk.home().join(".config/snell"), &["user"]),
    ] {
        let (engine, diagnostics) = desk.builder().project(project).guest(claude()).load();
        assert_eq!(messages(&diagnostics), [""; 0]);
        assert_eq!(commands(&engine), expected);
    }
}

#[test]
fn a_host_may_require_trust_for_files_of_every_contract() {
    let desk = every_file().trusting(".wave/settings.json");
    let (engine, diagnostics) = desk.builder().load();
    assert_eq!((messages(&diagnostics), engine.hooks().len()), (vec![], 6));
    assert_eq!(engine.withheld(), []);
    // What would be asked for as a guest is known all the same.
    let known: Vec<_> = engine
        .project_files()
        .into_iter()
        .map(|file| (file.shown, file.judgement))
        .collect();
    assert_eq!(known, [("snell.toml".to_owned(), Judgement::Untrusted)]);

    let (engine, diagnostics) = desk.builder().require_trust().load();
    assert_eq!(diagnostics.len(), 2);
    assert_eq!(commands(&engine), ["user", "user wave", "project wave", "user claude"]);
    let withheld: Vec<_> = engine.withheld().into_iter().map(|file| file.shown).collect();
    assert_eq!(withheld, ["snell.toml", ".claude/settings.json"]);
}

#[test]
fn pins_are_asked_for_only_when_there_is_something_to_judge() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = |builder: EngineBuilder| {
        let asked = Arc::clone(&asked);
        let pins = move || {
            asked.fetch_add(1, Ordering::Relaxed);
            Trust::nothing_because("trust.json cannot be read")
        };
        builder.trust_from(pins).guest(claude()).load()
    };
    let empty = Desk::new().home_file(".config/snell/snell.toml", &native_hook("user", ""));
    counted(empty.builder());
    assert_eq!(asked.load(Ordering::Relaxed), 0);

    let desk = Desk::new().file("snell.toml", &native_hook("one", ""));
    let (engine, diagnostics) = counted(desk.builder());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(
        messages(&diagnostics),
        [
            "snell.toml:1:1: warning: is not trusted (trust.json cannot be read), so its hook does not run; look at it, \
             then run: snell trust"
        ]
    );
    engine.reload();
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[test]
fn without_pins_a_guest_trusts_no_project() {
    let desk = Desk::new().file("snell.toml", &native_hook("one", ""));
    let (engine, _) = Engine::builder().project(desk.project()).guest(claude()).load();
    assert_eq!((commands(&engine), engine.withheld().len()), (vec![], 1));
}

#[test]
fn settings_are_the_users_and_their_faults_cost_nothing() {
    let days = |days: u64| Keep::For(Duration::from_secs(days * 24 * 60 * 60));
    let settings = |user: &str, project: &str| {
        let desk = Desk::new()
            .home_file(".config/snell/snell.toml", user)
            .file("snell.toml", project);
        desk.builder().load().0.settings()
    };
    assert_eq!(settings("", ""), Settings::default());
    assert_eq!(
        settings("keep = 3\nborrow = 4\nhandlers = 5\nserver = 6", ""),
        Settings::default()
    );
    let cases = [
        ("", days(30)),
        ("keep = \"2w\"", days(14)),
        ("keep = \"forever\"", Keep::Forever),
        ("keep = \"999999d\"", Keep::Forever),
        ("keep = \"soon\"", days(30)),
    ];
    for (text, expected) in cases {
        assert_eq!(settings(text, "keep = \"1h\"").keep, expected, "{text}");
    }
    let off = "[handlers]\ntrack = false";
    assert!(!settings(off, "[handlers]\ntrack = true").handlers.is_on(Handler::Track));
    assert!(settings("", off).handlers.is_on(Handler::Track));
    let both = settings("borrow = [\"whale\"]", "borrow = [\"wave\", \"whale\"]");
    assert_eq!(both.borrow, ["wave", "whale"]);
}

#[test]
fn the_receiver_is_the_users_choice_and_its_token_lies_in_the_home_directory() {
    let user = "[server]\nurl = \"https://box.example/\"\ntoken_file = \"~/token\"\npoll_silent = \"500ms\"\naddr = 5";
    let project = "[server]\nurl = \"https://evil.example\"\nallow_hosts = [\"evil.example\"]";
    let desk = Desk::new()
        .home_file(".config/snell/snell.toml", user)
        .file("snell.toml", project);
    let server = desk.builder().load().0.settings().server;
    assert_eq!(server.url.as_deref(), Some("https://box.example"));
    assert_eq!(server.token_file, Some(desk.home().join("token")));
    assert_eq!(server.poll_silent, Some(Duration::from_millis(500)));
    assert_eq!((server.addr, server.allow_hosts), (None, Vec::new()));
}

#[test]
fn a_survey_shows_what_trust_would_let_run() {
    let desk = every_file()
        .home_file(".config/snell/snell.toml", &borrowing(r#"["claude"]"#, "user"))
        .file("snell.toml", &borrowing(r#"["wave"]"#, "project"));
    let (engine, diagnostics) = desk.builder().survey().load();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let files: Vec<_> = engine
        .project_files()
        .into_iter()
        .map(|file| (file.shown, file.hooks.len(), file.judgement))
        .collect();
    let expected = ["snell.toml", ".wave/settings.json"];
    assert_eq!(files, expected.map(|shown| (shown.to_owned(), 1, Judgement::Untrusted)));

    let mut trust = Trust::default();
    engine.project_files().iter().for_each(|file| trust.pin_file(file));
    let (engine, diagnostics) = desk.builder().trust(trust).guest(claude()).load();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert_eq!(commands(&engine), ["user", "project", "project wave"]);
}

#[test]
fn a_project_cannot_switch_off_the_users_hooks_by_a_link_to_them() {
    let whale = json!([{"event": "BeforeTool", "command": "guard"}]).to_string();
    let desk = Desk::new()
        .home_file(".config/snell/snell.toml", "borrow = [\"whale\"]\n")
        .home_file(".swagmanager/hooks.json", &whale);
    fs::create_dir(desk.project().join(".whale")).unwrap();
    symlink(
        desk.home().join(".swagmanager/hooks.json"),
        desk.project().join(".whale/hooks.json"),
    )
    .unwrap();
    let (engine, _) = desk.guest();
    assert_eq!(commands(&engine), ["guard"]);
    assert_eq!(engine.withheld().len(), 1);
}
