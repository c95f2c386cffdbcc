//! The loss table: a hook of every contract does everything under every agent, and each cell is what the agent reads.
//!
//! First `snell run` finds the words in which a contract expresses a deed. Then each agent calls `snell hook` with its own
//! payload, and its answer is read as the agent reads it. The result must be what the row of the agent says.

mod answers;
mod callers;
mod hook_files;
mod hook_scripts;
mod real_runs;
mod tables;

use std::fs;
use std::sync::Mutex;
use std::thread;

use serde_json::json;
use snell::{AgentProduct, CapabilitySupport, ConfigFile, HookCapability};
use snell_test_support::files::find_repository_root;
use snell_test_support::process::{CommandOutput, run_with_stdin};

pub use hook_files::create_hook_project;
pub use real_runs::read_real_runs;
pub use tables::{describe_evidence, list_products};

use crate::support::CliSandbox;
use answers::{AnswerReader, AnswerReading};
use callers::{AgentPayload, list_payloads};
use hook_files::find_native_event;
use hook_scripts::{HookDeed, NEW_COMMAND, NEW_OUTPUT, REASON};

const LOSSES_FILE: &str = "fixtures/agent-losses.csv";

/// Events whose context can wait, and the events for which it waits.
const LATE_EVENTS: [&str; 2] = ["SessionStart", "UserPromptSubmit"];
const LATER_EVENTS: [&str; 3] = ["UserPromptSubmit", "PreToolUse", "PostToolUse"];

/// The script that does nothing. A hook of Cursor that fails closed must print something.
const QUIET: &str = "quiet";

/// The cell of an agent that runs the files of the contract itself.
const OWN: &str = "own";

/// A deed that a contract can express on an event, and the name of the script.
struct ExpressedDeed {
    deed: HookDeed,
    event: &'static str,
    script: String,
}

/// A contract: the deeds that its hooks can express, and the outcome under every agent.
pub struct ContractLosses {
    pub contract: &'static str,
    deeds: Vec<ExpressedDeed>,
    has_reason: bool,
    agents: Vec<AgentLosses>,
}

/// An agent: one cell for each capability.
struct AgentLosses {
    agent: &'static str,
    cells: Vec<String>,
    /// Whether it goes on if a hook blocks its end, if the contract can express that.
    goes_on: Option<bool>,
}

impl ContractLosses {
    /// Whether its hooks can do this.
    fn can_express(&self, capability: HookCapability) -> bool {
        let deed = match capability {
            HookCapability::Reason => return self.has_reason,
            HookCapability::Block => HookDeed::Block,
            HookCapability::Ask => HookDeed::Ask,
            HookCapability::ChangeInput => HookDeed::ChangeInput,
            HookCapability::ChangeOutput => HookDeed::ChangeOutput,
            HookCapability::Context => HookDeed::Context,
            HookCapability::Stop => HookDeed::Stop,
            HookCapability::FailClosed => HookDeed::Crash,
        };
        self.deeds.iter().any(|expressed| expressed.deed == deed)
    }

    /// Whether its hooks can end the turn before a call.
    fn stops_calls(&self) -> bool {
        self.deeds.iter().any(|expressed| expressed.deed == HookDeed::Stop && expressed.event == "PreToolUse")
    }

    /// The events on which its hooks add context.
    pub fn context_events(&self) -> Vec<&'static str> {
        let contexts = self.deeds.iter().filter(|expressed| expressed.deed == HookDeed::Context);
        contexts.map(|expressed| expressed.event).collect()
    }
}

/// Tries all contracts, several at once.
pub fn measure_losses() -> Vec<ContractLosses> {
    let waiting = Mutex::new(ConfigFile::contract_names().enumerate().collect::<Vec<_>>());
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, contract)) = take_next(&waiting) {
            let losses = ContractProbe::new(contract).measure();
            found.lock().unwrap().push((index, losses));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, losses)| losses).collect()
}

fn take_next<T>(waiting: &Mutex<Vec<T>>) -> Option<T> {
    waiting.lock().unwrap().pop()
}

/// A project with a hook of one contract on every event. The variable `DEED` chooses what it does.
struct ContractProbe {
    contract: &'static str,
    sandbox: CliSandbox,
}

impl ContractProbe {
    fn new(contract: &'static str) -> Self {
        let borrowed = contract.strip_suffix("-os").unwrap_or(contract);
        let borrow = if contract == "snell" { String::new() } else { format!("borrow = [\"{borrowed}\"]\n") };
        let handlers = "[handlers]\ntrack = false\ncontext = false\nremind = false\ncomms = false\nguard = false\n";
        let mut sandbox = create_hook_project(contract, ". ./say-$DEED")
            .env("SNELL_SCRIBE", "off")
            .file(&format!("say-{QUIET}"), "echo '{}'")
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .home_file(".config/snell/snell.toml", &format!("{borrow}{handlers}"));
        for deed in HookDeed::ALL {
            for (index, script) in deed.scripts().iter().enumerate() {
                sandbox = sandbox.file(&format!("say-{}", name_script(deed, index)), script);
            }
        }
        let trusted = sandbox.run_snell(&["trust"], "");
        assert_eq!(trusted.code, 0, "{trusted:?}");
        Self { contract, sandbox }
    }

    fn measure(&self) -> ContractLosses {
        let pairs = HookDeed::ALL.into_iter().flat_map(|deed| deed.events().iter().map(move |event| (deed, *event)));
        let deeds: Vec<_> = pairs.filter_map(|(deed, event)| self.find_words(deed, event)).collect();
        let block = deeds.iter().find(|expressed| expressed.deed == HookDeed::Block);
        let has_reason = block.is_some_and(|block| {
            let ran = self.call_host(block.event, &block.script);
            ran.json()["reason"].as_str().is_some_and(|reason| reason.contains(REASON))
        });
        let agents = AgentProduct::all().iter().map(|product| self.measure_agent(product, &deeds)).collect();
        ContractLosses { contract: self.contract, deeds, has_reason, agents }
    }

    /// The words in which the contract expresses a deed on an event.
    fn find_words(&self, deed: HookDeed, event: &'static str) -> Option<ExpressedDeed> {
        find_native_event(self.contract, event)?;
        let mut scripts = (0..deed.scripts().len()).map(|index| name_script(deed, index));
        let script = scripts.find(|script| has_effect(deed, &self.call_host(event, script)))?;
        Some(ExpressedDeed { deed, event, script })
    }

    fn call_host(&self, event: &str, script: &str) -> CommandOutput {
        let payload = json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_response": "as it was", "prompt": "Look"});
        let mut command = self.sandbox.command(&["run", event]);
        command.env("DEED", script).env("HOOK_EVENT", find_native_event(self.contract, event).unwrap());
        run_with_stdin(&mut command, payload.to_string())
    }

    fn measure_agent(&self, product: &'static AgentProduct, deeds: &[ExpressedDeed]) -> AgentLosses {
        let is_own = product.contract == Some(self.contract.strip_suffix("-os").unwrap_or(self.contract));
        if is_own {
            let cells = vec![OWN.to_owned(); HookCapability::ALL.len()];
            return AgentLosses { agent: product.name, cells, goes_on: None };
        }
        let payloads = list_payloads(product);
        let mut readings = Vec::new();
        for expressed in deeds {
            if let Some(payload) = payloads.iter().find(|payload| payload.event == expressed.event) {
                let mut reading = self.call_guest(product, payload, expressed);
                let is_start = expressed.deed == HookDeed::Context && LATE_EVENTS.contains(&expressed.event);
                if is_start && !reading.context.contains(REASON) {
                    reading.is_read_later = self.is_context_read_later(product, &payloads);
                }
                readings.push((expressed, reading));
            }
        }
        let end = readings.iter().find(|(expressed, _)| expressed.deed == HookDeed::GoOn);
        AgentLosses {
            agent: product.name,
            cells: HookCapability::ALL.map(|capability| render_cell(capability, &readings)).to_vec(),
            goes_on: end.map(|(_, reading)| reading.goes_on),
        }
    }

    /// Whether the model reads context of an earlier event on one on which no hook says anything.
    fn is_context_read_later(&self, product: &AgentProduct, payloads: &[AgentPayload]) -> bool {
        LATER_EVENTS.iter().any(|event| {
            let Some(payload) = payloads.iter().find(|payload| payload.event == *event) else { return false };
            let quiet = ExpressedDeed { deed: HookDeed::Context, event, script: QUIET.to_owned() };
            self.call_guest(product, payload, &quiet).context.contains(REASON)
        })
    }

    fn call_guest(&self, product: &AgentProduct, payload: &AgentPayload, deed: &ExpressedDeed) -> AnswerReading {
        let project = self.sandbox.project();
        let mut command = self.sandbox.command(&["hook", "--agent", product.name]);
        command.envs(payload.variables(&project)).env("DEED", &deed.script);
        // The payload was recorded in print mode, but the table is about agents with a user.
        command.env("CLAUDE_CODE_SESSION_ATTENDED", "1");
        command.env("HOOK_EVENT", find_native_event(self.contract, deed.event).unwrap_or(deed.event));
        let ran = run_with_stdin(&mut command, payload.render_payload(&project));
        AnswerReader::find(product.name).read(deed.event, &ran)
    }
}

/// A project whose hook blocks every call, for any agent.
pub struct GuestProbe {
    probe: ContractProbe,
}

impl GuestProbe {
    pub fn new() -> Self {
        Self { probe: ContractProbe::new("snell") }
    }

    /// Whether the agent reads a denial of its call.
    pub fn is_call_denied(&self, product: &'static AgentProduct) -> bool {
        let payloads = list_payloads(product);
        let call = payloads.iter().find(|payload| payload.event == "PreToolUse").unwrap();
        let deed = HookDeed::Block;
        let block = ExpressedDeed { deed, event: "PreToolUse", script: name_script(deed, 0) };
        self.probe.call_guest(product, call, &block).is_denied
    }
}

fn name_script(deed: HookDeed, index: usize) -> String {
    format!("{deed:?}-{index}")
}

/// Whether a hook did what it wanted, by the verdict of `snell run`.
fn has_effect(deed: HookDeed, ran: &CommandOutput) -> bool {
    let verdict = ran.json();
    let holds = |key: &str, text: &str| verdict[key].to_string().contains(text);
    match deed {
        HookDeed::Block | HookDeed::GoOn | HookDeed::Crash => ran.code == 2,
        HookDeed::Ask => verdict["decision"] == "ask",
        HookDeed::ChangeInput => holds("tool_input", NEW_COMMAND),
        HookDeed::ChangeOutput => holds("tool_output", NEW_OUTPUT),
        HookDeed::Context => holds("context", REASON),
        HookDeed::Stop => verdict["stop"].is_string(),
    }
}

/// A cell: `yes`, `denied`, `message` or `no`. For context: the events on which the model reads it.
fn render_cell(capability: HookCapability, readings: &[(&ExpressedDeed, AnswerReading)]) -> String {
    let of = |deed: HookDeed| readings.iter().filter(move |(expressed, _)| expressed.deed == deed);
    let first = |deed: HookDeed, is_done: fn(&AnswerReading) -> bool| {
        let done = of(deed).any(|(_, reading)| is_done(reading));
        let first = of(deed).next().map(|(_, reading)| reading);
        match first {
            _ if done => "yes",
            Some(reading) if reading.is_denied => "denied",
            Some(reading) if !reading.message.is_empty() => "message",
            _ => "no",
        }
        .to_owned()
    };
    match capability {
        HookCapability::Block => first(HookDeed::Block, |reading| reading.is_denied),
        HookCapability::Reason => {
            let is_read = of(HookDeed::Block).any(|(_, reading)| reading.reason.contains(REASON));
            if is_read { "yes" } else { "no" }.to_owned()
        }
        HookCapability::Ask => first(HookDeed::Ask, |reading| reading.is_asked),
        HookCapability::ChangeInput => first(HookDeed::ChangeInput, |reading| reading.input.contains(NEW_COMMAND)),
        HookCapability::ChangeOutput => first(HookDeed::ChangeOutput, |reading| reading.output.contains(NEW_OUTPUT)),
        HookCapability::Stop => first(HookDeed::Stop, |reading| reading.is_stopped),
        HookCapability::FailClosed => first(HookDeed::Crash, |reading| reading.is_denied),
        HookCapability::Context => {
            let name_event = |(expressed, reading): &(&ExpressedDeed, AnswerReading)| match reading {
                reading if reading.context.contains(REASON) => Some(expressed.event.to_owned()),
                reading if reading.is_read_later => Some(format!("{} later", expressed.event)),
                _ => None,
            };
            let events: Vec<_> = of(HookDeed::Context).filter_map(name_event).collect();
            let is_shown = of(HookDeed::Context).any(|(_, reading)| reading.message.contains(REASON));
            match events.is_empty() {
                false => events.join("+"),
                true if is_shown => "message".to_owned(),
                true => "no".to_owned(),
            }
        }
    }
}

/// The cell that follows from the row of an agent and from what the contract can express.
fn predict_cell(losses: &ContractLosses, product: &'static AgentProduct, capability: HookCapability) -> String {
    let accepted = product.capabilities();
    if !losses.can_express(capability) {
        return "no".to_owned();
    }
    let support = match capability {
        // Snell denies the call for the hook.
        HookCapability::FailClosed => accepted.support(HookCapability::Block),
        HookCapability::Context => return predict_context(losses, product),
        HookCapability::Stop if !losses.stops_calls() => return predict_late_stop(product),
        _ => accepted.support(capability),
    };
    if support.is_supported() { "yes" } else { support.name() }.to_owned()
}

fn predict_context(losses: &ContractLosses, product: &'static AgentProduct) -> String {
    let accepted = product.capabilities();
    let payloads = list_payloads(product);
    let is_fired = |event: &&str| payloads.iter().any(|payload| payload.event == *event);
    let fired: Vec<_> = losses.context_events().into_iter().filter(is_fired).collect();
    let name_event = |event: &&str| match accepted.context_support(event) {
        CapabilitySupport::Later => Some(format!("{event} later")),
        support => support.is_supported().then(|| (*event).to_owned()),
    };
    let read: Vec<_> = fired.iter().filter_map(name_event).collect();
    match read.is_empty() {
        false => read.join("+"),
        true if accepted.shows_messages && !fired.is_empty() => "message".to_owned(),
        true => "no".to_owned(),
    }
}

/// The cell of a contract that can end the turn after a call only.
fn predict_late_stop(product: &'static AgentProduct) -> String {
    let accepted = product.capabilities();
    let is_fired = list_payloads(product).iter().any(|payload| payload.event == "PostToolUse");
    match accepted.support(HookCapability::Stop) {
        _ if !is_fired => "no",
        support if support.is_supported() => "yes",
        _ if accepted.shows_messages => "message",
        _ => "no",
    }
    .to_owned()
}

/// Every cell that is not what the rows say.
fn list_contradictions(losses: &[ContractLosses]) -> Vec<String> {
    let mut found = Vec::new();
    for contract in losses {
        for agent in contract.agents.iter().filter(|agent| agent.cells[0] != OWN) {
            let product = AgentProduct::find_by_name(agent.agent).unwrap();
            if agent.goes_on.is_some_and(|goes_on| goes_on != product.capabilities().goes_on) {
                found.push(format!("{} hook, {}: goes_on is {:?}", contract.contract, agent.agent, agent.goes_on));
            }
            for (capability, cell) in HookCapability::ALL.iter().zip(&agent.cells) {
                let said = predict_cell(contract, product, *capability);
                if said != *cell {
                    let name = capability.name();
                    found.push(format!(
                        "{} hook, {}, {name}: {cell}, but the row says {said}",
                        contract.contract, agent.agent
                    ));
                }
            }
        }
    }
    found
}

/// The machine's table: one line for each contract and agent.
fn render_csv(losses: &[ContractLosses]) -> String {
    let head = HookCapability::ALL.map(|capability| capability.name()).join(",");
    let lines = losses.iter().flat_map(|contract| {
        contract.agents.iter().map(|agent| format!("{},{},{}\n", contract.contract, agent.agent, agent.cells.join(",")))
    });
    format!("contract,agent,{head}\n{}", lines.collect::<String>())
}

#[test]
fn the_page_about_losses_says_what_every_agent_does_with_every_hook() {
    let losses = measure_losses();
    let contradictions = list_contradictions(&losses);
    assert!(contradictions.is_empty(), "{}", contradictions.join("\n"));
    let runs = read_real_runs();
    super::compare_or_write_page(
        "docs/reference/losses.md",
        &[
            ("agents", tables::render_agents_table(&runs)),
            ("context", tables::render_context_table()),
            ("contracts", tables::render_contracts_table(&losses)),
        ],
    );
    let path = find_repository_root().join(LOSSES_FILE);
    if std::env::var_os("SNELL_BLESS").is_some() {
        fs::write(&path, render_csv(&losses)).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), render_csv(&losses), "{LOSSES_FILE} is out of date");
}

#[test]
fn the_rows_say_what_the_real_programs_did() {
    let disputes = real_runs::list_disputes(&read_real_runs());
    let hint = "mend the row, or run the program again: cargo xtask agents NAME";
    assert!(disputes.is_empty(), "real programs disagree with the rows ({hint}):\n{}", disputes.join("\n"));
}
