//! What is played, as a table. Only what agents say and do stands here; what comes of it is whatever Snell answers.

use super::cast::Who;
use super::cast::Who::{Builder, Nightly, Reviewer};

/// One thing that happens.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) who: Who,
    pub(super) act: Act,
    /// How long people are given to look at it, in seconds.
    pub(super) pause: f32,
}

/// What an agent does, or what is done to it.
#[derive(Debug)]
pub(super) enum Act {
    /// Its session starts.
    Start,
    /// Its user says something.
    Prompt(&'static str),
    /// It calls a tool. The tool is never run; this is what it would have answered.
    Tool {
        call: Call,
        output: &'static str,
        /// How long the tool seems to take, in seconds.
        lasts: f32,
    },
    /// It begins to call a tool, and is still at it when other things happen.
    Begin(Call),
    /// It asks its user, who takes some seconds to answer.
    Ask {
        question: &'static str,
        answer: &'static str,
        waits: f32,
    },
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
pub(super) struct Call {
    pub(super) tool: &'static str,
    /// As JSON.
    pub(super) input: &'static str,
}

const fn call(tool: &'static str, input: &'static str) -> Call {
    Call { tool, input }
}

const fn scene(who: Who, act: Act, pause: f32) -> Scene {
    Scene { who, act, pause }
}

/// A session of about a minute.
pub(super) const SCENES: &[Scene] = &[
    scene(Builder, Act::Start, 3.0),
    scene(Builder, Act::Prompt("Add a health check to the lamp"), 3.0),
    scene(Reviewer, Act::Start, 2.0),
    scene(
        Builder,
        Act::Tool {
            call: call("Read", r#"{"file_path": "src/lamp.js"}"#),
            output: "export const lamp = () => 'on';",
            lasts: 1.0,
        },
        1.5,
    ),
    scene(Nightly, Act::Start, 1.0),
    scene(Nightly, Act::Prompt("Refresh the tide tables"), 1.5),
    scene(
        Nightly,
        Act::Tool {
            call: call(
                "mcp__mail__send_email",
                r#"{"to": "harbour@example.com", "subject": "The tables are coming"}"#,
            ),
            output: "",
            lasts: 0.0,
        },
        2.5,
    ),
    scene(
        Nightly,
        Act::Begin(call("Bash", r#"{"command": "./fetch-tables --year 2027"}"#)),
        2.0,
    ),
    scene(
        Builder,
        Act::Tool {
            call: call("Bash", r#"{"command": "npm install"}"#),
            output: "added 12 packages",
            lasts: 2.0,
        },
        2.0,
    ),
    scene(
        Builder,
        Act::Tool {
            call: call("Bash", r#"{"command": "grep -rn 'rm -rf' docs"}"#),
            output: "",
            lasts: 0.5,
        },
        1.5,
    ),
    scene(
        Builder,
        Act::Tool {
            call: call("Bash", r#"{"command": "sh -c 'cd ~ && rm -rf .'"}"#),
            output: "",
            lasts: 0.0,
        },
        4.0,
    ),
    scene(
        Builder,
        Act::Tool {
            call: call("Write", r#"{"file_path": "package-lock.json", "content": "{}"}"#),
            output: "",
            lasts: 0.0,
        },
        3.0,
    ),
    scene(Reviewer, Act::Prompt("Review the last change, then publish it"), 2.0),
    scene(
        Reviewer,
        Act::Tool {
            call: call("Bash", r#"{"command": "git push --force origin main"}"#),
            output: "",
            lasts: 0.0,
        },
        3.5,
    ),
    scene(
        Builder,
        Act::Ask {
            question: "Port 8080 is taken by the fog horn. Which one?",
            answer: "9090",
            waits: 6.0,
        },
        1.5,
    ),
    scene(
        Builder,
        Act::Tool {
            call: call(
                "Edit",
                r#"{"file_path": "src/lamp.js", "old_string": "'on'", "new_string": "'on at 9090'"}"#,
            ),
            output: "The file has been updated.",
            lasts: 1.5,
        },
        1.5,
    ),
    scene(Nightly, Act::Die, 3.0),
    scene(Builder, Act::Fill(63), 1.0),
    scene(Builder, Act::Prompt("Good. Is there anything left?"), 2.5),
    scene(Builder, Act::Stop("No. The lamp answers on port 9090."), 2.0),
    scene(
        Reviewer,
        Act::Stop("The change looks good. May I open a pull request?"),
        2.0,
    ),
    scene(Builder, Act::End, 1.5),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_is_a_json_object() {
        for scene in SCENES {
            if let Act::Tool { call, .. } | Act::Begin(call) = scene.act {
                let input = call.input;
                assert!(
                    serde_json::from_str::<serde_json::Value>(input).unwrap().is_object(),
                    "{input}"
                );
            }
        }
    }

    #[test]
    fn it_takes_about_a_minute() {
        let waits = |scene: &Scene| match scene.act {
            Act::Tool { lasts, .. } => lasts,
            Act::Ask { waits, .. } => waits,
            _ => 0.0,
        };
        let seconds: f32 = SCENES.iter().map(|scene| scene.pause + waits(scene)).sum();
        assert!((45.0..75.0).contains(&seconds), "{seconds}");
    }
}
