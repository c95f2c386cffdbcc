//! Whether an agent's process is still there.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::model::Process;

/// How far up from a hook its agent is looked for.
const MAX_STEPS: usize = 8;

/// How far up all processes above one are looked for.
const MAX_ANCESTORS: usize = 64;

impl Process {
    /// The process of this number, as it is now.
    pub fn now(pid: u32) -> Self {
        Self {
            pid,
            started: Stat::of(pid).map(|stat| stat.started),
        }
    }

    /// The agent that called us: the parent, unless that is only a shell that was told to run us.
    pub fn calling() -> Option<Self> {
        Self::above(is_messenger)
    }

    /// As [`Process::calling`], for what is called by a script: the shell that runs the script is not the agent either.
    pub fn calling_through_a_script() -> Option<Self> {
        let mut scripts = 0;
        Self::above(|pid, name| {
            scripts += usize::from(!is_messenger(pid, name));
            is_messenger(pid, name) || (scripts == 1 && runs_a_script(pid))
        })
    }

    /// The nearest process above us that does more than pass a call on.
    fn above(mut passes_on: impl FnMut(u32, &str) -> bool) -> Option<Self> {
        let mut pid = rustix::process::getppid()?.as_raw_nonzero().get().cast_unsigned();
        for _ in 0..MAX_STEPS {
            let Some(stat) = Stat::of(pid) else {
                return Some(Self { pid, started: None });
            };
            if !passes_on(pid, &stat.name) || stat.parent <= 1 {
                return Some(Self {
                    pid,
                    started: Some(stat.started),
                });
            }
            pid = stat.parent;
        }
        None
    }

    /// Every process above us, the nearest first; none where the system does not tell.
    pub fn all_above_us() -> Vec<Self> {
        let own = Self::now(std::process::id());
        own.with_ancestors().skip(1).collect()
    }

    /// Whether it is the process of this number, or lives somewhere below it; nothing where the system does not tell.
    pub fn lives_in(self, pid: u32) -> Option<bool> {
        Stat::of(std::process::id())?;
        Some(!self.is_gone() && self.with_ancestors().any(|process| process.pid == pid))
    }

    /// Whether it reads what is typed at its terminal: not if it was stopped or put into the background. Nothing if it has
    /// no terminal of its own, or the system does not tell.
    pub fn is_in_foreground(self) -> Option<bool> {
        let stat = Stat::of(self.pid)?;
        let foreground = u32::try_from(stat.foreground_group).ok().filter(|group| *group > 0)?;
        Some(!stat.stopped && foreground == stat.group)
    }

    /// Whether it is a shell that runs neither a script nor one command, but whatever is typed.
    pub fn is_a_bare_shell(self) -> bool {
        let is_shell = |stat: Stat| SHELLS.contains(&stat.name.as_str()) && !is_messenger(self.pid, &stat.name);
        Stat::of(self.pid).is_some_and(is_shell) && !runs_a_script(self.pid)
    }

    fn with_ancestors(self) -> impl Iterator<Item = Self> {
        let above = |process: &Self| {
            let parent = Stat::of(process.pid)?.parent;
            (parent > 0).then(|| Self::now(parent))
        };
        std::iter::successors(Some(self), above).take(MAX_ANCESTORS)
    }

    /// The only process of Claude Code that works in this directory.
    pub(crate) fn of_claude_in(cwd: &Path) -> Option<Self> {
        let mut found = fs::read_dir("/proc")
            .ok()?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|theirs| theirs == cwd))
            .filter(|pid| is_claude(*pid));
        let process = found.next().map(Self::now)?;
        found.next().is_none().then_some(process)
    }

    /// Whether it is certain that the process is gone. Without a look into the system's list nothing is.
    pub fn is_gone(self) -> bool {
        if !Path::new("/proc/self/stat").exists() {
            return rustix::process::Pid::from_raw(self.pid.cast_signed())
                .is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH));
        }
        match Stat::of(self.pid) {
            None => true,
            Some(stat) => stat.dead || self.started.is_some_and(|started| started != stat.started),
        }
    }
}

/// Whether this is Claude Code: by its own name, or by what its interpreter was told to run.
fn is_claude(pid: u32) -> bool {
    let is_its_program =
        |word: &[u8]| word.ends_with(b"/claude") || word == b"claude" || word.ends_with(b"claude-code/cli.js");
    Stat::of(pid).is_some_and(|stat| stat.name == "claude")
        || fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).take(2).any(is_its_program))
}

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "env"];

/// A shell that runs a script. Its name is the script's, so it is known by what it was started as.
fn runs_a_script(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
        let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let program = words.next().unwrap_or_default();
        let script = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        SHELLS.contains(&program) && !script.is_empty() && !script.starts_with('-')
    })
}

/// A shell that was handed one command to run, as agents do: it lives no longer than the hook.
fn is_messenger(pid: u32, name: &str) -> bool {
    SHELLS.contains(&name)
        && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let mut words = line.split(|byte| *byte == 0);
            name == "env"
                || words
                    .nth(1)
                    .is_some_and(|word| word.starts_with(b"-") && word.ends_with(b"c"))
        })
}

/// What the system says of a process.
struct Stat {
    name: String,
    parent: u32,
    group: u32,
    /// The group that its terminal listens to; none if this is not positive.
    foreground_group: i64,
    started: u64,
    /// It was told to pause.
    stopped: bool,
    /// It has ended, and nobody has asked how.
    dead: bool,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        // It is one short line; reading it in one go spares asking again and again.
        let mut line = [0; 1024];
        let length = fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut line));
        Self::parse(&String::from_utf8_lossy(&line[..length.ok()?]))
    }

    /// Reads a line such as `12 (a name) S 1 …`; the name may itself hold brackets and blanks.
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
            foreground_group: fields.get(5)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_there_and_one_that_began_at_another_time_is_not() {
        let own = Process::now(std::process::id());
        assert!(!own.is_gone());
        let other = Process {
            started: own.started.map(|started| started + 1),
            ..own
        };
        assert_eq!(other.is_gone(), own.started.is_some());
    }

    #[test]
    fn a_process_lives_in_those_above_it_and_in_itself() {
        let own = Process::now(std::process::id());
        let above = Process::all_above_us();
        let parent = above.first().unwrap();
        assert_eq!(own.lives_in(own.pid), Some(true));
        assert_eq!(own.lives_in(parent.pid), Some(true));
        assert_eq!(parent.lives_in(own.pid), Some(false));
        let later = Process {
            started: own.started.map(|started| started + 1),
            ..own
        };
        assert_eq!(later.lives_in(own.pid), Some(false));
    }

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let line = "7 (a) (b c) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1000 200";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.started), ("a) (b c", 3, 4711));
        assert_eq!((stat.group, stat.foreground_group, stat.stopped), (7, -1, false));
    }
}
