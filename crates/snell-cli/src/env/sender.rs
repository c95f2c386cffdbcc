//! The sender of an event: the agent's process, session and terminal, from the environment.

use snell::{AgentProduct, AgentVariables, SupportLevel, WorkProfile};
use snell_store::{EventSender, ProcessIdentity};

use super::env_vars::EnvVars;
use super::read_variable_lossy;

/// Variables that launchers set for the agents that they start.
mod launcher_variables {
    pub(super) const SESSION_ROLE: &str = "CLAUDE_SESSION_ROLE";
    pub(super) const SESSION_MODE: &str = "CLAUDE_SESSION_MODE";
    pub(super) const MISSION: &str = "MISSION_EXECUTION_ID";
    pub(super) const HEADSPACE_SESSION_ID: &str = "CLAUDE_HEADSPACE_SESSION_ID";
    pub(super) const HEADSPACE_TMUX_SESSION: &str = "CLAUDE_HEADSPACE_TMUX_SESSION";
}

/// Set by tmux: the server's socket, its process and the session's number, separated by commas.
const TMUX: &str = "TMUX";
const TMUX_PANE: &str = "TMUX_PANE";

/// Set by Snell for its hooks.
const DEPTH: &str = "SNELL_DEPTH";

/// The profile that the variables of a launcher switch on.
pub(crate) fn read_launcher_profile() -> Option<WorkProfile> {
    let is_set = |name: &&str| read_variable_lossy(name).is_some_and(|value| !value.trim().is_empty());
    let variables = [launcher_variables::SESSION_ROLE, launcher_variables::SESSION_MODE];
    variables.iter().any(is_set).then_some(WorkProfile::ClaudeOs)
}

/// The sender of an event of this product. Without a product, Claude Code's variables are used.
pub(crate) fn build_sender(vars: &EnvVars, product: Option<&'static AgentProduct>) -> EventSender {
    use launcher_variables as launcher;
    let variables = product.unwrap_or(AgentProduct::for_recorded_name(None)).variables;
    let pid = variables.pid.and_then(|name| vars.text(name)?.parse().ok());
    // No process has the id 0.
    let pid = pid.filter(|pid| *pid > 0);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    EventSender {
        product: product.filter(|product| product.support == SupportLevel::Full).map(|product| product.name.to_owned()),
        process_is_told: pid.is_some(),
        process: pid.map(ProcessIdentity::from_pid).or_else(ProcessIdentity::find_caller),
        host: Some(host).filter(|host| !host.is_empty()),
        cwd: None,
        transcript_path: None,
        launcher_session_id: variables.launcher_session_id.and_then(|name| vars.text_lossy(name)),
        headspace_session_id: vars.text_lossy(launcher::HEADSPACE_SESSION_ID),
        tmux_pane: vars.text_lossy(TMUX_PANE),
        tmux_session: vars.text_lossy(launcher::HEADSPACE_TMUX_SESSION),
        tmux_server: read_tmux_server(vars),
        role: vars.trimmed_text(launcher::SESSION_ROLE),
        mode: vars.trimmed_text(launcher::SESSION_MODE).map(|mode| mode.to_lowercase()),
        mission_execution_id: vars.text_lossy(launcher::MISSION),
        context_window: None,
        unattended: is_unattended(vars, &variables),
        in_hook: vars.text(DEPTH).is_some_and(|depth| depth != "0"),
    }
}

/// Whether no user can answer the agent.
fn is_unattended(vars: &EnvVars, variables: &AgentVariables) -> bool {
    let answers = |(name, value): &(&str, &str)| Some(vars.text(name)? == *value);
    variables.unattended.iter().find_map(answers).unwrap_or_default()
}

/// The sender of an event that an agent of this name fires with `snell run`. Variables of a process are ignored: another agent set
/// them, and started this one.
pub(crate) fn build_host_sender(vars: &EnvVars, name: Option<String>) -> EventSender {
    EventSender {
        product: name,
        process_is_told: false,
        process: ProcessIdentity::find_caller(),
        unattended: false,
        ..build_sender(vars, None)
    }
}

/// The session ids in the environment, each with its variable. The launcher's comes first.
pub(crate) fn read_session_ids(vars: &EnvVars) -> Vec<(&'static str, String)> {
    let variables = AgentProduct::for_recorded_name(None).variables;
    let names = [variables.launcher_session_id, variables.session_id];
    names.into_iter().flatten().filter_map(|name| Some((name, vars.text(name)?))).collect()
}

/// The tmux pane of this process, and its server.
pub(crate) fn read_tmux_pane(vars: &EnvVars) -> Option<(Option<String>, String)> {
    Some((read_tmux_server(vars), vars.text_lossy(TMUX_PANE)?))
}

/// The socket of the tmux server of this process.
fn read_tmux_server(vars: &EnvVars) -> Option<String> {
    vars.text(TMUX).and_then(|tmux| tmux.split(',').next().map(str::to_owned))
}
