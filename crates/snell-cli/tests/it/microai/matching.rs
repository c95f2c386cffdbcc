//! Which tool calls a flat matcher means.

use serde_json::{Value, json};

use super::{build_bash_call, create_project_with};

/// Whether a hook with this matcher runs for this call.
fn is_hook_run(matcher: &str, payload: &Value) -> bool {
    let sandbox = create_project_with("PreToolUse", &json!([{"matcher": matcher, "command": "touch ran"}]));
    let ran = sandbox.run_event("PreToolUse", payload);
    assert_eq!(ran.code, 0, "{matcher}");
    sandbox.exists("ran")
}

#[test]
fn a_name_means_that_tool_and_a_star_means_all() {
    let cases = [
        ("Bash", "Bash", true),
        ("Bash", "bash", false),
        ("bash", "Bash", false),
        ("Bash", "BashOutput", false),
        ("*", "Bash", true),
        ("*", "mcp__github__push", true),
        ("mcp__github__push", "mcp__github__push", true),
        ("Read", "Write", false),
    ];
    for (matcher, tool, expected) in cases {
        assert_eq!(is_hook_run(matcher, &json!({ "tool_name": tool })), expected, "{matcher} on {tool}");
    }
}

#[test]
fn an_entry_without_a_matcher_means_every_tool() {
    let sandbox = create_project_with("PreToolUse", &json!([{"command": "echo $TOOL_NAME >> tools.txt"}]));
    for tool in ["Bash", "Read"] {
        assert_eq!(sandbox.run_event("PreToolUse", &json!({ "tool_name": tool })).warnings(), [""; 0]);
    }
    assert_eq!(sandbox.read("tools.txt"), "Bash\nRead\n");
}

#[test]
fn a_pattern_in_parentheses_is_held_against_the_command() {
    let cases = [
        ("Bash(git:*)", "git", true),
        ("Bash(git:*)", "git status", true),
        ("Bash(git:*)", "git\tpush", true),
        ("Bash(git:*)", "gitk", false),
        ("Bash(git:*)", "gitk status", false),
        ("Bash(git:*)", "echo git", false),
        ("Bash(git:*)", "Git status", false),
        ("Bash(npm run:*)", "npm run test", true),
        ("Bash(npm run:*)", "npm runner", false),
        ("Bash(git status)", "git status", true),
        ("Bash(git status)", "git status -s", false),
        ("Bash(*.sh)", "sh deploy.sh", true),
        ("Bash(*.sh)", "sh deploy.py", false),
        ("Bash(l?)", "ls", true),
        ("Bash(l?)", "lsof", false),
        ("Bash(rm -rf *)", "rm -rf /", true),
        ("Bash(*)", "anything", true),
    ];
    for (matcher, command, expected) in cases {
        assert_eq!(is_hook_run(matcher, &build_bash_call(command)), expected, "{matcher} on {command:?}");
    }
}

#[test]
fn each_tool_has_one_argument_that_counts() {
    let cases = [
        ("Bash(x)", "Bash", json!({"command": "x"}), true),
        ("Read(x)", "Read", json!({"file_path": "x"}), true),
        ("Write(x)", "Write", json!({"file_path": "x"}), true),
        ("Edit(x)", "Edit", json!({"file_path": "x"}), true),
        ("Grep(x)", "Grep", json!({"pattern": "x", "path": "y"}), true),
        ("Grep(y)", "Grep", json!({"pattern": "x", "path": "y"}), false),
        ("Glob(x)", "Glob", json!({"path": "y", "pattern": "x"}), true),
        ("WebFetch(x)", "WebFetch", json!({"prompt": "y", "url": "x"}), true),
        ("WebSearch(x)", "WebSearch", json!({"query": "x"}), true),
        // Any other tool: the first of command, file_path, path, url, pattern, query.
        ("Other(c)", "Other", json!({"query": "q", "command": "c", "file_path": "f"}), true),
        ("Other(f)", "Other", json!({"url": "u", "path": "p", "file_path": "f"}), true),
        ("Other(p)", "Other", json!({"pattern": "g", "url": "u", "path": "p"}), true),
        ("Other(u)", "Other", json!({"query": "q", "pattern": "g", "url": "u"}), true),
        ("Other(g)", "Other", json!({"query": "q", "pattern": "g"}), true),
        ("Other(q)", "Other", json!({"query": "q"}), true),
        ("Other(q)", "Other", json!({"query": "q", "pattern": "g"}), false),
        // The text of the JSON is never looked at.
        ("Write(git:*)", "Write", json!({"file_path": "a", "content": "git push"}), false),
        ("Bash(*git*)", "Bash", json!({"command": "ls", "description": "git"}), false),
        ("Bash({*)", "Bash", json!({"command": "ls"}), false),
        ("Bash(x)", "Bash", json!({}), false),
        // Some agents send a command as a list of words.
        ("Bash(x y)", "Bash", json!({"command": ["x", "y"]}), true),
        ("Bash(x)", "Bash", json!({"command": [1]}), false),
    ];
    for (matcher, tool, input, expected) in cases {
        let payload = json!({"tool_name": tool, "tool_input": input});
        assert_eq!(is_hook_run(matcher, &payload), expected, "{matcher} on {payload}");
    }
}

#[test]
fn a_domain_is_the_host_that_the_address_really_leads_to() {
    let cases = [
        ("x.com", "https://x.com", true),
        ("x.com", "https://x.com/path?q=1#f", true),
        ("x.com", "http://X.COM:8080/", true),
        ("x.com", "https://a.x.com/", false),
        ("x.com", "https://evilx.com/", false),
        ("x.com", "https://x.com.evil.com/", false),
        ("x.com", "https://evil.com/x.com", false),
        ("x.com", "https://evil.com/?u=https://x.com", false),
        ("x.com", "https://x.com@evil.com/", false),
        ("*.x.com", "https://a.x.com/", true),
        ("*.x.com", "https://a.b.x.com/", true),
        ("*.x.com", "https://x.com/", true),
        ("*.x.com", "https://evilx.com/", false),
        ("*.x.com", "https://x.com.evil.com/", false),
    ];
    for (domain, url, expected) in cases {
        let payload = json!({"tool_name": "WebFetch", "tool_input": {"url": url}});
        assert_eq!(is_hook_run(&format!("WebFetch(domain:{domain})"), &payload), expected, "{domain} on {url}");
    }
}

#[test]
fn after_a_tool_the_same_matchers_count_however_the_tool_went() {
    let cases = [
        ("PostToolUse", json!({"tool_success": true}), "git push", true),
        ("PostToolUse", json!({"tool_success": false}), "git push", true),
        ("PostToolUse", json!({}), "ls", false),
        ("PostToolUseFailure", json!({"error": "boom"}), "git push", true),
    ];
    for (event, mut payload, command, expected) in cases {
        payload["tool_name"] = "Bash".into();
        payload["tool_input"] = json!({ "command": command });
        let sandbox = create_project_with("PostToolUse", &json!([{"matcher": "Bash(git:*)", "command": "true"}]));
        let statuses = sandbox.run_event(event, &payload).statuses();
        assert_eq!(statuses == ["started"], expected, "{event} {payload}: {statuses:?}");
    }
}
