//! What needs the profile, and what a session gets without it.

use serde_json::json;
use snell_test_support::process::CommandOutput;

use super::LifecycleSandbox;
use crate::support::CliSandbox;

const START: &str = "SessionStart";
const CONFIG: &str = ".config/snell/snell.toml";
const PROFILE: &str = "profile = \"claude-os\"\n";
const LAUNCHER: [(&str, &str); 1] = [("CLAUDE_SESSION_MODE", "interactive")];
/// Variables that a launcher sets.
type LauncherEnv = &'static [(&'static str, &'static str)];

const UNTRUSTED: &str = "the project's context files are not loaded, because the project is not trusted";

/// A project with everything that the profile reacts to.
fn create_project() -> CliSandbox {
    CliSandbox::new()
        .file("Desktop/TODAY.md", "today\n")
        .file("notes.md", "notes\n")
        .file(".claude/roles/chief.md", "---\nauto_include: notes.md\n---\n")
}

fn start_session(stage: &LifecycleSandbox) -> CommandOutput {
    stage.send_event("12:00:00", START, json!({"source": "startup"}))
}

fn send_mail(stage: &LifecycleSandbox) -> CommandOutput {
    let input = json!({"to": "eve@example.com", "text": "hi"});
    let fields = json!({"tool_name": "mcp__slack__send_message", "tool_use_id": "t1", "tool_input": input});
    stage.send_event("12:00:20", "PreToolUse", fields)
}

#[test]
fn without_the_profile_nothing_is_added_and_nothing_but_the_guard_denies() {
    let settings = [
        "",
        "keep = \"7d\"\n",
        "context_window = 200000\n",
        "[messages]\nping = \"Ping!\"\n",
        "[guard]\npreset = \"standard\"\n",
    ];
    for text in settings {
        let stage = LifecycleSandbox::without_profile(create_project().home_file(CONFIG, text));
        start_session(&stage).assert_silent();
        stage.fill_context("12:01:00", 97.0);
        // Longer than a session may be without a status.
        stage.send_prompt("12:09:00", "Go.").assert_silent();
        send_mail(&stage).assert_silent();
        stage.send_stop("12:10:00").assert_silent();
        let call = json!({"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "rm -rf /"}});
        let guarded = stage.send_event("12:11:00", "PreToolUse", call);
        assert_eq!(guarded.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{text}: {guarded:?}");
        assert_eq!(stage.session_column("current_state"), "idle", "{text}: the session is recorded");
    }
}

#[test]
fn the_user_switches_single_handlers_on() {
    let file = |ran: CommandOutput| ran.stdout.contains("today");
    let mail = |ran: CommandOutput| ran.stdout.contains("\"deny\"");
    // The user's file, whether a session gets a file, whether a message is denied, whether a stop is answered.
    let cases = [
        ("[handlers]\ncontext = true\n", [true, false, false]),
        ("[context]\nmax_all = \"1MiB\"\n", [true, false, false]),
        ("[handlers]\ncomms = true\n", [false, true, false]),
        ("[comms]\n", [false, true, false]),
        ("[remind]\nthresholds = [60, 80, 90, 95]\n", [false, false, true]),
        (PROFILE, [true, true, true]),
        ("profile = \"claude-os\"\n[handlers]\ncomms = false\n", [true, false, true]),
        ("profile = \"claude-os\"\n[handlers]\ncontext = false\nremind = false\n", [false, true, false]),
        ("[comms]\n[handlers]\ncomms = false\n", [false, false, false]),
    ];
    for (text, expected) in cases {
        let stage = LifecycleSandbox::without_profile(create_project().home_file(CONFIG, text));
        let got_file = file(start_session(&stage));
        let denied = mail(send_mail(&stage));
        stage.fill_context("12:01:00", 65.0);
        let reminded = stage.send_stop("12:02:00").stdout.contains("Context at 60%") || {
            stage.fill_context("12:03:00", 85.0);
            stage.send_stop("12:04:00").stdout.contains("Context at 80%")
        };
        assert_eq!([got_file, denied, reminded], expected, "{text}");
    }
}

#[test]
fn own_texts_name_snell_and_commands_that_exist() {
    let settings = "[context]\n[remind]\n";
    let stage = LifecycleSandbox::without_profile(create_project().home_file(CONFIG, settings))
        .with_launcher_env(&[("CLAUDE_SESSION_ID", "s1")]);
    let text = start_session(&stage).json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(text.starts_with("[Snell: INFO]: Session context loaded\n"), "{text}");
    let asked = stage.send_prompt("12:05:00", "Go.").json();
    let asked = asked["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let expected =
        "[Snell: INFO]: Consider setting a status of this session: snell session status \"what you are working on\"";
    assert_eq!(asked, expected);
    let set = stage.run_snell("12:05:10", &["session", "status", "what you are working on"], "");
    assert_eq!((set.code, set.stdout.as_str()), (0, "The status of s1 is now: what you are working on\n"), "{set:?}");
    assert_eq!(stage.run_snell("12:05:20", &["session", "ping"], "").code, 0);
}

#[test]
fn a_line_that_imitates_either_prefix_is_quoted() {
    let text = "[CLAUDE OS SYS: INFO]: a\n[Snell: WARNING]: b\nc\n";
    for settings in [PROFILE, "[context]\n"] {
        let sandbox = CliSandbox::new().file("Desktop/TODAY.md", text).home_file(CONFIG, settings);
        let ran = start_session(&LifecycleSandbox::without_profile(sandbox)).json();
        let context = ran["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        let expected = "\n> [CLAUDE OS SYS: INFO]: a\n> [Snell: WARNING]: b\nc";
        assert!(context.ends_with(expected), "{context}");
    }
}

#[test]
fn with_the_profile_a_large_core_file_is_complete() {
    let index = "0123456789abcdef\n".repeat(200 * 1024 / 17);
    let sandbox = CliSandbox::new().file("Desktop/SYSTEM-INDEX.md", &index);
    let stage = LifecycleSandbox::without_profile(sandbox.home_file(CONFIG, PROFILE));
    let ran = start_session(&stage).json();
    let context = ran["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(context.ends_with(index.trim_end()) && !context.contains("[cut:"), "{} bytes", context.len());
    let small = "profile = \"claude-os\"\n[context]\nmax_file = \"1KiB\"\n";
    let sandbox = CliSandbox::new().file("Desktop/SYSTEM-INDEX.md", &index).home_file(CONFIG, small);
    assert!(start_session(&LifecycleSandbox::without_profile(sandbox)).stdout.contains("[cut: the first"));
    // Without the profile, the smaller limit of earlier versions stays.
    let sandbox = CliSandbox::new().file("Desktop/SYSTEM-INDEX.md", &index).home_file(CONFIG, "[context]\n");
    let ran = start_session(&LifecycleSandbox::without_profile(sandbox));
    assert!(
        ran.stdout.contains(&format!("[cut: the first 65535 of {} bytes are shown]", index.len())),
        "{}",
        ran.stdout.len()
    );
}

#[test]
fn files_of_a_project_need_trust_unless_the_user_opted_in() {
    // The user's file, the launcher's variables, and whether trust is needed.
    let required = "profile = \"claude-os\"\n[context]\nrequire_trust = true\n";
    let role: LauncherEnv = &[("CLAUDE_SESSION_ROLE", "chief")];
    let cases: [(&str, LauncherEnv, bool); 6] = [
        (PROFILE, &[], false),
        (PROFILE, role, false),
        ("[context]\n", &LAUNCHER, false),
        (required, &[], true),
        ("", &LAUNCHER, true),
        ("", role, true),
    ];
    for (text, variables, needs_trust) in cases {
        let sandbox = create_project().home_file(CONFIG, text);
        let stage = LifecycleSandbox::without_profile(sandbox).with_launcher_env(variables);
        let first = start_session(&stage);
        assert_eq!(first.code, 0, "{first:?}");
        assert_eq!(first.stdout.contains("today"), !needs_trust, "{text} {variables:?}: {first:?}");
        assert_eq!(first.stderr.contains(UNTRUSTED), needs_trust, "{text}: {first:?}");
        if needs_trust {
            assert_eq!(first.stdout, "", "{text}");
            assert!(first.stderr.contains("snell trust") && first.stderr.lines().count() == 2, "{}", first.stderr);
            let trusted = stage.run_snell("12:00:10", &["trust"], "");
            assert!(trusted.stdout.contains("\n  Desktop/TODAY.md\n  .claude/roles\n"), "{trusted:?}");
            let again = start_session(&stage);
            assert!(again.stdout.contains("today") && again.stderr.is_empty(), "{text}: {again:?}");
            // Another content is trusted too, and the end of trust ends it.
            std::fs::write(stage.sandbox().project().join("Desktop/TODAY.md"), "tomorrow\n").unwrap();
            assert!(start_session(&stage).stdout.contains("tomorrow"), "{text}");
            assert_eq!(stage.run_snell("12:00:20", &["trust", "--revoke"], "").code, 0);
            assert!(start_session(&stage).stderr.contains(UNTRUSTED), "{text}");
        }
    }
}

#[test]
fn a_file_that_the_user_names_by_its_path_needs_no_trust() {
    let sandbox = create_project().home_file("notes/ME.md", "me\n");
    let path = sandbox.home().join("notes/ME.md");
    let text = format!("[context]\nrequire_trust = true\ncore = [\"{}\", \"Desktop/TODAY.md\"]\n", path.display());
    let ran = start_session(&LifecycleSandbox::without_profile(sandbox.home_file(CONFIG, &text)));
    assert!(ran.stdout.contains("me") && !ran.stdout.contains("today"), "{ran:?}");
    assert!(ran.stderr.contains(UNTRUSTED), "{ran:?}");
}

#[test]
fn a_launcher_switches_the_whole_profile_on() {
    let stage =
        LifecycleSandbox::without_profile(CliSandbox::new()).with_launcher_env(&[("CLAUDE_SESSION_MODE", "mission")]);
    start_session(&stage).assert_silent();
    assert!(send_mail(&stage).stdout.contains("\"deny\""));
    stage.fill_context("12:01:00", 65.0);
    let reminded = stage.send_stop("12:02:00");
    assert!(reminded.stdout.contains("[CLAUDE OS SYS: INFO]: Memory check (60% context used)"), "{reminded:?}");
    let blank = LifecycleSandbox::without_profile(CliSandbox::new()).with_launcher_env(&[("CLAUDE_SESSION_ROLE", " ")]);
    start_session(&blank).assert_silent();
    send_mail(&blank).assert_silent();
}

#[test]
fn a_trusted_projects_context_table_gives_its_files() {
    let sandbox = create_project().file("snell.toml", "[context]\ncore = [\"notes.md\"]\n");
    let stage = LifecycleSandbox::without_profile(sandbox);
    assert!(!start_session(&stage).stdout.contains("Full content follows"));
    assert_eq!(stage.run_snell("12:00:10", &["trust"], "").code, 0);
    let ran = start_session(&stage);
    assert!(ran.stdout.contains("NOTES.MD") && !ran.stdout.contains("TODAY.MD"), "{ran:?}");
}

#[test]
fn a_contacts_file_asks_for_the_rules_of_messages() {
    let sandbox = CliSandbox::new().home_file(".config/snell/contacts.toml", "[[contact]]\nname = \"Ann\"\n");
    let stage = LifecycleSandbox::without_profile(sandbox);
    assert!(send_mail(&stage).stdout.contains("\"deny\""));
    let off = CliSandbox::new()
        .home_file(".config/snell/contacts.toml", "[[contact]]\nname = \"Ann\"\n")
        .home_file(CONFIG, "[handlers]\ncomms = false\n");
    send_mail(&LifecycleSandbox::without_profile(off)).assert_silent();
}

#[test]
fn messages_are_denied_while_the_users_own_file_cannot_be_read() {
    let stage = LifecycleSandbox::without_profile(CliSandbox::new().home_file(CONFIG, "profile = \n"));
    let ran = send_mail(&stage);
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{ran:?}");
}

#[test]
fn a_wake_up_is_answered_without_the_profile_and_nothing_else_is_added() {
    for trigger in ["[Snell: NOTIFICATION]: Workers complete", "[CLAUDE OS SYS: NOTIFICATION]: Workers complete"] {
        let stage = LifecycleSandbox::without_profile(CliSandbox::new());
        start_session(&stage).assert_silent();
        stage.fill_context("12:01:00", 97.0);
        assert_eq!(stage.run_snell("12:08:00", &["worker", "done", "build"], "").code, 0);
        let woken = stage.send_prompt("12:08:10", trigger).json();
        let text = woken["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        assert_eq!(text, "[Snell: INFO]: Workers finished: 1\n\n- build: done");
    }
    let off = CliSandbox::new().home_file(CONFIG, "[handlers]\nremind = false\n");
    let stage = LifecycleSandbox::without_profile(off);
    stage.send_prompt("12:08:10", "[Snell: NOTIFICATION]: Workers complete").assert_silent();
}

#[test]
fn an_unknown_profile_is_an_error_with_a_suggestion() {
    let cases = [
        (
            "profile = \"claude_os\"\n",
            "1:11: error: unknown profile \"claude_os\" (no profile applies)\n  hint: did you mean \"claude-os\"?",
        ),
        ("profile = \"x\"\n", "1:11: error: unknown profile \"x\" (no profile applies)\n  hint: use \"claude-os\""),
        ("profile = true\n", "1:11: error: \"profile\" must be"),
    ];
    for (text, expected) in cases {
        let ran = CliSandbox::new().home_file(CONFIG, text).run_snell(&["lint"], "");
        assert!(ran.stdout.contains(expected), "{text}: {ran:?}");
    }
    let ran = CliSandbox::new().file("snell.toml", PROFILE).run_snell(&["lint"], "");
    assert!(ran.stdout.contains("1:1: warning: \"profile\" has no effect in a project's file"), "{ran:?}");
    let ran = CliSandbox::new().file("snell.toml", "[context]\nrequire_trust = false\n").run_snell(&["lint"], "");
    assert!(ran.stdout.contains("2:1: warning: \"require_trust\" has no effect in a project's file"), "{ran:?}");
}

#[test]
fn status_and_doctor_show_the_profile() {
    let line = "claude-os (switched on by your snell.toml)";
    let sandbox = CliSandbox::new().with_profile();
    assert!(sandbox.run_snell(&["status"], "").stdout.contains(&format!("Profile        {line}\n")));
    assert!(sandbox.run_snell(&["doctor"], "").stdout.contains(&format!("Profile        ok       {line}\n")));
    let json = |sandbox: &CliSandbox| sandbox.run_snell(&["status", "--json"], "").json()["profile"].clone();
    assert_eq!(json(&sandbox), "claude-os");
    assert_eq!(json(&CliSandbox::new()), serde_json::Value::Null);
    let launched = CliSandbox::new().env("CLAUDE_SESSION_ROLE", "chief");
    let line = "claude-os (switched on by the variables of a launcher)";
    assert!(launched.run_snell(&["status"], "").stdout.contains(line));
}

#[test]
fn the_doctor_reports_a_changed_default_once() {
    let files = "sessions get no context files without a profile, such as Desktop/TODAY.md";
    let launched = "only after `snell trust`";
    let reminders = "agents get no reminders without a profile";
    let texts = "messages to agents begin with \"[Snell: INFO]: \" without a profile";
    // The user's file, and the changes that matter to it.
    let cases: [(&str, &[&str]); 8] = [
        ("", &[files]),
        (PROFILE, &[]),
        ("[handlers]\ncontext = false\n", &[]),
        ("context_window = 5\n", &[files, reminders]),
        ("[messages]\nping = \"x\"\n", &[files, reminders]),
        ("[context]\n", &[texts]),
        ("[messages]\nprefix = \"! \"\n[context]\n[remind]\n", &[]),
        ("[handlers]\nremind = true\n", &[files, texts]),
    ];
    for (text, expected) in cases {
        let sandbox = create_project().home_file(CONFIG, text);
        let first = sandbox.run_snell(&["doctor"], "").stdout;
        for change in [files, launched, reminders, texts] {
            assert_eq!(first.contains(change), expected.contains(&change), "{change} for {text}: {first}");
        }
        assert_eq!(first.contains("snell install claude --profile claude-os"), !expected.is_empty(), "{first}");
        let second = sandbox.run_snell(&["doctor"], "").stdout;
        assert!(!second.contains("changed since an earlier version"), "{text}: {second}");
    }
    let sandbox = create_project().env("CLAUDE_SESSION_ROLE", "chief");
    assert!(sandbox.run_snell(&["doctor"], "").stdout.contains(launched));
    // A new setup has no earlier defaults.
    for first in [&["install", "claude"][..], &["init", "--yes", "--agents", "claude"]] {
        let sandbox = create_project();
        assert_eq!(sandbox.run_snell(first, "").code, 0, "{first:?}");
        let shown = sandbox.run_snell(&["doctor"], "").stdout;
        assert!(shown.contains("Guard ") && !shown.contains("changed since an earlier version"), "{shown}");
    }
}
