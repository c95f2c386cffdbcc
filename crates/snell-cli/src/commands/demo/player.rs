//! Plays one scene after the other, and tells people what came of each.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::PATIENCE;
use super::answer::Answer;
use super::calls::{Caller, Calls};
use super::cast::{Body, LIGHTHOUSE, Part};
use super::script::{Act, Call, Scene};
use super::teller::{self, Line};
use crate::output::Style;

/// How fast it is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    ForPeople,
    /// Without pauses.
    Fast,
}

impl Pace {
    /// How often the receiver looks after agents, who are killed here more often than elsewhere.
    pub(super) fn looks_every(self) -> Duration {
        match self {
            Self::ForPeople => Duration::from_secs(1),
            Self::Fast => Duration::from_millis(50),
        }
    }

    async fn pause(self, seconds: f32) {
        if self == Self::ForPeople {
            tokio::time::sleep(Duration::from_secs_f32(seconds)).await;
        }
    }
}

/// Something that happened, and what Snell answered.
#[derive(Debug)]
pub(super) struct Deed {
    pub(super) who: &'static str,
    pub(super) happened: String,
    /// The id of the call, if it is about one.
    pub(super) call: Option<String>,
    pub(super) answer: Answer,
}

/// Plays.
#[derive(Debug)]
pub(super) struct Player<'a> {
    calls: Calls<'a>,
    pace: Pace,
    began: Instant,
    bodies: HashMap<&'static str, Body>,
    /// How many calls there have been.
    called: u32,
    pub(super) deeds: Vec<Deed>,
    /// How long agents waited for an answer, each time.
    pub(super) answered_in: Vec<Duration>,
}

impl<'a> Player<'a> {
    pub(super) fn new(calls: Calls<'a>, pace: Pace) -> Self {
        Self {
            calls,
            pace,
            began: Instant::now(),
            bodies: HashMap::new(),
            called: 0,
            deeds: Vec::new(),
            answered_in: Vec::new(),
        }
    }

    /// Trusts the project, as its user would before its hooks can run.
    pub(super) async fn trust(&mut self) -> anyhow::Result<()> {
        let files = self.calls.trust(&self.calls.stage.project(LIGHTHOUSE)).await?;
        let came = format!("hooks of {files} files may run");
        self.tell("you", "snell trust lighthouse", (came, Style::Plain));
        Ok(())
    }

    pub(super) async fn play(&mut self, scenes: &[Scene]) -> anyhow::Result<()> {
        for scene in scenes {
            let part = scene.who.part();
            self.act(part, &scene.act)
                .await
                .with_context(|| format!("the demo cannot go on with what {} does", part.name))?;
            self.pace.pause(scene.pause).await;
        }
        Ok(())
    }

    async fn act(&mut self, part: &'static Part, act: &Act) -> anyhow::Result<()> {
        match *act {
            Act::Start => {
                self.bodies.insert(part.name, Body::start(self.calls.stage, part)?);
                let fields = json!({"source": "startup"});
                self.happen(part, "SessionStart", fields, "starts").await.map(drop)
            }
            Act::Prompt(prompt) => {
                let told = format!("prompt: {prompt}");
                let fields = json!({"prompt": prompt});
                self.happen(part, "UserPromptSubmit", fields, &told).await.map(drop)
            }
            Act::Begin(call) => self.begin(part, call).await.map(drop),
            Act::Tool { call, output, lasts } => self.use_tool(part, call, output, lasts).await,
            Act::Ask {
                question,
                answer,
                waits,
            } => self.ask_user(part, question, answer, waits).await,
            Act::Fill(percent) => {
                let line = self.calls.status_line(self.caller(part), percent).await?;
                self.tell(part.name, "its status line is drawn", (line, Style::Plain));
                Ok(())
            }
            Act::Stop(words) => self.stop(part, words).await,
            Act::Die => self.die(part).await,
            Act::End => {
                let fields = json!({"reason": "prompt_input_exit"});
                self.happen(part, "SessionEnd", fields, "ends").await?;
                self.bodies.remove(part.name);
                Ok(())
            }
        }
    }

    /// Begins to call a tool. Answers what is told of the call when it ends; nothing if it must not be made.
    async fn begin(&mut self, part: &'static Part, call: Call) -> anyhow::Result<Option<Value>> {
        let input: Value = serde_json::from_str(call.input)?;
        let happened = format!("{} {}", call.tool, teller::about(&input));
        let mut fields = self.call(call.tool, input);
        let answer = self.happen(part, "PreToolUse", fields.clone(), &happened).await?;
        let goes_on = answer.blocked.is_none() && answer.asked.is_none();
        if let Some(input) = answer.changed {
            fields["tool_input"] = input;
        }
        Ok(goes_on.then_some(fields))
    }

    async fn use_tool(&mut self, part: &'static Part, call: Call, output: &str, lasts: f32) -> anyhow::Result<()> {
        let Some(mut fields) = self.begin(part, call).await? else {
            return Ok(());
        };
        self.pace.pause(lasts).await;
        fields["tool_response"] = json!({"stdout": output});
        self.fire(part, "PostToolUse", fields).await.map(drop)
    }

    async fn ask_user(&mut self, part: &'static Part, question: &str, answer: &str, waits: f32) -> anyhow::Result<()> {
        let input = json!({"questions": [{"question": question, "header": "Port", "options": []}]});
        let mut fields = self.call("AskUserQuestion", input);
        self.fire(part, "PreToolUse", fields.clone()).await?;
        let (state, _) = self.calls.state_of(part).await?;
        let came = (state.replace('_', " "), Style::Urgent);
        self.tell(part.name, &format!("asks: {question}"), came);
        self.pace.pause(waits).await;
        fields["tool_response"] = json!({"answers": {question: answer}});
        self.fire(part, "PostToolUse", fields).await?;
        let (state, _) = self.calls.state_of(part).await?;
        let came = (format!("it is {state} again"), Style::Plain);
        self.tell("you", &format!("answer {}: {answer}", part.name), came);
        Ok(())
    }

    /// What is told of a call, with an id by which its end is known.
    fn call(&mut self, tool: &str, input: Value) -> Value {
        self.called += 1;
        let id = format!("call-{}", self.called);
        json!({"tool_name": tool, "tool_use_id": id, "tool_input": input})
    }

    /// Ends a turn. An agent that is told something then goes on with it, once.
    async fn stop(&mut self, part: &'static Part, words: &str) -> anyhow::Result<()> {
        let fields = |again: bool| json!({"stop_hook_active": again, "last_assistant_message": words});
        let happened = format!("stops: {words}");
        let answer = self.happen(part, "Stop", fields(false), &happened).await?;
        if answer.blocked.is_some() || !answer.context.is_empty() {
            self.fire(part, "Stop", fields(true)).await?;
        }
        Ok(())
    }

    /// Kills an agent, and waits until somebody has noticed.
    async fn die(&mut self, part: &'static Part) -> anyhow::Result<()> {
        if let Some(body) = self.bodies.remove(part.name) {
            body.kill().await?;
        }
        let killed = Instant::now();
        let why = loop {
            let (state, why) = self.calls.state_of(part).await?;
            if state == "ended" {
                break why;
            }
            ensure!(killed.elapsed() < PATIENCE, "nobody noticed that its process is gone");
            tokio::time::sleep(self.pace.looks_every() / 5).await;
        };
        let came = format!("noticed after {:.1} s: {why}", killed.elapsed().as_secs_f32());
        self.tell(part.name, "dies without a word", (came, Style::Urgent));
        Ok(())
    }

    /// Tells Snell an event, and people what came of it.
    async fn happen(
        &mut self,
        part: &'static Part,
        event: &str,
        fields: Value,
        happened: &str,
    ) -> anyhow::Result<Answer> {
        let call = fields["tool_use_id"].as_str().map(str::to_owned);
        let answer = self.fire(part, event, fields).await?;
        self.tell(part.name, happened, teller::outcome(&answer));
        self.deeds.push(Deed {
            who: part.name,
            happened: happened.to_owned(),
            call,
            answer: answer.clone(),
        });
        Ok(answer)
    }

    async fn fire(&mut self, part: &'static Part, event: &str, fields: Value) -> anyhow::Result<Answer> {
        let (answer, took) = self.calls.fire(self.caller(part), event, fields).await?;
        self.answered_in.push(took);
        Ok(answer)
    }

    fn caller(&self, part: &'static Part) -> Caller {
        Caller {
            part,
            pid: self.bodies.get(part.name).and_then(Body::pid),
        }
    }

    fn tell(&self, who: &str, happened: &str, (came, style): (String, Style)) {
        let line = Line {
            at: self.began.elapsed(),
            who,
            happened: happened.to_owned(),
            came,
            style,
        };
        line.tell();
    }
}
