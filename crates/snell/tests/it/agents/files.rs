//! The files that a guest reads: its own, borrowed files, and of a project only trusted ones.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use snell::{
    AgentProduct, BuiltinHandler, Diagnostic, Engine, EngineBuilder, RetentionPeriod, Severity, SnellSettings,
    TrustStatus, TrustStore,
};
use snell_test_support::files::write_file;
use tempfile::TempDir;

use crate::support::{build_tool_call, render_native_hook};

/// A project, a home directory, and the trusted files.
struct GuestSandbox {
    root: TempDir,
    trust: TrustStore,
}

impl GuestSandbox {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        Self { root, trust: TrustStore::default() }
    }

    fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("project")
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    fn with_file(self, path: &str, text: &str) -> Self {
        write_file(&self.project().join(path), text);
        self
    }

    fn with_home_file(self, path: &str, text: &str) -> Self {
        write_file(&self.home().join(path), text);
        self
    }

    /// Trusts a file of the project with its content.
    fn with_trusted_file(mut self, path: &str) -> Self {
        let path = self.project().join(path);
        let content = fs::read(&path).unwrap();
        self.trust.pin(path, &content);
        self
    }

    fn engine_builder(&self) -> EngineBuilder {
        Engine::builder().project(self.project()).home(self.home()).trust(self.trust.clone())
    }

    fn load_guest_engine(&self) -> (Engine, Vec<Diagnostic>) {
        self.load_guest_engine_of(find_claude_guest())
    }

    fn load_guest_engine_of(&self, agent: &'static AgentProduct) -> (Engine, Vec<Diagnostic>) {
        self.engine_builder().guest(agent).load()
    }
}

fn find_claude_guest() -> &'static AgentProduct {
    AgentProduct::find_by_name("claude").unwrap()
}

/// A settings file with one hook.
fn render_settings_file(command: &str) -> String {
    let hook = json!({"type": "command", "command": command});
    json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}).to_string()
}

/// The commands of hooks that may run.
fn list_enabled_commands(engine: &Engine) -> Vec<String> {
    let hooks = engine.hooks();
    let on = hooks.iter().filter(|hook| hook.disabled.is_none());
    on.map(|hook| hook.command_summary()).collect()
}

fn format_diagnostics(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(ToString::to_string).collect()
}

/// A desk with a hook in every kind of file.
fn create_every_file() -> GuestSandbox {
    GuestSandbox::new()
        .with_home_file(".config/snell/snell.toml", &render_native_hook("user", ""))
        .with_home_file(".wave/settings.json", &render_settings_file("user wave"))
        .with_home_file(".claude/settings.json", &render_settings_file("user claude"))
        .with_file("snell.toml", &render_native_hook("project", ""))
        .with_file(".wave/settings.json", &render_settings_file("project wave"))
        .with_file(".claude/settings.json", &render_settings_file("project claude"))
}

fn render_borrowing_config(contracts: &str, run: &str) -> String {
    format!("borrow = {contracts}\n{}", render_native_hook(run, ""))
}

#[test]
fn a_guest_reads_its_own_files_and_no_others() {
    let (engine, diagnostics) = create_every_file().with_trusted_file("snell.toml").load_guest_engine();
    assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
    assert_eq!(list_enabled_commands(&engine), ["user", "project"]);
    assert_eq!(engine.untrusted_files(), []);
}

#[test]
fn the_user_borrows_everywhere_and_a_project_only_from_itself() {
    let wave = ".wave/settings.json";
    let by_the_user = create_every_file()
        .with_home_file(".config/snell/snell.toml", &render_borrowing_config(r#"["wave"]"#, "user"))
        .with_trusted_file("snell.toml")
        .with_trusted_file(wave);
    let (engine, diagnostics) = by_the_user.load_guest_engine();
    assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
    assert_eq!(list_enabled_commands(&engine), ["user", "project", "user wave", "project wave"]);
    assert_eq!(engine.settings().borrow, ["wave"]);

    let by_the_project = create_every_file()
        .with_file("snell.toml", &render_borrowing_config(r#"["wave"]"#, "project"))
        .with_trusted_file("snell.toml")
        .with_trusted_file(wave);
    let (engine, diagnostics) = by_the_project.load_guest_engine();
    assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
    assert_eq!(list_enabled_commands(&engine), ["user", "project", "project wave"]);
}

#[test]
fn the_calling_agents_own_files_cannot_be_borrowed() {
    let desk = create_every_file()
        .with_home_file(".config/snell/snell.toml", &render_borrowing_config(r#"["claude", "wave"]"#, "user"))
        .with_trusted_file("snell.toml")
        .with_trusted_file(".wave/settings.json");
    let (engine, diagnostics) = desk.load_guest_engine();
    assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
    assert_eq!(list_enabled_commands(&engine), ["user", "project", "user wave", "project wave"]);
}

#[test]
fn each_agent_borrows_the_files_of_every_other_one_but_not_its_own() {
    let group = r#"[{"hooks": [{"type": "command", "command": "COMMAND"}]}]"#;
    let render =
        |event: &str, command: &str| format!("{{\"hooks\": {{\"{event}\": {}}}}}", group.replace("COMMAND", command));
    for (caller, expected) in
        [("claude", ["codex", "gemini"]), ("codex", ["claude", "gemini"]), ("gemini", ["claude", "codex"])]
    {
        let desk = GuestSandbox::new()
            .with_home_file(".config/snell/snell.toml", "borrow = ['claude', 'codex', 'gemini']\n")
            .with_home_file(".claude/settings.json", &render("PreToolUse", "claude"))
            .with_home_file(".codex/hooks.json", &render("PreToolUse", "codex"))
            .with_home_file(".gemini/settings.json", &render("BeforeTool", "gemini"));
        let agent = AgentProduct::find_by_name(caller).unwrap();
        let (engine, diagnostics) = desk.load_guest_engine_of(agent);
        assert_eq!(format_diagnostics(&diagnostics), [""; 0], "{caller}");
        assert_eq!(list_enabled_commands(&engine), expected, "{caller}");
    }
}

#[tokio::test]
async fn an_untrusted_project_runs_nothing_and_is_reported() {
    let three = render_native_hook("touch ran", "").repeat(3);
    let desk = GuestSandbox::new()
        .with_home_file(".config/snell/snell.toml", &render_native_hook("true", ""))
        .with_home_file(".wave/settings.json", &render_settings_file("true"))
        .with_file("snell.toml", &format!("borrow = [\"wave\"]\n{three}"))
        .with_file(".wave/settings.json", &render_settings_file("touch ran"));
    let (engine, diagnostics) = desk.load_guest_engine();
    assert_eq!(
        format_diagnostics(&diagnostics),
        [
            "snell.toml:1:1: warning: is not trusted, so its 3 hooks do not run (hint: review the file, then run `snell trust`)"
        ]
    );
    let withheld = engine.untrusted_files();
    assert_eq!(withheld.len(), 1);
    assert_eq!(withheld[0].path, desk.project().join("snell.toml"));
    assert_eq!(
        (withheld[0].display_path.as_str(), withheld[0].status, withheld[0].hooks),
        ("snell.toml", TrustStatus::Untrusted, 3)
    );
    // Its `borrow` does not apply either, and its hooks are listed as disabled.
    assert_eq!(list_enabled_commands(&engine), ["true"]);
    let listed: Vec<_> = engine.hooks().iter().map(|hook| hook.disabled.clone()).collect();
    let off = Some("its file is not trusted (hint: run `snell trust`)".to_owned());
    assert_eq!(listed, [None, off.clone(), off.clone(), off.clone()]);
    let verdict = engine.fire(build_tool_call()).await;
    assert_eq!(verdict.hooks.len(), 1);
    assert!(!desk.project().join("ran").exists());
    assert!(engine.explain(&build_tool_call()).iter().skip(1).all(|one| !one.fires && Some(&one.why) == off.as_ref()));
}

#[test]
fn trust_ends_with_the_first_change() {
    let desk =
        GuestSandbox::new().with_file("snell.toml", &render_native_hook("one", "")).with_trusted_file("snell.toml");
    let (engine, diagnostics) = desk.load_guest_engine();
    assert_eq!((format_diagnostics(&diagnostics), list_enabled_commands(&engine)), (vec![], vec!["one".to_owned()]));

    write_file(&desk.project().join("snell.toml"), render_native_hook("another", ""));
    let diagnostics = engine.reload_if_changed().unwrap();
    assert_eq!(
        format_diagnostics(&diagnostics),
        ["snell.toml:1:1: warning: has changed since you trusted it, so its hook does not run (hint: review the \
             file, then run `snell trust`)"]
    );
    assert_eq!(list_enabled_commands(&engine), [""; 0]);
    assert_eq!(engine.untrusted_files()[0].status, TrustStatus::Changed);
    assert_eq!(engine.reload_if_changed(), None);

    write_file(&desk.project().join("snell.toml"), render_native_hook("one", ""));
    assert_eq!(engine.reload(), []);
    assert_eq!(list_enabled_commands(&engine), ["one"]);
}

#[test]
fn a_half_saved_file_keeps_what_was_trusted_and_nothing_else() {
    let half = "[[hook";
    let desk =
        GuestSandbox::new().with_file("snell.toml", &render_native_hook("one", "")).with_trusted_file("snell.toml");
    let (trusting, _) = desk.load_guest_engine();
    let (doubting, _) = GuestSandbox::load_guest_engine(&GuestSandbox { trust: TrustStore::default(), ..desk });
    let project = trusting.project_files()[0].path.clone();
    write_file(&project, half);
    let found = trusting.reload();
    assert_eq!(found[0].severity, Severity::Error);
    assert!(found[0].message.ends_with("(using its last valid content)"), "{found:?}");
    assert_eq!(list_enabled_commands(&trusting), ["one"]);
    doubting.reload();
    assert_eq!(list_enabled_commands(&doubting), [""; 0]);
    assert_eq!(doubting.untrusted_files().len(), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_reported_and_neither_trusted_nor_not() {
    let (engine, diagnostics) = GuestSandbox::new().with_file("snell.toml", "[[hook").load_guest_engine();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].severity, Severity::Error);
    assert_eq!(engine.untrusted_files(), []);
    assert_eq!(engine.hooks().len(), 0);
}

#[test]
fn switches_in_a_file_that_is_not_trusted_switch_nothing() {
    let off = json!({"disableAllHooks": true}).to_string();
    let desk = GuestSandbox::new()
        .with_home_file(".config/snell/snell.toml", &render_native_hook("user", ""))
        .with_home_file(".claude/settings.json", &render_settings_file("user claude"))
        .with_file(".claude/settings.json", &off);
    let (engine, diagnostics) = desk.engine_builder().require_trust().load();
    assert_eq!(list_enabled_commands(&engine), ["user", "user claude"]);
    assert_eq!(
        format_diagnostics(&diagnostics),
        [".claude/settings.json:1:1: warning: is not trusted, so its settings do not apply (hint: review the \
             file, then run `snell trust --all`)"]
    );
    let desk = desk.with_trusted_file(".claude/settings.json");
    let (engine, _) = desk.engine_builder().require_trust().load();
    assert_eq!(list_enabled_commands(&engine), ["user"]);
}

#[test]
fn a_file_that_says_nothing_needs_no_trust() {
    let user = render_borrowing_config(r#"["wave"]"#, "user");
    let desk = GuestSandbox::new()
        .with_home_file(".config/snell/snell.toml", &user)
        .with_file("snell.toml", "# nothing yet\n")
        .with_file(".wave/settings.json", r#"{"model": "opus"}"#);
    let (engine, diagnostics) = desk.load_guest_engine();
    assert_eq!((format_diagnostics(&diagnostics), engine.untrusted_files()), (vec![], vec![]));
}

#[test]
fn a_link_is_pinned_by_its_own_path_and_by_what_is_behind_it() {
    let desk = GuestSandbox::new().with_file("shared/hooks.toml", &render_native_hook("one", ""));
    symlink("shared/hooks.toml", desk.project().join("snell.toml")).unwrap();
    let desk = desk.with_trusted_file("snell.toml");
    assert_eq!(list_enabled_commands(&desk.load_guest_engine().0), ["one"]);
    write_file(&desk.project().join("shared/hooks.toml"), render_native_hook("two", ""));
    assert_eq!(desk.load_guest_engine().0.untrusted_files()[0].status, TrustStatus::Changed);
}

#[test]
fn a_project_is_the_same_whichever_way_leads_there() {
    let desk =
        GuestSandbox::new().with_file("snell.toml", &render_native_hook("one", "")).with_trusted_file("snell.toml");
    let way = desk.root.path().join("way");
    symlink(desk.project(), &way).unwrap();
    let (engine, diagnostics) = desk.engine_builder().project(way).guest(find_claude_guest()).load();
    assert_eq!((format_diagnostics(&diagnostics), list_enabled_commands(&engine)), (vec![], vec!["one".to_owned()]));
}

#[test]
fn what_lies_in_the_users_own_place_is_the_users() {
    let desk = GuestSandbox::new()
        .with_home_file("snell.toml", &render_native_hook("at home", ""))
        .with_home_file(".config/snell/snell.toml", &render_native_hook("user", ""));
    for (project, expected) in [(desk.home(), &["user", "at home"][..]), (desk.home().join(".config/snell"), &["user"])]
    {
        let (engine, diagnostics) = desk.engine_builder().project(project).guest(find_claude_guest()).load();
        assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
        assert_eq!(list_enabled_commands(&engine), expected);
    }
}

#[test]
fn a_host_may_require_trust_for_files_of_every_contract() {
    let desk = create_every_file().with_trusted_file(".wave/settings.json");
    let (engine, diagnostics) = desk.engine_builder().load();
    assert_eq!((format_diagnostics(&diagnostics), engine.hooks().len()), (vec![], 6));
    assert_eq!(engine.untrusted_files(), []);
    // The status for a guest is known anyway.
    let known: Vec<_> = engine.project_files().into_iter().map(|file| (file.display_path, file.status)).collect();
    assert_eq!(known, [("snell.toml".to_owned(), TrustStatus::Untrusted)]);

    let (engine, diagnostics) = desk.engine_builder().require_trust().load();
    assert_eq!(diagnostics.len(), 2);
    assert_eq!(list_enabled_commands(&engine), ["user", "user wave", "project wave", "user claude"]);
    let withheld: Vec<_> = engine.untrusted_files().into_iter().map(|file| file.display_path).collect();
    assert_eq!(withheld, ["snell.toml", ".claude/settings.json"]);
}

#[test]
fn pins_are_asked_for_only_when_there_is_something_to_judge() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = |builder: EngineBuilder| {
        let asked = Arc::clone(&asked);
        let pins = move || {
            asked.fetch_add(1, Ordering::Relaxed);
            TrustStore::with_fault("trust.json cannot be read")
        };
        builder.trust_from(pins).guest(find_claude_guest()).load()
    };
    let empty = GuestSandbox::new().with_home_file(".config/snell/snell.toml", &render_native_hook("user", ""));
    counted(empty.engine_builder());
    assert_eq!(asked.load(Ordering::Relaxed), 0);

    let desk = GuestSandbox::new().with_file("snell.toml", &render_native_hook("one", ""));
    let (engine, diagnostics) = counted(desk.engine_builder());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(
        format_diagnostics(&diagnostics),
        ["snell.toml:1:1: warning: is not trusted (trust.json cannot be read), so its hook does not run (hint: \
             review the file, then run `snell trust`)"]
    );
    engine.reload();
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[test]
fn without_pins_a_guest_trusts_no_project() {
    let desk = GuestSandbox::new().with_file("snell.toml", &render_native_hook("one", ""));
    let (engine, _) = Engine::builder().project(desk.project()).guest(find_claude_guest()).load();
    assert_eq!((list_enabled_commands(&engine), engine.untrusted_files().len()), (vec![], 1));
}

#[test]
fn settings_are_the_users_and_their_faults_cost_nothing() {
    let days = |days: u64| RetentionPeriod::For(Duration::from_secs(days * 24 * 60 * 60));
    let settings = |user: &str, project: &str| {
        let desk =
            GuestSandbox::new().with_home_file(".config/snell/snell.toml", user).with_file("snell.toml", project);
        desk.engine_builder().load().0.settings()
    };
    assert_eq!(settings("", ""), SnellSettings::default());
    assert_eq!(settings("keep = 3\nborrow = 4\nhandlers = 5\nserver = 6", ""), SnellSettings::default());
    let cases = [
        ("", days(30)),
        ("keep = \"2w\"", days(14)),
        ("keep = \"forever\"", RetentionPeriod::Forever),
        ("keep = \"999999d\"", RetentionPeriod::Forever),
        ("keep = \"soon\"", days(30)),
    ];
    for (text, expected) in cases {
        assert_eq!(settings(text, "keep = \"1h\"").keep, expected, "{text}");
    }
    let off = "[handlers]\ntrack = false";
    assert!(!settings(off, "[handlers]\ntrack = true").handlers.is_enabled(BuiltinHandler::Track));
    assert!(settings("", off).handlers.is_enabled(BuiltinHandler::Track));
    let both = settings("borrow = [\"whale\"]", "borrow = [\"wave\", \"whale\"]");
    assert_eq!(both.borrow, ["wave", "whale"]);
}

#[test]
fn the_receiver_is_the_users_choice_and_its_token_lies_in_the_home_directory() {
    let user = "[server]\nurl = \"https://box.example/\"\ntoken_file = \"~/token\"\npoll_silent = \"500ms\"\naddr = 5";
    let project = "[server]\nurl = \"https://evil.example\"\nallow_hosts = [\"evil.example\"]";
    let desk = GuestSandbox::new().with_home_file(".config/snell/snell.toml", user).with_file("snell.toml", project);
    let server = desk.engine_builder().load().0.settings().server;
    assert_eq!(server.url.as_deref(), Some("https://box.example"));
    assert_eq!(server.token_file, Some(desk.home().join("token")));
    assert_eq!(server.poll_silent, Some(Duration::from_millis(500)));
    assert_eq!((server.addr, server.allow_hosts), (None, Vec::new()));
}

#[test]
fn a_survey_shows_what_trust_would_let_run() {
    let desk = create_every_file()
        .with_home_file(".config/snell/snell.toml", &render_borrowing_config(r#"["claude"]"#, "user"))
        .with_file("snell.toml", &render_borrowing_config(r#"["wave"]"#, "project"));
    let (engine, diagnostics) = desk.engine_builder().survey().load();
    assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
    let files: Vec<_> =
        engine.project_files().into_iter().map(|file| (file.display_path, file.hooks.len(), file.status)).collect();
    // Under another agent than Claude Code its files are borrowed.
    let expected = ["snell.toml", ".wave/settings.json", ".claude/settings.json"];
    assert_eq!(files, expected.map(|shown| (shown.to_owned(), 1, TrustStatus::Untrusted)));

    let mut trust = TrustStore::default();
    engine.project_files().iter().for_each(|file| trust.pin_file(file));
    let (engine, diagnostics) = desk.engine_builder().trust(trust).guest(find_claude_guest()).load();
    assert_eq!(format_diagnostics(&diagnostics), [""; 0]);
    assert_eq!(list_enabled_commands(&engine), ["user", "project", "project wave"]);
}

#[test]
fn a_project_cannot_switch_off_the_users_hooks_by_a_link_to_them() {
    let whale = json!([{"event": "BeforeTool", "command": "guard"}]).to_string();
    let desk = GuestSandbox::new()
        .with_home_file(".config/snell/snell.toml", "borrow = [\"whale\"]\n")
        .with_home_file(".swagmanager/hooks.json", &whale);
    fs::create_dir(desk.project().join(".whale")).unwrap();
    symlink(desk.home().join(".swagmanager/hooks.json"), desk.project().join(".whale/hooks.json")).unwrap();
    let (engine, _) = desk.load_guest_engine();
    assert_eq!(list_enabled_commands(&engine), ["guard"]);
    assert_eq!(engine.untrusted_files().len(), 1);
}
