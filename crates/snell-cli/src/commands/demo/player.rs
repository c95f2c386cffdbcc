//! Plays the scenes in order, and prints the result of each.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use snell_store::AgentState;

use super::STEP_TIMEOUT;
use super::answer::DemoAnswer;
use super::cast::{DemoAgent, DemoAgentProcess, LIGHTHOUSE};
use super::client::{DemoCaller, DemoClient};
use super::script::{DemoAct, DemoScene, DemoToolCall};
use super::terminal::{self, DemoLogLine};
use crate::output::TextStyle;

/// The speed of the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoPace {
    Normal,
    /// Without pauses.
    Fast,
}

impl DemoPace {
    /// The receiver's poll interval: short, because the demo kills an agent.
    pub(super) fn poll_interval(self) -> Duration {
        match self {
            Self::Normal => Duration::from_secs(1),
            Self::Fast => Duration::from_millis(50),
        }
    }

    async fn pause(self, seconds: f32) {
        if self == Self::Normal {
            tokio::time::sleep(Duration::from_secs_f32(seconds)).await;
        }
    }
}

/// A step, and Snell's answer.
#[derive(Debug)]
pub(super) struct DemoStep {
    pub(super) agent: &'static str,
    pub(super) action: String,
    /// The id of the tool call, if there is one.
    pub(super) call: Option<String>,
    pub(super) answer: DemoAnswer,
}

/// The state of the demo.
#[derive(Debug)]
pub(super) struct DemoPlayer<'a> {
    client: DemoClient<'a>,
    pace: DemoPace,
    began: Instant,
    processes: HashMap<&'static str, DemoAgentProcess>,
    /// The number of tool calls so far.
    call_count: u32,
    pub(super) steps: Vec<DemoStep>,
    /// The times that agents waited for an answer.
    pub(super) answer_times: Vec<Duration>,
}

impl<'a> DemoPlayer<'a> {
    pub(super) fn new(client: DemoClient<'a>, pace: DemoPace) -> Self {
        Self {
            client,
            pace,
            began: Instant::now(),
            processes: HashMap::new(),
            call_count: 0,
            steps: Vec::new(),
            answer_times: Vec::new(),
        }
    }

    /// Trusts the project, as a user must before its hooks can run.
    pub(super) async fn trust_project(&mut self) -> anyhow::Result<()> {
        let files = self.client.trust_project(&self.client.stage.project_dir(LIGHTHOUSE)).await?;
        let came = format!("hooks of {files} files may run");
        self.print_line("you", "snell trust lighthouse", (came, TextStyle::Plain));
        Ok(())
    }

    pub(super) async fn play_scenes(&mut self, scenes: &[DemoScene]) -> anyhow::Result<()> {
        for scene in scenes {
            let part = scene.agent;
            self.perform_act(part, &scene.act)
                .await
                .with_context(|| format!("the demo failed in a scene of {}", part.name()))?;
            self.pace.pause(scene.pause).await;
        }
        Ok(())
    }

    async fn perform_act(&mut self, part: DemoAgent, act: &DemoAct) -> anyhow::Result<()> {
        match act {
            DemoAct::Start => {
                self.processes.insert(part.name(), DemoAgentProcess::spawn(self.client.stage, part.profile())?);
                let fields = json!({"source": "startup"});
                self.fire_and_print(part, "SessionStart", fields, "starts").await.map(drop)
            }
            DemoAct::Prompt(prompt) => {
                let fields = json!({"prompt": prompt});
                self.fire_and_print(part, "UserPromptSubmit", fields, &format!("prompt: {prompt}")).await.map(drop)
            }
            DemoAct::Begin(call) => self.begin_tool_call(part, call).await.map(drop),
            DemoAct::Tool { call, output, lasts } => self.use_tool(part, call, output, *lasts).await,
            DemoAct::Ask { question, answer, waits } => self.ask_user(part, question, answer, *waits).await,
            DemoAct::Fill(percent) => {
                let line = self.client.draw_status_line(self.caller_for(part), *percent).await?;
                self.print_line(part.name(), "status line", (line, TextStyle::Plain));
                Ok(())
            }
            DemoAct::Stop(words) => self.stop_turn(part, words).await,
            DemoAct::Die => self.kill_agent(part).await,
            DemoAct::End => {
                let fields = json!({"reason": "prompt_input_exit"});
                self.fire_and_print(part, "SessionEnd", fields, "ends").await?;
                self.processes.remove(part.name());
                Ok(())
            }
        }
    }

    /// Starts a tool call. Returns the fields for the event at its end; nothing if the call is blocked.
    async fn begin_tool_call(&mut self, part: DemoAgent, call: &DemoToolCall) -> anyhow::Result<Option<Value>> {
        let input = Value::Object(call.input.clone());
        let happened = format!("{} {}", call.tool, terminal::principal_argument(&input));
        let mut fields = self.new_call_fields(&call.tool, input);
        let answer = self.fire_and_print(part, "PreToolUse", fields.clone(), &happened).await?;
        let goes_on = answer.blocked.is_none() && answer.asked.is_none();
        if let Some(input) = answer.changed {
            fields["tool_input"] = input;
        }
        Ok(goes_on.then_some(fields))
    }

    async fn use_tool(&mut self, part: DemoAgent, call: &DemoToolCall, output: &str, lasts: f32) -> anyhow::Result<()> {
        let Some(mut fields) = self.begin_tool_call(part, call).await? else {
            return Ok(());
        };
        self.pace.pause(lasts).await;
        fields["tool_response"] = json!({"stdout": output});
        self.fire_event(part, "PostToolUse", fields).await.map(drop)
    }

    async fn ask_user(&mut self, part: DemoAgent, question: &str, answer: &str, waits: f32) -> anyhow::Result<()> {
        let input = json!({"questions": [{"question": question, "header": "Port", "options": []}]});
        let mut fields = self.new_call_fields("AskUserQuestion", input);
        self.fire_event(part, "PreToolUse", fields.clone()).await?;
        let state = self.client.load_agent(part.name())?.state.to_string();
        let came = (state.replace('_', " "), TextStyle::Urgent);
        self.print_line(part.name(), &format!("asks: {question}"), came);
        self.pace.pause(waits).await;
        fields["tool_response"] = json!({"answers": {question: answer}});
        self.fire_event(part, "PostToolUse", fields).await?;
        let came = (format!("it is {} again", self.client.load_agent(part.name())?.state), TextStyle::Plain);
        self.print_line("you", &format!("answer {}: {answer}", part.name()), came);
        Ok(())
    }

    /// The fields of a call, with an id that the event at its end repeats.
    fn new_call_fields(&mut self, tool: &str, input: Value) -> Value {
        self.call_count += 1;
        let id = format!("call-{}", self.call_count);
        json!({"tool_name": tool, "tool_use_id": id, "tool_input": input})
    }

    /// Ends a turn. If a hook answers with a reason or context, the agent continues once.
    async fn stop_turn(&mut self, part: DemoAgent, words: &str) -> anyhow::Result<()> {
        let fields = |again: bool| json!({"stop_hook_active": again, "last_assistant_message": words});
        let happened = format!("stops: {words}");
        let answer = self.fire_and_print(part, "Stop", fields(false), &happened).await?;
        if answer.blocked.is_some() || !answer.context.is_empty() {
            self.fire_event(part, "Stop", fields(true)).await?;
        }
        Ok(())
    }

    /// Kills an agent, and waits until the receiver reports its end.
    async fn kill_agent(&mut self, part: DemoAgent) -> anyhow::Result<()> {
        if let Some(body) = self.processes.remove(part.name()) {
            body.kill().await?;
        }
        let killed = Instant::now();
        let why = loop {
            let agent = self.client.load_agent(part.name())?;
            if agent.state == AgentState::Ended {
                break agent.why;
            }
            ensure!(killed.elapsed() < STEP_TIMEOUT, "the receiver did not notice that the process is gone");
            tokio::time::sleep(self.pace.poll_interval() / 5).await;
        };
        let came = format!("noticed after {:.1} s: {why}", killed.elapsed().as_secs_f32());
        self.print_line(part.name(), "is killed", (came, TextStyle::Urgent));
        Ok(())
    }

    /// Sends an event to Snell, and prints the result.
    async fn fire_and_print(
        &mut self,
        part: DemoAgent,
        event: &str,
        fields: Value,
        happened: &str,
    ) -> anyhow::Result<DemoAnswer> {
        let call = fields["tool_use_id"].as_str().map(str::to_owned);
        let answer = self.fire_event(part, event, fields).await?;
        self.print_line(part.name(), happened, terminal::describe_answer(&answer));
        self.steps.push(DemoStep { agent: part.name(), action: happened.to_owned(), call, answer: answer.clone() });
        Ok(answer)
    }

    async fn fire_event(&mut self, part: DemoAgent, event: &str, fields: Value) -> anyhow::Result<DemoAnswer> {
        let (answer, took) = self.client.fire_event(self.caller_for(part), event, fields).await?;
        self.answer_times.push(took);
        Ok(answer)
    }

    fn caller_for(&self, part: DemoAgent) -> DemoCaller {
        DemoCaller { profile: part.profile(), pid: self.processes.get(part.name()).and_then(DemoAgentProcess::pid) }
    }

    fn print_line(&self, who: &str, happened: &str, (came, style): (String, TextStyle)) {
        let line =
            DemoLogLine { at: self.began.elapsed(), agent: who, action: happened.to_owned(), outcome: came, style };
        line.print();
    }
}
