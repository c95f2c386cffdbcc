//! Every agent: its file, its form, and everything as it was afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use snell_test_support::files::{find_repository_root, list_tree, read_file_mode, write_file};
use snell_test_support::process::run_with_stdin;
use snell_test_support::skip::require_util_linux_script;

use super::InstallHome;

/// The user's file of each agent, and how it calls Snell. `PROGRAM` is the program.
const FILES: &[(&str, &str, &str)] = &[
    ("amp", ".config/amp/plugins/snell.ts", r#"const COMMAND = ["PROGRAM","hook","--agent","amp"];"#),
    (
        "augment",
        ".augment/settings.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent augment"}]}]"#,
    ),
    (
        "claude",
        ".claude/settings.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "PROGRAM", "args": ["hook", "--agent", "claude"]}]}]"#,
    ),
    ("cline", ".cline/hooks/PreToolUse.sh", "exec 'PROGRAM' hook --agent cline\n"),
    (
        "codex",
        ".codex/hooks.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent codex"}]}]"#,
    ),
    (
        "copilot",
        ".copilot/hooks/snell.json",
        r#""PreToolUse": [{"type": "command", "bash": "'PROGRAM' hook --agent copilot", "timeoutSec": 600}]"#,
    ),
    (
        "crush",
        ".config/crush/crush.json",
        r#""PreToolUse": [{"name": "snell", "command": "'PROGRAM' hook --agent crush", "timeout": 600}]"#,
    ),
    ("cursor", ".cursor/hooks.json", r#""preToolUse": [{"command": "'PROGRAM' hook --agent cursor", "timeout": 600}]"#),
    (
        "deepagents",
        ".deepagents/hooks.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent deepagents"}]}]"#,
    ),
    (
        "droid",
        ".factory/hooks.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent droid", "timeout": 600}]}]"#,
    ),
    (
        "gemini",
        ".gemini/settings.json",
        r#""BeforeTool": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent gemini", "timeout": 600000}]}]"#,
    ),
    (
        "goose",
        ".agents/plugins/snell/hooks/hooks.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent goose", "timeout": 600}]}]"#,
    ),
    (
        "grok",
        ".grok/hooks/snell.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent grok", "timeout": 600}]}]"#,
    ),
    ("kilo", ".config/kilo/plugins/snell.js", r#"const COMMAND = ["PROGRAM","hook","--agent","kilo"];"#),
    (
        "kimi",
        ".kimi-code/config.toml",
        "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"'PROGRAM' hook --agent kimi\"\ntimeout = 600\n",
    ),
    (
        "kiro",
        ".kiro/hooks/snell.json",
        r#""trigger": "PreToolUse", "timeout": 600, "action": {"type": "command", "command": "'PROGRAM' hook --agent kiro"}"#,
    ),
    ("opencode", ".config/opencode/plugins/snell.js", r#"const COMMAND = ["PROGRAM","hook","--agent","opencode"];"#),
    ("pi", ".pi/agent/extensions/snell.js", r#"const COMMAND = ["PROGRAM","hook","--agent","pi"];"#),
    (
        "qwen",
        ".qwen/settings.json",
        r#""PreToolUse": [{"hooks": [{"type": "command", "command": "'PROGRAM' hook --agent qwen", "timeout": 600000}]}]"#,
    ),
    (
        "vibe",
        ".vibe/hooks.toml",
        "[[hooks]]\nname = \"snell-pre_tool\"\ntype = \"pre_tool\"\ncommand = \"'PROGRAM' hook --agent vibe\"\ntimeout = 600\nstrict = true\n",
    ),
    (
        "windsurf",
        ".codeium/windsurf/hooks.json",
        r#""pre_run_command": [{"command": "'PROGRAM' hook --agent windsurf"}]"#,
    ),
];

/// Settings of somebody who has hooks already, in the form of the agent.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("augment", "{\n\t\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]}\n}"),
    (
        "codex",
        "{\"description\": \"mine\", \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]}}",
    ),
    ("copilot", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n"),
    (
        "crush",
        "{\n  // mine\n  \"models\": {},\n  \"hooks\": {\"PreToolUse\": [{\"command\": \"say\", \"matcher\": \"^bash$\"}]}\n}\n",
    ),
    ("cursor", "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"say\"}], \"stop\": []}}"),
    ("cursor", "{}"),
    ("droid", "{\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n"),
    ("gemini", "{\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, // mine\n}\n"),
    (
        "kimi",
        "# mine\ndefault_model = \"k2\"\n\n[[hooks]] # mine\nevent = \"Stop\"\ncommand = \"say\"\n\n[models.k2]\nprovider = \"p\"",
    ),
    ("kimi", "\n"),
    ("kimi", "a = 1\r\n\r\n[b]\r\nc = 2\r\n"),
    ("qwen", "{}"),
    ("vibe", "[[hooks]]\nname = \"mine\"\ntype = \"pre_tool\"\ncommand = \"say\"\n# the end\n"),
    ("windsurf", "{\"hooks\": {\"pre_run_command\": [{\"command\": \"say\", \"show_output\": true}]}}"),
];

fn find_file(home: &InstallHome, agent: &str) -> PathBuf {
    let (_, path, _) = FILES.iter().find(|(name, ..)| *name == agent).unwrap();
    home.sandbox.home().join(path)
}

#[test]
fn every_agent_calls_snell_in_its_own_form_and_nothing_is_left_of_it() {
    for (agent, path, entry) in FILES {
        let home = InstallHome::new();
        let before = list_tree(&home.sandbox.home());
        home.run_successfully(&["install", agent]);
        let program = home.program_path().display().to_string();
        let text = fs::read_to_string(home.sandbox.home().join(path)).unwrap();
        assert!(text.contains(&entry.replace("PROGRAM", &program)), "{agent}: {text}");
        let installed = list_tree(&home.sandbox.home());
        let again = home.run_successfully(&["install", agent]);
        assert!(again.stdout.starts_with("Nothing to do: "), "{agent}: {again:?}");
        assert_eq!(list_tree(&home.sandbox.home()), installed, "{agent}");
        home.run_successfully(&["uninstall", agent]);
        assert_eq!(list_tree(&home.sandbox.home()), before, "{agent}");
    }
    let page = fs::read_to_string(find_repository_root().join("docs/reference/agents.md")).unwrap();
    for (agent, path, _) in FILES {
        let row = format!("| `{agent}` | `~/{}` |", path.replace("PreToolUse", "EVENT"));
        assert!(page.contains(&row), "docs/reference/agents.md has no row {row}");
    }
    let known = InstallHome::new().run_snell(&["install", "emacs"]).stderr;
    let names: Vec<_> = FILES.iter().map(|(agent, ..)| *agent).collect();
    assert!(known.contains(&format!("use one of: {}\n", names.join(", "))), "{known}");
}

#[test]
fn all_agents_come_and_go_together() {
    let home = InstallHome::new();
    let before = list_tree(&home.sandbox.home());
    let names = FILES.iter().map(|(agent, ..)| *agent);
    home.run_successfully(&std::iter::once("install").chain(names).collect::<Vec<_>>());
    for (agent, path, _) in FILES {
        assert!(home.sandbox.home().join(path).is_file(), "{agent}");
    }
    home.run_successfully(&["uninstall", "--all"]);
    assert_eq!(list_tree(&home.sandbox.home()), before);
}

#[test]
fn neighbours_stay_byte_for_byte() {
    for (agent, text) in NEIGHBOURS {
        let home = InstallHome::new();
        let path = find_file(&home, agent);
        write_file(&path, text);
        home.run_successfully(&["install", agent]);
        let installed = fs::read_to_string(&path).unwrap();
        assert!(installed.contains("hook --agent"), "{agent}: {installed}");
        let mut rest = installed.chars();
        assert!(text.chars().all(|kept| rest.any(|found| found == kept)), "{agent}: {installed}");
        home.run_successfully(&["install", agent]);
        assert_eq!(fs::read_to_string(&path).unwrap(), installed, "{agent}");
        home.run_successfully(&["uninstall", agent]);
        assert_eq!(fs::read_to_string(&path).unwrap(), *text, "{agent}");
    }
}

#[test]
fn a_change_since_the_installation_stays() {
    for (agent, text) in NEIGHBOURS {
        let home = InstallHome::new();
        let path = find_file(&home, agent);
        write_file(&path, text);
        home.run_successfully(&["install", agent]);
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        let (mark, comment) = if is_toml { ("\n# later\n", "# later") } else { ("\n// later\n", "// later") };
        let installed = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{installed}{mark}")).unwrap();
        home.run_successfully(&["uninstall", agent]);
        let left = fs::read_to_string(&path).unwrap();
        assert!(left.contains(comment) && !left.contains("snell"), "{agent}: {left}");
        // A TOML file without a line end at its end gets one.
        assert_eq!(left.replace(mark, "").trim_end(), text.trim_end(), "{agent}");
    }
}

#[test]
fn a_project_has_its_own_files() {
    let paths = [
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("qwen", ".qwen/settings.json"),
        ("copilot", ".github/hooks/snell.json"),
        ("grok", ".grok/hooks/snell.json"),
        ("vibe", ".vibe/hooks.toml"),
        ("cline", ".clinerules/hooks/PreToolUse.sh"),
        ("opencode", ".opencode/plugins/snell.js"),
        ("kilo", ".kilo/plugins/snell.js"),
        ("pi", ".pi/extensions/snell.js"),
        ("cursor", ".cursor/hooks.json"),
        ("crush", "crush.json"),
    ];
    for (agent, path) in paths {
        let home = InstallHome::new();
        let before = list_tree(&home.sandbox.project());
        let ran = home.run_successfully(&["install", agent, "--project"]);
        let undo = format!("snell uninstall {agent} --project '{}'", home.sandbox.project().display());
        assert!(ran.stdout.contains(&undo), "{agent}: {}", ran.stdout);
        assert!(home.sandbox.exists(path), "{agent}");
        // One event would call Snell twice.
        let refused = home.run_snell(&["install", agent]);
        assert!(refused.code == 1 && refused.stderr.contains("may be recorded twice"), "{agent}: {refused:?}");
        home.run_successfully(&["uninstall", agent, "--project"]);
        assert_eq!(list_tree(&home.sandbox.project()), before, "{agent}");
    }
}

#[test]
fn a_variable_moves_the_directory_of_an_agent() {
    let cases = [
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/snell.js"),
        ("pi", "PI_CODING_AGENT_DIR", "extensions/snell.js"),
    ];
    for (agent, variable, path) in cases {
        let mut home = InstallHome::new();
        let elsewhere = home.sandbox.home().join("elsewhere");
        home.sandbox = home.sandbox.env(variable, elsewhere.to_str().unwrap());
        let ran = home.run_successfully(&["install", agent]);
        assert!(elsewhere.join(path).is_file(), "{agent}: {ran:?}");
        let undo = format!("{variable}='{}' snell uninstall {agent}", elsewhere.display());
        assert!(ran.stdout.contains(&undo), "{agent}: {}", ran.stdout);
    }
}

#[test]
fn the_hooks_of_somebody_who_uses_cline_run_beside_those_of_snell() {
    let home = InstallHome::new();
    let hooks = home.sandbox.home().join(".cline/hooks");
    // Cline runs all files whose names before the extension are an event's.
    write_file(&hooks.join("PreToolUse"), "#!/bin/sh\necho mine\n");
    home.run_successfully(&["install", "cline"]);
    assert_eq!(fs::read_to_string(hooks.join("PreToolUse")).unwrap(), "#!/bin/sh\necho mine\n");
    assert_eq!(read_file_mode(&hooks.join("PreToolUse.sh")) & 0o111, 0o111);
    home.run_successfully(&["uninstall", "cline"]);
    assert_eq!(list_tree(&hooks).len(), 1);
}

#[test]
fn a_file_of_another_author_in_the_place_of_snells_is_left_alone() {
    for (agent, path) in [
        ("cline", ".cline/hooks/PostToolUse.sh"),
        ("opencode", ".config/opencode/plugins/snell.js"),
        ("pi", ".pi/agent/extensions/snell.js"),
        ("kiro", ".kiro/hooks/snell.json"),
    ] {
        let home = InstallHome::new();
        write_file(&home.sandbox.home().join(path), "mine\n");
        let before = list_tree(&home.sandbox.home());
        for command in ["install", "uninstall"] {
            let ran = home.run_snell(&[command, agent]);
            assert_eq!(ran.code == 0, command == "uninstall", "{agent}: {ran:?}");
            assert_eq!(list_tree(&home.sandbox.home()), before, "{agent}");
        }
        let said = home.run_snell(&["install", agent]).stderr;
        assert!(said.contains(&format!("{path}:1:1: Snell did not write this file")), "{agent}: {said}");
    }
}

#[test]
fn a_plugin_of_an_earlier_version_is_replaced_and_a_changed_one_goes() {
    let home = InstallHome::new();
    home.run_successfully(&["install", "opencode"]);
    let path = find_file(&home, "opencode");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}// later\n")).unwrap();
    let found = home.run_snell(&["doctor"]).stdout;
    assert!(found.contains("snell.js differs from the file that this version installs"), "{found}");
    home.run_successfully(&["install", "opencode"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    fs::write(&path, format!("{text}// later\n")).unwrap();
    home.run_successfully(&["uninstall", "opencode"]);
    assert!(!path.exists());
}

#[test]
fn a_line_of_shell_starts_the_program_whatever_its_path_is() {
    let home = InstallHome::new();
    let program = home.sandbox.home().join("it's a $HOME \"bin\"/snell");
    fs::create_dir(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_snell"), &program).unwrap();
    let mut command = home.sandbox.program(&program);
    let ran = run_with_stdin(command.args(["install", "codex", "kimi", "cline"]), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let codex: Value = serde_json::from_str(&fs::read_to_string(find_file(&home, "codex")).unwrap()).unwrap();
    let codex = codex["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let kimi = fs::read_to_string(find_file(&home, "kimi")).unwrap();
    // A basic string of TOML is written as in JSON.
    let kimi = kimi.lines().find_map(|line| line.strip_prefix("command = ")).unwrap();
    let kimi: String = serde_json::from_str(kimi).unwrap();
    let cline = format!("sh '{}'", find_file(&home, "cline").display());
    for line in [codex, kimi, cline] {
        let mut shell = home.sandbox.program("/bin/sh");
        let call = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": {"command": "rm -rf /"}}"#;
        let ran = run_with_stdin(shell.args(["-c", &line]), call);
        assert!(ran.stdout.contains("rm would delete everything"), "{line}: {ran:?}");
    }
    let mut command = home.sandbox.program(&program);
    let again = run_with_stdin(command.args(["install", "codex", "kimi", "cline"]), "");
    assert_eq!(again.stdout.matches("Nothing to do").count(), 3, "{again:?}");
}

#[test]
fn what_an_agent_still_needs_is_said() {
    let cases = [
        (&["install", "codex"][..], "enter /hooks, and trust each"),
        (&["install", "gemini", "--project"], "only in a folder that you trust"),
        (&["install", "copilot", "--project"], "pass --trust-folder"),
        (&["install", "grok", "--project"], "until you trust the project"),
        (&["install", "vibe", "--project"], "until you trust the folder"),
    ];
    for (args, note) in cases {
        let ran = InstallHome::new().run_successfully(args);
        assert!(ran.stdout.lines().any(|line| line.starts_with("  Note ") && line.contains(note)), "{ran:?}");
    }
}

/// A home with the directories of two agents, and no program of an agent in `PATH`.
fn home_with_two_agents() -> InstallHome {
    let mut home = InstallHome::new();
    home.sandbox = home.sandbox.env("PATH", "/nowhere");
    for directory in [".codex", ".config/opencode"] {
        fs::create_dir_all(home.sandbox.home().join(directory)).unwrap();
    }
    home
}

#[test]
fn the_agents_of_this_machine_are_found() {
    let home = home_with_two_agents();
    let before = list_tree(&home.sandbox.home());
    let asked = home.run_snell(&["install"]);
    assert_eq!(
        (asked.code, asked.stderr.as_str()),
        (
            1,
            "error: no agent is named, and there is no terminal to ask\n\
             hint: run `snell install codex opencode`, or pass --all\n"
        )
    );
    let shown = home.run_successfully(&["install", "--all", "--dry-run"]).stdout;
    assert!(shown.contains("+++ ") && shown.contains("hooks.json") && shown.contains("snell.js"), "{shown}");
    assert_eq!(list_tree(&home.sandbox.home()), before);
    home.run_successfully(&["install", "--all"]);
    assert!(find_file(&home, "codex").is_file() && find_file(&home, "opencode").is_file());
    assert!(!home.sandbox.home().join(".claude").exists());
    home.run_successfully(&["uninstall", "--all"]);
    assert_eq!(list_tree(&home.sandbox.home()), before);
    let nothing = home.run_successfully(&["uninstall", "--all"]).stdout;
    assert_eq!(nothing, "Nothing to do: no agent calls Snell.\n");
}

#[test]
fn a_program_in_path_shows_that_an_agent_is_here() {
    let mut home = InstallHome::new();
    let directory = home.sandbox.home().join("programs");
    snell_test_support::files::write_script(&directory.join("gemini"), "exit 0\n");
    home.sandbox = home.sandbox.env("PATH", directory.to_str().unwrap());
    home.run_successfully(&["install", "--all"]);
    assert!(find_file(&home, "gemini").is_file());
}

#[test]
fn a_fault_in_one_agent_does_not_keep_the_others_from_it() {
    let home = home_with_two_agents();
    write_file(&find_file(&home, "codex"), "nonsense");
    let ran = home.run_snell(&["install", "--all"]);
    assert!(ran.code == 1 && ran.stderr.contains("cannot install Snell in Codex"), "{ran:?}");
    assert!(find_file(&home, "opencode").is_file());
    assert_eq!(fs::read_to_string(find_file(&home, "codex")).unwrap(), "nonsense");
}

#[test]
fn reports_for_programs_are_an_object_for_one_agent_and_a_list_for_several() {
    let home = home_with_two_agents();
    let one: Value = serde_json::from_str(&home.run_successfully(&["install", "codex", "--json"]).stdout).unwrap();
    assert_eq!((&one["agent"], &one["changed"]), (&Value::from("codex"), &Value::from(true)));
    assert!(one["notes"][0].as_str().unwrap().contains("/hooks"), "{one}");
    let list: Value = serde_json::from_str(&home.run_successfully(&["install", "--all", "--json"]).stdout).unwrap();
    let names: Vec<_> = list.as_array().unwrap().iter().map(|report| report["agent"].as_str().unwrap()).collect();
    assert_eq!(names, ["codex", "opencode"]);
    let cline: Value = serde_json::from_str(&home.run_successfully(&["install", "cline", "--json"]).stdout).unwrap();
    let files = cline["more_files"].as_array().unwrap().iter().map(|file| Path::new(file.as_str().unwrap()));
    assert!(files.clone().count() > 5 && files.clone().all(Path::is_file), "{cline}");
    let gone: Value = serde_json::from_str(&home.run_successfully(&["uninstall", "--all", "--json"]).stdout).unwrap();
    assert_eq!(gone.as_array().unwrap().len(), 3);
}

#[test]
fn at_a_terminal_snell_shows_what_it_would_do_and_asks() {
    let Some(script) = require_util_linux_script() else {
        return;
    };
    let home = home_with_two_agents();
    let before = list_tree(&home.sandbox.home());
    let ask = |answer: &str| {
        let mut command = home.sandbox.program(&script);
        command.args(["--quiet", "--return", "--command"]).arg(format!("{} install", home.program_path().display()));
        command.arg("/dev/null").env("SHELL", "/bin/sh").env("TERM", "xterm").env("NO_COLOR", "1");
        run_with_stdin(&mut command, answer).stdout.replace('\r', "")
    };
    let refused = ask("n\n");
    let own = home.sandbox.home().display().to_string();
    assert!(
        refused
            .replace(&own, "~")
            .contains("Codex          would create ~/.codex/hooks.json, to call Snell on 11 events"),
        "{refused}"
    );
    assert!(refused.contains("Install Snell in 2 agents? [y/N]"), "{refused}");
    assert!(refused.trim_end().ends_with("Nothing was changed."), "{refused}");
    assert_eq!(list_tree(&home.sandbox.home()), before);
    let accepted = ask("y\n");
    assert!(accepted.contains("OpenCode now calls Snell on "), "{accepted}");
    assert!(find_file(&home, "codex").is_file() && find_file(&home, "opencode").is_file());
    let again = ask("y\n");
    assert!(again.contains("Codex          already calls Snell") && again.contains("Nothing was changed."), "{again}");
}
