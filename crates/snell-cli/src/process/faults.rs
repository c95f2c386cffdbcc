//! Faults in variables and arguments. None of them keeps a call from being judged: a default counts instead, and the fault is
//! reported once.

use std::sync::Mutex;

use crate::output;

static REPORTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Reports a fault in one line on standard error, once in this process.
pub(crate) fn report_fault(fault: String) {
    let Ok(mut reported) = REPORTED.lock() else {
        return;
    };
    if !reported.contains(&fault) {
        output::print_warning(&fault);
        reported.push(fault);
    }
}

/// The faults that were reported so far.
pub(crate) fn reported_faults() -> Vec<String> {
    REPORTED.lock().map(|reported| reported.clone()).unwrap_or_default()
}
