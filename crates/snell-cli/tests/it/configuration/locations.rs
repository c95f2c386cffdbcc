//! Which files are read, in which order, and under which contract.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

fn build_hook_group(command: &str) -> Value {
    json!({"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]})
}

fn render_settings(command: &str) -> String {
    json!({"hooks": build_hook_group(command)}).to_string()
}

fn render_flat_settings(command: &str) -> String {
    json!({"hooks": {"PreToolUse": [{"matcher": "*", "command": command}]}}).to_string()
}

fn render_whale_hooks(command: &str) -> String {
    json!([{"event": "BeforeTool", "command": command}]).to_string()
}

fn render_native_config(command: &str) -> String {
    format!("[[hook]]\nevent = \"PreToolUse\"\nrun = \"{command}\"\n")
}

fn run_tool_event(sandbox: &CliSandbox, options: &[&str]) -> CommandOutput {
    let args: Vec<_> = ["run", "PreToolUse"].iter().chain(options).copied().collect();
    sandbox.run_snell(&args, &json!({"tool_name": "Bash"}).to_string())
}

/// The hooks that ran, as `contract source`.
fn list_run_hooks(ran: &CommandOutput) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    ran.hooks().iter().map(|hook| format!("{} {}", text(&hook["contract"]), text(&hook["source"]))).collect()
}

/// A file of every place, each with a hook of its own.
fn create_every_file() -> CliSandbox {
    CliSandbox::new()
        .home_file(".config/snell/snell.toml", &render_native_config("true 1"))
        .file("snell.toml", &render_native_config("true 2"))
        .home_file(".wave/settings.json", &render_settings("true 3"))
        .file(".wave/settings.json", &render_settings("true 4"))
        .file(".wave/settings.local.json", &render_settings("true 5"))
        .file(".microai/settings.json", &render_flat_settings("true 6"))
        .file(".microai/settings.local.json", &render_flat_settings("true 7"))
        .home_file(".claude/settings.json", &render_settings("true 8"))
        .file(".claude/settings.json", &render_settings("true 9"))
        .file(".claude/settings.local.json", &render_settings("true 10"))
        .file(".whale/hooks.json", &render_whale_hooks("true 11"))
        .home_file(".swagmanager/hooks.json", &render_whale_hooks("true 12"))
}

#[test]
fn the_files_of_every_contract_are_read_in_the_order_in_which_their_hooks_run() {
    let sandbox = create_every_file();
    let expected = [
        "snell ~/.config/snell/snell.toml",
        "snell snell.toml",
        "wave ~/.wave/settings.json",
        "wave .wave/settings.json",
        "wave .wave/settings.local.json",
        "microai .microai/settings.json",
        "microai .microai/settings.local.json",
        "claude ~/.claude/settings.json",
        "claude .claude/settings.json",
        "claude .claude/settings.local.json",
        "whale .whale/hooks.json",
        "whale ~/.swagmanager/hooks.json",
    ];
    let answered = run_tool_event(&sandbox, &[]);
    assert_eq!(list_run_hooks(&answered), expected);
    assert_eq!(answered.warnings(), Vec::<String>::new());
}

#[test]
fn the_users_own_file_lies_where_the_environment_says() {
    let sandbox = create_every_file();
    let elsewhere = sandbox.home().join("elsewhere");
    fs::create_dir_all(elsewhere.join("snell")).unwrap();
    fs::write(elsewhere.join("snell/snell.toml"), render_native_config("true 0")).unwrap();
    let sandbox = sandbox.env("XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    assert_eq!(
        list_run_hooks(&run_tool_event(&sandbox, &[]))[..2],
        ["snell ~/elsewhere/snell/snell.toml", "snell snell.toml"]
    );
    // As the XDG rules say, a directory that is not absolute does not count.
    let sandbox = create_every_file().env("XDG_CONFIG_HOME", "elsewhere");
    assert_eq!(list_run_hooks(&run_tool_event(&sandbox, &[]))[0], "snell ~/.config/snell/snell.toml");
}

#[test]
fn without_a_home_only_the_projects_files_are_read() {
    for home in [None, Some("/no/such/directory"), Some("")] {
        let sandbox = create_every_file();
        let mut command = sandbox.command(&["run", "PreToolUse"]);
        command.env_remove("HOME");
        command.envs(home.map(|home| ("HOME", home)));
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let answered = CommandOutput::from(output);
        assert_eq!((answered.code, list_run_hooks(&answered).len()), (0, 8), "{home:?}");
        assert!(list_run_hooks(&answered).iter().all(|hook| !hook.contains('~')), "{home:?}");
    }
}

#[test]
fn the_project_and_the_home_directory_can_be_named() {
    let sandbox = create_every_file();
    let other = CliSandbox::new()
        .file("snell.toml", &render_native_config("true"))
        .home_file(".claude/settings.json", &render_settings("true"));
    let (project, home) = (other.project(), other.home());
    let options = ["--project", project.to_str().unwrap(), "--home", home.to_str().unwrap()];
    assert_eq!(
        list_run_hooks(&run_tool_event(&sandbox, &options)),
        ["snell snell.toml", "claude ~/.claude/settings.json"]
    );
    let missing = run_tool_event(&sandbox, &["--project", "no-such-directory"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (1, ""));
    assert!(missing.stderr.contains("no-such-directory is not a directory"), "{}", missing.stderr);
}

#[test]
fn one_file_by_two_names_is_read_once() {
    let sandbox = CliSandbox::new().file(".claude/settings.json", &render_settings("echo ran >> log"));
    let home = sandbox.project();
    let same = run_tool_event(&sandbox, &["--home", home.to_str().unwrap()]);
    assert_eq!(list_run_hooks(&same), ["claude .claude/settings.json"]);

    symlink("settings.json", sandbox.project().join(".claude/settings.local.json")).unwrap();
    assert_eq!(list_run_hooks(&run_tool_event(&sandbox, &[])), ["claude .claude/settings.json"]);

    let linked = sandbox.project().join("link.json");
    symlink(".claude/settings.json", &linked).unwrap();
    let twice = run_tool_event(&sandbox, &["--config", "claude:.claude/settings.json", "--config", "claude:link.json"]);
    assert_eq!(list_run_hooks(&twice), ["claude .claude/settings.json"]);
    assert_eq!(sandbox.read("log"), "ran\nran\nran\n");
}

#[test]
fn one_file_of_two_contracts_is_read_by_both() {
    // To wave this is a hook that ends well; to claude it is a deny.
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "no"}});
    let sandbox = CliSandbox::new().file(".claude/settings.json", &render_settings(&format!("echo '{deny}'")));
    fs::create_dir(sandbox.project().join(".wave")).unwrap();
    symlink("../.claude/settings.json", sandbox.project().join(".wave/settings.json")).unwrap();
    let answered = run_tool_event(&sandbox, &[]);
    assert_eq!(list_run_hooks(&answered), ["wave .wave/settings.json", "claude .claude/settings.json"]);
    assert_eq!((answered.code, answered.reason().as_str()), (2, "no"));
}

#[test]
fn a_link_to_a_file_elsewhere_is_read_like_the_file() {
    let sandbox = CliSandbox::new().home_file("dotfiles/claude.json", &render_settings("true"));
    fs::create_dir(sandbox.project().join(".claude")).unwrap();
    symlink(sandbox.home().join("dotfiles/claude.json"), sandbox.project().join(".claude/settings.json")).unwrap();
    assert_eq!(list_run_hooks(&run_tool_event(&sandbox, &[])), ["claude .claude/settings.json"]);
}

/// Which contract a named file has: given, known by its place, or by its shape.
#[test]
fn named_files_are_the_only_ones_and_their_contract_is_given_or_known() {
    let rows = [
        ("by its place", ".wave/settings.json", "", "wave"),
        ("by its directory", ".wave/other.json", "", "wave"),
        ("by its place", ".microai/settings.json", "", "microai"),
        ("by its place", ".whale/hooks.json", "", "whale"),
        ("by its ending", "mine.toml", "", "snell"),
        ("an array", "array.json", "", "whale"),
        ("groups", "groups.json", "", "claude"),
        ("flat entries", "flat.json", "", "microai"),
        ("given", "array.json", "whale:", "whale"),
        ("given", "groups.json", "wave:", "wave"),
        ("given", "plain", "snell:", "snell"),
    ];
    let sandbox = create_every_file()
        .file("mine.toml", &render_native_config("true"))
        .file(".wave/other.json", &render_settings("true"))
        .file("plain", &render_native_config("true"))
        .file("array.json", &render_whale_hooks("true"))
        .file("groups.json", &render_settings("true"))
        .file("flat.json", &render_flat_settings("true"));
    for (how, path, prefix, contract) in rows {
        let answered = run_tool_event(&sandbox, &["--config", &format!("{prefix}{path}")]);
        assert_eq!(list_run_hooks(&answered), [format!("{contract} {path}")], "{how}: {prefix}{path}");
        assert_eq!(answered.warnings(), Vec::<String>::new(), "{how}: {prefix}{path}");
    }
    let several =
        run_tool_event(&sandbox, &["--config", "array.json", "--config", "mine.toml", "--config", "wave:groups.json"]);
    assert_eq!(list_run_hooks(&several), ["snell mine.toml", "wave groups.json", "whale array.json"]);
}

/// Claude Code's rules would run this entry on every tool; wave's ask for a matcher.
#[test]
fn a_named_file_beside_a_contracts_own_follows_its_rules() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "touch ran"}]}]});
    let sandbox = CliSandbox::new().hooks(".wave/other.json", &hooks);
    let answered = run_tool_event(&sandbox, &["--config", ".wave/other.json"]);
    assert!(!sandbox.exists("ran"));
    let warnings = answered.warnings();
    assert!(
        warnings.len() == 1 && warnings[0].contains("error: an entry for \"PreToolUse\" has no \"matcher\""),
        "{warnings:?}"
    );
    assert_eq!(sandbox.run_snell(&["lint", "--config", ".wave/other.json"], "").code, 1);
}

#[test]
fn a_named_file_that_is_missing_is_our_own_failure() {
    let sandbox = create_every_file();
    for (written, named) in [
        ("nowhere.json", "nowhere.json"),
        ("whale:nowhere.json", "nowhere.json"),
        ("unheard:of.json", "unheard:of.json"),
    ] {
        for command in [&["run", "PreToolUse"][..], &["lint"], &["list"]] {
            let args: Vec<_> = command.iter().copied().chain(["--config", written]).collect();
            let answered = sandbox.run_snell(&args, "{}");
            assert_eq!((answered.code, answered.stdout.as_str()), (1, ""), "{args:?}");
            assert!(answered.stderr.contains(&format!("cannot read --config {named}")), "{}", answered.stderr);
        }
    }
}

/// Entries of a settings file say by their shape whose they are; groups are wave's in a `.wave` directory.
#[test]
fn entries_are_read_by_their_shape() {
    let entries = json!({"PreToolUse": [
        {"matcher": "*", "hooks": [{"type": "command", "command": "true"}]},
        {"matcher": "*", "command": "true"},
        "script.sh",
    ]});
    for (directory, groups) in [(".wave", "wave"), (".microai", "claude"), (".claude", "claude")] {
        let path = format!("{directory}/settings.json");
        let sandbox = CliSandbox::new().hooks(&path, &entries).script("script.sh", "true");
        let listed = sandbox.run_snell(&["lint"], "");
        assert_eq!((listed.code, listed.stdout.as_str()), (0, "No problems in 1 file (3 hooks).\n"), "{directory}");
        let mut contracts: Vec<_> = list_run_hooks(&run_tool_event(&sandbox, &[]));
        contracts.sort();
        let mut expected = [groups, "microai", "claude-os"].map(|contract| format!("{contract} {path}"));
        expected.sort();
        assert_eq!(contracts, expected, "{directory}");
    }
}

#[test]
fn a_current_directory_that_is_gone_is_not_one_without_hooks() {
    let sandbox = CliSandbox::new();
    let gone = sandbox.project().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let line = "cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    let ran: snell_test_support::process::CommandOutput = std::process::Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_snell"), "run", "Stop"])
        .current_dir(sandbox.project())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("cannot find the current directory"), "{}", ran.stderr);
}

#[test]
fn a_project_has_no_say_in_what_is_recorded_nor_in_where_it_is_sent_nor_in_what_leaves_it() {
    let settings = "borrow = [\"wave\"]\nkeep = \"1h\"\n\n[handlers]\ntrack = false\n\n[server]\nurl = \
                    \"http://elsewhere\"\n\n[context]\ncore = []\nallow = [\"/\"]\n";
    let users = CliSandbox::new().home_file(".config/snell/snell.toml", settings);
    let linted = users.run_snell(&["lint"], "");
    assert_eq!(linted.stdout, "No problems in 1 file (0 hooks).\n");
    let projects = CliSandbox::new().file("snell.toml", settings);
    let linted = projects.run_snell(&["lint"], "");
    let elsewhere = "has no effect in a project's file\n  hint: move it to ~/.config/snell/snell.toml";
    let expected = [
        format!("snell.toml:2:1: warning: \"keep\" {elsewhere}"),
        format!("snell.toml:4:2: warning: \"handlers\" {elsewhere}"),
        format!("snell.toml:7:2: warning: \"server\" {elsewhere}"),
        format!("snell.toml:12:1: warning: \"allow\" {elsewhere}"),
        "0 errors, 4 warnings in 1 file (0 hooks loaded).\n".to_owned(),
    ];
    assert_eq!(linted.stdout, expected.join("\n"));
}
