//! Builds spans, log records and measurements from events, in their order. Pure, except for the list that it fills.
//!
//! A turn begins with a prompt, or when an agent that was idle works or waits. It ends when the agent is idle or has ended,
//! or with the next prompt. Its span is the root of a trace. Tool calls, sub-agents, waits and hooks are below it.

use serde_json::Value;
use snell::{AgentProduct, Event, TelemetryContent, TelemetrySettings, TelemetrySignal, Timestamp};
use snell_store::{
    AgentState, FinishedTelemetryRun, GuardVerdictView, TelemetryAgent, TelemetryEvent, TelemetryItem,
    TelemetryOutcome, TelemetryRun, TelemetrySighting,
};

use super::attributes::AttributeList;
use super::measurements::{
    EVENTS, GUARD_VERDICTS, HOOK_DURATION, Measurements, TOOL_CALLS, TURN_DURATION, WAIT_DURATION,
};
use super::open_spans::{MAX_OPEN, OpenCallSpan, OpenHookRun, OpenSpans, OpenSubagent, OpenTurn};
use super::span::{OpenSpan, derive_trace_id};
use super::verdict_log::build_verdict_record;

/// Builds telemetry from a batch of events.
#[derive(Debug)]
pub(super) struct SpanBuilder<'a> {
    settings: &'a TelemetrySettings,
    items: Vec<TelemetryItem>,
    open_runs: Vec<(i64, String)>,
    measurements: Measurements,
}

/// The event under way, decoded.
#[derive(Debug)]
struct EventScope<'a> {
    row: &'a TelemetryEvent,
    event: Option<Event>,
}

impl EventScope<'_> {
    fn subagent_id(&self) -> Option<&str> {
        self.event.as_ref()?.subagent.as_ref()?.id.as_deref()
    }

    fn is_named(&self, names: &[&str]) -> bool {
        names.contains(&self.row.name.as_str())
    }

    fn is_blocked(&self) -> bool {
        self.row.decision.as_deref() == Some("block")
    }
}

/// Names of events that Snell derived from a state. They begin no turn.
const DERIVED_EVENTS: &[&str] = &["NeedsUser", "AgentIdle", "AgentEnded"];
/// Names of events that end a call.
const CALL_ENDS: &[&str] = &["PostToolUse", "PostToolUseFailure"];

impl<'a> SpanBuilder<'a> {
    pub(super) fn new(settings: &'a TelemetrySettings) -> Self {
        Self { settings, items: Vec::new(), open_runs: Vec::new(), measurements: Measurements::default() }
    }

    /// The result, to be stored.
    pub(super) fn into_outcome(self) -> TelemetryOutcome {
        let Self { settings, items, open_runs, measurements } = self;
        let series = if settings.sends(TelemetrySignal::Metrics) { measurements.into_series() } else { Vec::new() };
        TelemetryOutcome { open_spans: Vec::new(), open_runs, items, series }
    }

    /// Reads the next event of an agent.
    pub(super) fn read_event(&mut self, open: &mut OpenSpans, row: &TelemetryEvent) {
        let fields = serde_json::from_str(&row.payload).unwrap_or_default();
        let product = AgentProduct::for_recorded_name(row.agent.product.as_deref());
        let scope = EventScope { row, event: product.decode(Some(&row.name), fields).ok() };
        open.last_row = row.id;
        let mut counted = AttributeList::default();
        counted.text("gen_ai.agent.name", row.agent.product.as_deref()).text("snell.event.name", row.name.as_str());
        self.measurements.count(EVENTS, &counted);
        self.begin_turn_if_needed(open, &scope);
        let owner = self.read_call(open, &scope);
        self.read_subagent(open, &scope);
        let owner = owner.unwrap_or_else(|| find_owner(open, &scope));
        self.add_hook_runs(&scope, &owner);
        for (index, verdict) in row.verdicts.iter().enumerate() {
            self.add_verdict(&scope, &owner, (index, verdict));
        }
        let error = scope.is_named(&["StopFailure"]).then_some("stop_failure");
        self.enter_state(open, &row.agent, StateMoment { state: row.state, at: row.at, cause: &row.event_id, error });
    }

    /// Reads a change of state without an event. One that comes after newer events changes nothing.
    pub(super) fn read_sighting(&mut self, open: &mut OpenSpans, sighting: &TelemetrySighting) {
        if sighting.after_event < open.last_row {
            return;
        }
        let at = sighting.at;
        let cause = format!("sighting {} {}", sighting.sighting_id, at.as_microsecond());
        let is_active = matches!(sighting.state, AgentState::Processing | AgentState::AwaitingInput);
        if is_active && open.turn.is_none() {
            open.turn = Some(OpenTurn::new(begin_turn(&sighting.agent, &cause, at)));
        }
        let moment = StateMoment { state: sighting.state, at, cause: &cause, error: None };
        self.enter_state(open, &sighting.agent, moment);
    }

    /// Reads the end of a background hook.
    pub(super) fn read_finished_run(&mut self, finished: &FinishedTelemetryRun) {
        let Ok(OpenHookRun { span, host, event }) = serde_json::from_str(&finished.span) else {
            return;
        };
        self.finish_hook_run(span, host, &event, &finished.run);
    }

    fn begin_turn_if_needed(&mut self, open: &mut OpenSpans, scope: &EventScope<'_>) {
        let row = scope.row;
        let is_prompt = scope.is_named(&["UserPromptSubmit"]) && !scope.is_blocked() && scope.subagent_id().is_none();
        if is_prompt {
            self.end_turn(open, &row.agent, row.at, None);
        }
        let is_active = matches!(row.state, AgentState::Processing | AgentState::AwaitingInput);
        if open.turn.is_some() || !is_active || scope.is_named(DERIVED_EVENTS) {
            return;
        }
        let mut span = begin_turn(&row.agent, &row.event_id, row.at);
        let prompt = scope.event.as_ref().and_then(|event| event.prompt.as_deref());
        if let Some(prompt) = prompt.filter(|_| is_prompt && self.settings.includes(TelemetryContent::Prompts)) {
            let message = serde_json::json!([{"role": "user", "parts": [{"type": "text", "content": prompt}]}]);
            span.attributes.text("gen_ai.input.messages", message.to_string().as_str());
        }
        open.turn = Some(OpenTurn::new(span));
    }

    /// Reads the start or the end of a tool call. Returns the span of the call.
    fn read_call(&mut self, open: &mut OpenSpans, scope: &EventScope<'_>) -> Option<OpenSpan> {
        let row = scope.row;
        let tool = row.tool.as_deref()?;
        if scope.is_named(&["PreToolUse"]) {
            let span = self.begin_call(open, scope, tool, row.at);
            if scope.is_blocked() {
                let ended = add_micros(row.at, row.took_us);
                self.finish_call(&row.agent, (tool, span.clone()), ended, CallOutcome::Blocked);
                return Some(span);
            }
            if let Some(turn) = &mut open.turn {
                let tool_use_id = row.tool_use_id.clone();
                turn.calls.push(OpenCallSpan {
                    event_row: row.id,
                    tool_use_id,
                    tool: tool.to_owned(),
                    span: span.clone(),
                });
                if turn.calls.len() > MAX_OPEN {
                    let oldest = turn.calls.remove(0);
                    self.finish_call(&row.agent, (&oldest.tool, oldest.span), row.at, CallOutcome::Unended);
                }
            }
            return Some(span);
        }
        if !scope.is_named(CALL_ENDS) {
            return None;
        }
        let known = open.turn.as_mut().and_then(|turn| {
            let index = turn.find_call(row.tool_use_id.as_deref(), row.ends)?;
            Some(turn.calls.remove(index).span)
        });
        // A call whose span was sent at the end of its turn is not sent again.
        if known.is_none() && row.has_start {
            return None;
        }
        let mut span = known.unwrap_or_else(|| {
            let began = row.at.checked_sub(std::time::Duration::from_micros(to_micros(row.tool_us)));
            self.begin_call(open, scope, tool, began.unwrap_or(row.at))
        });
        let has_failed = row.name == "PostToolUseFailure"
            || row.error.is_some()
            || scope.event.as_ref().is_some_and(Event::has_tool_failed);
        if let Some(error) = row.error.as_deref().filter(|_| self.settings.includes(TelemetryContent::Arguments)) {
            span.attributes.text("snell.tool.error", error);
        }
        let outcome = if has_failed { CallOutcome::Failed } else { CallOutcome::Succeeded };
        self.finish_call(&row.agent, (tool, span.clone()), row.at, outcome);
        Some(span)
    }

    fn begin_call(&self, open: &OpenSpans, scope: &EventScope<'_>, tool: &str, began: Timestamp) -> OpenSpan {
        let row = scope.row;
        let (parts, name) = ([row.event_id.as_str(), "tool"], format!("execute_tool {tool}"));
        let mut span = match &open.turn {
            Some(turn) => turn.span_of_subagent(scope.subagent_id()).new_child(&parts, &name, began),
            None => OpenSpan::in_trace(session_trace_id(&row.agent), &parts, &name, began),
        };
        let attributes = &mut span.attributes;
        attributes
            .text("gen_ai.operation.name", "execute_tool")
            .text("gen_ai.tool.name", tool)
            .text("gen_ai.tool.call.id", row.tool_use_id.as_deref())
            .text("gen_ai.conversation.id", row.agent.session_id.as_deref())
            .text("snell.decision", row.decision.as_deref());
        let input = scope.event.as_ref().and_then(|event| event.tool.as_ref()?.input.as_ref());
        if let Some(input) = input.filter(|_| self.settings.includes(TelemetryContent::Arguments)) {
            attributes.text("gen_ai.tool.call.arguments", input.to_string().as_str());
        }
        span
    }

    fn finish_call(
        &mut self,
        agent: &TelemetryAgent,
        (tool, mut span): (&str, OpenSpan),
        ended: Timestamp,
        outcome: CallOutcome,
    ) {
        let mut counted = AttributeList::default();
        counted
            .text("gen_ai.agent.name", agent.product.as_deref())
            .text("gen_ai.tool.name", tool)
            .text("snell.outcome", outcome.as_str());
        self.measurements.count(TOOL_CALLS, &counted);
        span.attributes.text("snell.outcome", outcome.as_str());
        let error = matches!(outcome, CallOutcome::Failed | CallOutcome::Blocked).then_some(outcome.as_str());
        self.add_span(agent.host.clone(), span.to_otlp(ended, error));
    }

    fn read_subagent(&mut self, open: &mut OpenSpans, scope: &EventScope<'_>) {
        let row = scope.row;
        let subagent = scope.event.as_ref().and_then(|event| event.subagent.as_ref());
        let (Some(turn), Some(subagent)) = (&mut open.turn, subagent) else {
            return;
        };
        let Some(id) = subagent.id.as_deref() else {
            return;
        };
        if scope.is_named(&["SubagentStart"]) && turn.subagents.len() < MAX_OPEN {
            let kind = subagent.kind.as_deref().unwrap_or_default();
            let name = format!("invoke_agent {kind}");
            let mut span = turn.span.new_child(&[&row.event_id, "subagent"], name.trim_end(), row.at);
            span.attributes
                .text("gen_ai.operation.name", "invoke_agent")
                .text("gen_ai.agent.name", kind)
                .text("gen_ai.agent.id", id)
                .text("gen_ai.conversation.id", row.agent.session_id.as_deref());
            turn.subagents.push(OpenSubagent { id: id.to_owned(), span });
        } else if scope.is_named(&["SubagentStop"]) && !scope.is_blocked() {
            let index = turn.subagents.iter().rposition(|subagent| subagent.id == id);
            if let Some(ended) = index.map(|index| turn.subagents.remove(index)) {
                self.add_span(row.agent.host.clone(), ended.span.to_otlp(row.at, None));
            }
        }
    }

    fn add_hook_runs(&mut self, scope: &EventScope<'_>, owner: &OpenSpan) {
        let row = scope.row;
        for (index, run) in row.runs.iter().enumerate() {
            let (number, name) = (index.to_string(), format!("hook {}", row.name));
            let mut span = owner.new_child(&[&row.event_id, "hook", &number], &name, row.at);
            let source = std::path::Path::new(&run.run.source).file_name().unwrap_or_default().to_string_lossy();
            span.attributes
                .text("snell.event.name", row.name.as_str())
                .text("snell.hook.contract", run.run.contract.as_str())
                .text("snell.hook.source", format!("{source}:{}", run.run.line).as_str());
            if self.settings.includes(TelemetryContent::Arguments) {
                span.attributes.text("snell.hook.command", run.run.command.as_str());
            }
            let host = row.agent.host.clone();
            if run.run.status == "started" {
                let waiting = OpenHookRun { span, host, event: row.name.clone() };
                let text = serde_json::to_string(&waiting).unwrap_or_default();
                self.open_runs.push((run.hook_run_id, text));
            } else if run.run.status != "skipped" {
                self.finish_hook_run(span, host, &row.name, run);
            }
        }
    }

    fn finish_hook_run(&mut self, mut span: OpenSpan, host: Option<String>, event: &str, run: &TelemetryRun) {
        let run = &run.run;
        let mut counted = AttributeList::default();
        counted.text("snell.event.name", event).text("snell.hook.status", run.status.as_str());
        let seconds = to_micros(Some(run.duration_us)) as f64 / 1e6;
        self.measurements.record(HOOK_DURATION, &counted, seconds);
        span.attributes
            .text("snell.hook.status", run.status.as_str())
            .int("process.exit.code", run.exit_code.map(i64::from));
        let error = matches!(run.status.as_str(), "failed" | "timed_out").then_some(run.status.as_str());
        let ended = add_micros(span.began, Some(run.duration_us));
        self.add_span(host, span.to_otlp(ended, error));
    }

    fn add_verdict(&mut self, scope: &EventScope<'_>, owner: &OpenSpan, verdict: (usize, &GuardVerdictView)) {
        let mut counted = AttributeList::default();
        counted
            .text("snell.guard.rule", verdict.1.rule.as_str())
            .text("snell.guard.decision", verdict.1.decision.as_str());
        self.measurements.count(GUARD_VERDICTS, &counted);
        if self.settings.sends(TelemetrySignal::Logs) {
            let body = build_verdict_record(scope.row, owner, verdict, self.settings).to_string();
            let host = scope.row.agent.host.clone();
            self.items.push(TelemetryItem { signal: TelemetrySignal::Logs.as_str(), host, body });
        }
    }

    /// Follows the agent to a state: waits begin and end, and an idle agent ends its turn.
    fn enter_state(&mut self, open: &mut OpenSpans, agent: &TelemetryAgent, moment: StateMoment<'_>) {
        let Some(turn) = &mut open.turn else {
            return;
        };
        let is_waiting = moment.state == AgentState::AwaitingInput;
        if is_waiting && turn.wait.is_none() {
            let mut span = turn.span.new_child(&[moment.cause, "wait"], "wait for user", moment.at);
            span.attributes
                .text("snell.agent.state", moment.state.as_str())
                .text("gen_ai.conversation.id", agent.session_id.as_deref());
            turn.wait = Some(span);
        } else if !is_waiting {
            let wait = turn.wait.take();
            self.finish_wait(agent, wait, moment.at);
        }
        if matches!(moment.state, AgentState::Idle | AgentState::Ended) {
            self.end_turn(open, agent, moment.at, moment.error);
        }
    }

    fn finish_wait(&mut self, agent: &TelemetryAgent, wait: Option<OpenSpan>, at: Timestamp) {
        if let Some(wait) = wait {
            self.record_duration(WAIT_DURATION, agent, (wait.began, at));
            self.add_span(agent.host.clone(), wait.to_otlp(at, None));
        }
    }

    /// Ends the turn, with all that is still open in it.
    fn end_turn(&mut self, open: &mut OpenSpans, agent: &TelemetryAgent, at: Timestamp, error: Option<&str>) {
        let Some(turn) = open.turn.take() else {
            return;
        };
        self.finish_wait(agent, turn.wait, at);
        for call in turn.calls {
            self.finish_call(agent, (&call.tool, call.span), at, CallOutcome::Unended);
        }
        for subagent in turn.subagents {
            self.add_span(agent.host.clone(), subagent.span.to_otlp(at, None));
        }
        self.record_duration(TURN_DURATION, agent, (turn.span.began, at));
        self.add_span(agent.host.clone(), turn.span.to_otlp(at, error));
    }

    fn record_duration(
        &mut self,
        metric: &'static super::measurements::CountedMetric,
        agent: &TelemetryAgent,
        (began, ended): (Timestamp, Timestamp),
    ) {
        let mut counted = AttributeList::default();
        counted.text("gen_ai.agent.name", agent.product.as_deref());
        self.measurements.record(metric, &counted, ended.duration_since(began).as_secs_f64());
    }

    fn add_span(&mut self, host: Option<String>, span: Value) {
        if self.settings.sends(TelemetrySignal::Traces) {
            self.items.push(TelemetryItem { signal: TelemetrySignal::Traces.as_str(), host, body: span.to_string() });
        }
    }
}

/// A state that an agent enters.
#[derive(Clone, Copy, Debug)]
struct StateMoment<'a> {
    state: AgentState,
    at: Timestamp,
    /// An id of the event, or of the change without one.
    cause: &'a str,
    error: Option<&'a str>,
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallOutcome {
    Succeeded,
    Failed,
    Blocked,
    /// Its turn ended before it did.
    Unended,
}

impl CallOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Unended => "unended",
        }
    }
}

/// The span of a turn.
fn begin_turn(agent: &TelemetryAgent, cause: &str, at: Timestamp) -> OpenSpan {
    let product = agent.product.as_deref().unwrap_or_default();
    let session = agent.session_id.as_deref().unwrap_or_default();
    let mut span = OpenSpan::new_root(&[session, cause], format!("invoke_agent {product}").trim_end(), at);
    span.attributes
        .text("gen_ai.operation.name", "invoke_agent")
        .text("gen_ai.agent.name", product)
        .text("gen_ai.conversation.id", session)
        .text("gen_ai.request.model", agent.model.as_deref())
        .text("snell.project.name", agent.project.as_str())
        .int("snell.agent.number", agent.agent_id)
        .int("process.pid", agent.pid.map(i64::from));
    span
}

/// The trace of events of a session that are outside of its turns.
fn session_trace_id(agent: &TelemetryAgent) -> String {
    let number = agent.agent_id.to_string();
    derive_trace_id(&["session", agent.session_id.as_deref().unwrap_or(&number)])
}

/// The span above the hooks and verdicts of an event that neither begins nor ends a known call.
fn find_owner(open: &OpenSpans, scope: &EventScope<'_>) -> OpenSpan {
    let row = scope.row;
    let Some(turn) = &open.turn else {
        return OpenSpan::outside_of_turns(session_trace_id(&row.agent), row.at);
    };
    // A permission request belongs to the call that it is about.
    let tool = row.tool.as_deref();
    let call = turn.find_call(row.tool_use_id.as_deref(), row.ends).map(|index| &turn.calls[index]);
    let call = call.or_else(|| turn.calls.iter().rfind(|call| Some(call.tool.as_str()) == tool));
    call.map_or_else(|| turn.span_of_subagent(scope.subagent_id()).clone(), |call| call.span.clone())
}

fn to_micros(duration: Option<i64>) -> u64 {
    duration.and_then(|duration| u64::try_from(duration).ok()).unwrap_or(0)
}

fn add_micros(time: Timestamp, duration: Option<i64>) -> Timestamp {
    time.checked_add(std::time::Duration::from_micros(to_micros(duration))).unwrap_or(time)
}
