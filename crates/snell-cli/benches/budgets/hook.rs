//! What `snell hook` costs the agent that calls it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;
use snell::{Event, Timestamp};
use snell_store::{DecisionRecord, EventRecord, EventRecorder};
use snell_test_support::files::write_file;

use crate::measure::{TimeSamples, format_ratio, print_row, run_to_end, time_contenders};

/// How many events the large database holds.
const MANY: usize = 1_000_000;
/// How many of them are written at once.
const BATCH_SIZE: usize = 2_000;
/// How many others write meanwhile.
const OTHERS: usize = 16;

/// Events on which the built-in handlers have something to say, or something to ask, and their budgets.
const LIFECYCLE: &[(&str, &str, &str)] = &[
    ("SessionStart", "snell hook, a session starts, with five files", "3.00, plus reading"),
    ("UserPromptSubmit", "snell hook, a prompt, which asks the store", "2.00"),
    ("Stop", "snell hook, a stop, which asks the store", "2.00"),
];

/// The files of a project that an agent gets when its session starts, and how many lines each has.
const FILES: &[(&str, usize)] = &[
    ("Desktop/TODAY.md", 100),
    ("Desktop/MEMORY.md", 200),
    ("Desktop/SYSTEM-INDEX.md", 400),
    ("Desktop/identity.md", 50),
    ("notes/SPEC.md", 200),
];

pub(crate) fn bench_hook_processes(root: &Path) {
    let recorded = BenchAgent::new(&root.join("recorded"));
    let unrecorded = BenchAgent::new(&root.join("unrecorded")).without_recording();
    let alone = BenchAgent::new(&root.join("alone")).without_daemon();
    let denied = BenchAgent::new(&root.join("denied")).calling("git push --force origin main");
    let [bare, shell, hook, off, direct, deny] = time_contenders([
        &mut run_true,
        &mut || run_to_end(Command::new("/bin/sh").args(["-c", "true"])),
        &mut || recorded.run_hook(),
        &mut || unrecorded.run_hook(),
        &mut || alone.run_hook(),
        &mut || denied.run_hook(),
    ]);
    let of_true =
        |times: &TimeSamples, budget: &str| Some(format!("{} of true{budget}", format_ratio(times.p50(), bare.p50())));
    print_row("/bin/true", &bare, None);
    print_row("/bin/sh -c true", &shell, None);
    for (program, argument, code) in [("python3", "-c", "pass"), ("node", "-e", "0")] {
        if let Some(times) = time_interpreter(program, argument, code) {
            print_row(&format!("{program} {argument} {code}"), &times, of_true(&times, ""));
        }
    }
    print_row("snell hook, recorded", &hook, of_true(&hook, "; budget 2.00"));
    print_row("snell hook, not recorded", &off, of_true(&off, "; budget 1.50"));
    print_row("snell hook, denied by the guard and recorded", &deny, of_true(&deny, "; budget 2.00"));
    print_row("snell hook, recorded without a daemon", &direct, of_true(&direct, ""));

    let lifecycle = BenchAgent::new(&root.join("lifecycle")).with_files();
    lifecycle.run_hook();
    for (event, what, budget) in LIFECYCLE {
        let desk = lifecycle.on_event(event);
        compare_with_true(what, budget, || desk.run_hook());
    }

    let large = BenchAgent::new(&root.join("large"));
    large.fill_database(MANY);
    compare_with_true("snell hook, 1 000 000 events in the database", "2.00", || large.run_hook());

    let crowded = BenchAgent::new(&root.join("crowded"));
    let others: Vec<_> = (0..OTHERS).map(|_| BenchAgent::sharing_database(&crowded)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for other in &others {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    other.run_hook();
                }
            });
        }
        compare_with_true("snell hook, while 16 others write without a pause", "2.00", || crowded.run_hook());
        done.store(true, Ordering::Relaxed);
    });
}

/// Writes so many events of earlier times into the database of a directory.
pub(crate) fn fill_database(data: &Path, events: usize) {
    let desk = BenchAgent::new(data.parent().unwrap());
    desk.fill_database(events);
}

/// Times a hook beside `/bin/true` under the same conditions.
fn compare_with_true(what: &str, budget: &str, mut hook: impl FnMut()) {
    let [bare, hook] = time_contenders([&mut run_true, &mut hook]);
    let remark = format!("{} of true then; budget {budget}", format_ratio(hook.p50(), bare.p50()));
    print_row(what, &hook, Some(remark));
}

fn run_true() {
    run_to_end(&mut Command::new("/bin/true"));
}

fn time_interpreter(program: &str, argument: &str, code: &str) -> Option<TimeSamples> {
    Command::new(program).arg("--version").output().ok()?;
    let [times] = time_contenders([&mut || run_to_end(Command::new(program).args([argument, code]))]);
    Some(times)
}

/// An agent's project and its Snell.
pub(crate) struct BenchAgent {
    home: PathBuf,
    data: PathBuf,
    project: PathBuf,
    session: String,
    scribe: &'static str,
    event: &'static str,
    /// The shell command of its tool calls.
    command: &'static str,
    role: &'static str,
    calls: AtomicU64,
}

static AGENT_COUNT: AtomicU64 = AtomicU64::new(0);

impl BenchAgent {
    pub(crate) fn new(root: &Path) -> Self {
        let number = AGENT_COUNT.fetch_add(1, Ordering::Relaxed);
        let project = root.join(format!("project-{number}"));
        fs::create_dir_all(project.join(".git")).unwrap();
        Self {
            home: root.to_owned(),
            data: root.join("data"),
            project,
            session: format!("session-{number}"),
            scribe: "on",
            event: "PreToolUse",
            command: "git status --short",
            role: "",
            calls: AtomicU64::new(0),
        }
    }

    /// Another agent in another project, with the same database.
    fn sharing_database(desk: &Self) -> Self {
        Self::new(&desk.home)
    }

    /// With the profile that gives files at the start of a session, some of which a role asks for.
    fn with_files(self) -> Self {
        write_file(&self.home.join(".config/snell/snell.toml"), "profile = \"claude-os\"\n");
        let write = |path: &str, text: &str| write_file(&self.project.join(path), text);
        for (path, lines) in FILES {
            write(path, &"What there is to know, in one line of some length.\n".repeat(*lines));
        }
        let role = "---\nauto_include:\n  - Desktop/identity.md\n  - notes/**/*.md\n---\n\n# Chief\n";
        write(".claude/roles/chief.md", role);
        Self { role: "chief", ..self }
    }

    /// The same agent, when something else happens.
    fn on_event(&self, event: &'static str) -> Self {
        Self {
            home: self.home.clone(),
            data: self.data.clone(),
            project: self.project.clone(),
            session: self.session.clone(),
            event,
            calls: AtomicU64::new(0),
            ..*self
        }
    }

    /// An agent whose tool calls run this command.
    pub(crate) fn calling(self, command: &'static str) -> Self {
        Self { command, ..self }
    }

    /// Which saves files before its calls, or does not.
    pub(crate) fn saving_files(self, backup: &str) -> Self {
        write_file(&self.home.join(".config/snell/snell.toml"), format!("[guard]\nbackup = {backup}\n"));
        self
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    fn without_daemon(self) -> Self {
        Self { scribe: "off", ..self }
    }

    fn without_recording(self) -> Self {
        write_file(&self.home.join(".config/snell/snell.toml"), "[handlers]\ntrack = false\n");
        self
    }

    fn build_payload(&self, number: u64) -> String {
        let mut payload = json!({
            "session_id": self.session,
            "transcript_path": self.home.join("transcript.jsonl"),
            "cwd": self.project,
            "permission_mode": "default",
            "hook_event_name": self.event,
        });
        match self.event {
            "PreToolUse" => {
                payload["tool_name"] = "Bash".into();
                payload["tool_input"] = json!({"command": self.command, "description": "Show what changed"});
                payload["tool_use_id"] = format!("toolu_{number}").into();
            }
            "SessionStart" => payload["source"] = "resume".into(),
            "UserPromptSubmit" => payload["prompt"] = format!("Please look at number {number}.").into(),
            _ => {}
        }
        payload.to_string()
    }

    /// Calls the hook as an agent does: the payload comes through a pipe, and the answer is awaited. It is in the pipe
    /// before the hook begins, so that what is measured is not how soon its caller is allowed to write it.
    pub(crate) fn run_hook(&self) {
        let payload = self.build_payload(self.calls.fetch_add(1, Ordering::Relaxed));
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(payload.as_bytes()).unwrap();
        drop(writer);
        assert!(self.spawn_hook(reader.into()).wait().unwrap().success());
    }

    fn spawn_hook(&self, payload: Stdio) -> Child {
        Command::new(env!("CARGO_BIN_EXE_snell"))
            .args(["hook", "--agent", "claude"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.home)
            .env("SNELL_HOME", &self.data)
            .env("SNELL_SCRIBE", self.scribe)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_SESSION_ROLE", self.role)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .current_dir(&self.project)
            .stdin(payload)
            // A hook denies by exit code if it cannot answer, so its answer must go somewhere.
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Writes so many events of an earlier time into the database.
    fn fill_database(&self, events: usize) {
        let mut recorder = EventRecorder::new(&self.data);
        for batch in 0..events / BATCH_SIZE {
            let observations =
                (0..BATCH_SIZE).map(|index| self.build_event_record(batch * BATCH_SIZE + index)).collect();
            assert_eq!(recorder.record_events(observations).len(), BATCH_SIZE);
            recorder.open_store().unwrap().run_maintenance().unwrap();
        }
        recorder.close();
    }

    fn build_event_record(&self, number: usize) -> EventRecord {
        let payload = self.build_payload(u64::MAX - number as u64);
        let (mut event, _) = Event::from_json(None, payload.as_bytes()).unwrap();
        let session = format!("earlier-{}", number / 1_000);
        event.session_id = Some(session.clone());
        event.raw.insert("session_id".into(), session.into());
        let mut record = EventRecord::new(&event, Timestamp::now());
        record.judgement = Some(DecisionRecord::default());
        record
    }
}
