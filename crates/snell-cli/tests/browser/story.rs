//! What happens in the tests: agents that do everything that a page can show.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::server::Server;

/// Agents in every state, with calls, verdicts of the guard, runs of hooks and a session that is over.
pub fn told_to(server: &Server) {
    let of = |session, project| Agent::of(server, session, project);
    let shop = of("5e81f0a2-shop", "shop").called("claude", "builder");
    shop.works("Let the basket keep its goods when somebody logs in.");
    let tax = of("c07d93b4-shop", "shop").called("codex", "reviewer").minutes_ago(4);
    tax.asks("Which of the two tax tables is right for books?");
    let feed = of("91be6d2c-blog", "blog").called("claude", "writer").minutes_ago(12);
    feed.rests("The feed is valid again, and all of its tests pass.");
    let publishing = of("b8a4417e-infra", "infra").called("claude", "worker");
    publishing.is_refused("git push --force origin main");
    let old = of("d2f0-old", "attic").minutes_ago(50);
    old.tell("session-start", json!({}));
    old.tell("session-end", json!({"reason": "logout"}));
}

/// An agent, and when it does what it does.
pub struct Agent<'a> {
    server: &'a Server,
    session: &'a str,
    project: &'a str,
    sender: Value,
    at: Option<Timestamp>,
}

impl<'a> Agent<'a> {
    /// The agent of a session in a project, which nobody knows more of.
    pub fn of(server: &'a Server, session: &'a str, project: &'a str) -> Self {
        Self {
            server,
            session,
            project,
            sender: json!({}),
            at: None,
        }
    }

    fn called(mut self, product: &str, role: &str) -> Self {
        self.sender = json!({"product": product, "role": role});
        self
    }

    fn minutes_ago(mut self, minutes: u64) -> Self {
        self.at = Some(Timestamp::now() - Duration::from_secs(60 * minutes));
        self
    }

    fn tell(&self, route: &str, mut fields: Value) -> i64 {
        fields["cwd"] = format!("/srv/{}", self.project).into();
        fields["snell"]["sender"] = self.sender.clone();
        if let Some(at) = self.at {
            fields["timestamp"] = at.to_string().into();
        }
        self.server.tell(self.session, route, fields)
    }

    /// It is in the midst of a call.
    pub fn works(&self, prompt: &str) -> i64 {
        self.tell(
            "session-start",
            json!({"tmux_session": self.project, "source": "startup"}),
        );
        self.tell("user-prompt-submit", json!({"prompt": prompt}));
        let test = json!({"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": "cargo test"}});
        self.tell("pre-tool-use", test.clone());
        self.tell("post-tool-use", test);
        let edit = json!({"tool_name": "Edit", "tool_use_id": "call-2", "tool_input": {"file_path": "src/basket.rs"}});
        self.tell("pre-tool-use", edit)
    }

    /// It waits for an answer.
    pub fn asks(&self, question: &str) -> i64 {
        self.tell("user-prompt-submit", json!({"prompt": "Compute the tax of an order."}));
        self.tell(
            "notification",
            json!({"message": question, "notification_type": "permission_prompt"}),
        )
    }

    /// It has done what it was told.
    pub fn rests(&self, words: &str) -> i64 {
        self.tell("user-prompt-submit", json!({"prompt": "Repair the feed."}));
        self.tell("stop", json!({"last_assistant_message": words}))
    }

    /// A hook and the guard were against a call of it.
    pub fn is_refused(&self, command: &str) -> i64 {
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
        self.tell("user-prompt-submit", json!({"prompt": "Publish it."}));
        let call = json!({"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": command},
            "snell": {"judgement": judgement}});
        self.tell("pre-tool-use", call)
    }

    /// It is told to go on.
    pub fn is_answered(&self, prompt: &str) -> i64 {
        self.tell("user-prompt-submit", json!({"prompt": prompt}))
    }
}
