//! The script of the demo: the actions of the agents.

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::cast::DemoAgent;

/// The script, of about a minute.
const SCRIPT: &str = include_str!("props/script.json");

/// One scene.
#[derive(Debug, Deserialize)]
pub(super) struct DemoScene {
    pub(super) agent: DemoAgent,
    pub(super) act: DemoAct,
    /// The pause after it, in seconds.
    pub(super) pause: f32,
}

/// The action of a scene.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DemoAct {
    /// Its session starts.
    Start,
    /// Its user sends a prompt.
    Prompt(String),
    /// It calls a tool. The tool never runs; `output` is its result after `lasts` seconds.
    Tool { call: DemoToolCall, output: String, lasts: f32 },
    /// It starts a tool call that does not end before the next scene.
    Begin(DemoToolCall),
    /// It asks its user, who takes some seconds to answer.
    Ask { question: String, answer: String, waits: f32 },
    /// Its status line reports this context use, in percent.
    Fill(u32),
    /// Its turn ends with this text.
    Stop(String),
    /// Its process is killed.
    Die,
    /// Its session ends.
    End,
}

/// A call of a tool.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DemoToolCall {
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
}

pub(super) fn load_scenes() -> anyhow::Result<Vec<DemoScene>> {
    serde_json::from_str(SCRIPT).context("cannot parse the script of the demo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_about_a_minute() {
        let waits = |scene: &DemoScene| match scene.act {
            DemoAct::Tool { lasts, .. } => lasts,
            DemoAct::Ask { waits, .. } => waits,
            _ => 0.0,
        };
        let seconds: f32 = load_scenes().unwrap().iter().map(|scene| scene.pause + waits(scene)).sum();
        assert!((45.0..75.0).contains(&seconds), "{seconds}");
    }
}
