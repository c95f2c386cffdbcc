//! `[guard]`: whose settings apply, and their faults.

use serde_json::json;
use snell_test_support::process::run_with_stdin;

use super::{assert_judgements, create_configured_sandbox, judge_bash, judge_call, list_stored_verdicts};
use crate::support::CliSandbox;

const FORCE: &str = "git push --force";
const LEASE: &str = "git push --force-with-lease";
const ROOT: &str = "rm -rf /";

#[test]
fn the_guard_can_be_switched_off_by_its_user_alone() {
    assert_judgements(&create_configured_sandbox("[handlers]\nguard = false\n"), &[(ROOT, "")]);
    let project = CliSandbox::with_frozen_clock().file("snell.toml", "[handlers]\nguard = false\n");
    project.run_snell(&["trust"], "");
    assert_judgements(&project, &[(ROOT, "deny files.delete-root")]);
}

#[test]
fn audit_judges_and_records_and_says_nothing() {
    let sandbox = create_configured_sandbox("[guard]\npreset = 'audit'\n");
    assert_judgements(&sandbox, &[(ROOT, ""), (LEASE, ""), ("ls", "")]);
    assert_eq!(
        list_stored_verdicts(&sandbox),
        ["allow files.delete-root catastrophic", "allow git.push-with-lease style"]
    );
    let database = rusqlite::Connection::open(sandbox.database()).unwrap();
    let would = database
        .prepare("SELECT would FROM guard_verdicts ORDER BY guard_verdict_id")
        .unwrap()
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap()
        .map(Result::unwrap)
        .collect::<Vec<_>>();
    assert_eq!(would, ["deny", "ask"]);
}

#[test]
fn strict_denies_what_others_ask_about_and_asks_about_what_cannot_be_known() {
    assert_judgements(
        &create_configured_sandbox("[guard]\npreset = 'strict'\n"),
        &[(LEASE, "deny git.push-with-lease"), ("$TOOL build", "ask guard.unclear"), ("ls", "")],
    );
    assert_judgements(&CliSandbox::with_frozen_clock(), &[("$TOOL build", "")]);
}

#[test]
fn standard_asks_about_what_claude_os_denies() {
    let own = "git push --force origin feature";
    let standard = [
        ("pkill node", "ask process.kill-by-name"),
        (own, "ask git.push-force-branch"),
        (ROOT, "deny files.delete-root"),
    ];
    assert_judgements(&CliSandbox::with_frozen_clock(), &standard);
    assert_judgements(
        &create_configured_sandbox("[guard]\npreset = 'claude-os'\n"),
        &[
            ("pkill node", "deny process.kill-by-name"),
            (own, "deny git.push-force-branch"),
            (LEASE, "ask git.push-with-lease"),
        ],
    );
    // A setting from before this rule was a rule of its own.
    let before = "[guard.rules]\n\"git.push-force\" = \"allow\"\n";
    assert_judgements(&create_configured_sandbox(before), &[(own, ""), (FORCE, "")]);
    let project = CliSandbox::with_frozen_clock().file("snell.toml", "[guard.rules]\n\"git.push-force\" = \"deny\"\n");
    judge_bash(&project, "ls");
    assert_judgements(&project, &[(own, "deny git.push-force-branch")]);
}

#[test]
fn a_push_without_a_branch_is_judged_by_the_current_branch_and_the_users_list() {
    let on = |branch: &str, settings: &str| {
        create_configured_sandbox(settings)
            .file(".git/HEAD", &format!("ref: refs/heads/{branch}\n"))
            .file(".git/config", "[core]\n\tbare = false\n")
    };
    assert_judgements(&on("main", ""), &[(FORCE, "deny git.push-force"), ("git push", "")]);
    assert_judgements(&on("fix", ""), &[(FORCE, "ask git.push-force-branch")]);
    let trunk = "[guard]\nprotected_branches = ['trunk']\n";
    assert_judgements(&on("main", trunk), &[(FORCE, "ask git.push-force-branch")]);
    assert_judgements(&on("trunk", trunk), &[(FORCE, "deny git.push-force")]);
    let project = on("fix", "").file("snell.toml", "[guard]\nprotected_branches = ['fix']\n");
    judge_bash(&project, "ls");
    assert_judgements(&project, &[(FORCE, "deny git.push-force"), ("git push -f origin main", "deny git.push-force")]);
}

#[test]
fn the_user_chooses_for_every_rule_also_for_locked_ones() {
    assert_judgements(
        &create_configured_sandbox(
            "[guard.rules]\n\"git.push-force\" = \"allow\"\ngit.push-with-lease = \"deny\"\n\"process.power\" = \"ask\"\n",
        ),
        &[(FORCE, ""), (LEASE, "deny git.push-with-lease"), ("shutdown -h now", "ask process.power")],
    );
}

#[test]
fn a_project_counts_if_it_is_trusted_and_else_only_where_it_is_stricter() {
    let text = "[guard]\nprotect = ['infra/prod']\nsecrets = ['vault']\n[guard.rules]\n\"git.push-force\" = \"allow\"\n\
        \"git.push-with-lease\" = \"deny\"\n\"files.delete-root\" = \"allow\"\n\
        [[guard.allow]]\ncommand = \"sudo ls\"\nreason = \"it is ours\"\n";
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", text);
    // Snell reports once that the file is not trusted.
    judge_bash(&sandbox, "ls");
    let always = [
        (LEASE, "deny git.push-with-lease"),
        (ROOT, "deny files.delete-root"),
        ("rm infra/prod/main.tf", "deny protected.change"),
        ("cat vault/key", "deny protected.look"),
        ("rm infra/dev/main.tf", ""),
    ];
    assert_judgements(&sandbox, &always);
    assert_judgements(&sandbox, &[(FORCE, "deny git.push-force"), ("sudo ls", "ask privilege.raise")]);
    assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
    assert_judgements(&sandbox, &always);
    assert_judgements(&sandbox, &[(FORCE, ""), ("sudo ls", ""), ("sudo ls; rm -rf /", "deny files.delete-root")]);
    // Every change ends the trust.
    let sandbox = sandbox.file("snell.toml", &format!("{text}# changed\n"));
    judge_bash(&sandbox, "ls");
    assert_judgements(&sandbox, &[(FORCE, "deny git.push-force"), (LEASE, "deny git.push-with-lease")]);
}

#[test]
fn trust_shows_the_guard_settings_of_a_project() {
    let text = "[guard.rules]\n\"git.push-force\" = \"allow\"\n\n[[guard.allow]]\ncommand = \"sudo make load\"\n\
        reason = \"the driver\"\nuntil = 2027-01-31\n\n[guard]\npreset = \"strict\"\nprotect = [\"infra\"]\n\
        secrets = [\"vault\"]\n";
    let sandbox = create_configured_sandbox("[guard.rules]\n\"git.clean\" = \"ask\"\n").file("snell.toml", text);
    let told = judge_bash(&sandbox, "ls").message;
    assert!(told.contains("is not trusted, so its settings do not apply, except stricter guard settings"), "{told}");
    let shown = sandbox.run_snell(&["trust"], "").stdout;
    let project = sandbox.project().display().to_string();
    // The width of a column depends on where the test runs.
    let columns = shown.replace(&project, "PROJECT");
    let rows = columns.lines().map(|line| {
        let cells: Vec<_> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        cells.join(" | ")
    });
    insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @"
    GUARD | RULE, COMMAND OR PATH | REASON | SOURCE
    preset strict | - | - | snell.toml:10
    allow | git.push-force | - | snell.toml:2
    allow | sudo make load | the driver (until 2027-01-31) | snell.toml:5
    protect | PROJECT/infra | - | snell.toml:11
    secrets | PROJECT/vault | - | snell.toml:12

    Trusted in PROJECT, until they change:
    snell.toml: 0 hooks
    ");
    let json = sandbox.run_snell(&["trust", "--json"], "").json();
    assert_eq!(
        json["guard"],
        json!([
            {"choice": "preset strict", "source": "snell.toml", "line": 10},
            {"choice": "allow", "rule": "git.push-force", "source": "snell.toml", "line": 2},
            {
                "choice": "allow", "command": "sudo make load", "reason": "the driver", "until": "2027-01-31",
                "source": "snell.toml", "line": 5
            },
            {"choice": "protect", "path": format!("{project}/infra"), "source": "snell.toml", "line": 11},
            {"choice": "secrets", "path": format!("{project}/vault"), "source": "snell.toml", "line": 12},
        ])
    );
}

#[test]
fn a_project_is_strict_or_says_nothing() {
    for (preset, expected) in [("strict", "deny git.push-with-lease"), ("audit", "ask git.push-with-lease")] {
        let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", &format!("[guard]\npreset = '{preset}'\n"));
        judge_bash(&sandbox, "ls");
        assert_judgements(&sandbox, &[(LEASE, expected)]);
        assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
        assert_judgements(&sandbox, &[(LEASE, expected)]);
    }
}

#[test]
fn the_users_word_counts_before_a_projects_unless_that_is_stricter() {
    let sandbox = create_configured_sandbox(
        "[guard.rules]\n\"git.push-force\" = \"deny\"\n\"git.push-with-lease\" = \"allow\"\n",
    )
    .file("snell.toml", "[guard.rules]\n\"git.push-force\" = \"allow\"\n\"git.push-with-lease\" = \"ask\"\n");
    assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
    assert_judgements(&sandbox, &[(FORCE, "deny git.push-force"), (LEASE, "ask git.push-with-lease")]);
}

#[test]
fn paths_of_the_user_begin_at_home() {
    let sandbox = create_configured_sandbox("[guard]\nprotect = ['~/notes', 'plans/*.md']\nsecrets = ['~/vault']\n");
    assert_judgements(
        &sandbox,
        &[
            ("echo x > ~/notes/a.txt", "deny protected.change"),
            ("cat ~/notes/a.txt", ""),
            ("rm ~/plans/a.md", "deny protected.change"),
            ("cat ~/vault/key", "deny protected.look"),
        ],
    );
    let notes = sandbox.home().join("notes/a.txt");
    let told = judge_call(&sandbox, "Write", json!({"file_path": notes, "content": "x"}));
    assert_eq!(told.summarize(), "deny protected.change");
    let vault = sandbox.home().join("vault/key");
    assert_eq!(judge_call(&sandbox, "Read", json!({"file_path": vault})).summarize(), "deny protected.look");
    assert_eq!(judge_call(&sandbox, "Read", json!({"file_path": notes})).summarize(), "");
}

#[test]
fn an_allowed_command_is_allowed_until_the_end_of_its_last_day() {
    let sandbox = create_configured_sandbox(
        "[[guard.allow]]\ncommand = \"sudo systemctl restart nginx\"\nreason = \"the dev box needs it\"\nuntil = \
         \"2926-03-01\"\n",
    );
    let at = |time: &str, command: &str| {
        let payload = json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
            "tool_name": "Bash", "tool_input": {"command": command},
        });
        let mut hook = sandbox.command(&["hook"]);
        hook.env("SNELL_NOW", time);
        let ran = run_with_stdin(&mut hook, payload.to_string());
        super::GuardHookReply::from(ran).summarize()
    };
    let restart = "sudo systemctl restart nginx";
    assert_eq!(at("2926-03-01T23:59:59Z", restart), "");
    assert_eq!(at("2926-03-02T00:00:00Z", restart), "ask privilege.raise");
    assert_eq!(at("2926-03-01T12:00:00Z", "sudo systemctl restart nginx; rm -rf /"), "deny files.delete-root");
    assert_eq!(at("2926-03-01T12:00:00Z", "sudo systemctl stop nginx"), "ask privilege.raise");
}

#[test]
fn a_failure_means_what_the_user_says() {
    for (choice, expected) in [("ask", "ask guard.unread"), ("deny", "deny guard.unread"), ("allow", "")] {
        let sandbox = create_configured_sandbox(&format!("[guard]\non_failure = '{choice}'\n"));
        assert_eq!(judge_call(&sandbox, "Bash", json!({})).summarize(), expected);
    }
    // A project's setting has no effect, trusted or not.
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", "[guard]\non_failure = 'allow'\n");
    sandbox.run_snell(&["trust"], "");
    assert_eq!(judge_call(&sandbox, "Bash", json!({})).summarize(), "ask guard.unread");
}

#[test]
fn a_file_that_cannot_be_read_never_opens_the_guard() {
    let broken = [
        "[guard\npreset = 'audit'\n",
        "[guard]\npreset = 'audi'\n",
        "[guard]\npreset = ['audit']\n",
        "guard = 'off'\n",
        "[handlers]\nguard = 'false'\n",
        "[guard.rules]\n'files.delete-root' = 'alow'\n",
        "[[guard.allow]]\ncommand = 'rm -rf /'\n",
        "[[guard.allow]]\ncommand = '**'\nreason = 'x'\nuntil = 'never'\n",
        "\u{0}",
    ];
    for text in broken {
        let sandbox = create_configured_sandbox(text);
        let told = judge_bash(&sandbox, ROOT);
        assert_eq!(told.decision.as_deref(), Some("deny"), "{text}: {told:?}");
        assert!(told.message.contains("rule files.delete-root;"), "{text}: {told:?}");
    }
    // The readable settings apply.
    let sandbox = create_configured_sandbox(
        "[guard]\npreset = 'strikt'\nprotect = [7, '~/notes']\n[guard.rules]\n'git.push-force' = 'ask'\n",
    );
    assert_eq!(judge_bash(&sandbox, FORCE).decision.as_deref(), Some("ask"));
    assert_eq!(judge_bash(&sandbox, "rm ~/notes/a").decision.as_deref(), Some("deny"));
}

#[test]
fn lint_reports_unknown_rules_and_expired_entries() {
    let sandbox = create_configured_sandbox(
        "[guard.rules]\n\"git.force-push\" = \"deny\"\n\"git.push-force\" = \"ask\"\n\"banana\" = \"ask\"\n\n\
         [[guard.allow]]\ncommand = \"make deploy\"\nreason = \"spring\"\nuntil = 2026-02-28\n",
    )
    .file("snell.toml", "[guard.rules]\n\"git.cleen\" = \"allow\"\n");
    let ran = sandbox.run_snell(&["lint"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(ran.stdout + &ran.stderr, @r#"
    ~/.config/snell/snell.toml:2:1: warning: unknown rule "git.force-push", so this setting has no effect
      hint: did you mean "git.push-force"?
    ~/.config/snell/snell.toml:4:1: warning: unknown rule "banana", so this setting has no effect
      hint: run `snell guard rules` to list all rules
    ~/.config/snell/snell.toml:7:11: warning: "make deploy" was allowed only until 2026-02-28
      hint: remove the entry, or set a later date
    snell.toml:2:1: warning: unknown rule "git.cleen", so this setting has no effect
      hint: did you mean "git.clean"?
    0 errors, 4 warnings in 2 files (0 hooks loaded).
    "#);
}

#[test]
fn unreadable_settings_are_reported_everywhere() {
    let sandbox = create_configured_sandbox("[guard]\npreset = \"strict\"\nprotect = [\n");
    let expected = "the guard uses the preset claude-os, because this file is not valid TOML";
    let lint = sandbox.run_snell(&["lint"], "");
    assert!(lint.code == 1 && lint.stdout.contains(&format!("warning: {expected}")), "{lint:?}");
    let status = sandbox.run_snell(&["status"], "");
    assert!(status.code == 1 && status.stdout.contains(expected), "{status:?}");
    let doctor = sandbox.run_snell(&["doctor"], "");
    assert!(doctor.stdout.contains(expected), "{doctor:?}");
    // The file does not apply, and Snell reports that.
    let told = judge_bash(&sandbox, LEASE);
    assert_eq!(told.summarize(), "ask git.push-with-lease");
    assert!(told.message.contains("is not valid TOML"), "{told:?}");
    assert_eq!(judge_bash(&sandbox, "sudo ls").summarize(), "deny privilege.raise");
    let sound = create_configured_sandbox("[guard]\npreset = \"strict\"\n");
    for command in ["lint", "status", "doctor"] {
        let ran = sound.run_snell(&[command], "");
        assert!(!ran.stdout.contains("uses the preset"), "{command}: {ran:?}");
    }
}

#[test]
fn entries_and_choices_without_effect_are_reported_in_order() {
    let own = "[[guard.allow]]\ncommand = \"sudo ls | wc\"\nreason = \"no simple command\"\n\
        [[guard.allow]]\ncommand = \"sudo systemctl restart *\"\nreason = \"fine\"\n\
        [[guard.allow]]\ncommand = \"sudo systemctl restart nginx\"\nreason = \"covered\"\n\
        [[guard.allow]]\ncommand = \"rm -rf /\"\nreason = \"locked\"\n\
        [[guard.allow]]\ncommand = \"ls -l\"\nreason = \"needless\"\n\
        [[guard.allow]]\ncommand = \"sudo reboot\"\nreason = \"over\"\nuntil = \"2026-01-01\"\n\
        [guard.rules]\n\"git.push-froce\" = \"ask\"\n\"files.delete-root\" = \"ask\"\n";
    let project = "[guard.rules]\n\"git.push-force\" = \"allow\"\n\"files.delete-root\" = \"ask\"\n";
    let sandbox = create_configured_sandbox(own).file("snell.toml", project);
    let lint = sandbox.run_snell(&["lint"], "");
    assert_eq!(lint.code, 0, "{lint:?}");
    insta::assert_snapshot!(lint.stdout, @r#"
    ~/.config/snell/snell.toml:2:11: warning: "sudo ls | wc" is more than one simple command, so it allows nothing
      hint: write one command without pipes and variables, and quote special characters
    ~/.config/snell/snell.toml:8:11: warning: "sudo systemctl restart nginx" is already allowed by "sudo systemctl restart *" (~/.config/snell/snell.toml:5)
      hint: remove one of the two entries
    ~/.config/snell/snell.toml:11:11: warning: "rm -rf /" is not allowed, because rule self.change-around also applies to allowed commands
      hint: remove the entry; run `snell guard rules self.change-around` for details
    ~/.config/snell/snell.toml:14:11: warning: no rule stops "ls -l" here, so the entry has no effect
      hint: remove the entry, or use the one that `snell guard explain` suggests for the blocked command
    ~/.config/snell/snell.toml:17:11: warning: "sudo reboot" was allowed only until 2026-01-01
      hint: remove the entry, or set a later date
    ~/.config/snell/snell.toml:21:1: warning: unknown rule "git.push-froce", so this setting has no effect
      hint: did you mean "git.push-force"?
    snell.toml:3:1: warning: rule files.delete-root is locked, so a project cannot make it milder
      hint: remove the setting, or move it to your own snell.toml
    0 errors, 7 warnings in 2 files (0 hooks loaded).
    "#);
}

#[test]
fn a_pattern_whose_commands_a_locked_rule_stops_is_reported() {
    for (pattern, stopped_by) in [
        ("sudo cp build/*.so /opt/x", Some("files.write-system")),
        ("sudo cp * /opt/x", Some("files.write-system")),
        ("sudo cp build/x.so *", None),
        ("sudo systemctl restart *", None),
        ("git push --force origin *", None),
        ("sudo systemctl restart '*'", None),
        ("make **", None),
    ] {
        let own = format!("[[guard.allow]]\ncommand = \"{pattern}\"\nreason = \"the build\"\n");
        let lint = create_configured_sandbox(&own).run_snell(&["lint"], "").stdout;
        let found = lint.contains("does not allow \"sudo");
        assert_eq!(found, stopped_by.is_some(), "{pattern}: {lint}");
        if let Some(rule) = stopped_by {
            assert!(lint.contains(&format!("rule {rule} also applies to allowed commands")), "{lint}");
            let shown = create_configured_sandbox(&own).run_snell(&["guard", "rules", rule], "").stdout;
            assert!(shown.contains("`allow` entries do not override it"), "{shown}");
        }
    }
}
