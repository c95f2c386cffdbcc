//! This program: where it is, and whether it is the one that people call.

use super::{Found, Patient, note, ok, warning};
use crate::install::program::{fleeting, is_runnable};

pub(super) fn check(patient: &Patient) -> Vec<Found> {
    let shown = patient.program.display();
    let mut findings = vec![ok(format!("{shown}, version {}", env!("CARGO_PKG_VERSION")))];
    if let Some(why) = fleeting(&patient.program) {
        findings = vec![warning(format!("{shown} {why}"), "then run `snell install` again")];
    }
    let in_path = patient
        .started
        .path
        .iter()
        .map(|directory| directory.join("snell"))
        .find(|candidate| is_runnable(candidate));
    match in_path {
        None => findings.push(note(
            "no `snell` is in PATH; agents do not need it, because they call it by its full path",
        )),
        Some(other) if other.canonicalize().ok() != patient.program.canonicalize().ok() => findings.push(warning(
            format!("`snell` in PATH is another program: {}", other.display()),
            "remove one of them, or put the right directory first in PATH",
        )),
        Some(_) => {}
    }
    findings
}
