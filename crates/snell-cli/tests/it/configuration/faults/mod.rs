//! Every fault has a file that is named after it, and a message that says where it is and what to write instead.

mod documents;
mod hooks;
mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Sandbox;

/// A file under the contract it is read as, how many hooks are loaded all the same, and the findings.
type Row = (&'static str, usize, &'static [&'static str]);

fn faults() -> impl Iterator<Item = &'static Row> {
    let tables = [documents::FAULTS, hooks::FAULTS, settings::FAULTS];
    tables.into_iter().flatten()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/invalid")
}

#[test]
fn every_fault_is_found_where_it_is_and_its_neighbours_are_loaded() {
    for (written, hooks, findings) in faults() {
        let (_, fixture) = written.split_once(':').unwrap();
        let text = fs::read_to_string(fixtures().join(fixture)).unwrap();
        let sandbox = Sandbox::new().file(fixture, &text);
        let ran = sandbox.snell(&["lint", "--config", written], "");
        let lines: Vec<_> = ran.stdout.lines().collect();
        let (summary, found) = lines.split_last().unwrap();
        let expected: Vec<_> = findings.iter().map(|finding| format!("{fixture}:{finding}")).collect();
        assert_eq!(found, expected, "{written}");
        let plural = if *hooks == 1 { "" } else { "s" };
        assert!(
            summary.ends_with(&format!("({hooks} hook{plural} loaded).")),
            "{written}: {summary}"
        );
        let erroneous = findings.iter().any(|finding| finding.contains(": error: "));
        assert_eq!(ran.code, i32::from(erroneous), "{written}");
        assert_eq!(ran.stderr, "", "{written}");
    }
}

#[test]
fn every_file_of_a_fault_stands_in_the_table() {
    let files: BTreeSet<_> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let rows = faults().map(|(written, _, _)| written.split_once(':').unwrap().1.to_owned());
    assert_eq!(files, rows.collect::<BTreeSet<_>>());
}

#[test]
fn the_findings_are_the_warnings_of_a_run() {
    for (written, _, findings) in faults() {
        let (_, fixture) = written.split_once(':').unwrap();
        let text = fs::read_to_string(fixtures().join(fixture)).unwrap();
        let sandbox = Sandbox::new().file(fixture, &text);
        // An event that none of the files has a hook for: nothing is run, and the files are still talked about.
        let ran = sandbox.snell(&["run", "PostCompact", "--config", written], "{}");
        let expected: Vec<_> = findings.iter().map(|finding| format!("{fixture}:{finding}")).collect();
        assert_eq!((ran.code, ran.warnings()), (0, expected), "{written}");
    }
}
