//! Words that agents send and Snell keeps, as people say them. A word that is in no table is told as it is.

/// Why agents and sessions end. Some of it agents say, the rest is what Snell sees.
const END_REASON_LABELS: &[(&str, &str)] = &[
    ("clear", "its user began anew"),
    ("resume", "its user went on with another session"),
    ("logout", "its user logged out"),
    ("prompt_input_exit", "its user left it"),
    ("bypass_permissions_disabled", "it may no longer do without permissions"),
    ("other", "it did not say why"),
    ("process_gone", "its process was gone"),
    ("pane_closed", "its terminal was closed"),
    ("left_pane", "a shell waits in its terminal"),
    ("pane_reused", "another one runs in its terminal"),
    ("replaced", "another session took its place"),
    ("silent", "nothing was heard of it for long"),
];

/// How sessions begin.
const SESSION_START_LABELS: &[(&str, &str)] = &[
    ("startup", "it was started"),
    ("resume", "its user went on with an earlier one"),
    ("clear", "its user began anew"),
    ("compact", "what was said before was summed up"),
];

/// Why a turn could not be ended.
const TURN_ERROR_LABELS: &[(&str, &str)] = &[
    ("rate_limit", "too much was asked of the model for now"),
    ("authentication_failed", "the model's service does not know who asks"),
    ("billing_error", "the model's service is not paid"),
    ("invalid_request", "the model's service does not understand what it is asked"),
    ("model_not_found", "there is no such model"),
    ("server_error", "the model's service failed"),
    ("overloaded", "the model's service has too much to do"),
    ("max_output_tokens", "the answer became too long"),
    ("unknown", "it did not say which"),
];

/// What an agent needs of its user, by the kind of its notification.
const NEEDED_INPUT_LABELS: &[(&str, &str)] = &[
    ("permission", "a permission"),
    ("permission_prompt", "a permission"),
    ("elicitation_dialog", "an answer to a server's question"),
    ("elicitation_url_dialog", "a visit to a server's page"),
];

/// Why an agent or a session ended, as people say it; nothing if the word for it is not known.
pub fn describe_end_reason(reason: &str) -> Option<&'static str> {
    find_label(END_REASON_LABELS, reason)
}

/// Why an agent is in its state because its session ended.
pub(crate) fn describe_session_end(reason: &str) -> String {
    format_with_label("the session ended", END_REASON_LABELS, reason)
}

/// Why an agent is in its state because a session began.
pub(crate) fn describe_session_start(source: &str) -> String {
    format_with_label("a session began", SESSION_START_LABELS, source)
}

/// Why an agent is in its state because its turn failed.
pub(crate) fn describe_turn_error(error: &str) -> String {
    format_with_label("its turn ended with an error", TURN_ERROR_LABELS, error)
}

/// Why an agent waits that sent a notification of this kind without a message.
pub(crate) fn describe_needed_input(kind: &str) -> String {
    match find_label(NEEDED_INPUT_LABELS, kind) {
        Some(words) => format!("it says that it needs {words}"),
        None => format!("it says that it needs input ({kind})"),
    }
}

fn format_with_label(what: &str, words: &[(&str, &'static str)], kept: &str) -> String {
    match find_label(words, kept) {
        Some(words) => format!("{what}: {words}"),
        None => format!("{what} ({kept})"),
    }
}

fn find_label(words: &[(&str, &'static str)], kept: &str) -> Option<&'static str> {
    words.iter().find(|(word, _)| *word == kept).map(|(_, words)| *words)
}
