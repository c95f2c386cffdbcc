//! Whether an agent's process is alive.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use rustix::param::clock_ticks_per_second;

use crate::db::model::ProcessIdentity;

/// How many ancestors of a hook are searched for its agent.
const MAX_CALLER_STEPS: usize = 8;

/// How exact the start time of a process is.
const START_TIME_PRECISION_SECONDS: f64 = 0.02;

/// The signal of a closed terminal in the masks of `/proc/PID/status`.
const SIGHUP_BIT: u64 = 1;

/// How many ancestors of a process are listed.
const MAX_ANCESTORS: usize = 64;

/// A process at one time. After a change, its agent has to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessFingerprint {
    /// Which process.
    pub process: ProcessIdentity,
    /// Whether it is certainly gone.
    pub is_gone: bool,
    /// Whether it reads its terminal.
    pub is_in_foreground: bool,
    /// Whether it has a terminal. A process loses it when the terminal is closed.
    pub has_terminal: bool,
}

impl ProcessIdentity {
    /// The process with this id.
    pub fn from_pid(pid: u32) -> Self {
        Self { pid, started: ProcessStat::read(pid).map(|stat| stat.started) }
    }

    /// The agent that called us: the parent, unless that is a shell that only runs us.
    pub fn find_caller() -> Option<Self> {
        Self::find_ancestor(is_one_command_shell)
    }

    /// As [`ProcessIdentity::find_caller`], for a program that a script calls: the script's shell is not the agent
    /// either.
    pub fn find_caller_through_script() -> Option<Self> {
        let mut scripts = 0;
        Self::find_ancestor(|pid, name| {
            scripts += usize::from(!is_one_command_shell(pid, name));
            is_one_command_shell(pid, name) || (scripts == 1 && is_script_shell(pid))
        })
    }

    /// The nearest ancestor that does more than pass the call on.
    fn find_ancestor(mut passes_on: impl FnMut(u32, &str) -> bool) -> Option<Self> {
        let mut pid = rustix::process::getppid()?.as_raw_nonzero().get().cast_unsigned();
        for _ in 0..MAX_CALLER_STEPS {
            let Some(stat) = ProcessStat::read(pid) else {
                return Some(Self { pid, started: None });
            };
            if !passes_on(pid, &stat.name) || stat.parent <= 1 {
                return Some(Self { pid, started: Some(stat.started) });
            }
            pid = stat.parent;
        }
        None
    }

    /// All ancestors, the nearest first; none on systems without `/proc`.
    pub fn list_own_ancestors() -> Vec<Self> {
        let own = Self::from_pid(std::process::id());
        own.iter_with_ancestors().skip(1).collect()
    }

    /// Whether it is the process with this id or a descendant of it; nothing on systems without `/proc`.
    pub fn is_descendant_of(self, pid: u32) -> Option<bool> {
        ProcessStat::read(std::process::id())?;
        Some(!self.is_gone() && self.iter_with_ancestors().any(|process| process.pid == pid))
    }

    /// Whether it reads its terminal: not if it was stopped or runs in the background. Nothing if it has no terminal,
    /// or on systems without `/proc`.
    pub fn is_in_foreground(self) -> Option<bool> {
        let stat = ProcessStat::read(self.pid)?;
        (stat.foreground_group > 0).then(|| stat.is_in_foreground())
    }

    /// Its state now, by one look at the system.
    pub(crate) fn read_fingerprint(self) -> ProcessFingerprint {
        let stat = ProcessStat::read(self.pid).filter(|stat| self.started.is_none_or(|at| at == stat.started));
        ProcessFingerprint {
            process: self,
            is_gone: stat.as_ref().map_or_else(|| self.is_gone(), |stat| stat.dead),
            is_in_foreground: stat.as_ref().is_some_and(ProcessStat::is_in_foreground),
            has_terminal: stat.is_some_and(|stat| stat.terminal != 0),
        }
    }

    /// Whether it has a child process that started this long ago or later, such as a tool or a hook. Without `/proc` it is
    /// unknown.
    pub(crate) fn has_child_younger_than(self, age: Duration) -> bool {
        let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
        let Some(uptime) = uptime.split(' ').next().and_then(|seconds| seconds.parse::<f64>().ok()) else {
            return false;
        };
        let earliest = (uptime - age.as_secs_f64() - START_TIME_PRECISION_SECONDS) * clock_ticks_per_second() as f64;
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut stats = pids.filter_map(|entry| ProcessStat::read(entry.file_name().to_str()?.parse().ok()?));
        stats.any(|stat| stat.parent == self.pid && !stat.dead && stat.started as f64 >= earliest)
    }

    /// Whether it ignores that its terminal is closed, as after `nohup`.
    pub(crate) fn ignores_hangup(self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_none_or(|mask| mask & SIGHUP_BIT != 0)
    }

    /// Whether it is an interactive shell, which runs neither a script nor one command.
    pub fn is_interactive_shell(self) -> bool {
        let is_shell =
            |stat: ProcessStat| SHELLS.contains(&stat.name.as_str()) && !is_one_command_shell(self.pid, &stat.name);
        ProcessStat::read(self.pid).is_some_and(is_shell) && !is_script_shell(self.pid)
    }

    fn iter_with_ancestors(self) -> impl Iterator<Item = Self> {
        let above = |process: &Self| {
            let parent = ProcessStat::read(process.pid)?.parent;
            (parent > 0).then(|| Self::from_pid(parent))
        };
        std::iter::successors(Some(self), above).take(MAX_ANCESTORS)
    }

    /// The only process of Claude Code that works in this directory.
    pub(crate) fn find_claude_in_directory(cwd: &Path) -> Option<Self> {
        let mut found = fs::read_dir("/proc")
            .ok()?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|theirs| theirs == cwd))
            .filter(|pid| is_claude_process(*pid));
        let process = found.next().map(Self::from_pid)?;
        found.next().is_none().then_some(process)
    }

    /// Whether the process was started with one of these arguments; a word without a dash must be among the first. Without
    /// `/proc` it is unknown.
    pub fn has_argument(self, words: &[&str]) -> bool {
        !words.is_empty()
            && fs::read(format!("/proc/{}/cmdline", self.pid)).is_ok_and(|line| contains_argument(&line, words))
    }

    /// Whether the process is certainly gone. Without `/proc` that is never certain.
    pub fn is_gone(self) -> bool {
        if !Path::new("/proc/self/stat").exists() {
            return rustix::process::Pid::from_raw(self.pid.cast_signed())
                .is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH));
        }
        match ProcessStat::read(self.pid) {
            None => true,
            Some(stat) => stat.dead || self.started.is_some_and(|started| started != stat.started),
        }
    }
}

/// An interpreter and its options, the program, and the subcommand.
const MAX_SUBCOMMAND_POSITION: usize = 4;

/// Whether a command line, whose words end with NUL, has one of these arguments.
fn contains_argument(line: &[u8], words: &[&str]) -> bool {
    line.split(|byte| *byte == 0).enumerate().skip(1).any(|(position, argument)| {
        words.iter().any(|word| match argument.strip_prefix(word.as_bytes()) {
            Some(b"") => word.starts_with('-') || position <= MAX_SUBCOMMAND_POSITION,
            Some(rest) => word.starts_with("--") && rest.starts_with(b"="),
            None => false,
        })
    })
}

/// Whether this is Claude Code: by its own name, or by its interpreter's script.
fn is_claude_process(pid: u32) -> bool {
    let is_its_program =
        |word: &[u8]| word.ends_with(b"/claude") || word == b"claude" || word.ends_with(b"claude-code/cli.js");
    ProcessStat::read(pid).is_some_and(|stat| stat.name == "claude")
        || fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).take(2).any(is_its_program))
}

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "env"];

/// A shell that runs a script. Its name is the script's, so the check uses its program.
fn is_script_shell(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
        let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let program = words.next().unwrap_or_default();
        let script = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        SHELLS.contains(&program) && !script.is_empty() && !script.starts_with('-')
    })
}

/// A shell that runs one command, as agents start it: it ends with the hook.
fn is_one_command_shell(pid: u32, name: &str) -> bool {
    SHELLS.contains(&name)
        && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let mut words = line.split(|byte| *byte == 0);
            name == "env" || words.nth(1).is_some_and(|word| word.starts_with(b"-") && word.ends_with(b"c"))
        })
}

/// The system's data about a process.
struct ProcessStat {
    name: String,
    parent: u32,
    group: u32,
    /// The number of its terminal; 0 if it has none.
    terminal: i64,
    /// The foreground group of its terminal; none if this is not positive.
    foreground_group: i64,
    started: u64,
    /// It was stopped by a signal.
    stopped: bool,
    /// It is a zombie.
    dead: bool,
}

impl ProcessStat {
    fn is_in_foreground(&self) -> bool {
        !self.stopped && self.foreground_group == i64::from(self.group)
    }

    fn read(pid: u32) -> Option<Self> {
        // It is one short line, so one read is enough.
        let mut line = [0; 1024];
        let length = fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut line));
        Self::parse(&String::from_utf8_lossy(&line[..length.ok()?]))
    }

    /// Parses a line such as `12 (a name) S 1 …`; the name may contain brackets and blanks.
    fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<_> = after.split_ascii_whitespace().collect();
        Some(Self {
            name: name.to_owned(),
            dead: matches!(*fields.first()?, "Z" | "X" | "x"),
            stopped: matches!(*fields.first()?, "T" | "t"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            terminal: fields.get(4)?.parse().ok()?,
            foreground_group: fields.get(5)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_shows_whether_a_user_can_answer() {
        let cases: [(&[&str], &[&str], bool); 8] = [
            (&["codex", "exec", "Go."], &["exec"], true),
            (&["node", "/opt/codex.js", "exec"], &["exec"], true),
            (&["codex", "Run", "it", "and", "then", "exec"], &["exec"], false),
            (&["codex", "please exec"], &["exec"], false),
            (&["gemini", "--yolo", "-p", "Go."], &["-p", "--prompt"], true),
            (&["gemini", "--prompt=Go."], &["-p", "--prompt"], true),
            (&["gemini", "--prompt-interactive", "Go."], &["-p", "--prompt"], false),
            (&["-p"], &["-p"], false),
        ];
        for (line, words, expected) in cases {
            let joined = line.join("\0");
            assert_eq!(contains_argument(joined.as_bytes(), words), expected, "{line:?}");
        }
    }

    #[test]
    fn this_process_is_alive_and_one_with_another_start_time_is_not() {
        let own = ProcessIdentity::from_pid(std::process::id());
        assert!(!own.is_gone());
        let other = ProcessIdentity { started: own.started.map(|started| started + 1), ..own };
        assert_eq!(other.is_gone(), own.started.is_some());
    }

    #[test]
    fn a_process_descends_from_its_ancestors_and_from_itself() {
        let own = ProcessIdentity::from_pid(std::process::id());
        let above = ProcessIdentity::list_own_ancestors();
        let parent = above.first().unwrap();
        assert_eq!(own.is_descendant_of(own.pid), Some(true));
        assert_eq!(own.is_descendant_of(parent.pid), Some(true));
        assert_eq!(parent.is_descendant_of(own.pid), Some(false));
        let later = ProcessIdentity { started: own.started.map(|started| started + 1), ..own };
        assert_eq!(later.is_descendant_of(own.pid), Some(false));
    }

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let line = "7 (a) (b c) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1000 200";
        let stat = ProcessStat::parse(line).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.started), ("a) (b c", 3, 4711));
        assert_eq!((stat.group, stat.foreground_group, stat.stopped), (7, -1, false));
    }
}
