//! Snell's own files, as they are on disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use snell::{AgentProduct, InstallRecipe, SettingsScope};

use super::{create_configured_sandbox, judge_bash, judge_call};
use crate::support::CliSandbox;

/// The answer about an edit of this file.
fn judge_edit(sandbox: &CliSandbox, path: &Path) -> String {
    let told = judge_call(sandbox, "Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}));
    told.decision.unwrap_or_default()
}

#[test]
fn an_agent_does_not_edit_what_is_snells_own() {
    let sandbox = create_configured_sandbox("[comms]\ncontacts = '~/people.toml'\n");
    let home = sandbox.home();
    let own = [
        home.join(".config/snell/snell.toml"),
        home.join(".config/snell/contacts.toml"),
        home.join("people.toml"),
        sandbox.database(),
        sandbox.data().join("trust.json"),
        home.join(".claude/settings.json"),
        Path::new(env!("CARGO_BIN_EXE_snell")).to_owned(),
    ];
    for path in own {
        assert_eq!(judge_edit(&sandbox, &path), "deny", "{}", path.display());
        let shown = path.display();
        for command in [
            format!("echo x > {shown}"),
            format!("sed -i s/a/b/ {shown}"),
            format!("rm -f '{shown}'"),
            format!("mv {shown} x"),
            format!("cp x {shown}"),
        ] {
            let told = judge_bash(&sandbox, &command);
            assert_eq!(told.decision.as_deref(), Some("deny"), "{command}: {told:?}");
            assert!(told.message.contains("rule self."), "{command}: {told:?}");
        }
        // Reading is allowed.
        assert_eq!(judge_bash(&sandbox, &format!("cat {shown}")).summarize(), "", "{shown}");
    }
    assert_eq!(judge_edit(&sandbox, &sandbox.project().join("src/main.rs")), "");
}

#[test]
fn places_are_found_by_the_variables_that_name_them() {
    let elsewhere = tempfile::tempdir().unwrap();
    let at = |name: &str| elsewhere.path().join(name);
    let named = |name: &str| at(name).to_str().unwrap().to_owned();
    let sandbox = CliSandbox::with_frozen_clock()
        .env("XDG_CONFIG_HOME", &named("config"))
        .env("SNELL_HOME", &named("data"))
        .env("CLAUDE_CONFIG_DIR", &named("claude"));
    for path in ["config/snell/snell.toml", "data/snell.db", "claude/settings.json"] {
        assert_eq!(judge_edit(&sandbox, &at(path)), "deny", "{path}");
    }
    // The default directories are Snell's own too: an agent's settings may have set the variables.
    assert_eq!(judge_edit(&sandbox, &sandbox.home().join(".config/snell/snell.toml")), "deny");
    let told = judge_bash(&sandbox, "echo x > $XDG_CONFIG_HOME/snell/snell.toml");
    assert_eq!(told.decision.as_deref(), Some("deny"), "{told:?}");
}

/// The paths of a product's settings files in the directories of two scopes.
fn list_settings_files(product: &AgentProduct, recipe: &InstallRecipe, user: &Path, project: &Path) -> Vec<PathBuf> {
    let is_registered = |event: &&&str| recipe.left_out.iter().all(|(left_out, _)| left_out != *event);
    let mut files = Vec::new();
    for file in recipe.files {
        let directory = match file.scope {
            SettingsScope::User => user,
            SettingsScope::Project | SettingsScope::Local => project,
            SettingsScope::Managed => continue,
        };
        if file.path.contains("{event}") {
            let events = product.events.iter().filter(is_registered);
            files.extend(events.map(|event| directory.join(file.path.replace("{event}", event))));
        } else {
            files.push(directory.join(file.path));
        }
    }
    files
}

#[test]
fn the_settings_of_every_agent_are_snells_own_in_each_of_its_directories() {
    let elsewhere = tempfile::tempdir().unwrap();
    let recipes = || AgentProduct::all().iter().filter_map(|product| Some((product, product.install.as_ref()?)));
    let mut sandbox = CliSandbox::with_frozen_clock();
    for variable in recipes().filter_map(|(_, recipe)| recipe.directory.variable) {
        sandbox = sandbox.env(variable, elsewhere.path().join(variable).to_str().unwrap());
    }
    for (product, recipe) in recipes() {
        let directory = recipe.directory;
        let named = directory.variable.map(|variable| elsewhere.path().join(variable).join(directory.below));
        for user in named.into_iter().chain([sandbox.home().join(directory.default)]) {
            for path in list_settings_files(product, recipe, &user, &sandbox.project()) {
                let told = judge_bash(&sandbox, &format!("echo x > {}", path.display()));
                assert_eq!(told.decision.as_deref(), Some("deny"), "{}: {told:?}", path.display());
                assert!(told.message.contains("rule self."), "{}: {told:?}", path.display());
            }
        }
    }
}

#[test]
fn settings_without_snell_may_be_written_anew_if_the_user_agrees_and_those_with_it_may_not() {
    let write = |sandbox: &CliSandbox, path: &str| {
        judge_call(sandbox, "Write", json!({"file_path": path, "content": "{\"theme\": \"dark\"}"})).summarize()
    };
    for path in [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".clinerules/hooks/PreToolUse.sh",
        "crush.json",
    ] {
        let sandbox = CliSandbox::with_frozen_clock().file(".git/HEAD", "");
        assert_eq!(write(&sandbox, path), "ask self.settings", "no file: {path}");
        let sandbox = sandbox.file(path, "{}");
        assert_eq!(write(&sandbox, path), "ask self.settings", "without Snell: {path}");
        let sandbox = sandbox.file(path, "{\"command\": \"/usr/bin/snell hook\"}");
        assert_eq!(write(&sandbox, path), "deny self.change", "with Snell: {path}");
        std::os::unix::fs::symlink(path, sandbox.project().join("link.json")).unwrap();
        assert_eq!(write(&sandbox, "link.json"), "deny self.change", "by a symlink: {path}");
    }
}

#[test]
fn an_agent_does_not_trust_or_remove_anything_in_its_users_name() {
    let sandbox = CliSandbox::with_frozen_clock();
    for command in ["snell trust", "snell uninstall claude", "cd sub && snell trust ."] {
        let told = judge_bash(&sandbox, command);
        assert_eq!(told.summarize(), "deny self.command", "{command}: {told:?}");
    }
    let program = env!("CARGO_BIN_EXE_snell");
    assert_eq!(judge_bash(&sandbox, &format!("{program} trust")).summarize(), "deny self.command");
    for command in ["snell list", "snell log", "snell status", "snell guard check ls"] {
        assert_eq!(judge_bash(&sandbox, command).summarize(), "", "{command}");
    }
}

#[test]
fn a_link_to_what_is_snells_own_leads_nowhere_else() {
    let sandbox = create_configured_sandbox("");
    let home = sandbox.home();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/settings.json"), "{}").unwrap();
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, sandbox.project().join(name)).unwrap();
        sandbox.project().join(name)
    };
    let file = link(&home.join(".config/snell/snell.toml"), "notes.toml");
    let directory = link(&home.join(".config"), "conf");
    let settings = link(&home.join(".claude/settings.json"), "s.json");
    let chain = link(Path::new("conf"), "again");
    for path in [
        file,
        directory.join("snell/snell.toml"),
        directory.join("snell/new.toml"),
        settings,
        chain.join("snell/contacts.toml"),
        // Many tools resolve `..` before they follow symlinks.
        chain.join("../conf/snell/snell.toml"),
        sandbox.project().join("gone/../conf/snell/snell.toml"),
    ] {
        assert_eq!(judge_edit(&sandbox, &path), "deny", "{}", path.display());
    }
    let relative = judge_call(&sandbox, "Write", json!({"file_path": "conf/snell/snell.toml", "content": ""}));
    assert!(relative.message.contains("rule self."), "{relative:?}");
}

#[test]
fn what_the_users_settings_are_a_link_to_is_snells_own_as_well() {
    let sandbox = CliSandbox::with_frozen_clock().home_file("dotfiles/claude.json", "{}");
    let home = sandbox.home();
    fs::create_dir_all(home.join(".claude")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/claude.json", home.join(".claude/settings.json")).unwrap();
    assert_eq!(judge_edit(&sandbox, &home.join("dotfiles/claude.json")), "deny");
    assert_eq!(judge_bash(&sandbox, "echo '{}' > ~/dotfiles/claude.json").decision.as_deref(), Some("deny"));
    let other = json!({"file_path": home.join("dotfiles/vim"), "old_string": "a", "new_string": "b"});
    let other = judge_call(&sandbox, "Edit", other);
    assert!(!other.message.contains("rule self."), "{other:?}");
}

#[test]
fn a_command_in_a_directory_that_is_a_link_is_seen_where_it_is() {
    let sandbox = create_configured_sandbox("");
    let link = sandbox.project().join("conf");
    std::os::unix::fs::symlink(sandbox.home().join(".config/snell"), &link).unwrap();
    let in_link = |command: &str| {
        let payload = json!({"cwd": link, "tool_name": "Bash", "tool_input": {"command": command}});
        let told: super::GuardHookReply = sandbox.send_hook_event("12:00:00", "PreToolUse", payload).into();
        told.decision.unwrap_or_default()
    };
    assert_eq!(in_link("echo x > snell.toml"), "deny");
    assert_eq!(in_link("cat snell.toml"), "");
}

#[test]
fn a_projects_file_that_has_a_say_about_the_guard_is_not_the_agents_to_change_unasked() {
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", "[guard]\nprotect = ['infra']\n");
    judge_bash(&sandbox, "ls");
    assert_ne!(judge_edit(&sandbox, &sandbox.project().join("snell.toml")), "");
    let plain = CliSandbox::with_frozen_clock().file("snell.toml", "[[hook]]\nevent = 'Stop'\nrun = 'true'\n");
    judge_bash(&plain, "ls");
    assert_eq!(judge_edit(&plain, &plain.project().join("snell.toml")), "ask");
}

#[test]
fn an_agent_does_not_switch_off_a_projects_hooks_without_its_user() {
    let hooks = "[[hook]]\nevent = \"PreToolUse\"\nrun = \"true\"\n";
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", hooks);
    assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
    let path = sandbox.project().join("snell.toml");
    assert_eq!(judge_edit(&sandbox, &path), "ask");
    let write = judge_call(&sandbox, "Write", json!({"file_path": "snell.toml", "content": ""}));
    assert_eq!(write.summarize(), "ask self.hooks");
    for command in [
        "rm snell.toml",
        "rm -f ./*.toml",
        "mv snell.toml snell.off",
        "cp other.toml snell.toml",
        "sed -i s/PreToolUse/Nothing/ snell.toml",
        "truncate -s 0 snell.toml",
        "echo > snell.toml",
        "cat x | tee snell.toml",
    ] {
        assert_eq!(judge_bash(&sandbox, command).summarize(), "ask self.hooks", "{command}");
    }
    for command in ["cat snell.toml", "git add snell.toml", "snell list", "rm other.toml", "npm test"] {
        assert_eq!(judge_bash(&sandbox, command).summarize(), "", "{command}");
    }
}

#[test]
fn where_a_project_has_no_hooks_an_agent_may_begin_a_file_of_them() {
    let sandbox = CliSandbox::with_frozen_clock().file(".git/HEAD", "");
    assert_eq!(judge_edit(&sandbox, &sandbox.project().join("snell.toml")), "");
}

#[test]
fn a_hard_link_to_what_is_snells_own_is_snells_own() {
    let sandbox = create_configured_sandbox("");
    let home = sandbox.home();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/settings.json"), "{}").unwrap();
    judge_bash(&sandbox, "ls");
    let project = sandbox.project();
    for (own, name) in [
        (home.join(".claude/settings.json"), "s.json"),
        (home.join(".config/snell/snell.toml"), "notes.toml"),
        (sandbox.database(), "mine.db"),
    ] {
        fs::hard_link(own, project.join(name)).unwrap();
        for command in [
            format!("echo x > {name}"),
            format!("sed -i s/a/b/ {name}"),
            format!("cp other {name}"),
            format!("tee ./{name} < other"),
        ] {
            let told = judge_bash(&sandbox, &command);
            assert_eq!(told.summarize(), "deny self.change", "{command}: {told:?}");
        }
        assert_eq!(judge_edit(&sandbox, &project.join(name)), "deny", "{name}");
        let through = format!("through-{name}");
        std::os::unix::fs::symlink(name, project.join(&through)).unwrap();
        let told = judge_bash(&sandbox, &format!("echo x > {through}"));
        assert_eq!(told.summarize(), "deny self.change", "{through}: {told:?}");
        assert_eq!(judge_bash(&sandbox, &format!("cat {name}")).summarize(), "", "{name}");
        // The other name may be removed: the file stays.
        assert_eq!(judge_bash(&sandbox, &format!("rm {name}")).summarize(), "", "{name}");
    }
    fs::write(project.join("a"), "").unwrap();
    fs::hard_link(project.join("a"), project.join("b")).unwrap();
    assert_eq!(judge_bash(&sandbox, "echo x > b").summarize(), "");
}

#[test]
fn snells_program_is_recognised_under_any_name() {
    let sandbox = create_configured_sandbox("");
    let program = Path::new(env!("CARGO_BIN_EXE_snell"));
    let project = sandbox.project();
    std::os::unix::fs::symlink(program, project.join("linked")).unwrap();
    fs::copy(program, project.join("copied")).unwrap();
    fs::create_dir(project.join("bin")).unwrap();
    std::os::unix::fs::symlink("../copied", project.join("bin/tool")).unwrap();
    fs::write(project.join("script"), "#!/bin/sh\n").unwrap();
    for name in ["./linked", "./copied", "bin/tool"] {
        for command in [format!("{name} uninstall claude"), format!("{name} trust"), format!("env {name} trust")] {
            let told = judge_bash(&sandbox, &command);
            assert_eq!(told.summarize(), "deny self.command", "{command}: {told:?}");
        }
        assert_eq!(judge_bash(&sandbox, &format!("{name} status")).summarize(), "", "{name}");
    }
    // A changed copy is recognised by its arguments.
    fs::write(project.join("changed"), [fs::read(program).unwrap(), vec![0]].concat()).unwrap();
    for command in ["./changed uninstall claude", "./script uninstall claude", "./missing trust"] {
        assert_eq!(judge_bash(&sandbox, command).summarize(), "ask self.renamed", "{command}");
    }
    for command in ["./script uninstall", "./script status", "/bin/echo trust"] {
        assert_eq!(judge_bash(&sandbox, command).summarize(), "", "{command}");
    }
    let program = program.display();
    for command in [
        format!("cp {program} /tmp/s"),
        format!("ln -s {program} s"),
        format!("install {program} s"),
        format!("cat {program} > s"),
    ] {
        let told = judge_bash(&sandbox, &command);
        assert_eq!(told.decision.as_deref(), Some("deny"), "{command}: {told:?}");
    }
}

#[test]
fn a_file_of_snells_is_the_same_in_another_case_where_the_disk_says_so() {
    let sandbox = create_configured_sandbox(
        // These rules deny the calls, too.
        "[guard.rules]\n'files.delete-outside' = 'allow'\n'files.overwrite-outside' = 'allow'\n",
    );
    let home = sandbox.home();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/settings.json"), "{}").unwrap();
    let other = home.join(".claude/Settings.JSON");
    let tells_apart = !other.exists();
    let told = judge_bash(&sandbox, "rm ~/.claude/Settings.JSON");
    assert_eq!(told.message.contains("rule self."), !tells_apart, "{told:?}");
    // The same file under both names, as a disk that ignores case shows it.
    if tells_apart {
        fs::hard_link(home.join(".claude/settings.json"), &other).unwrap();
    }
    for command in ["rm ~/.claude/Settings.JSON", "echo {} > ~/.claude/Settings.JSON"] {
        assert_eq!(judge_bash(&sandbox, command).summarize(), "deny self.change", "{command}");
    }
}

#[test]
fn an_agent_does_not_stop_or_limit_its_own_process() {
    let sandbox = create_configured_sandbox("");
    // The test is the agent.
    let agent = std::process::id();
    for command in [format!("kill -STOP {agent}"), format!("prlimit --pid {agent} --fsize=0"), "gdb -p $PPID".into()] {
        assert_eq!(judge_bash(&sandbox, &command).decision.as_deref(), Some("deny"), "{command}");
    }
    assert_eq!(judge_bash(&sandbox, "kill -STOP 999999999").decision, None);
}

/// The sandbox is in a temporary directory, where other files may be deleted.
#[test]
fn a_search_that_may_find_what_is_snells_own_is_not_handed_to_what_deletes() {
    let sandbox = create_configured_sandbox("");
    for command in [
        "find ~ -name snell.toml | xargs rm",
        "rm $(find ~ -name snell.toml)",
        "find ~ -iname 'SNELL*' -exec rm {} +",
        "find ~ -path '*/snell/*' -delete",
    ] {
        assert_eq!(judge_bash(&sandbox, command).decision.as_deref(), Some("deny"), "{command}");
    }
    for command in ["find ~ -name snell.toml", "find . -name '*.toml' | xargs wc -l"] {
        assert_eq!(judge_bash(&sandbox, command).decision, None, "{command}");
    }
}
