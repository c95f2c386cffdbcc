//! Labels for words that agents send. Words without a label are shown as they are.

/// Why agents and sessions end. Agents send some of these words, and Snell sets the others.
const END_REASON_LABELS: &[(&str, &str)] = &[
    ("clear", "conversation cleared"),
    ("resume", "the user switched to another session"),
    ("logout", "the user logged out"),
    ("prompt_input_exit", "the user quit"),
    ("bypass_permissions_disabled", "bypass-permissions mode was disabled"),
    ("other", "no reason given"),
    ("process_gone", "its process exited"),
    ("terminal_closed", "its terminal was closed"),
    ("pane_closed", "its tmux pane was closed"),
    ("left_pane", "its tmux pane shows a shell prompt"),
    ("pane_reused", "another agent runs in its tmux pane"),
    ("replaced", "another session replaced it"),
    ("silent", "no activity for a long time"),
];

/// How sessions start.
const SESSION_START_LABELS: &[(&str, &str)] = &[
    ("startup", "new conversation"),
    ("resume", "earlier session resumed"),
    ("clear", "conversation cleared"),
    ("compact", "conversation compacted"),
];

/// Why a turn failed.
const TURN_ERROR_LABELS: &[(&str, &str)] = &[
    ("rate_limit", "rate limited"),
    ("authentication_failed", "authentication failed"),
    ("billing_error", "billing error"),
    ("invalid_request", "invalid request"),
    ("model_not_found", "model not found"),
    ("server_error", "server error"),
    ("overloaded", "server overloaded"),
    ("max_output_tokens", "output token limit reached"),
    ("unknown", "unknown cause"),
];

/// The input that an agent needs, by the kind of its notification.
const NEEDED_INPUT_LABELS: &[(&str, &str)] = &[
    ("", "permission"),
    ("permission_prompt", "permission"),
    ("ToolPermission", "permission"),
    ("elicitation_dialog", "an answer for an MCP server"),
    ("elicitation_url_dialog", "you to open an MCP server's page"),
];

/// The label of an end reason; nothing if the reason is unknown.
pub fn describe_end_reason(reason: &str) -> Option<&'static str> {
    find_label(END_REASON_LABELS, reason)
}

/// The reason of a state after a session end.
pub(crate) fn describe_session_end(reason: &str) -> String {
    format_with_label("the session ended", END_REASON_LABELS, reason)
}

/// The reason of a state after a session start.
pub(crate) fn describe_session_start(source: &str) -> String {
    format_with_label("a session started", SESSION_START_LABELS, source)
}

/// The reason of a state after a failed turn.
pub(crate) fn describe_turn_error(error: &str) -> String {
    format_with_label("its turn ended with an error", TURN_ERROR_LABELS, error)
}

/// The reason of a state after a notification of this kind without a message.
pub(crate) fn describe_needed_input(kind: &str) -> String {
    match find_label(NEEDED_INPUT_LABELS, kind) {
        Some(label) => format!("it needs {label}"),
        None => format!("it needs input ({kind})"),
    }
}

fn format_with_label(activity: &str, labels: &[(&str, &'static str)], word: &str) -> String {
    match find_label(labels, word) {
        Some(label) => format!("{activity}: {label}"),
        None => format!("{activity} ({word})"),
    }
}

fn find_label(labels: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    labels.iter().find(|(known, _)| *known == word).map(|(_, label)| *label)
}
