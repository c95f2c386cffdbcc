//! Recognizes Snell's own entries: only a complete command that Snell writes or documents is one.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use snell::{Hook, RegistrationFormat};

use super::agents::{AgentDirs, InstallAgent};
use super::atomic_file;
use super::exe_path::ExeLocator;
use super::handler::{AGENT_FLAG, HOOK_COMMAND, HandlerCommand, InstallMode};
use super::notify_script;
use crate::env::read_dir_variable;

/// Recognizes Snell's own entries.
#[derive(Clone, Debug)]
pub(crate) struct EntryRecognizer {
    /// The agent of the settings.
    agent: &'static str,
    /// The format of the settings.
    pub(super) format: RegistrationFormat,
    /// The program to register. It is recognized under another name too.
    program: String,
    /// The script to register, if the agent has one.
    script: Option<PathBuf>,
    home: PathBuf,
    /// Reads a script; nothing if it does not exist.
    read_script: fn(&Path) -> Option<String>,
    /// The text of the script after the installation, if it changes.
    planned_script: Option<String>,
}

impl EntryRecognizer {
    pub(crate) fn new(agent: InstallAgent, around: &AgentDirs, program: &Path) -> Self {
        Self {
            agent: agent.name,
            format: agent.format,
            program: program.to_string_lossy().into_owned(),
            script: (!agent.forwarded.is_empty()).then(|| agent.script_path(around)),
            home: around.home.clone(),
            read_script: atomic_file::read_script_head,
            planned_script: None,
        }
    }

    /// The same, with this text of the script.
    pub(crate) fn with_script_text(mut self, text: &str) -> Self {
        self.planned_script = Some(text.to_owned());
        self
    }

    /// Whether each file is a script for one event.
    pub(crate) fn is_script(&self) -> bool {
        matches!(self.format, RegistrationFormat::OwnFile(text) if text.starts_with("#!"))
    }

    /// Whether the files are JSON.
    pub(crate) fn is_json(&self) -> bool {
        matches!(self.format, RegistrationFormat::Json(_))
    }

    /// The home directory.
    pub(super) fn home_text(&self) -> String {
        self.home.to_string_lossy().into_owned()
    }

    /// The words of a simple command; nothing otherwise.
    pub(crate) fn command_words(&self, call: &HandlerCommand) -> Option<Vec<String>> {
        call.split_words(&self.home_text())
    }

    /// How a command calls Snell; nothing if it does not.
    pub(crate) fn recognize(&self, call: &HandlerCommand) -> Option<InstallMode> {
        let words = self.command_words(call)?;
        let (program, arguments) = words.split_first()?;
        let path = Path::new(program);
        let name = path.file_name()?;
        let is_script = self.script.is_some() && name == notify_script::SCRIPT_NAME;
        if let (true, [event]) = (is_script, arguments) {
            return (notify_script::is_event_argument(event) && self.is_own_script(path))
                .then_some(InstallMode::Notify);
        }
        let is_own_program = name == "snell" || *program == self.program;
        (is_own_program && self.is_hook_call(arguments)).then_some(InstallMode::Hook)
    }

    /// How a loaded hook calls Snell; nothing if it does not.
    fn recognize_hook(&self, hook: &Hook) -> Option<InstallMode> {
        let call = match (hook.program(), hook.shell_command()) {
            (Some((command, args)), _) => HandlerCommand::Exec { command: command.to_owned(), args: args.to_vec() },
            (None, Some(line)) => HandlerCommand::Shell { command: line.to_owned() },
            (None, None) => return None,
        };
        self.recognize(&call)
    }

    /// Whether a command names the agent, as those that Snell registers do.
    pub(crate) fn names_agent(&self, call: &HandlerCommand) -> bool {
        let words = self.command_words(call).unwrap_or_default();
        self.recognize(call) == Some(InstallMode::Hook) && words.iter().any(|word| word == AGENT_FLAG)
    }

    /// Whether these are the arguments of Snell as a hook, with or without `--agent`.
    fn is_hook_call(&self, arguments: &[String]) -> bool {
        match arguments {
            [hook] => hook == HOOK_COMMAND,
            [hook, flag, agent] => hook == HOOK_COMMAND && flag == AGENT_FLAG && *agent == self.agent,
            _ => false,
        }
    }

    /// Whether a script is Snell's, by its content, because others have the same name. A missing script is Snell's if it has the path
    /// of Snell's script.
    fn is_own_script(&self, path: &Path) -> bool {
        let is_here = self.script.as_deref() == Some(path);
        let to_be = self.planned_script.clone().filter(|_| is_here);
        match to_be.or_else(|| (self.read_script)(path)) {
            Some(text) => notify_script::is_own_script(&text),
            None => is_here,
        }
    }

    /// For tests: a script is Snell's if its path contains `ours`, another tool's if it contains `theirs`, and missing otherwise.
    #[cfg(test)]
    pub(crate) fn sample(program: &str) -> Self {
        Self {
            agent: "claude",
            format: InstallAgent::find_by_name("claude").unwrap().format,
            program: program.into(),
            script: Some("/home/me/.claude/hooks/notify-headspace.sh".into()),
            home: "/home/me".into(),
            read_script: |path| {
                let path = path.to_string_lossy();
                let ours = notify_script::render_script("/bin/snell", None, None);
                let said = [("ours", ours.as_str()), ("theirs", "#!/bin/sh\n")];
                said.iter().find(|(sign, _)| path.contains(sign)).map(|(_, text)| (*text).to_owned())
            },
            planned_script: None,
        }
    }
}

/// Returns why a hook does not run, if it is Snell itself: the hooks would run twice. It searches programs only if a hook looks like
/// Snell.
pub(crate) fn build_own_hook_filter(
    home: PathBuf,
    project: PathBuf,
) -> impl Fn(&Hook) -> Option<String> + Send + Sync + 'static {
    let signs = OnceLock::new();
    move |hook| {
        let command = hook.command_summary();
        if !command.contains(HOOK_COMMAND) && !command.contains(notify_script::SCRIPT_NAME) {
            return None;
        }
        let look = || {
            let program = ExeLocator::from_env().map_or_else(|_| "snell".into(), |started| started.stable_path());
            let signs_of = |agent: InstallAgent| {
                let around = AgentDirs {
                    home: home.clone(),
                    project: project.clone(),
                    directory: agent.directory_variable().and_then(read_dir_variable),
                };
                (agent.title(), EntryRecognizer::new(agent, &around, &program))
            };
            // A command without `--agent` is Claude Code's, if it fits several.
            let mut agents: Vec<_> = InstallAgent::all().collect();
            agents.sort_by_key(|agent| !agent.registers_arguments());
            agents.into_iter().map(signs_of).collect::<Vec<_>>()
        };
        let mut signs = signs.get_or_init(look).iter();
        let (title, _) = signs.find(|(_, signs)| signs.recognize_hook(hook).is_some())?;
        Some(format!("it calls Snell itself, so only {title} runs it (otherwise the hooks would run twice)"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::jsonc::{JsonPathStep, SettingsDocument};
    use super::*;

    #[test]
    fn only_what_snell_writes_or_documents_is_its_own() {
        let exec = |command: &str, args: &[&str]| json!({"type": "command", "command": command, "args": args});
        let shell = |command: &str| json!({"type": "command", "command": command});
        let (hook, notify) = (Some(InstallMode::Hook), Some(InstallMode::Notify));
        let cases: Vec<(Value, Option<InstallMode>)> = vec![
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
            (json!({"type": "command", "command": "snell hook", "args": "hook"}), None),
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
        let signs = EntryRecognizer::sample("/opt/snell-next");
        for (handler, way) in cases {
            let document = SettingsDocument::parse(&json!([handler]).to_string()).unwrap();
            let RegistrationFormat::Json(form) = signs.format else { unreachable!() };
            let node = document.node_at(&[JsonPathStep::Item(0)]);
            let call = node.and_then(|node| HandlerCommand::from_handler(node, &form));
            assert_eq!(call.and_then(|call| signs.recognize(&call)), way, "{handler}");
        }
    }

    #[test]
    fn a_script_that_is_taken_over_or_given_back_is_judged_by_what_it_will_say() {
        let call = HandlerCommand::Exec {
            command: "/home/me/.claude/hooks/notify-headspace.sh".into(),
            args: vec!["stop".into()],
        };
        let signs = |text: &str| EntryRecognizer::sample("/bin/snell").with_script_text(text);
        assert_eq!(signs("#!/bin/sh\n# mine\n").recognize(&call), None);
        let ours = notify_script::render_script("/bin/snell", None, None);
        assert_eq!(signs(&ours).recognize(&call), Some(InstallMode::Notify));
    }
}
