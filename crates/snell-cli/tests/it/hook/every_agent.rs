//! Every agent that Snell knows: it is recognized, its calls are judged, and a denial is in its own words.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, run_with_stdin};

use super::{HookSandbox, RecordingMode};

/// Variables by which other agents are known.
const VARIABLES: &[&str] =
    &["CRUSH", "GEMINI_SESSION_ID", "QWEN_PROJECT_DIR", "FACTORY_PROJECT_DIR", "CURSOR_VERSION", "GROK_SESSION_ID"];

/// How an agent reads a denial.
#[derive(Clone, Copy, Debug)]
enum DenialForm {
    /// A field of a JSON object with this value, and the field with the reason.
    Json(&'static str, &'static str, &'static str),
    /// Exit code 2, and the reason on standard error.
    ExitCode,
}

/// What an agent does with "ask".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskSupport {
    /// It asks its user.
    Asks,
    /// Snell denies.
    Denied,
}

use AskSupport::{Asks, Denied};
use DenialForm::{ExitCode, Json};

const NESTED: DenialForm =
    Json("/hookSpecificOutput/permissionDecision", "deny", "/hookSpecificOutput/permissionDecisionReason");
const TOP: DenialForm = Json("/decision", "deny", "/reason");

/// One payload before a shell command.
struct AgentCall {
    agent: &'static str,
    variables: Vec<(String, String)>,
    payload: Value,
    /// The path of the command in the payload.
    command: &'static str,
    denial: DenialForm,
    ask: AskSupport,
}

/// A recorded payload: the agent, the file, and the path of the command.
const RECORDED: &[(&str, &str, &str, DenialForm, AskSupport)] = &[
    ("claude", "PreToolUse.json", "/tool_input/command", NESTED, Asks),
    ("codex", "PreToolUse.json", "/tool_input/command", NESTED, Denied),
    ("gemini", "BeforeTool.json", "/tool_input/command", TOP, Denied),
    ("qwen", "PreToolUse.json", "/tool_input/command", NESTED, Asks),
    (
        "copilot",
        "preToolUse.json",
        "/toolArgs/command",
        Json("/permissionDecision", "deny", "/permissionDecisionReason"),
        Asks,
    ),
    (
        "copilot",
        "PreToolUse.pascal.json",
        "/tool_input/command",
        Json("/permissionDecision", "deny", "/permissionDecisionReason"),
        Asks,
    ),
    ("copilot", "permissionRequest.json", "/toolInput/command", Json("/behavior", "deny", "/message"), Denied),
    ("opencode", "tool.execute.before.json", "/tool_input/command", TOP, Denied),
    ("opencode", "tool.execute.before.child.json", "/tool_input/command", TOP, Denied),
    ("kilo", "tool.execute.before.json", "/tool_input/command", TOP, Denied),
    ("pi", "tool_call.json", "/tool_input/command", TOP, Denied),
    ("cline", "PreToolUse.json", "/tool_call/input/commands/0", Json("/cancel", "true", "/errorMessage"), Denied),
    ("kimi", "PreToolUse.json", "/tool_input/command", NESTED, Denied),
    ("grok", "PreToolUse.json", "/tool_input/command", NESTED, Denied),
    ("vibe", "pre_tool.json", "/tool_input/command", TOP, Denied),
];

fn read_recorded_call(row: &(&'static str, &str, &'static str, DenialForm, AskSupport)) -> AgentCall {
    let (agent, file, command, denial, ask) = *row;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents").join(agent).join(file);
    let sample: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let variables = sample["env"].as_object().unwrap().iter();
    let variables = variables.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
    AgentCall { agent, variables, payload: sample["payload"].clone(), command, denial, ask }
}

/// Agents that no test runs, by their documentation.
fn documented_calls() -> Vec<AgentCall> {
    let call = |agent, variables: &[(&str, &str)], command, payload, denial| AgentCall {
        agent,
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        payload,
        command,
        denial,
        ask: Denied,
    };
    let cursor = Json("/permission", "deny", "/user_message");
    vec![
        call(
            "cursor",
            &[],
            "/tool_input/command",
            json!({"conversation_id": "c", "cursor_version": "3.9", "hook_event_name": "preToolUse", "tool_name": "Shell",
                "tool_input": {"command": ""}}),
            cursor,
        ),
        call(
            "cursor",
            &[],
            "/command",
            json!({"conversation_id": "c", "cursor_version": "3.9", "hook_event_name": "beforeShellExecution",
                "command": "", "cwd": "/w"}),
            cursor,
        ),
        call(
            "windsurf",
            &[],
            "/tool_info/command_line",
            json!({"agent_action_name": "pre_run_command", "trajectory_id": "t", "tool_info": {"command_line": "", "cwd": "/w"}}),
            ExitCode,
        ),
        call(
            "goose",
            &[],
            "/tool_input/command",
            json!({"event": "PreToolUse", "session_id": "s", "matcher_context": "shell", "tool_name": "developer__shell",
                "tool_input": {"command": ""}, "working_dir": "/w"}),
            ExitCode,
        ),
        call(
            "crush",
            &[("CRUSH", "1")],
            "/tool_input/command",
            json!({"event": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "bash", "tool_input": {"command": ""}}),
            TOP,
        ),
        AgentCall {
            ask: Asks,
            ..call(
                "droid",
                &[("FACTORY_PROJECT_DIR", "/w")],
                "/tool_input/command",
                json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Execute",
                    "tool_input": {"command": ""}}),
                NESTED,
            )
        },
        AgentCall {
            ask: Asks,
            ..call(
                "deepagents",
                &[],
                "/tool_input/command",
                json!({"session_id": "s", "transcript_path": "/home/me/.deepagents/s", "hook_event_name": "PreToolUse",
                    "tool_name": "Bash", "tool_input": {"command": ""}}),
                NESTED,
            )
        },
        AgentCall {
            ask: Asks,
            ..call(
                "antigravity",
                &[],
                "/toolCall/args/CommandLine",
                json!({"conversationId": "c", "workspacePaths": ["/w"],
                    "toolCall": {"name": "run_command", "args": {"CommandLine": ""}}}),
                TOP,
            )
        },
        call(
            "kiro",
            &[],
            "/tool_input/command",
            json!({"hook_event_name": "preToolUse", "cwd": "/w", "tool_name": "execute_bash", "tool_input": {"command": ""}}),
            ExitCode,
        ),
        call(
            "augment",
            &[("AUGMENT_PROJECT_DIR", "/w")],
            "/tool_input/command",
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "launch-process",
                "tool_input": {"command": ""}}),
            ExitCode,
        ),
        call(
            "amp",
            &[],
            "/tool_input/cmd",
            json!({"plugin": "amp", "hook_event_name": "tool.call", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
                "tool_input": {"cmd": ""}}),
            TOP,
        ),
    ]
}

fn all_calls() -> Vec<AgentCall> {
    RECORDED.iter().map(read_recorded_call).chain(documented_calls()).collect()
}

impl AgentCall {
    fn run(&self, watched: &HookSandbox, arguments: &[&str], command: &str) -> CommandOutput {
        self.run_payload(watched, arguments, &self.with_command(command))
    }

    /// The payload of a call of this command.
    fn with_command(&self, command: &str) -> Value {
        let mut payload = self.payload.clone();
        *payload.pointer_mut(self.command).unwrap() = command.into();
        // Cline has the parameters a second time, as text.
        if let Some(parameters) = payload.pointer_mut("/preToolUse/parameters/commands") {
            *parameters = json!([command]).to_string().into();
        }
        payload
    }

    fn run_payload(&self, watched: &HookSandbox, arguments: &[&str], payload: &Value) -> CommandOutput {
        let mut started = watched.sandbox.command(arguments);
        started.envs(self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        run_with_stdin(&mut started, payload.to_string())
    }

    /// The reason of a denial.
    fn expect_denial(&self, ran: &CommandOutput) -> String {
        match self.denial {
            ExitCode => {
                assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{} {ran:?}", self.agent);
                ran.stderr.clone()
            }
            Json(field, word, reason) => {
                assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{} {ran:?}", self.agent);
                let answer = ran.json();
                let decision = answer.pointer(field).unwrap_or_else(|| panic!("{} {answer}", self.agent));
                assert_eq!(decision.to_string().trim_matches('"'), word, "{} {answer}", self.agent);
                answer.pointer(reason).unwrap().as_str().unwrap().to_owned()
            }
        }
    }
}

#[test]
fn a_dangerous_call_of_every_agent_is_denied_in_its_own_words() {
    for call in all_calls() {
        // A hook file that another agent reads as well does not prove who calls.
        let registered: &[&[&str]] = &[&["hook"], &["hook", "--agent", call.agent], &[]];
        for arguments in registered {
            let watched = HookSandbox::new(RecordingMode::Alone);
            // Kiro's payload has no mark, so that Snell cannot know it without `--agent`.
            if call.agent == "kiro" && arguments.len() < 3 {
                continue;
            }
            let denied = call.run(&watched, arguments, "rm -rf ~");
            assert!(call.expect_denial(&denied).contains("home"), "{} {denied:?}", call.agent);
            let fine = call.run(&watched, arguments, "ls");
            assert_eq!((fine.code, fine.stdout.as_str(), fine.stderr.as_str()), (0, "", ""), "{}", call.agent);
            let kept = watched.query_rows("SELECT decision, tool FROM events ORDER BY rowid");
            assert_eq!(
                kept,
                [json!({"decision": "block", "tool": "Bash"}), json!({"decision": null, "tool": "Bash"})],
                "{}",
                call.agent
            );
        }
    }
}

/// A person reads a question, and the model reads a denial in place of a question.
#[test]
fn a_question_to_the_user_of_every_agent_has_no_advice_to_the_model() {
    let reason = "sudo would run `ls` as another user, with rights that the agent does not have.";
    let (question, advice) =
        (format!("Snell asks (privilege.raise): {reason}"), "Run the command as the current user.");
    let mut asking = Vec::new();
    for call in all_calls() {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let ran = call.run(&watched, &["hook", "--agent", call.agent], "sudo ls");
        let told = [ran.stdout, ran.stderr].concat();
        if told.is_empty() {
            // The recorded call of Copilot is a permission request, which asks the user already.
            assert_eq!(call.agent, "copilot");
        } else if told.contains("Snell asks") {
            assert!(told.contains(&question) && !told.contains(advice), "{}: {told}", call.agent);
            asking.push(call.agent);
        } else {
            assert!(told.contains(&format!("{reason} {advice}")), "{}: {told}", call.agent);
        }
    }
    assert!(asking.contains(&"qwen") && !asking.contains(&"codex"), "{asking:?}");
}

/// The fields without which a call cannot be judged.
const CALL_FIELDS: &[&str] = &["tool_name", "toolName", "tool_input", "toolArgs"];

#[test]
fn a_call_of_another_version_that_lacks_a_field_is_denied_in_the_same_words() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    for call in RECORDED.iter().map(read_recorded_call) {
        let fields: Vec<_> = call.payload.as_object().unwrap().keys().cloned().collect();
        // Only its name tells a permission request of Copilot from another call.
        let is_needed = |field: &&String| {
            CALL_FIELDS.contains(&field.as_str()) || (call.agent, field.as_str()) == ("copilot", "hookName")
        };
        for field in fields.iter().filter(|field| !is_needed(field)) {
            let mut payload = call.with_command("rm -rf ~");
            payload.as_object_mut().unwrap().remove(field);
            let is_judged = payload.pointer(call.command).is_some() || payload.get("preToolUse").is_some();
            if is_judged {
                let denied = call.run_payload(&watched, &["hook", "--agent", call.agent], &payload);
                assert!(call.expect_denial(&denied).contains("home"), "{} without {field}: {denied:?}", call.agent);
            }
        }
    }
}

#[test]
fn a_nameless_call_of_copilot_whose_arguments_have_another_name_is_asked_about() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let call = read_recorded_call(&("copilot", "preToolUse.json", "/toolArgs", TOP, Asks));
    let mut payload = call.payload.clone();
    payload["arguments"] = payload.as_object_mut().unwrap().remove("toolArgs").unwrap();
    let asked = call.run_payload(&watched, &["hook", "--agent", "copilot"], &payload);
    assert_eq!(asked.json()["permissionDecision"], "ask", "{asked:?}");
}

/// Calls of other tools and in other forms: the agent, the recorded file, members that replace those of the payload, and whether
/// it is denied.
const OTHER_CALLS: &[(&str, &str, &str, bool)] = &[
    (
        "cline",
        "PreToolUse.json",
        r#"{"tool_call": {"name": "run_commands", "input": {"commands": ["exit 0", "find ~ -delete"]}}}"#,
        true,
    ),
    (
        "cline",
        "PreToolUse.json",
        r#"{"tool_call": {"name": "run_commands", "input": {"commands": ["HOME=/tmp/x", "rm -rf ~"]}}}"#,
        true,
    ),
    (
        "cline",
        "PreToolUse.json",
        r#"{"tool_call": {"name": "run_commands", "input": {"commands": ["echo 'a", "find ~ -delete", "b'"]}}}"#,
        true,
    ),
    (
        "cline",
        "PreToolUse.json",
        r#"{"tool_call": {"name": "run_commands", "input": {"commands": [{"command": "find", "args": ["/", "-delete"]}]}}}"#,
        true,
    ),
    (
        "cline",
        "PreToolUse.json",
        r#"{"tool_call": {"name": "run_commands", "input": {"commands": ["ls", "git status"]}}}"#,
        false,
    ),
    ("vibe", "pre_tool.json", r#"{"tool_name": "process.start", "tool_input": {"command": "find ~ -delete"}}"#, true),
    (
        "vibe",
        "pre_tool.json",
        r#"{"tool_name": "file_system.search_replace", "tool_input": {"file_path": "/etc/passwd"}}"#,
        true,
    ),
    (
        "grok",
        "PreToolUse.json",
        r#"{"toolName": "sh__execute_command", "tool_name": "sh__execute_command", "tool_input": {"command": "find ~ -delete"}}"#,
        true,
    ),
    (
        "opencode",
        "tool.execute.before.json",
        r#"{"tool_name": "fs_write_file", "tool_input": {"path": "/etc/passwd", "content": "x"}}"#,
        true,
    ),
    ("codex", "PreToolUse.json", r#"{"hook_event_name": "pre_tool_use", "tool_input": {"command": "rm -rf ~"}}"#, true),
    ("vibe", "pre_tool.json", r#"{"hook_event_name": "before_tool", "tool_input": {"command": "rm -rf ~"}}"#, true),
    ("pi", "tool_call.json", r#"{"tool_name": "write", "tool_input": {"path": "@/etc/passwd", "content": "x"}}"#, true),
    (
        "kilo",
        "tool.execute.before.json",
        r#"{"tool_name": "background_process", "tool_input": {"action": "start", "command": "rm -rf ~"}}"#,
        true,
    ),
    (
        "kilo",
        "tool.execute.before.json",
        r#"{"tool_name": "background_process", "tool_input": {"action": "list"}}"#,
        false,
    ),
    (
        "copilot",
        "preToolUse.json",
        r#"{"toolName": "grep", "toolArgs": {"pattern": ".", "paths": ["~/.ssh"], "output_mode": "content"}}"#,
        true,
    ),
];

#[test]
fn other_tools_and_other_forms_of_a_call_are_judged_as_well() {
    for (agent, file, members, is_denied) in OTHER_CALLS {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let call = read_recorded_call(&(agent, file, "", TOP, Denied));
        let payload = merge_fields(call.payload, &serde_json::from_str(members).unwrap());
        let mut started = watched.sandbox.command(&["hook", "--agent", agent]);
        started.envs(call.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let ran = run_with_stdin(&mut started, payload.to_string());
        let is_answered = ran.stdout.contains("deny") || ran.stdout.contains("cancel");
        assert_eq!(is_answered, *is_denied, "{agent} {members}: {ran:?}");
    }
}

#[test]
fn a_question_is_asked_where_the_agent_can_ask_and_denied_elsewhere() {
    for mut call in all_calls() {
        // Claude Code's calls were recorded in print mode, in which no user can answer.
        call.variables
            .iter_mut()
            .filter(|(name, _)| name.ends_with("_ATTENDED"))
            .for_each(|(_, value)| *value = "1".into());
        let watched = HookSandbox::new(RecordingMode::Alone);
        let asked = call.run(&watched, &["hook", "--agent", call.agent], "history -c");
        let is_request = call.payload.get("hookName") == Some(&json!("permissionRequest"));
        if is_request {
            // The agent asks its user already.
            asked.assert_silent();
        } else if call.ask == Asks {
            let answer = asked.json().to_string();
            assert!(answer.contains(r#"ecision":"ask""#), "{} {answer}", call.agent);
        } else {
            let reason = call.expect_denial(&asked);
            assert!(reason.contains("Snell cannot ask the user in"), "{} {reason}", call.agent);
            let kept = watched.query_rows("SELECT decision, reason FROM events");
            assert_eq!(kept[0]["decision"], "block", "{}", call.agent);
            let guard = watched.query_rows("SELECT decision, would FROM guard_verdicts");
            assert_eq!(guard, [json!({"decision": "deny", "would": "ask"})], "{}", call.agent);
        }
    }
}

#[test]
fn context_that_an_agent_does_not_take_at_a_start_reaches_it_with_the_next_event() {
    // The event that starts, and the next one, of one recorded session.
    let cases = [
        ("opencode", "session.created.json", "chat.message.json"),
        ("pi", "session_start.json", "before_agent_start.json"),
        ("kimi", "SessionStart.json", "UserPromptSubmit.json"),
        ("grok", "UserPromptSubmit.json", "PreToolUse.json"),
        ("cline", "TaskStart.json", "PreToolUse.json"),
    ];
    let config = "[[hook]]\nevent = \"SessionStart\"\nrun = \"echo first of all\"\n\n\
                  [[hook]]\nevent = \"UserPromptSubmit\"\nrun = \"echo and then\"\n";
    for (agent, start, next) in cases {
        let watched = HookSandbox::with_user_config(RecordingMode::Alone, config);
        let run = |file| {
            let call = read_recorded_call(&(agent, file, "", TOP, Denied));
            let mut started = watched.sandbox.command(&["hook", "--agent", agent]);
            started.envs(call.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            run_with_stdin(&mut started, call.payload.to_string())
        };
        let started = run(start);
        assert_eq!((started.code, started.stdout.as_str()), (0, ""), "{agent}");
        let text = run(next).stdout;
        let expected = if start.starts_with("User") { "and then" } else { "first of all" };
        assert_eq!(text.matches(expected).count(), 1, "{agent} {text}");
        assert!(!run(next).stdout.contains("first of all"), "{agent}");
    }
}

#[test]
fn an_unknown_agents_call_is_judged_and_denied_by_exit_code() {
    let payload =
        |command: &str| json!({"event": "pre_tool_use", "tool_name": "bash", "tool_input": {"command": command}});
    for arguments in [&["hook"][..], &["hook", "--agent", "claude"]] {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let run = |command: &str| run_with_stdin(&mut watched.sandbox.command(arguments), payload(command).to_string());
        let denied = run("rm -rf ~");
        assert_eq!((denied.code, denied.stdout.as_str()), (2, ""), "{denied:?}");
        assert!(denied.stderr.contains("home"), "{denied:?}");
        let asked = run("history -c");
        assert!(asked.stderr.contains("Snell cannot ask the user in an unknown agent."), "{asked:?}");
        let fine = run("ls");
        assert_eq!((fine.code, fine.stdout.as_str()), (0, ""), "{fine:?}");
        assert!(fine.stderr.contains("an unknown agent"), "{fine:?}");
        let kept = watched.query_rows("SELECT decision FROM events ORDER BY rowid");
        let kept: Vec<_> = kept.iter().map(|row| row["decision"].as_str().unwrap_or_default()).collect();
        assert_eq!(kept, ["block", "block", ""]);
    }
}

#[test]
fn an_unknown_event_of_every_agent_is_kept_and_answered_with_silence() {
    for call in all_calls() {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let mut payload = call.payload.clone();
        let fields = payload.as_object_mut().unwrap();
        for key in ["hook_event_name", "event", "hookEventName", "hookName", "agent_action_name"] {
            if fields.contains_key(key) {
                fields.insert(key.to_owned(), "BrandNewEvent".into());
            }
        }
        if fields.values().all(|value| value != "BrandNewEvent") {
            continue;
        }
        let mut started = watched.sandbox.command(&["hook", "--agent", call.agent]);
        started.envs(call.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let ran = run_with_stdin(&mut started, payload.to_string());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{} {ran:?}", call.agent);
        assert_eq!(watched.query_rows("SELECT name FROM events"), [json!({"name": "BrandNewEvent"})], "{}", call.agent);
    }
}

#[test]
fn no_variable_of_another_agent_hides_claude_code() {
    for variable in VARIABLES {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let input = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "transcript_path": "/t.jsonl"});
        let payload = watched.build_payload("s1", "PreToolUse", input);
        let run = |arguments: &[&str], variables: &[(&str, &str)]| {
            let mut started = watched.sandbox.command(arguments);
            started.envs(variables.iter().copied());
            let ran = run_with_stdin(&mut started, payload.to_string());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{variable} {ran:?}");
            assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{variable}");
        };
        run(&["hook"], &[(variable, "1"), ("CLAUDECODE", "1")]);
        run(&["hook", "--agent", "claude"], &[(variable, "1")]);
    }
}
