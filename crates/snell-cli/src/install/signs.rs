//! By what Snell knows its own entries: only a whole command that Snell itself writes or documents is one.

use std::path::{Path, PathBuf};

use super::agents::{Agent, Surroundings};
use super::disk;
use super::entry::{Call, Way};
use super::script;

/// By what Snell knows its own entries.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
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
        let [program, argument] = &words[..] else {
            return None;
        };
        let path = Path::new(program);
        let name = path.file_name()?;
        if name == script::NAME {
            return (script::is_event(argument) && self.is_own_script(path)).then_some(Way::Notify);
        }
        let is_own_program = name == "snell" || *program == self.program;
        (is_own_program && argument == "hook").then_some(Way::Hook)
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
            (exec("/old/snell", &["hook", "--agent", "claude"]), None),
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
