//! Additions to a verdict after the hooks have run, in the order of [`NOTICES`].

use snell::{Decision, EventName, Severity, UserMessage};

use super::pipeline::HookPipeline;
use super::stop_loop_guard::limit_stop_blocks;
use crate::env::ConfigArgs;
use crate::handlers::AgentReminder;
use crate::output;
use crate::output::hook::trust_status_name;
use crate::process::faults;
use crate::trust_file::{missing_file_message, missing_file_remedy};

/// Each step sees what the steps before it added.
pub(super) const NOTICES: &[fn(&mut HookPipeline<'_>)] = &[
    add_reminder,
    add_fault_notices,
    add_untrusted_notices,
    add_missing_file_notices,
    print_hook_warnings,
    carry_context,
    // Last, because it checks the final decision.
    limit_stop_blocks,
];

/// Puts the reminder before all other context. It is dropped if the agent does not get the answer to this event, and if no
/// pending copy of the event can be written: without that copy it would repeat on every event.
fn add_reminder(run: &mut HookPipeline<'_>) {
    let is_recorded = !run.reminder.record.is_empty();
    if is_recorded && run.pending.is_none() {
        run.pending = run.recorder.write_pending(&run.record);
    }
    let is_prompt_blocked = run.verdict.event == EventName::UserPromptSubmit && run.verdict.decision == Decision::Deny;
    if is_prompt_blocked || (is_recorded && run.pending.is_none()) {
        run.reminder = AgentReminder::default();
    }
    run.verdict.context.splice(0..0, std::mem::take(&mut run.reminder.texts));
}

/// Reports, once in each session, files that cannot be read, and invalid variables and arguments: the user believes that the
/// hooks of such a file run.
fn add_fault_notices(run: &mut HookPipeline<'_>) {
    let errors = run.setup.findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors.clone().for_each(output::print_finding);
    for fault in errors.map(ToString::to_string).chain(faults::reported_faults()) {
        if run.setup.markers.claim_once(&["fault", run.call.session_id(), &fault]) {
            run.verdict.add_message(format!("Snell: {fault}"));
        }
    }
}

/// Reports files whose hooks do not run because they are not trusted: once in each session, and again if the file changes.
fn add_untrusted_notices(run: &mut HookPipeline<'_>) {
    let engine = &run.setup.engine;
    let untrusted = engine.untrusted_files();
    if untrusted.is_empty() {
        return;
    }
    let files = engine.project_files();
    for file in untrusted {
        let content = files.iter().find(|known| known.path == file.path).map(|known| known.sha256.as_str());
        let status = trust_status_name(file.status);
        let key = [run.call.session_id(), &file.path.to_string_lossy(), content.unwrap_or_default(), status];
        if run.setup.markers.claim_once(&key) {
            let finding = run.setup.findings.iter().find(|finding| finding.path == file.display_path);
            let why = finding.map_or_else(|| "is not trusted".to_owned(), |finding| finding.user_message().to_string());
            run.verdict.add_message(format!("Snell: {} {why}", file.display_path));
        }
    }
}

/// Reports, when a session starts, trusted files that do not exist: their hooks do not run.
fn add_missing_file_notices(run: &mut HookPipeline<'_>) {
    if run.call.event.name != EventName::SessionStart {
        return;
    }
    let project = &run.call.project;
    for path in ConfigArgs::for_guest(project.clone()).trust_file().missing_files(project) {
        let message = UserMessage::new(missing_file_message(&path)).with_hint(missing_file_remedy(project));
        run.verdict.add_message(format!("Snell: {message}"));
    }
}

/// Keeps context that the agent does not accept when a session or a prompt starts, and adds it to the next event of the session
/// on which the agent accepts context.
fn carry_context(run: &mut HookPipeline<'_>) {
    let (product, event) = (run.call.product, &run.verdict.event);
    let session = run.call.session_id();
    if session.is_empty() || run.call.event.is_in_subagent() || !product.carries_context() {
        return;
    }
    let (key, markers) = (["carried context", session], &run.setup.markers);
    let is_start = matches!(event, EventName::SessionStart | EventName::UserPromptSubmit);
    if product.accepts_context(event) {
        run.verdict.context.splice(0..0, markers.take_text(&key));
    } else if is_start && !run.verdict.is_blocked() && !run.verdict.context.is_empty() {
        let text = format!("{}\n", run.verdict.context.join("\n"));
        if markers.append_text(&key, &text) {
            run.verdict.context.clear();
        }
    }
}

fn print_hook_warnings(run: &mut HookPipeline<'_>) {
    run.verdict.warnings.iter().for_each(output::print_finding);
}
