//! The script: what agents say and do. What comes of it is what Snell really answers.

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::cast::DemoAgent;

/// A session of about a minute.
const SCRIPT: &str = include_str!("props/script.json");

/// One thing that happens.
#[derive(Debug, Deserialize)]
pub(super) struct DemoScene {
    pub(super) agent: DemoAgent,
    pub(super) act: DemoAct,
    /// How long people are given to look at it, in seconds.
    pub(super) pause: f32,
}

/// What an agent does, or what is done to it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DemoAct {
    /// Its session starts.
    Start,
    /// Its user says something.
    Prompt(String),
    /// It calls a tool. The tool is never run; `output` is what it would have answered after `lasts` seconds.
    Tool { call: DemoToolCall, output: String, lasts: f32 },
    /// It begins to call a tool, and the call does not end before other things happen.
    Begin(DemoToolCall),
    /// It asks its user, who takes some seconds to answer.
    Ask { question: String, answer: String, waits: f32 },
    /// So many percent of its context are used, as its status line says.
    Fill(u32),
    /// Its turn ends with these words.
    Stop(String),
    /// Its process is killed; it says nothing.
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
    serde_json::from_str(SCRIPT).context("the script of the demo cannot be read")
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
