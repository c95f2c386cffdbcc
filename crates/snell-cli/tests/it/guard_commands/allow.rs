//! `snell guard allow`: the entry for a call that the user allowed.

use serde_json::{Value, json};

use crate::support::CliSandbox;

const FILE: &str = ".config/snell/snell.toml";

/// A call that the guard asks about, and that then runs.
fn ask_and_run(sandbox: &CliSandbox, tool: &str, input: &Value, id: &str) {
    let payload = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id});
    let asked = sandbox.send_hook_event("12:00:00", "PreToolUse", payload.clone());
    assert!(asked.stdout.contains("\"ask\""), "{asked:?}");
    sandbox.send_hook_event("12:00:01", "PostToolUse", payload);
}

fn read_user_file(sandbox: &CliSandbox) -> String {
    std::fs::read_to_string(sandbox.home().join(FILE)).unwrap()
}

#[test]
fn the_last_call_that_was_asked_about_and_ran_is_allowed_in_future() {
    let before = "# mine\n[guard]\npreset = \"standard\"";
    let sandbox = CliSandbox::with_frozen_clock().home_file(FILE, before);
    let command = json!({"command": "cd . && git push --force-with-lease origin dev"});
    ask_and_run(&sandbox, "Bash", &command, "one");
    // This call was asked about, and did not run.
    let other =
        json!({"tool_name": "Bash", "tool_input": {"command": "git push --force-with-lease"}, "tool_use_id": "two"});
    sandbox.send_hook_event("12:00:02", "PreToolUse", other);
    let dry = sandbox.run_snell(&["guard", "allow", "--last", "--dry-run"], "");
    assert_eq!(dry.code, 0, "{dry:?}");
    let path = sandbox.home().join(FILE).display().to_string();
    assert!(dry.stdout.starts_with(&format!("{path} would get:\n\n[[guard.allow]]\n")), "{dry:?}");
    assert_eq!(read_user_file(&sandbox), before);
    let ran = sandbox.run_snell(&["guard", "allow", "--last", "--until", "2027-01-31", "--reason", "my \"fork\""], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let entry = "[[guard.allow]]\ncommand = \"git push --force-with-lease origin dev\"\nagent = \"claude\"\n\
        reason = \"my \\\"fork\\\"\"\nuntil = \"2027-01-31\"\n";
    assert_eq!(read_user_file(&sandbox), format!("{before}\n\n{entry}"));
    assert_eq!(ran.stdout, format!("Added to {path}:\n\n{entry}"));
    let payload = json!({"tool_name": "Bash", "tool_input": command});
    assert_eq!(sandbox.send_hook_event("12:00:03", "PreToolUse", payload).stdout, "");
    let again = sandbox.run_snell(&["guard", "allow", "--last"], "");
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.stderr.starts_with("error: the guard allows this call already"), "{again:?}");
}

/// How a call that the guard asked about goes on, and whether the user had agreed.
#[test]
fn a_call_that_ran_was_allowed_even_if_its_command_failed() {
    for (later, agreed) in [
        (&["PostToolUse"][..], true),
        (&["PostToolUseFailure"], true),
        (&["PermissionRequest"], false),
        (&["PermissionRequest", "PostToolUseFailure"], true),
        (&[], false),
    ] {
        let sandbox = CliSandbox::with_frozen_clock();
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "git reset --hard"}, "tool_use_id": "one"});
        sandbox.send_hook_event("12:00:00", "PreToolUse", payload.clone());
        for event in later {
            sandbox.send_hook_event("12:00:01", event, payload.clone());
        }
        let ran = sandbox.run_snell(&["guard", "allow", "--last", "--dry-run"], "");
        assert_eq!(ran.code == 0, agreed, "{later:?}: {ran:?}");
        assert_eq!(ran.stdout.contains("command = \"git reset --hard\"\n"), agreed, "{later:?}: {ran:?}");
    }
}

#[test]
fn calls_of_file_tools_and_fetches_are_allowed_by_path_and_by_host() {
    // An entry of one's own that asks cannot be overridden, so the rules ask here.
    let rules = "[guard.rules]\n'secret.read' = 'ask'\n'files.overwrite-outside' = 'ask'\n'secret.store' = 'ask'\n";
    for (tool, input, conditions) in [
        ("Read", json!({"file_path": ".env"}), "tool = \"Read\"\npath = \"{project}/.env\"\n"),
        ("Write", json!({"file_path": "~/notes/a", "content": ""}), "tool = \"Write\"\npath = \"~/notes/a\"\n"),
        (
            "WebFetch",
            json!({"url": "http://169.254.169.254/latest/meta-data/", "prompt": "list"}),
            "tool = \"WebFetch\"\nhost = \"169.254.169.254\"\n",
        ),
    ] {
        let sandbox = CliSandbox::with_frozen_clock().home_file(FILE, rules);
        ask_and_run(&sandbox, tool, &input, "one");
        let ran = sandbox.run_snell(&["guard", "allow", "--last", "--reason", "mine"], "");
        assert_eq!(ran.code, 0, "{tool}: {ran:?}");
        let conditions = conditions.replace("{project}", &sandbox.project().display().to_string());
        let entry = format!("[[guard.allow]]\n{conditions}agent = \"claude\"\nreason = \"mine\"\n");
        assert_eq!(read_user_file(&sandbox), format!("{rules}\n{entry}"), "{tool}");
        let again = sandbox.send_hook_event("12:00:03", "PreToolUse", json!({"tool_name": tool, "tool_input": input}));
        assert_eq!(again.stdout, "", "{tool}");
    }
}

#[test]
fn a_check_without_an_agent_names_the_entry_for_one() {
    let sandbox = CliSandbox::with_frozen_clock();
    ask_and_run(&sandbox, "Bash", &json!({"command": "git reset --hard"}), "one");
    assert_eq!(sandbox.run_snell(&["guard", "allow", "--last"], "").code, 0);
    let hint = format!("\nAgent     An entry for claude allows it (~/{FILE}:2); add --agent claude\n");
    for (args, decision, is_hinted) in [
        (&["check", "git reset --hard"][..], "ask", true),
        (&["explain", "git reset --hard"], "ask", true),
        (&["check", "git reset --hard", "--agent", "claude"], "allow", false),
        (&["check", "git reset --hard", "--agent", "codex"], "ask", false),
        (&["check", "git reset --hard HEAD~1"], "ask", false),
        (&["check", "git status"], "allow", false),
    ] {
        let ran = sandbox.run_snell(&[&["guard"], args].concat(), "");
        assert!(ran.stdout.starts_with(decision), "{args:?}: {ran:?}");
        assert_eq!(ran.stdout.contains(&hint), is_hinted, "{args:?}: {ran:?}");
        assert_eq!(ran.stdout.contains("--agent"), is_hinted, "{args:?}: {ran:?}");
    }
}

#[test]
fn a_call_is_chosen_by_its_id_or_its_session() {
    let sandbox = CliSandbox::with_frozen_clock();
    ask_and_run(&sandbox, "Bash", &json!({"command": "git push --force-with-lease"}), "one");
    let log = sandbox.run_snell(&["log", "--verdict", "ask", "--limit", "1", "--json"], "").json();
    let id = log.get("id").or_else(|| log[0].get("id")).unwrap().to_string();
    let ran = sandbox.run_snell(&["guard", "allow", "--event", &id, "--dry-run"], "");
    assert!(ran.stdout.contains("command = \"git push --force-with-lease\""), "{ran:?}");
    let ran = sandbox.run_snell(&["guard", "allow", "--session", "session-o", "--dry-run"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    for (args, expected) in [
        (&["--event", "999"][..], "error: no event 999 is recorded"),
        (&["--event", "2"], "error: event 2 is not a call that the guard asked about"),
        (&["--session", "other"], "error: the guard has asked about no recorded call that then ran"),
    ] {
        let ran = sandbox.run_snell(&[&["guard", "allow"], args].concat(), "");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.starts_with(expected), "{ran:?}");
    }
    assert!(!sandbox.home().join(FILE).exists());
    let ran = sandbox.run_snell(&["guard", "allow", "--last"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(read_user_file(&sandbox).starts_with("[[guard.allow]]\n"));
}

#[test]
fn a_call_that_no_entry_can_express_is_refused() {
    let rules = "[guard.rules]\n'disk.format' = 'ask'\n[[guard.ask]]\ncommand = 'make **'\n\
        [[guard.ask]]\ntool = 'mcp__db__.*'\n";
    for (command, expected) in [
        ("mkfs.ext4 /dev/sda1", "error: rule disk.format is locked, so no entry can allow the call"),
        ("make all", "error: an entry of your own stops this call, and no other entry can allow it"),
        ("git push --force-with-lease \"$X\"", "error: an entry cannot express"),
        (
            "git push --force-with-lease a; git push --force-with-lease b",
            "error: the guard asks about several commands",
        ),
    ] {
        let sandbox = CliSandbox::with_frozen_clock().home_file(FILE, rules);
        ask_and_run(&sandbox, "Bash", &json!({"command": command}), "one");
        let ran = sandbox.run_snell(&["guard", "allow", "--last"], "");
        assert_eq!(ran.code, 1, "{command}: {ran:?}");
        assert!(ran.stderr.starts_with(expected), "{command}: {ran:?}");
        assert_eq!(read_user_file(&sandbox), rules, "{command}");
    }
}

#[test]
fn a_file_whose_table_is_closed_is_left_alone() {
    let closed = "guard = { preset = \"standard\" }\n";
    let sandbox = CliSandbox::with_frozen_clock().home_file(FILE, closed);
    ask_and_run(&sandbox, "Bash", &json!({"command": "git push --force-with-lease"}), "one");
    let ran = sandbox.run_snell(&["guard", "allow", "--last"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.starts_with("error: the entry does not fit into "), "{ran:?}");
    assert_eq!(read_user_file(&sandbox), closed);
}

#[test]
fn agents_cannot_allow_their_own_calls() {
    let sandbox = CliSandbox::with_frozen_clock();
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "snell guard allow --last"}});
    let told = sandbox.send_hook_event("12:00:00", "PreToolUse", payload);
    assert!(told.stdout.contains("\"deny\"") && told.stdout.contains("self.command"), "{told:?}");
}
