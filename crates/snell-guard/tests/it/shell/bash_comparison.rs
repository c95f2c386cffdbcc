//! The same scripts, run by the bash of this machine with programs that only tell how they were called.
//!
//! Nothing else can run: the path has the stubs and a few programs that read and print, scripts hold no paths but those of
//! empty directories, and home and working directory are in a temporary directory.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use snell_guard::interpret::interpret_script;
use snell_guard::invocation::{Invocation, StdinSource, SymbolicPart, SymbolicText};
use snell_guard::judge::context::JudgeContext;

use super::render_invocation;
use super::script_generator::ScriptGenerator;

/// Programs that report their calls.
const STUBS: &[&str] = &["one", "two", "takes"];
/// Real programs: they read, print, and start programs of the path.
const REAL: &[&str] =
    &["base64", "basename", "cut", "dirname", "env", "nice", "nohup", "rev", "seq", "timeout", "tr", "xargs"];

/// A directory where scripts can do no harm.
struct BashSandbox {
    directory: tempfile::TempDir,
    bash: PathBuf,
}

/// A program as bash really called it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ActualCall {
    cwd: String,
    argv: Vec<String>,
    stdin: String,
}

impl BashSandbox {
    /// `None` if this machine lacks a program.
    fn new() -> Option<Self> {
        let find = |name: &str| {
            ["/bin", "/usr/bin", "/usr/local/bin"].iter().map(|at| Path::new(at).join(name)).find(|path| path.exists())
        };
        let bash = find("bash")?;
        let directory = tempfile::tempdir().ok()?;
        let root = directory.path();
        for name in ["bin", "home", "work/d1", "work/d2"] {
            fs::create_dir_all(root.join(name)).ok()?;
        }
        for name in REAL {
            std::os::unix::fs::symlink(find(name)?, root.join("bin").join(name)).ok()?;
        }
        std::os::unix::fs::symlink(&bash, root.join("bin/sh")).ok()?;
        let log = root.join("log");
        for name in STUBS {
            let reads = if *name == "takes" { "IFS= read -r -d '' input" } else { "" };
            let stub = format!(
                "#!{}\ninput=\n{reads}\nprintf '%s\\0' \"$PWD\" \"$#\" {name} \"$@\" \"$input\" >> '{}'\n",
                bash.display(),
                log.display()
            );
            let path = root.join("bin").join(name);
            fs::write(&path, stub).ok()?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).ok()?;
        }
        Some(Self { directory, bash })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn judge_context(&self) -> JudgeContext {
        let text = |name: &str| self.path(name).display().to_string();
        JudgeContext {
            cwd: text("work"),
            home: text("home"),
            user: "ann".into(),
            project: text("work"),
            temp: Vec::new(),
            self_paths: Vec::new(),
            links: Vec::new(),
            current_push: None,
            ignores_case: false,
            agent_pid: None,
            variables: Vec::new(),
        }
    }

    /// The calls that bash makes for a script.
    fn run_script(&self, script: &str) -> Vec<ActualCall> {
        let log = self.path("log");
        fs::write(&log, "").unwrap();
        Command::new(&self.bash)
            .args(["-c", script])
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"))
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.path("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let told = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
        let mut words = told.split('\0').map(str::to_owned);
        let mut calls = Vec::new();
        while let (Some(cwd), Some(count)) = (words.next(), words.next()) {
            let count: usize = count.parse().unwrap();
            let argv = words.by_ref().take(count + 1).collect();
            let stdin = words.next().unwrap();
            calls.push(ActualCall { cwd, argv, stdin });
        }
        calls
    }
}

fn is_unknown(value: &SymbolicText) -> bool {
    value.parts.iter().any(|part| !matches!(part, SymbolicPart::Text(_)))
}

/// Whether words may be these values: a partly unknown one may be any number of words.
fn can_be_words(values: &[SymbolicText], words: &[String]) -> bool {
    match values.split_first() {
        None => words.is_empty(),
        Some((value, rest)) if is_unknown(value) => (0..=words.len()).any(|count| can_be_words(rest, &words[count..])),
        Some((value, rest)) => match words.split_first() {
            Some((word, others)) => value.as_text() == Some(word) && can_be_words(rest, others),
            None => false,
        },
    }
}

fn matches_call(invocation: &Invocation, called: &ActualCall) -> bool {
    let reads = called.argv.first().is_some_and(|name| name == "takes");
    let stdin = match &invocation.stdin {
        StdinSource::Text(value) if reads && !is_unknown(value) => value.as_text() == Some(&called.stdin),
        _ => true,
    };
    let cwd = invocation.cwd.as_ref().is_none_or(|cwd| *cwd == called.cwd);
    stdin && cwd && can_be_words(&invocation.argv, &called.argv)
}

/// How much was compared.
#[derive(Debug, Default)]
struct ComparisonTally {
    /// Calls that bash really made.
    calls: usize,
    /// Scripts without unknown parts.
    certain: usize,
}

/// The difference between the guard and bash for a script, if any.
fn find_difference(
    place: &BashSandbox,
    world: &JudgeContext,
    script: &str,
    tally: &mut ComparisonTally,
    branches: bool,
) -> Option<String> {
    let found = interpret_script(script, world);
    let really = place.run_script(script);
    let is_stub = |invocation: &&Invocation| {
        let name = invocation.argv.first();
        name.is_none_or(|name| is_unknown(name) || name.as_text().is_some_and(|name| STUBS.contains(&name)))
    };
    let ours: Vec<&Invocation> = found.invocations.iter().filter(is_stub).collect();
    let told =
        |calls: &[ActualCall]| calls.iter().map(|called| format!("    {called:?}")).collect::<Vec<_>>().join("\n");
    let shown = || {
        ours.iter()
            .map(|own| format!("    {} {:?} {:?}", render_invocation(own), own.cwd, own.stdin))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let whole = |why: &str| Some(format!("{why}:\n{script}\n  ours\n{}\n  theirs\n{}", shown(), told(&really)));
    let exhausted = !found.coverage.is_full();
    if let Some(missing) = really.iter().find(|called| !ours.iter().any(|own| matches_call(own, called))) {
        return if exhausted { None } else { whole(&format!("not seen: {missing:?}")) };
    }
    let is_open = |own: &&Invocation| {
        let stdin = matches!(&own.stdin, StdinSource::Text(value) if is_unknown(value));
        stdin || own.cwd.is_none() || own.argv.iter().any(is_unknown)
    };
    let certain = !branches && !exhausted && !ours.iter().any(is_open);
    tally.calls += really.len();
    tally.certain += usize::from(certain);
    if certain && ours.len() != really.len() {
        return whole("not the same number");
    }
    None
}

#[test]
#[expect(clippy::print_stderr, reason = "says why nothing was tried")]
fn bash_calls_what_we_say_it_calls() {
    let Some(place) = BashSandbox::new() else {
        eprintln!("there is no bash here, or not what it needs: nothing was compared");
        return;
    };
    let world = place.judge_context();
    let asked: Option<u64> = env::var("SNELL_TRIALS").ok().and_then(|text| text.parse().ok());
    let mut differences = Vec::new();
    let trials = asked.unwrap_or(150);
    let mut tally = ComparisonTally::default();
    for seed in 0..trials {
        let mut maker = ScriptGenerator::new(seed + 1);
        let script = maker.script();
        differences.extend(
            find_difference(&place, &world, &script, &mut tally, maker.branches)
                .map(|text| format!("seed {seed}: {text}")),
        );
    }
    let count = differences.len();
    differences.truncate(6);
    let expected = usize::try_from(trials).unwrap();
    assert!(tally.calls > 2 * expected && tally.certain > expected / 3, "too little was compared: {tally:?}");
    assert!(differences.is_empty(), "{count} differ:\n{}", differences.join("\n\n"));
}
