//! Checks the path of this program, and whether `snell` in PATH is the same.

use super::{DoctorFinding, DoctorSubject, note_finding, ok_finding, warning_finding};
use crate::install::exe_path::{UNSTABLE_PATH_HINT, explain_unstable_path, is_runnable};

pub(super) fn check_program(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let shown = subject.program.display();
    let mut findings = vec![ok_finding(format!("{shown}, version {}", env!("CARGO_PKG_VERSION")))];
    if let Some(why) = explain_unstable_path(&subject.program) {
        findings = vec![warning_finding(
            format!("{shown} {why}"),
            format!("{UNSTABLE_PATH_HINT}; then run `snell install` again"),
        )];
    }
    let in_path = subject
        .started
        .search_path
        .iter()
        .map(|directory| directory.join("snell"))
        .find(|candidate| is_runnable(candidate));
    match in_path {
        None => findings.push(note_finding(
            "PATH has no `snell`; agents do not need it there, because they call it by its full path",
        )),
        Some(other) if other.canonicalize().ok() != subject.program.canonicalize().ok() => {
            findings.push(warning_finding(
                format!("`snell` in PATH is another program: {}", other.display()),
                "remove one of them, or put the right directory first in PATH",
            ))
        }
        Some(_) => {}
    }
    findings
}
