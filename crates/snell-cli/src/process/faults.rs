//! Invalid variables and arguments. Each is reported once, and its default is used: the call is still judged.

use std::sync::Mutex;

use snell::UserMessage;

use crate::output;

static REPORTED: Mutex<Vec<UserMessage>> = Mutex::new(Vec::new());

/// Prints a warning, once in this process.
pub(crate) fn report_fault(fault: impl Into<UserMessage>) {
    let fault = fault.into();
    let Ok(mut reported) = REPORTED.lock() else {
        return;
    };
    if !reported.contains(&fault) {
        output::print_warning(fault.clone());
        reported.push(fault);
    }
}

/// The faults that were reported so far, each on one line.
pub(crate) fn reported_faults() -> Vec<String> {
    REPORTED.lock().map(|reported| reported.iter().map(ToString::to_string).collect()).unwrap_or_default()
}
