//! The output of the `snell` binary: the JSON of `snell run`, and answers of `snell hook` to Claude Code.

use serde_json::Value;

use crate::process::CommandOutput;

impl CommandOutput {
    /// The decision.
    #[track_caller]
    pub fn decision(&self) -> String {
        self.json()["decision"].as_str().unwrap().to_owned()
    }

    /// The reason for the decision; empty if there is none.
    #[track_caller]
    pub fn reason(&self) -> String {
        self.json()["reason"].as_str().unwrap_or_default().to_owned()
    }

    /// The reported hooks.
    #[track_caller]
    pub fn hooks(&self) -> Vec<Value> {
        self.json()["hooks"].as_array().unwrap().clone()
    }

    /// The statuses of the reported hooks, in order.
    #[track_caller]
    pub fn statuses(&self) -> Vec<String> {
        self.hooks().iter().map(|hook| hook["status"].as_str().unwrap().to_owned()).collect()
    }

    /// A list of strings.
    #[track_caller]
    pub fn string_list(&self, key: &str) -> Vec<String> {
        let json = self.json();
        let texts = json[key].as_array().unwrap();
        texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// The context for the agent.
    #[track_caller]
    pub fn context(&self) -> Vec<String> {
        self.string_list("context")
    }

    /// The messages for the user.
    #[track_caller]
    pub fn messages(&self) -> Vec<String> {
        self.string_list("messages")
    }

    /// The lines of `snell lint`, each with its hint in the form of [`CommandOutput::warnings`].
    pub fn lint_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for line in self.stdout.lines() {
            match (line.strip_prefix("  hint: "), lines.last_mut()) {
                (Some(hint), Some(last)) => last.push_str(&format!(" (hint: {hint})")),
                _ => lines.push(line.to_owned()),
            }
        }
        lines
    }

    /// The warnings as `path:line:column: severity: message (hint: …)`.
    #[track_caller]
    pub fn warnings(&self) -> Vec<String> {
        let render = |warning: &Value| {
            let [path, severity, message] =
                ["path", "severity", "message"].map(|field| warning[field].as_str().unwrap().to_owned());
            let hint = warning["hint"].as_str().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
            format!("{path}:{}:{}: {severity}: {message}{hint}", warning["line"], warning["column"])
        };
        self.json()["warnings"].as_array().unwrap().iter().map(render).collect()
    }
}

/// The whole answer that adds this context to an event.
pub fn render_context_answer(event: &str, text: &str) -> String {
    let text = Value::from(text);
    format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"{event}\",\"additionalContext\":{text}}}}}\n")
}

impl CommandOutput {
    /// The answer adds this context and nothing else.
    #[track_caller]
    pub fn assert_context_answer(&self, event: &str, text: &str) {
        self.assert_context_answer_in("", event, text);
    }

    /// As [`CommandOutput::assert_context_answer`], or no answer at all if the text is empty; `case` names the case.
    #[track_caller]
    pub fn assert_context_answer_in(&self, case: &str, event: &str, text: &str) {
        let expected = if text.is_empty() { String::new() } else { render_context_answer(event, text) };
        assert_eq!((self.stdout.as_str(), self.stderr.as_str(), self.code), (expected.as_str(), "", 0), "{case}");
    }

    /// It succeeded and printed nothing.
    #[track_caller]
    pub fn assert_silent(&self) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (0, "", ""));
    }

    /// It printed nothing on standard error.
    #[track_caller]
    pub fn assert_no_warning(&self) {
        assert_eq!(self.stderr, "");
    }

    /// It succeeded, and printed nothing but one message on standard error, which is returned with its hint.
    #[track_caller]
    pub fn expect_single_warning(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (0, ""), "{self:?}");
        self.assert_single_message();
        &self.stderr
    }

    /// It printed one message on standard error, which contains this text.
    #[track_caller]
    pub fn assert_warning_contains(&self, text: &str) {
        self.assert_single_message();
        assert!(self.stderr.contains(text), "{text:?} is not in {self:?}");
    }

    /// Standard error has one error, warning, note or denial, and at most one hint after it.
    #[track_caller]
    fn assert_single_message(&self) {
        assert!(self.stderr.ends_with('\n'), "{self:?}");
        let mut lines = self.stderr.lines().map(|line| line.strip_prefix("snell: ").unwrap_or(line));
        assert!(lines.next().is_some_and(|line| line.contains(": ") && !line.starts_with("hint: ")), "{self:?}");
        assert!(lines.next().is_none_or(|line| line.starts_with("hint: ")) && lines.next().is_none(), "{self:?}");
    }
}
