//! Projects behind symlinks: an agent may use its project under all names.

use std::os::unix::fs::symlink;

use serde_json::json;
use snell_test_support::process::run_with_stdin;

use super::GuardHookReply;
use crate::support::CliSandbox;

/// The answer about a call in a project that the agent knows by a symlink, while it works in the real directory.
fn judge_in_linked_project(
    sandbox: &CliSandbox,
    known_as: &std::path::Path,
    cwd: &std::path::Path,
    tool: &str,
    input: serde_json::Value,
) -> String {
    let payload = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": cwd, "tool_name": tool, "tool_input": input,
    });
    let mut hook = sandbox.command(&["hook"]);
    hook.env("CLAUDE_PROJECT_DIR", known_as);
    let ran = run_with_stdin(&mut hook, payload.to_string());
    GuardHookReply::from(ran).summarize()
}

#[test]
fn a_project_behind_a_link_is_the_agents_own() {
    let sandbox = CliSandbox::with_frozen_clock().file("src/main.rs", "");
    let real = sandbox.project().canonicalize().unwrap();
    let link = real.with_file_name("link");
    symlink(&real, &link).unwrap();
    for (known_as, cwd) in [(&link, &real), (&link, &link), (&real, &link), (&real, &real)] {
        let in_it = |tool: &str, input| judge_in_linked_project(&sandbox, known_as, cwd, tool, input);
        for command in ["rm -rf target", "rm -rf src/../target", "echo x > notes.txt", "git clean -n"] {
            assert_eq!(in_it("Bash", json!({"command": command})), "", "{command} as {known_as:?} in {cwd:?}");
        }
        for directory in [&real, &link] {
            let path = directory.join("src/main.rs");
            assert_eq!(in_it("Write", json!({"file_path": path, "content": "x"})), "", "{path:?} as {known_as:?}");
        }
        assert_eq!(in_it("Bash", json!({"command": "rm -rf ."})), "deny files.delete-project", "{known_as:?} {cwd:?}");
    }
}

#[test]
fn a_link_out_of_the_project_leads_out_of_it() {
    let sandbox = CliSandbox::with_frozen_clock();
    symlink("/etc", sandbox.project().join("configuration")).unwrap();
    let in_it = |input| judge_in_linked_project(&sandbox, &sandbox.project(), &sandbox.project(), "Write", input);
    assert_eq!(in_it(json!({"file_path": "configuration/passwd", "content": ""})), "deny files.write-system");
}

#[test]
fn links_that_are_there_are_followed_in_commands() {
    let sandbox = super::create_configured_sandbox("[guard]\nsecrets = [\"~/vault\"]\nprotect = [\"~/notes\"]\n");
    let (home, project) = (sandbox.home(), sandbox.project());
    for directory in ["vault", "notes", "data", ".aws"] {
        std::fs::create_dir(home.join(directory)).unwrap();
    }
    for (link, target) in
        [("v", "vault"), ("n", "notes"), ("d", "data"), ("a", ".aws"), ("h", ""), ("own", ".config/snell/snell.toml")]
    {
        symlink(home.join(target), project.join(link)).unwrap();
    }
    symlink("h/vault", project.join("again")).unwrap();
    super::assert_judgements(
        &sandbox,
        &[
            ("cat v/plain.txt", "deny protected.look"),
            ("cat again/plain.txt", "deny protected.look"),
            ("cd v && cat plain.txt", "deny protected.look"),
            ("x=v; head -n 1 ./$x/plain.txt", "deny protected.look"),
            ("echo x > n/list", "deny protected.change"),
            ("rm -rf n/*", "deny protected.change"),
            ("rm -rf h/*", "deny files.delete-home"),
            ("cat a/credentials", "deny secret.read"),
            ("echo x >> own", "deny self.change"),
            // The symlink itself is removed or moved.
            ("rm h", ""),
            ("rm -rf v n d", ""),
            ("mv h elsewhere", ""),
            // Other files behind symlinks are the user's choice.
            ("rm -rf d/*", ""),
            ("echo x > d/list", ""),
            ("ls v h d", ""),
            ("cat README.md > out.txt", ""),
        ],
    );
}
