//! The recipes of the cookbook: each is written into a fresh home, checked by `snell lint`, and played as agents call Snell.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use snell_test_support::files::{find_repository_root, write_script};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, run_with_stdin};
use snell_test_support::stub_server::{StubReply, StubServer};
use snell_test_support::wait::wait_until;

use super::examples::list_headed_blocks;
use crate::support::CliSandbox;

const PAGE: &str = "docs/guide/cookbook.md";
const SETTINGS: &str = ".config/snell/snell.toml";

/// A home directory with one recipe, and programs that stand in for those of a real machine.
struct RecipeSandbox {
    sandbox: CliSandbox,
}

impl RecipeSandbox {
    /// Writes the recipe and checks that it has no faults.
    fn new(recipe: &str) -> Self {
        let sandbox = CliSandbox::new().home_file(SETTINGS, recipe);
        let path = format!("{}:{}", sandbox.home().join("bin").display(), std::env::var("PATH").unwrap());
        let sandbox = sandbox.env("PATH", &path);
        // The company's policy of one recipe: it fails.
        write_script(&sandbox.home().join("bin/company-policy"), "exit 1");
        let linted = sandbox.run_snell(&["lint"], "");
        assert_eq!(linted.code, 0, "{}{}", linted.stdout, linted.stderr);
        assert!(linted.stdout.starts_with("No problems"), "{}{}\n{recipe}", linted.stdout, linted.stderr);
        Self { sandbox }
    }

    /// Puts a program on the path; its body is shell.
    fn add_program(&self, name: &str, body: &str) {
        write_script(&self.sandbox.home().join("bin").join(name), body);
    }

    /// Calls `snell hook` with an event of Claude Code.
    fn send_event(&self, event: &str, fields: &Value) -> CommandOutput {
        let base = json!({
            "session_id": "s1", "hook_event_name": event, "cwd": self.sandbox.project(),
            "transcript_path": self.sandbox.home().join(".claude/projects/p/s1.jsonl"),
        });
        self.send_payload(&merge_fields(base, fields))
    }

    fn send_payload(&self, payload: &Value) -> CommandOutput {
        run_with_stdin(&mut self.sandbox.command(&["hook"]), payload.to_string())
    }

    /// The decision about a tool call of Claude Code: `deny`, `ask`, `allow`, or `none`.
    fn decide(&self, tool: &str, input: &Value) -> String {
        let ran = self.send_event("PreToolUse", &json!({"tool_name": tool, "tool_input": input}));
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let decision = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
        decision.unwrap_or("none").to_owned()
    }

    fn decide_command(&self, command: &str) -> String {
        self.decide("Bash", &json!({"command": command}))
    }

    fn check_commands(&self, rows: &[(&str, &str)]) {
        for (command, expected) in rows {
            assert_eq!(self.decide_command(command), *expected, "{command}");
        }
    }

    fn check_calls(&self, rows: &[(&str, Value, &str)]) {
        for (tool, input, expected) in rows {
            assert_eq!(self.decide(tool, input), *expected, "{tool} {input}");
        }
    }

    /// A recorded payload of another agent, in this project.
    fn build_payload_of(&self, agent: &str, file: &str) -> Value {
        let path = find_repository_root().join("fixtures/agents").join(agent).join(file);
        let recorded: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let payload = recorded.get("payload").cloned().unwrap_or(recorded);
        merge_fields(payload, &json!({"cwd": self.sandbox.project()}))
    }

    fn read_home(&self, path: &str) -> String {
        fs::read_to_string(self.sandbox.home().join(path)).unwrap_or_default()
    }

    /// Waits until a file of the home directory contains this text.
    fn wait_for_home_text(&self, path: &str, text: &str) {
        wait_until(|| self.read_home(path).contains(text).then_some(()));
    }

    /// Runs the cases of the recipe.
    fn test_cases(&self) {
        let tested = self.sandbox.run_snell(&["guard", "test"], "");
        assert_eq!(tested.code, 0, "{}{}", tested.stdout, tested.stderr);
    }
}

type RecipePlay = fn(&RecipeSandbox);

/// Each recipe by its heading, and how it is played.
const PLAYS: &[(&str, RecipePlay)] = &[
    ("Block every force-push", play_force_push),
    ("Protect more branches", |home| {
        home.check_commands(&[
            ("git push --force origin staging", "deny"),
            ("git push --force origin my-feature", "ask"),
            ("git push origin staging", "none"),
        ]);
    }),
    ("Ask before something is published", |home| {
        home.check_commands(&[
            ("npm publish", "ask"),
            ("bash -c 'cargo publish --allow-dirty'", "ask"),
            ("npm pack", "none"),
        ]);
    }),
    ("Allow one command", |home| {
        home.check_commands(&[("sudo systemctl restart nginx", "none"), ("sudo systemctl restart postgresql", "ask")]);
    }),
    ("Protect a directory", |home| {
        home.check_commands(&[("rm ~/notes/todo.md", "deny"), ("cat ~/notes/todo.md", "none")]);
    }),
    ("Hide a directory", |home| {
        home.check_commands(&[("cat ~/vault/key", "deny"), ("ls ~", "none")]);
    }),
    ("Keep agents away from a host", |home| {
        home.check_commands(&[
            ("curl https://db.internal.example.com/x", "deny"),
            ("curl https://staging.example.com/x", "none"),
        ]);
        home.check_calls(&[
            ("WebFetch", json!({"url": "https://wiki.internal.example.com/", "prompt": "x"}), "deny"),
            ("WebFetch", json!({"url": "https://docs.rs/", "prompt": "x"}), "none"),
        ]);
    }),
    ("Deny a tool", |home| {
        home.check_calls(&[
            ("mcp__mail__send", json!({"to": "a@example.com"}), "deny"),
            ("mcp__files__list", json!({}), "none"),
        ]);
    }),
    ("Keep generated files unchanged", |home| {
        let lock = home.sandbox.project().join("Cargo.lock");
        let source = home.sandbox.project().join("src/main.rs");
        home.check_calls(&[
            ("Write", json!({"file_path": lock, "content": "x"}), "deny"),
            ("Write", json!({"file_path": source, "content": "x"}), "none"),
            ("Read", json!({"file_path": lock}), "none"),
        ]);
    }),
    ("Watch before you block", play_audit),
    ("Format Rust files after an edit", play_format),
    ("Run the tests before a commit", |home| {
        home.add_program("make", "test -f tests-pass");
        home.check_commands(&[("git commit -m wip", "deny"), ("cd . && git commit", "deny"), ("git status", "none")]);
        fs::write(home.sandbox.project().join("tests-pass"), "").unwrap();
        home.check_commands(&[("git commit -m wip", "none")]);
    }),
    ("Lint when the agent stops", |home| {
        home.add_program("make", "echo 'main.c:3: unused variable'; exit 1");
        assert_eq!(home.send_event("Stop", &json!({})).stdout.trim(), "", "there is no Makefile");
        fs::write(home.sandbox.project().join("Makefile"), "").unwrap();
        let answer: Value = serde_json::from_str(&home.send_event("Stop", &json!({})).stdout).unwrap();
        assert_eq!(answer["decision"], "block");
        assert!(answer["reason"].as_str().unwrap().contains("unused variable"), "{answer}");
    }),
    ("Use npm ci instead of npm install", |home| {
        let call = |command| {
            let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}});
            home.send_event("PreToolUse", &fields).stdout
        };
        let answer: Value = serde_json::from_str(&call("npm install")).unwrap();
        assert_eq!(answer.pointer("/hookSpecificOutput/updatedInput/command"), Some(&json!("npm ci")), "{answer}");
        assert!(!call("npm install left-pad").contains("npm ci"));
    }),
    ("Remove mail addresses from a tool's output", |home| {
        let fields = json!({
            "tool_name": "Bash", "tool_input": {"command": "cat x"},
            "tool_response": {"stdout": "ask jane.doe@example.com"},
        });
        let ran = home.send_event("PostToolUse", &fields);
        assert!(ran.stdout.contains("(mail address)") && !ran.stdout.contains("jane.doe"), "{ran:?}");
    }),
    ("Log every command to a file", |home| {
        home.decide_command("git status");
        home.decide("Read", &json!({"file_path": "/tmp/x"}));
        let log = home.read_home("agent-commands.log");
        assert!(log.ends_with("claude: git status\n") || log.ends_with("claude-code: git status\n"), "{log}");
        assert_eq!(log.lines().count(), 1);
    }),
    ("Block a call if the hook itself fails", |home| {
        home.check_commands(&[("git status", "deny")]);
        home.add_program("company-policy", "exit 0");
        home.check_commands(&[("git status", "none")]);
    }),
    ("Name the branch at the start", |home| {
        let init = "git init --quiet --initial-branch=topic .";
        let ran = run_with_stdin(&mut home.sandbox.shell(init, &[]), "");
        assert_eq!(ran.code, 0, "{ran:?}");
        let started = home.send_event("SessionStart", &json!({"source": "startup"}));
        assert!(started.stdout.contains("The current branch is topic."), "{started:?}");
    }),
    ("Add a note to every prompt", |home| {
        let prompt = json!({"prompt": "Go."});
        assert_eq!(home.send_event("UserPromptSubmit", &prompt).stdout.trim(), "");
        fs::write(home.sandbox.project().join("FREEZE.md"), "main is frozen\n").unwrap();
        assert!(home.send_event("UserPromptSubmit", &prompt).stdout.contains("main is frozen"));
    }),
    ("Show a desktop notice when an agent waits", |home| {
        home.add_program("notify-send", "printf '%s\\n' \"$*\" >> ~/shown.log");
        send_permission_request(home);
        home.wait_for_home_text("shown.log", "project");
    }),
    ("Get a message on the phone", play_phone),
    ("Run your own command when an agent waits", |home| {
        send_permission_request(home);
        home.wait_for_home_text("waiting.log", "waits in");
    }),
    ("Run a hook under one agent only", |home| {
        home.check_commands(&[("git status", "none")]);
        let ran = home.send_payload(&home.build_payload_of("codex", "PreToolUse.json"));
        assert!(ran.stdout.contains("Codex only reviews"), "{ran:?}");
    }),
    ("Run a hook in some projects only", |home| {
        let here = home.send_event("SessionStart", &json!({"source": "startup"}));
        assert!(!here.stdout.contains("English"), "{here:?}");
        let work = home.sandbox.home().join("work/api");
        fs::create_dir_all(&work).unwrap();
        let there = home.send_event("SessionStart", &json!({"source": "startup", "cwd": work, "session_id": "s2"}));
        assert!(there.stdout.contains("English"), "{there:?}");
    }),
    ("Use Snell without a user", |home| {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}});
        let ran = home.sandbox.run_snell(&["run", "PreToolUse", "--guard", "--require-trust"], &payload.to_string());
        assert_eq!(ran.code, 2, "{ran:?}");
    }),
    ("Use Snell in a container", |home| {
        // Nothing listens there: the event waits in the volume.
        home.send_event("SessionStart", &json!({"source": "startup"}));
        wait_until(|| has_file(&home.sandbox.data().join("outbox")).then_some(()));
    }),
    ("Keep your Claude Code hooks, and use them under other agents", |home| {
        let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "echo 'old hook' >&2; exit 2"},
        ]}]}});
        fs::create_dir_all(home.sandbox.home().join(".claude")).unwrap();
        fs::write(home.sandbox.home().join(".claude/settings.json"), hooks.to_string()).unwrap();
        let ran = home.send_payload(&home.build_payload_of("codex", "PreToolUse.json"));
        assert!(ran.stdout.contains("old hook"), "{ran:?}");
    }),
    ("Replace a shell guard", |home| {
        home.test_cases();
        home.check_commands(&[
            ("cd infra && terraform apply", "deny"),
            ("sh -c 'terraform apply -auto-approve'", "deny"),
            ("git commit -m 'terraform apply'", "none"),
        ]);
    }),
];

fn play_force_push(home: &RecipeSandbox) {
    home.test_cases();
    home.check_commands(&[
        ("git push --force origin my-feature", "deny"),
        ("sh -c 'git push --force origin main'", "deny"),
        ("git push origin main", "none"),
        ("echo git push --force", "none"),
    ]);
}

fn play_audit(home: &RecipeSandbox) {
    home.check_commands(&[("rm -rf ~", "none"), ("git status", "none")]);
    let replayed = || home.sandbox.run_snell(&["guard", "replay", "--since", "7d", "--preset", "standard"], "");
    wait_until(|| replayed().stdout.contains("rm -rf ~").then_some(()));
}

fn play_format(home: &RecipeSandbox) {
    home.add_program("rustfmt", "printf '%s\\n' \"$3\" >> ~/formatted.log");
    for (tool, file) in [("Edit", "src/main.rs"), ("Write", "README.md"), ("Read", "src/lib.rs")] {
        let input = json!({"file_path": home.sandbox.project().join(file), "content": "x"});
        home.send_event("PostToolUse", &json!({"tool_name": tool, "tool_input": input, "tool_response": {}}));
    }
    assert_eq!(home.read_home("formatted.log").lines().count(), 1);
    assert!(home.read_home("formatted.log").ends_with("src/main.rs\n"));
}

fn play_phone(home: &RecipeSandbox) {
    let server = StubServer::with_reply(StubReply::answer(200, "{}"));
    let settings = home.read_home(SETTINGS);
    let topic = "https://ntfy.sh/choose-a-long-random-name";
    assert!(settings.contains(topic));
    // Quiet hours would delay the message at night.
    let settings = settings.replace(topic, &format!("{}/topic", server.url())).replace("quiet =", "# quiet =");
    fs::write(home.sandbox.home().join(SETTINGS), settings).unwrap();
    send_permission_request(home);
    let request = server.next_request();
    assert_eq!(request.json()["topic"], "topic", "{request:?}");
}

/// An agent starts and waits for permission.
fn send_permission_request(home: &RecipeSandbox) {
    home.send_event("SessionStart", &json!({"source": "startup"}));
    home.send_event("UserPromptSubmit", &json!({"prompt": "Go."}));
    let waits =
        json!({"notification_type": "permission_prompt", "message": "Claude needs your permission to use Bash"});
    home.send_event("Notification", &waits);
}

fn has_file(directory: &Path) -> bool {
    fs::read_dir(directory)
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| entry.path().is_file())))
}

/// The recipes of the page: heading and settings.
fn list_recipes() -> Vec<(String, String)> {
    let text = fs::read_to_string(find_repository_root().join(PAGE)).unwrap();
    list_headed_blocks(&text, "toml").collect()
}

#[test]
fn every_recipe_of_the_cookbook_does_what_it_says() {
    let recipes = list_recipes();
    let written: Vec<_> = recipes.iter().map(|(heading, _)| heading.as_str()).collect();
    let played: Vec<_> = PLAYS.iter().map(|(heading, _)| *heading).collect();
    assert_eq!(written, played);
    let mut failed = Vec::new();
    for ((heading, recipe), (_, play)) in recipes.iter().zip(PLAYS) {
        let played = std::panic::catch_unwind(|| play(&RecipeSandbox::new(recipe)));
        if played.is_err() {
            failed.push(heading.as_str());
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
