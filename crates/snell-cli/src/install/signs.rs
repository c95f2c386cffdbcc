//! By what Snell knows its own entries: only a whole command that Snell itself writes or documents is one.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use snell::Hook;

use super::agents::{Agent, Surroundings};
use super::disk;
use super::entry::{AGENT, Call, Way};
use super::program::Started;
use super::script;
use crate::around::directory_from;

/// By what Snell knows its own entries.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    /// The agent whose settings they are in.
    agent: &'static str,
    /// The program that would be registered. One that was renamed is still ours if it is this one.
    program: String,
    /// The script that would be registered.
    script: PathBuf,
    home: PathBuf,
    /// What a script says; nothing if it is not there.
    read: fn(&Path) -> Option<String>,
    /// What the script of ours says once everything is done, if that is something else than now.
    script_to_be: Option<String>,
}

impl Signs {
    pub(crate) fn of(agent: &Agent, around: &Surroundings, program: &Path) -> Self {
        Self {
            agent: agent.name,
            program: program.to_string_lossy().into_owned(),
            script: agent.script(around),
            home: around.home.clone(),
            read: disk::beginning_of,
            script_to_be: None,
        }
    }

    /// The same, once the script says this.
    pub(crate) fn once_the_script_says(mut self, text: &str) -> Self {
        self.script_to_be = Some(text.to_owned());
        self
    }

    /// The words of a command that is simple enough for that; nothing otherwise.
    pub(crate) fn words(&self, call: &Call) -> Option<Vec<String>> {
        call.words(&self.home.to_string_lossy())
    }

    /// The way in which Snell is called by it; nothing if it is somebody else's.
    pub(crate) fn way(&self, call: &Call) -> Option<Way> {
        let words = self.words(call)?;
        let (program, arguments) = words.split_first()?;
        let path = Path::new(program);
        let name = path.file_name()?;
        if let (true, [event]) = (name == script::NAME, arguments) {
            return (script::is_event(event) && self.is_own_script(path)).then_some(Way::Notify);
        }
        let is_own_program = name == "snell" || *program == self.program;
        (is_own_program && self.is_hook(arguments)).then_some(Way::Hook)
    }

    /// The way in which a hook that was loaded calls Snell; nothing if it is somebody else's.
    fn way_of(&self, hook: &Hook) -> Option<Way> {
        let call = match (hook.program(), hook.shell_line()) {
            (Some((command, args)), _) => Call::Exec {
                command: command.to_owned(),
                args: args.to_vec(),
            },
            (None, Some(line)) => Call::Shell {
                command: line.to_owned(),
            },
            (None, None) => return None,
        };
        self.way(&call)
    }

    /// Whether this is what Snell is called with as a hook of the agent: now, or before it was said who calls.
    fn is_hook(&self, arguments: &[String]) -> bool {
        match arguments {
            [hook] => hook == HOOK,
            [hook, flag, agent] => hook == HOOK && flag == AGENT && *agent == self.agent,
            _ => false,
        }
    }

    /// Whether a script is ours: by what it says, because others are called the same. One that is gone is ours if it is where
    /// ours would be.
    fn is_own_script(&self, path: &Path) -> bool {
        let to_be = self.script_to_be.clone().filter(|_| path == self.script);
        match to_be.or_else(|| (self.read)(path)) {
            Some(text) => script::is_ours(&text),
            None => path == self.script,
        }
    }

    /// For tests, in which a script is ours if `ours` is in its path, somebody else's if `theirs` is, and else gone.
    #[cfg(test)]
    pub(crate) fn sample(program: &str) -> Self {
        Self {
            agent: "claude",
            program: program.into(),
            script: "/home/me/.claude/hooks/notify-headspace.sh".into(),
            home: "/home/me".into(),
            read: |path| {
                let path = path.to_string_lossy();
                let ours = script::text("/bin/snell", None, None);
                let said = [("ours", ours.as_str()), ("theirs", "#!/bin/sh\n")];
                said.iter()
                    .find(|(sign, _)| path.contains(sign))
                    .map(|(_, text)| (*text).to_owned())
            },
            script_to_be: None,
        }
    }
}

/// Why a hook does not run here because it is Snell itself, if it is: whoever asks runs the same hooks, and they would run
/// twice. Programs are looked for only once something looks like it.
pub(crate) fn own_hooks(home: PathBuf, project: PathBuf) -> impl Fn(&Hook) -> Option<String> + Send + Sync + 'static {
    let signs = OnceLock::new();
    move |hook| {
        let command = hook.command();
        if !command.contains(HOOK) && !command.contains(script::NAME) {
            return None;
        }
        let look = || {
            let program = Started::look().map_or_else(|_| "snell".into(), |started| started.stable_path());
            let signs_of = |agent: &&'static Agent| {
                let around = Surroundings {
                    home: home.clone(),
                    project: project.clone(),
                    directory: directory_from(agent.directory_variable()),
                };
                (agent.title(), Signs::of(agent, &around, &program))
            };
            Agent::all().iter().map(signs_of).collect::<Vec<_>>()
        };
        let mut signs = signs.get_or_init(look).iter();
        let (title, _) = signs.find(|(_, signs)| signs.way_of(hook).is_some())?;
        Some(format!(
            "it is Snell itself, which only {title} calls: what it runs is run here already"
        ))
    }
}

/// What Snell is called with as a hook.
const HOOK: &str = "hook";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::document::{Document, Step};
    use super::*;

    #[test]
    fn only_what_snell_writes_or_documents_is_its_own() {
        let exec = |command: &str, args: &[&str]| json!({"type": "command", "command": command, "args": args});
        let shell = |command: &str| json!({"type": "command", "command": command});
        let (hook, notify) = (Some(Way::Hook), Some(Way::Notify));
        let cases: Vec<(Value, Option<Way>)> = vec![
            (exec("/usr/local/bin/snell", &["hook"]), hook),
            (exec("snell", &["hook"]), hook),
            (exec("/opt/snell-next", &["hook"]), hook),
            (exec("/opt/snell-other", &["hook"]), None),
            (exec("/old/snell", &["hook", "--agent", "claude"]), hook),
            (exec("/old/snell", &["hook", "--agent", "codex"]), None),
            (exec("/old/snell", &["hook", "--agent"]), None),
            (exec("/old/snell", &["hook", "--agent", "claude", "extra"]), None),
            (shell("snell hook --agent claude"), hook),
            (shell("snell hook --agent claude && audit.sh"), None),
            (exec("/bin/snell", &["hook", "extra"]), None),
            (exec("/bin/snell", &["statusline"]), None),
            (exec("/bin/snell", &["notify", "stop"]), None),
            (exec("/bin/snell", &[]), None),
            (exec("/bin/snell hook", &[]), None),
            (json!({"type": "http", "command": "snell hook"}), None),
            (json!({"command": "snell hook"}), None),
            (
                json!({"type": "command", "command": "snell hook", "args": "hook"}),
                None,
            ),
            (shell("snell hook"), hook),
            (shell("  /a/b/snell \t hook \n"), hook),
            (shell("\"/a b/snell\" hook"), hook),
            (shell("'/a b/snell' 'hook'"), hook),
            (shell("/a\\ b/snell hook"), hook),
            (shell("~/bin/snell hook"), hook),
            (shell("\"$HOME/bin/snell\" hook"), hook),
            (shell("${HOME}/bin/snell hook"), hook),
            (shell("'$HOME/bin/other' hook"), None),
            (shell("snell hook && audit.sh"), None),
            (shell("snell hook; audit.sh"), None),
            (shell("snell hook | tee log"), None),
            (shell("snell hook > log"), None),
            (shell("snell hook 2>/dev/null"), None),
            (shell("snell hook # mine"), None),
            (shell("snell hook $(audit.sh)"), None),
            (shell("snell \"$(audit.sh)\""), None),
            (shell("snell `audit.sh`"), None),
            (shell("snell\nhook"), None),
            (shell("snell hook\naudit.sh"), None),
            (shell("snell hook &"), None),
            (shell("A=1 snell hook"), None),
            (shell("exec snell hook"), None),
            (shell("echo snell hook"), None),
            (shell("snell hook extra"), None),
            (shell("snell notify stop"), None),
            (shell("snellx hook"), None),
            (shell("snell"), None),
            (shell(""), None),
            (shell("'"), None),
            (shell("snell 'hook"), None),
            (exec("/ours/notify-headspace.sh", &["stop"]), notify),
            (exec("/theirs/notify-headspace.sh", &["stop"]), None),
            (exec("/gone/notify-headspace.sh", &["stop"]), None),
            (exec("/home/me/.claude/hooks/notify-headspace.sh", &["stop"]), notify),
            (exec("/ours/notify-headspace.sh", &["stop", "extra"]), None),
            (exec("/ours/notify-headspace.sh", &["Stop!"]), None),
            (shell("/ours/notify-headspace.sh session-start"), notify),
            (shell("~/.claude/hooks/notify-headspace.sh session-start"), notify),
            (shell("~/theirs/notify-headspace.sh session-start"), None),
            (shell("/ours/notify-headspace.sh stop || true"), None),
            (shell("/ours/notify-headspace.sh.bak stop"), None),
        ];
        let signs = Signs::sample("/opt/snell-next");
        for (handler, way) in cases {
            let document = Document::parse(&json!([handler]).to_string()).unwrap();
            let call = document.at(&[Step::Item(0)]).and_then(Call::of);
            assert_eq!(call.and_then(|call| signs.way(&call)), way, "{handler}");
        }
    }

    #[test]
    fn a_script_that_is_taken_over_or_given_back_is_judged_by_what_it_will_say() {
        let call = Call::Exec {
            command: "/home/me/.claude/hooks/notify-headspace.sh".into(),
            args: vec!["stop".into()],
        };
        let signs = |text: &str| Signs::sample("/bin/snell").once_the_script_says(text);
        assert_eq!(signs("#!/bin/sh\n# mine\n").way(&call), None);
        let ours = script::text("/bin/snell", None, None);
        assert_eq!(signs(&ours).way(&call), Some(Way::Notify));
    }
}
