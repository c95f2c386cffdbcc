//! What is played, as a table. Only what agents say and do stands here; what comes of it is whatever Snell answers.

use super::cast::DemoAgent;
use super::cast::DemoAgent::{Builder, Nightly, Reviewer};

/// One thing that happens.
#[derive(Debug)]
pub(super) struct DemoScene {
    pub(super) agent: DemoAgent,
    pub(super) act: DemoAct,
    /// How long people are given to look at it, in seconds.
    pub(super) pause: f32,
}

/// What an agent does, or what is done to it.
#[derive(Debug)]
pub(super) enum DemoAct {
    /// Its session starts.
    Start,
    /// Its user says something.
    Prompt(&'static str),
    /// It calls a tool. The tool is never run; this is what it would have answered.
    Tool {
        call: DemoToolCall,
        output: &'static str,
        /// How long the tool seems to take, in seconds.
        lasts: f32,
    },
    /// It begins to call a tool, and is still at it when other things happen.
    Begin(DemoToolCall),
    /// It asks its user, who takes some seconds to answer.
    Ask { question: &'static str, answer: &'static str, waits: f32 },
    /// So many percent of its context are used, as its status line says.
    Fill(u32),
    /// Its turn ends with these words.
    Stop(&'static str),
    /// Its process is killed; it says nothing.
    Die,
    /// Its session ends.
    End,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemoToolCall {
    pub(super) tool: &'static str,
    /// As JSON.
    pub(super) input: &'static str,
}

const fn tool_call(tool: &'static str, input: &'static str) -> DemoToolCall {
    DemoToolCall { tool, input }
}

const fn scene(who: DemoAgent, act: DemoAct, pause: f32) -> DemoScene {
    DemoScene { agent: who, act, pause }
}

/// A session of about a minute.
pub(super) const SCENES: &[DemoScene] = &[
    scene(Builder, DemoAct::Start, 3.0),
    scene(Builder, DemoAct::Prompt("Add a health check to the lamp"), 3.0),
    scene(Reviewer, DemoAct::Start, 2.0),
    scene(
        Builder,
        DemoAct::Tool {
            call: tool_call("Read", r#"{"file_path": "src/lamp.js"}"#),
            output: "export const lamp = () => 'on';",
            lasts: 1.0,
        },
        1.5,
    ),
    scene(Nightly, DemoAct::Start, 1.0),
    scene(Nightly, DemoAct::Prompt("Refresh the tide tables"), 1.5),
    scene(
        Nightly,
        DemoAct::Tool {
            call: tool_call(
                "mcp__mail__send_email",
                r#"{"to": "harbour@example.com", "subject": "The tables are coming"}"#,
            ),
            output: "",
            lasts: 0.0,
        },
        2.5,
    ),
    scene(Nightly, DemoAct::Begin(tool_call("Bash", r#"{"command": "./fetch-tables --year 2027"}"#)), 2.0),
    scene(
        Builder,
        DemoAct::Tool {
            call: tool_call("Bash", r#"{"command": "npm install"}"#),
            output: "added 12 packages",
            lasts: 2.0,
        },
        2.0,
    ),
    scene(
        Builder,
        DemoAct::Tool { call: tool_call("Bash", r#"{"command": "grep -rn 'rm -rf' docs"}"#), output: "", lasts: 0.5 },
        1.5,
    ),
    scene(
        Builder,
        DemoAct::Tool { call: tool_call("Bash", r#"{"command": "sh -c 'cd ~ && rm -rf .'"}"#), output: "", lasts: 0.0 },
        4.0,
    ),
    scene(
        Builder,
        DemoAct::Tool {
            call: tool_call("Write", r#"{"file_path": "package-lock.json", "content": "{}"}"#),
            output: "",
            lasts: 0.0,
        },
        3.0,
    ),
    scene(Reviewer, DemoAct::Prompt("Review the last change, then publish it"), 2.0),
    scene(
        Reviewer,
        DemoAct::Tool {
            call: tool_call("Bash", r#"{"command": "git push --force origin main"}"#),
            output: "",
            lasts: 0.0,
        },
        3.5,
    ),
    scene(
        Builder,
        DemoAct::Ask { question: "Port 8080 is taken by the fog horn. Which one?", answer: "9090", waits: 6.0 },
        1.5,
    ),
    scene(
        Builder,
        DemoAct::Tool {
            call: tool_call(
                "Edit",
                r#"{"file_path": "src/lamp.js", "old_string": "'on'", "new_string": "'on at 9090'"}"#,
            ),
            output: "The file has been updated.",
            lasts: 1.5,
        },
        1.5,
    ),
    scene(Nightly, DemoAct::Die, 3.0),
    scene(Builder, DemoAct::Fill(63), 1.0),
    scene(Builder, DemoAct::Prompt("Good. Is there anything left?"), 2.5),
    scene(Builder, DemoAct::Stop("No. The lamp answers on port 9090."), 2.0),
    scene(Reviewer, DemoAct::Stop("The change looks good. May I open a pull request?"), 2.0),
    scene(Builder, DemoAct::End, 1.5),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_is_a_json_object() {
        for scene in SCENES {
            if let DemoAct::Tool { call, .. } | DemoAct::Begin(call) = scene.act {
                let input = call.input;
                assert!(serde_json::from_str::<serde_json::Value>(input).unwrap().is_object(), "{input}");
            }
        }
    }

    #[test]
    fn it_takes_about_a_minute() {
        let waits = |scene: &DemoScene| match scene.act {
            DemoAct::Tool { lasts, .. } => lasts,
            DemoAct::Ask { waits, .. } => waits,
            _ => 0.0,
        };
        let seconds: f32 = SCENES.iter().map(|scene| scene.pause + waits(scene)).sum();
        assert!((45.0..75.0).contains(&seconds), "{seconds}");
    }
}
