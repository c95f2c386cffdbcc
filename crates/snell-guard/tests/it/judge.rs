//! Properties of every judgement.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use snell_guard::paths::{PathClass, PathClasses};
use snell_guard::rules::RULES;
use snell_guard::{
    ForbiddenAccess, GuardDecision, GuardJudgement, GuardPolicy, GuardToolCall, JudgeContext, PathProtection,
    PolicyAuthor, PolicyPreset, RuleOverride, judge_call,
};

use crate::corpus::{CorpusRow, build_corpus_context, read_corpus};

fn judge_tool(tool: &str, input: &Json, preset: PolicyPreset) -> GuardJudgement {
    judge_call(&GuardToolCall { tool, input }, &GuardPolicy::new(preset), &build_corpus_context())
}

/// A case of a rule: a command, or a tool's name with its input.
fn judge_case(line: &str, policy: &GuardPolicy) -> GuardJudgement {
    judge_case_in(&build_corpus_context(), line, policy)
}

fn judge_case_in(world: &JudgeContext, line: &str, policy: &GuardPolicy) -> GuardJudgement {
    let call = line.split_once(' ').filter(|(tool, input)| {
        input.starts_with('{') && tool.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
    });
    match call.and_then(|(tool, input)| Some((tool, serde_json::from_str(input).ok()?))) {
        Some((tool, input)) => judge_call(&GuardToolCall { tool, input: &input }, policy, world),
        None => {
            let input = json!({ "command": line });
            let call = GuardToolCall { tool: "Bash", input: &input };
            judge_call(&call, policy, world)
        }
    }
}

/// The policy of the cases of rules.
fn build_cautious_policy(preset: PolicyPreset) -> GuardPolicy {
    let places = [
        ("/home/ann/work/app/infra/prod", ForbiddenAccess::Change),
        ("/home/ann/work/app/notes/*.md", ForbiddenAccess::Change),
        ("/home/ann/vault", ForbiddenAccess::Read),
    ];
    let mut policy = GuardPolicy::new(preset);
    policy.protected = places.map(|(path, from)| PathProtection { path: path.to_owned(), from }).into();
    policy
}

/// A policy with only this rule, and those that cannot be turned off.
fn build_single_rule_policy(id: &str) -> GuardPolicy {
    let others = RULES.iter().filter(|other| other.id != id && !other.locked);
    let off = RuleOverride { decision: GuardDecision::Allow, by: PolicyAuthor::User };
    let mut policy = build_cautious_policy(PolicyPreset::Strict);
    policy.rules = others.map(|other| (other.id.to_owned(), off)).collect();
    policy
}

#[test]
fn every_rule_finds_its_whole_cases_and_nothing_else() {
    let mut faults = Vec::new();
    for rule in RULES {
        let policy = build_single_rule_policy(rule.id);
        let mut world = build_corpus_context();
        if rule.on == PathClasses::from([PathClass::HomeProject]) {
            // Its cases run in an agent that was started in the home directory.
            (world.cwd, world.project) = (world.home.clone(), world.home.clone());
        }
        for line in rule.cases.whole_match.iter().chain(rule.cases.matches) {
            let found = judge_case_in(&world, line, &policy).rule;
            let graver = || RULES.iter().any(|other| other.locked && Some(other.id) == found);
            if found != Some(rule.id) && !graver() {
                faults.push(format!("{}: `{line}` should match; found {found:?}", rule.id));
            }
        }
        for line in rule.cases.whole_not_match {
            if let Some(found) = judge_case(line, &build_cautious_policy(PolicyPreset::Standard)).rule {
                faults.push(format!("{}: `{line}` should match nothing; found {found}", rule.id));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Tool calls, written like the cases of rules, and the rules that match.
#[test]
fn tools_are_judged_by_what_they_would_do() {
    let table: &[(&str, Option<&str>)] = &[
        // Commands as words, in another directory, by other names.
        (r#"shell {"command": ["bash", "-lc", "rm -rf /"]}"#, Some("files.delete-root")),
        (r#"shell {"command": ["echo", "rm -rf /; sudo ls"]}"#, None),
        (r#"shell {"command": ["rm", "-rf", "*"]}"#, None),
        (r#"shell {"command": ["rm", "-rf", "~/"]}"#, Some("files.delete-home")),
        (r#"shell {"command": ["rm", "-rf", "$HOME"]}"#, Some("files.delete-home")),
        (r#"shell {"command": ["echo", "$HOME; rm -rf /"]}"#, None),
        (r#"exec_command {"cmd": "rm -rf *", "workdir": "/home/ann"}"#, Some("files.delete-home")),
        (r#"Bash {"command": "rm -rf build", "cwd": "~"}"#, Some("files.delete-outside")),
        (r#"run_shell_command {"command": "pkill node"}"#, Some("process.kill-by-name")),
        (r#"Bash {"command": ["ls", 5]}"#, Some("guard.unread")),
        // Patches, also as a program.
        (
            r#"Bash {"command": "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: /etc/hosts\n*** End Patch\nE"}"#,
            Some("files.delete-system"),
        ),
        (
            r#"Bash {"command": "cd src && apply_patch <<'E'\n*** Begin Patch\n*** Add File: a.rs\n+rm -rf /\n*** End Patch\nE"}"#,
            None,
        ),
        (r#"apply_patch {"patch": "--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-/etc\n+/usr\n"}"#, None),
        (r#"apply_patch {"patch": "--- a/.env\t2024\n+++ b/.env\t2025\n@@ -1 +1 @@\n-a\n+b\n"}"#, Some("secret.write")),
        (
            r#"apply_patch {"input": "*** Begin Patch\n*** Add File: a.md\n+*** Delete File: /etc/passwd\n*** End Patch"}"#,
            None,
        ),
        // Files.
        (r#"read_file {"absolute_path": "/home/ann/.ssh/id_rsa"}"#, Some("secret.read")),
        (r#"read_many_files {"paths": ["a.md", "b/../.env"]}"#, Some("secret.read")),
        (r#"Grep {"pattern": "KEY", "path": ".env", "output_mode": "count"}"#, None),
        (r#"Grep {"pattern": "KEY", "glob": "**/.env", "output_mode": "content"}"#, Some("secret.read")),
        (r#"Grep {"pattern": "KEY", "glob": "**/*.ts", "output_mode": "content"}"#, None),
        (r#"Glob {"pattern": "**/.env"}"#, None),
        // URLs.
        (r#"WebFetch {"url": "http://2852039166/latest/meta-data"}"#, Some("secret.store")),
        (r#"web_fetch {"prompt": "What does http://169.254.169.254/latest say?"}"#, Some("secret.store")),
        (r#"WebFetch {"url": "https://example.com", "prompt": "What is 169.254.169.254?"}"#, None),
        // MCP servers.
        (
            r#"mcp__filesystem__moveFile {"source": "a", "destination": "/home/ann/.bashrc"}"#,
            Some("files.write-start-up"),
        ),
        (r#"mcp__filesystem__create_directory {"path": "/home/ann/work/app/x"}"#, None),
        (r#"mcp__github__get_file_contents {"path": ".env"}"#, None),
        (r#"mcp__supabase__execute_sql {"query": "DROP TABLE users"}"#, Some("infra.drop-table")),
        (r#"mcp__supabase__execute_sql {"query": "SELECT 'DROP TABLE users'"}"#, None),
        (r#"mcp__mongodb__drop-database {"database": "prod"}"#, Some("infra.tool-destroy")),
        (r#"mcp__ssh__exec {"command": "ls /var/log"}"#, None),
        (r#"mcp__playwright__browser_navigate {"url": "http://169.254.169.254/"}"#, Some("secret.store")),
        (r#"mcp__linear__delete_comment {"id": "1"}"#, None),
        (r#"SomethingNew {"command": "whatever"}"#, None),
    ];
    let mut faults = Vec::new();
    for (line, expected) in table {
        let found = judge_case(line, &GuardPolicy::default()).rule;
        if found != *expected {
            faults.push(format!("{line}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Also with protected paths and with the strict preset.
#[test]
fn a_reason_about_rights_names_the_program_that_raises_them() {
    for (command, expected) in [
        ("sudo ls", "sudo would run `ls` as another user"),
        ("/usr/bin/sudo -u ann env A=1 ./x --y", "sudo would run `./x` as another user"),
        ("doas ls", "doas would run `ls` as another user"),
        ("pkexec ls", "pkexec would run `ls` as another user"),
        ("run0 ls", "run0 would run `ls` as another user"),
        ("su -c 'ls -l' root", "su would run `ls` as another user"),
        ("xargs sudo ls", "sudo would run `ls` as another user"),
        ("sudo sh -c 'id; ls'", "sudo would run `id` as another user"),
        ("sudo $x", "sudo would run a command as another user"),
        ("sudo -i", "sudo would run a command as another user"),
        ("su -", "su would run a command as another user"),
    ] {
        let reason = judge_case(command, &GuardPolicy::default()).reason;
        assert_eq!(reason, format!("{expected}, with rights that the agent does not have."), "{command}");
    }
}

#[test]
fn no_advice_is_itself_denied() {
    let mut commands = 0;
    for rule in RULES {
        for quoted in rule.advice.split('`').skip(1).step_by(2) {
            commands += 1;
            let standard = judge_case(quoted, &build_cautious_policy(PolicyPreset::Standard));
            assert_eq!(standard.decision, GuardDecision::Allow, "{}: `{quoted}`: {:?}", rule.id, standard.rule);
            let strict = judge_case(quoted, &build_cautious_policy(PolicyPreset::Strict));
            assert_ne!(strict.decision, GuardDecision::Deny, "{}: `{quoted}`: {:?}", rule.id, strict.rule);
        }
        assert_eq!(rule.advice.matches('`').count() % 2, 0, "{}: a quote does not end", rule.id);
    }
    assert!(commands > 100, "only {commands} commands were found in all advice");
}

proptest! {
    #[test]
    fn any_text_is_judged(text in any::<String>(), tool in prop::sample::select(vec!["Bash", "Read", "apply_patch", "Grep", "WebFetch", "mcp__fs__read", "mcp__pg__query", "mcp__shell__run"])) {
        for key in ["command", "file_path", "input", "glob", "url", "path", "sql"] {
            judge_tool(tool, &json!({ key: text }), PolicyPreset::Standard);
        }
        judge_tool(&text, &json!({ "command": text }), PolicyPreset::Strict);
    }

    #[test]
    fn pieces_of_the_corpus_are_judged(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), cut in any::<(prop::sample::Index, prop::sample::Index)>()) {
        static ROWS: LazyLock<Vec<CorpusRow>> = LazyLock::new(read_corpus);
        let text = |index: &prop::sample::Index| ROWS[index.index(ROWS.len())].input["command"].as_str().unwrap_or("x").to_owned();
        let part = |text: String, at: &prop::sample::Index, head: bool| -> String {
            let count = text.chars().count();
            let at = at.index(count + 1);
            if head { text.chars().take(at).collect() } else { text.chars().skip(at).collect() }
        };
        let mixed = part(text(&from), &cut.0, true) + &part(text(&to), &cut.1, false);
        judge_tool("Bash", &json!({ "command": mixed }), PolicyPreset::Standard);
    }

    #[test]
    fn any_input_is_judged(tool in "(Bash|Edit|Grep|apply_patch|mcp__[a-z]{1,5}__[a-zA-Z_]{0,8})", key in "(command|file_path|paths|sql|glob|patch)", number in any::<i64>()) {
        for input in [json!(null), json!([]), json!(number), json!({ &key: number }), json!({ &key: [number, "x", { &key: "y" }] }), json!({ &key: { &key: null } })] {
            judge_tool(&tool, &input, PolicyPreset::Standard);
        }
    }
}
