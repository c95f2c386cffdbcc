//! Agents that do everything that a page can show.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use snell_store::requests::{AnswerAuthor, AnswerChoice, AnswerOrigin, RequestAnswer, RequestKind};

use crate::server::BrowserTestServer;

/// Sends agents in every state, with calls, verdicts, hook runs and an ended session.
pub fn send_story(server: &BrowserTestServer) {
    let of = |session, project| StoryAgent::new(server, session, project);
    let shop = of("5e81f0a2-shop", "shop").with_identity("claude", "builder");
    shop.start_working("Let the basket keep its goods when somebody logs in.");
    let tax = of("c07d93b4-shop", "shop").with_identity("codex", "reviewer").starting_minutes_ago(4);
    let asker = tax.ask_question("Which of the two tax tables is right for books?");
    open_requests(server, asker);
    let feed = of("91be6d2c-blog", "blog").with_identity("claude", "writer").starting_minutes_ago(12);
    feed.finish_turn("The feed is valid again, and all of its tests pass.");
    let publishing = of("b8a4417e-infra", "infra").with_identity("claude", "worker");
    publishing.make_refused_call("git push --force origin main");
    send_usage(server, "5e81f0a2-shop", "claude-sonnet-4-6");
    send_usage(server, "b8a4417e-infra", "a-model-with-a-very-long-name-and-without-a-price");
    let old = of("d2f0-old", "attic").starting_minutes_ago(50);
    old.send_event("session-start", json!({}));
    old.send_event("session-end", json!({"reason": "logout"}));
}

/// A permission, an edit, a question, and a request with an answer.
fn open_requests(server: &BrowserTestServer, agent_id: i64) {
    let detail = json!({
        "input": {"command": "git push --force origin main", "description": "Publish"}, "cwd": "/srv/shop",
        "reading": ["rewrite the branch main of origin"],
        "reasons": [{"author": "guard", "rule": "git-push-force", "text": "others may lose their work"}],
    });
    server.open_request(agent_id, |request| request.detail = detail);
    server.open_request(agent_id, |request| {
        request.tool = Some("Edit".into());
        request.title = "Edit: src/tax.rs".into();
        request.detail =
            json!({"input": {"file_path": "src/tax.rs", "old_string": "let rate = 7;", "new_string": "let rate = 19;"}});
    });
    server.open_request(agent_id, |request| {
        request.kind = RequestKind::Question;
        request.title = "Which table?".into();
        request.detail = json!({"questions": [
            {"question": "Which table?", "header": "Tax", "options": [{"label": "old"}, {"label": "new", "description": "of 2026"}]},
            {"question": "Which tests?", "multi_select": true, "options": [{"label": "unit"}, {"label": "page"}]},
        ]});
    });
    let answered = server.open_request(agent_id, |_| {});
    let answer = RequestAnswer {
        choice: AnswerChoice::Allow,
        replies: vec![],
        message: Some("go".into()),
        remember: None,
        suggestion: None,
    };
    let author = AnswerAuthor { name: "ann".into(), origin: AnswerOrigin::Terminal };
    server.open_store().answer_request(&answered.uid, &answer, &author, Timestamp::now()).unwrap();
}

/// Sends a request of a session to this model, as an agent exports it.
pub fn send_usage(server: &BrowserTestServer, session: &str, model: &str) {
    let now = Timestamp::now().to_string();
    let texts = [
        ("event.timestamp", now.as_str()),
        ("session.id", session),
        ("model", model),
        ("request_id", session),
        ("input_tokens", "123456789"),
        ("output_tokens", "98765"),
        ("cache_read_tokens", "987654321"),
        ("cache_creation_tokens", "12345"),
    ];
    let attributes: Vec<Value> =
        texts.iter().map(|(key, text)| json!({"key": key, "value": {"stringValue": text}})).collect();
    let record = json!({"body": {"stringValue": "claude_code.api_request"}, "attributes": attributes});
    server.post_json("/v1/logs", &json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}));
}

/// An agent and the time of its events.
pub struct StoryAgent<'a> {
    server: &'a BrowserTestServer,
    session: &'a str,
    project: &'a str,
    sender: Value,
    at: Option<Timestamp>,
}

impl<'a> StoryAgent<'a> {
    /// The agent of a session, without product and role.
    pub fn new(server: &'a BrowserTestServer, session: &'a str, project: &'a str) -> Self {
        Self { server, session, project, sender: json!({}), at: None }
    }

    fn with_identity(mut self, product: &str, role: &str) -> Self {
        self.sender = json!({"product": product, "role": role});
        self
    }

    fn starting_minutes_ago(mut self, minutes: u64) -> Self {
        self.at = Some(Timestamp::now() - Duration::from_secs(60 * minutes));
        self
    }

    fn send_event(&self, route: &str, mut fields: Value) -> i64 {
        fields["cwd"] = format!("/srv/{}", self.project).into();
        fields["snell"]["sender"] = self.sender.clone();
        if let Some(at) = self.at {
            fields["timestamp"] = at.to_string().into();
        }
        self.server.send_event(self.session, route, fields)
    }

    /// The agent starts a tool call.
    pub fn start_working(&self, prompt: &str) -> i64 {
        self.send_event("session-start", json!({"tmux_session": self.project, "source": "startup"}));
        self.send_event("user-prompt-submit", json!({"prompt": prompt}));
        let test = json!({"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": "cargo test"}});
        self.send_event("pre-tool-use", test.clone());
        self.send_event("post-tool-use", test);
        let edit = json!({"tool_name": "Edit", "tool_use_id": "call-2", "tool_input": {"file_path": "src/basket.rs"}});
        self.send_event("pre-tool-use", edit)
    }

    /// The agent waits for an answer.
    pub fn ask_question(&self, question: &str) -> i64 {
        self.send_event("user-prompt-submit", json!({"prompt": "Compute the tax of an order."}));
        self.send_event("notification", json!({"message": question, "notification_type": "permission_prompt"}))
    }

    /// The agent ends its turn.
    pub fn finish_turn(&self, words: &str) -> i64 {
        self.send_event("user-prompt-submit", json!({"prompt": "Repair the feed."}));
        self.send_event("stop", json!({"last_assistant_message": words}))
    }

    /// A hook and the guard refuse a call.
    pub fn make_refused_call(&self, command: &str) -> i64 {
        let runs = json!([
            {"contract": "snell", "source": "snell.toml", "line": 4, "command": "./look.sh", "status": "ok",
                "duration_us": 1500},
            {"contract": "claude", "source": ".claude/settings.json", "line": 9, "command": "./guard.sh",
                "status": "failed", "exit_code": 1, "duration_us": 25_000, "stderr": "no such branch",
                "why": "exit code 1"},
        ]);
        let why = "this rewrites what others have";
        let guard = json!([{"decision": "deny", "rule": "git-push-force", "tier": "high", "reason": why,
            "advice": "push a branch of its own"}]);
        let judgement = json!({"took_us": 30_000, "decision": "block", "reason": why, "runs": runs, "guard": guard});
        self.send_event("user-prompt-submit", json!({"prompt": "Publish it."}));
        let call = json!({"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": command},
            "snell": {"judgement": judgement}});
        self.send_event("pre-tool-use", call)
    }

    /// The agent gets a prompt.
    pub fn receive_prompt(&self, prompt: &str) -> i64 {
        self.send_event("user-prompt-submit", json!({"prompt": prompt}))
    }
}
