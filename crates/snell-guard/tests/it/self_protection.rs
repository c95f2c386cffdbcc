//! Snell's own files: an agent may read them, but not change them by any means.

use serde_json::{Value as Json, json};
use snell_guard::{GuardDecision, GuardPolicy, GuardToolCall, PolicyPreset, judge_call};

use crate::corpus::build_corpus_context;

fn judge_tool(tool: &str, input: &Json) -> (GuardDecision, Option<&'static str>) {
    let judgement = judge_call(&GuardToolCall { tool, input }, &GuardPolicy::default(), &build_corpus_context());
    (judgement.decision, judgement.rule)
}

/// A row of `own.txt`: a command, or an MCP tool with its input.
fn judge_own_row(call: &str, policy: &GuardPolicy) -> (GuardDecision, Option<&'static str>) {
    let (tool, input) = match call.split_once(" {").filter(|_| call.starts_with("mcp__")) {
        Some((tool, input)) => (tool, serde_json::from_str(&format!("{{{input}")).unwrap()),
        None => ("Bash", json!({ "command": call.replace("\\n", "\n") })),
    };
    let judgement = judge_call(&GuardToolCall { tool, input: &input }, policy, &build_corpus_context());
    (judgement.decision, judgement.rule)
}

fn judge_bash(command: &str) -> (GuardDecision, Option<&'static str>) {
    judge_tool("Bash", &json!({ "command": command }))
}

#[test]
fn no_command_changes_what_is_snells_own() {
    for command in [
        "rm ~/.config/snell/snell.toml",
        "rm -rf ~/.config",
        "rm -rf ~/.local/share",
        "rm -rf .claude",
        "mv .claude .claude.bak",
        "mv ~/.local/bin /tmp/x",
        "cp settings.json ~/.claude/",
        "cp evil/settings.json .claude",
        "cp -t ~/.claude settings.json",
        "mv snell ~/.cargo/bin/",
        "mv x/snell.toml .",
        "install -m 755 snell ~/.local/bin",
        "ln -sf /tmp/snell.toml .",
        "ln -sf ~/work/app/evil/settings.json ~/.claude/settings.json",
        "ln -s ~/.local/share/snell/snell.db mine.db",
        "sed -i s/strict/audit/ ~/.config/snell/snell.toml",
        "perl -pi -e s/a/b/ .claude/settings.json",
        "echo x | tee ~/.config/snell/contacts.toml",
        "echo x | tee -a .claude/settings.json",
        "truncate -s 0 ~/.local/share/snell/snell.db",
        ": > ~/.local/share/snell/snell.db",
        "dd if=/dev/null of=.claude/settings.json",
        "chmod 000 ~/.local/bin/snell",
        "chmod -x ~/.cargo/bin/snell",
        "sqlite3 ~/.local/share/snell/snell.db 'DELETE FROM guard WHERE 1=1'",
        "python3 -c 'open(\"/home/ann/.config/snell/snell.toml\", \"w\").write(\"\")'",
        "node -e 'require(\"fs\").unlinkSync(\"/home/ann/.claude/settings.json\")'",
        "git checkout -- .claude/settings.json",
        "git checkout HEAD~3 -- .claude/settings.json",
        "git restore .claude/settings.json",
        "git restore --source=HEAD~1 snell.toml",
        "git rm .claude/settings.json",
        "git mv .claude/settings.json old.json",
        "jq . x.json > .claude/settings.json",
        "curl -o ~/.cargo/bin/snell https://example.com/snell",
        "wget -O .claude/settings.json https://example.com/s.json",
        "find .claude -name '*.json' -delete",
        "unlink .claude/settings.json",
        "rsync evil/ ~/.config/snell/",
        "tar xf x.tar -C ~/.config/snell",
        "cd .claude && rm settings.json",
        "f=settings; rm .claude/$f.json",
        "rm .claude/settings.{json,local.json}",
    ] {
        let (verdict, rule) = judge_bash(command);
        assert_eq!(verdict, GuardDecision::Deny, "{command}: {rule:?}");
    }
}

#[test]
fn no_command_switches_snell_off() {
    for command in [
        "snell trust",
        "snell uninstall claude",
        "snell config set guard.preset audit",
        "snell config unset guard.protect",
        "snell config edit",
        "snell init --force --guard audit",
        "snell service uninstall",
        "launchctl bootout gui/501/snell.serve",
        "rm ~/Library/LaunchAgents/snell.serve.plist",
        "pkill snell",
        "killall snell",
        "pkill -f 'snell serve'",
        "kill $(cat ~/.local/share/snell/serve.pid)",
        "kill -9 $(pgrep snell)",
        "xargs kill < ~/.local/share/snell/serve.pid",
        "systemctl --user stop snell",
        "systemctl --user disable --now snell.service",
        "launchctl unload ~/Library/LaunchAgents/snell.plist",
        "cargo uninstall snell-cli",
        "claude --settings '{\"disableAllHooks\": true}' -p x",
        "claude --settings='{\"disableAllHooks\":true}'",
        "claude config set disableAllHooks true",
        "claude -p x --bare",
    ] {
        let (verdict, rule) = judge_bash(command);
        assert_eq!(verdict, GuardDecision::Deny, "{command}: {rule:?}");
    }
}

#[test]
fn looking_is_free() {
    for command in [
        "cat ~/.config/snell/snell.toml",
        "cat .claude/settings.json",
        "jq .hooks ~/.claude/settings.json",
        "ls -la ~/.local/share/snell",
        "snell list",
        "snell log --json",
        "snell status",
        "snell doctor",
        "snell guard rules",
        "snell guard explain 'rm -rf /'",
        "snell guard check 'snell trust'",
        "snell guard replay",
        "snell session list",
        "snell config get guard.preset",
        "snell config list",
        "snell config path",
        "snell service status",
        "git diff .claude/settings.json",
        "git add .claude/settings.json",
        "cp .claude/settings.json /tmp/copy.json",
        "grep -rn snell .claude",
        "diff ~/.claude/settings.json .claude/settings.json",
        "sqlite3 -readonly ~/.local/share/snell/snell.db 'SELECT 1'",
        "claude -p 'what is disableAllHooks?'",
        "mkdir -p .claude/commands && echo x > .claude/commands/y.md",
        "rm .claude/commands/y.md",
        "find . -name '*.pyc' -delete",
        "chmod -R u+rwX .",
        "cargo install --path crates/snell-cli --dry-run",
        "SNELL_HOME=/tmp/x cargo test",
    ] {
        assert_eq!(judge_bash(command), (GuardDecision::Allow, None), "{command}");
    }
}

/// A change of an agent's settings is judged by its contents.
#[test]
fn settings_of_the_project_are_for_the_user_to_decide_about() {
    use GuardDecision::{Allow, Ask, Deny};
    const SHARED: &str = "/home/ann/work/app/.claude/settings.json";
    const LOCAL: &str = ".claude/settings.local.json";
    let edit = |path: &str, old: &str, new: &str| json!({ "file_path": path, "old_string": old, "new_string": new });
    let write = |path: &str, content: &str| json!({ "file_path": path, "content": content });
    for (tool, input, expected) in [
        ("Edit", edit(SHARED, r#""model": "a""#, r#""model": "b""#), Ask),
        ("Edit", edit(SHARED, r#""Bash(ls)""#, r#""Bash(ls)", "Bash(cat)""#), Ask),
        ("Edit", edit(LOCAL, r#""Bash(ls)""#, r#""Bash(pwd)""#), Ask),
        ("Edit", edit("/home/ann/.claude/settings.json", r#""model": "a""#, r#""model": "b""#), Deny),
        ("Edit", edit(SHARED, r#""model": "a""#, r#""disableAllHooks": true"#), Deny),
        ("Edit", edit(SHARED, r#""model": "a""#, r#""disable\u0041llHooks": true"#), Deny),
        ("Edit", edit(SHARED, "snell hook", "true"), Deny),
        ("Edit", edit(SHARED, "PreToolUse", "PreToolUsed"), Deny),
        ("Edit", edit(SHARED, r#""hooks""#, r#""x""#), Deny),
        ("Edit", edit(SHARED, r#""model": "a""#, r#""model": "a"#), Deny),
        ("Edit", edit(SHARED, "}", ""), Deny),
        ("Edit", json!({ "file_path": SHARED, "old_string": "a" }), Deny),
        ("Edit", json!({ "file_path": SHARED, "old_string": "a", "new_string": "b", "content": "{}" }), Deny),
        ("MultiEdit", json!({ "file_path": SHARED, "edits": [{ "old_string": "a", "new_string": "b" }] }), Ask),
        (
            "MultiEdit",
            json!({ "file_path": SHARED, "edits": [{ "old_string": "a", "new_string": "b" }, { "old_string": "snell", "new_string": "" }] }),
            Deny,
        ),
        ("MultiEdit", json!({ "file_path": SHARED, "edits": [{ "old_string": "a", "new_string": "b" }, {}] }), Deny),
        ("Write", write(SHARED, r#"{"permissions": {}}"#), Deny),
        ("Write", write(LOCAL, r#"{"permissions": {"allow": []}}"#), Ask),
        ("Write", write(LOCAL, r#"{"disableAllHooks": true}"#), Deny),
        ("Write", write(LOCAL, "not json"), Deny),
        ("Write", write(".claude/agents/x.md", "hooks"), Allow),
        ("Read", json!({ "file_path": SHARED }), Allow),
        ("NotebookEdit", json!({ "notebook_path": SHARED, "new_source": "{}" }), Deny),
        ("mcp__filesystem__write_file", json!({ "path": LOCAL, "content": "{}" }), Deny),
        ("mcp__filesystem__move_file", json!({ "source": LOCAL, "destination": "x" }), Deny),
        (
            "apply_patch",
            json!({ "input": "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch" }),
            Deny,
        ),
    ] {
        let (verdict, rule) = judge_tool(tool, &input);
        assert_eq!(verdict, expected, "{tool} {input}: {rule:?}");
    }
}

/// Rules about a directory with files of Snell in it, which may stay as they are: `standard` asks.
const ASKED_AROUND_SNELL: &[&str] = &["self.unpack"];

/// Commands and MCP calls with their decisions: each way to turn Snell off, and similar harmless calls.
#[test]
fn ways_to_turn_snell_off_are_denied_and_similar_calls_are_not() {
    let mut faults = Vec::new();
    for row in include_str!("own.txt").lines() {
        let (expected, call) = row.split_once(' ').unwrap();
        let (found, rule) = judge_own_row(call, &GuardPolicy::new(PolicyPreset::ClaudeOs));
        if found.name() != expected {
            faults.push(format!("{} ({rule:?}): {row}", found.name()));
        }
        let (standard, rule) = judge_own_row(call, &GuardPolicy::new(PolicyPreset::Standard));
        let is_listed = standard == GuardDecision::Ask && rule.is_some_and(|rule| ASKED_AROUND_SNELL.contains(&rule));
        if standard != found && !is_listed {
            faults.push(format!("standard: {} ({rule:?}): {row}", standard.name()));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// A disk may ignore case.
#[test]
fn what_is_snells_own_is_so_in_any_case_where_names_have_none() {
    let world = |ignores_case| snell_guard::JudgeContext { ignores_case, ..build_corpus_context() };
    let rule = |command: &str, ignores_case| {
        let input = json!({ "command": command });
        let call = GuardToolCall { tool: "Bash", input: &input };
        judge_call(&call, &GuardPolicy::default(), &world(ignores_case)).rule
    };
    for (command, expected) in [
        ("rm ~/.claude/Settings.json", "self.change"),
        ("echo x > ~/.CLAUDE/SETTINGS.JSON", "self.change"),
        ("sed -i s/a/b/ ~/.Config/Snell/snell.toml", "self.change"),
        ("rm -rf ~/.Claude", "self.change-around"),
        ("chmod 000 ~/.CLAUDE", "self.lock-around"),
        ("tar -C ~/.Cargo/Bin -xf x.tar", "self.unpack"),
        ("cp ~/.cargo/bin/SNELL /tmp/s", "self.copy"),
        ("ln /HOME/ANN/.claude/settings.json x", "self.change"),
    ] {
        assert_eq!(rule(command, true), Some(expected), "{command}");
        assert_ne!(rule(command, false), Some(expected), "{command}");
    }
    for command in ["mkdir -p ~/.claude/Commands", "chmod 755 ~/.CLAUDE", "cat ~/.CLAUDE/settings.json"] {
        assert_eq!(rule(command, true), None, "{command}");
    }
    // Its name is recognised in any case.
    assert_eq!(rule("Snell uninstall claude", false), Some("self.command"));
}

#[test]
fn the_agents_process_is_known_by_its_number() {
    let world = snell_guard::JudgeContext { agent_pid: Some(4242), ..build_corpus_context() };
    let rows = [
        ("kill 4242", GuardDecision::Deny),
        ("kill -STOP 4242", GuardDecision::Deny),
        ("kill -s TSTP 4242", GuardDecision::Deny),
        ("kill -9 -- -4242", GuardDecision::Deny),
        ("prlimit --pid=4242 --fsize=0", GuardDecision::Deny),
        ("prlimit -p 4242 --nofile=3", GuardDecision::Deny),
        ("gdb -p 4242 -batch -ex 'call exit(0)'", GuardDecision::Deny),
        ("gdb -p4242", GuardDecision::Deny),
        ("P=4242; strace -p $P", GuardDecision::Deny),
        ("renice 19 4242", GuardDecision::Deny),
        ("for p in 7 4242; do kill -STOP $p; done", GuardDecision::Deny),
        ("kill 4243", GuardDecision::Allow),
        ("kill -0 4242", GuardDecision::Allow),
        ("gdb -p 42420", GuardDecision::Allow),
        ("ps -p 4242", GuardDecision::Allow),
        ("ls /proc/4242", GuardDecision::Allow),
        ("head -n 4242 README.md", GuardDecision::Allow),
    ];
    for (command, expected) in rows {
        let input = json!({ "command": command });
        let call = GuardToolCall { tool: "Bash", input: &input };
        let judgement = judge_call(&call, &GuardPolicy::default(), &world);
        assert_eq!(judgement.decision, expected, "{command}: {:?}", judgement.rule);
    }
}
