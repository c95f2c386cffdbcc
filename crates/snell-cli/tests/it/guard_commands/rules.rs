//! `snell guard rules`: the rules and their decisions here.

use serde_json::Value;

use crate::support::CliSandbox;

fn list_rules(args: &[&str]) -> Vec<Value> {
    let ran = CliSandbox::new().run_snell(&[&["guard", "rules", "--json"], args].concat(), "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.json()["rules"].as_array().unwrap().clone()
}

fn list_rule_ids(rules: &[Value]) -> Vec<&str> {
    rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect()
}

#[test]
fn people_see_a_line_for_every_rule() {
    let ran = CliSandbox::new().run_snell(&["guard", "rules", "push"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let title = ran.stdout.lines().next().unwrap();
    let titles: Vec<_> = title.split_whitespace().collect();
    assert_eq!(titles, ["RULE", "TIER", "DECISION", "FROM", "LOCKED", "REASON"]);
    let row = ran.stdout.lines().find(|line| line.starts_with("git.push-force ")).unwrap();
    let row: Vec<_> = row.split_whitespace().take(4).collect();
    assert_eq!(row, ["git.push-force", "destructive", "deny", "default"]);
}

#[test]
fn programs_see_what_is_in_force() {
    let all = list_rules(&[]);
    assert!(all.len() >= 100, "{}", all.len());
    let known = list_rule_ids(&all);
    assert!(known.contains(&"files.delete-root") && known.contains(&"guard.failure"), "{known:?}");
    for rule in &all {
        for field in ["tier", "decision", "source", "reason", "advice"] {
            assert!(rule[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {rule}");
        }
        assert!(!rule["reason"].as_str().unwrap().contains('{'), "{rule}");
        assert!(rule["locked"].is_boolean() && rule["origin"].is_null(), "{rule}");
    }
    let ran = CliSandbox::new().run_snell(&["guard", "rules", "--json", "--preset", "strict"], "");
    assert_eq!(ran.json()["preset"], "strict");
    let clear = |rule: &&Value| rule["id"] == "guard.unclear";
    let strict = ran.json()["rules"].as_array().unwrap().iter().find(clear).unwrap().clone();
    assert_eq!((&strict["decision"], &strict["source"]), (&"ask".into(), &"preset".into()));
}

#[test]
fn rules_are_found_by_tier_and_by_word() {
    let secret = list_rules(&["--tier", "secret"]);
    assert!(!secret.is_empty() && secret.iter().all(|rule| rule["tier"] == "secret"));
    let pushes = list_rules(&["PUSH", "--tier", "destructive"]);
    assert!(list_rule_ids(&pushes).contains(&"git.push-force"), "{:?}", list_rule_ids(&pushes));
    assert!(pushes.len() < 20, "{:?}", list_rule_ids(&pushes));
}

#[test]
fn one_rule_is_shown_with_its_cases() {
    let sandbox = CliSandbox::new();
    let ran = sandbox.run_snell(&["guard", "rules", "self.cover-tracks"], "");
    insta::assert_snapshot!(ran.stdout, @"
    self.cover-tracks
    The program would delete the record of earlier commands.

    Tier      self
    Decision  ask (default)
    Presets   standard ask, claude-os ask, strict deny
    Instead   Leave the history as it is.

    It matches:
      history -c
      history -d 5

    It does not match:
      history
      history 20
    ");
    let json = sandbox.run_snell(&["guard", "rules", "self.cover-tracks", "--json"], "").json();
    assert_eq!(json["match"][0], "history -c");
    assert_eq!(json["not_match"][0], "history");
    assert_eq!(json["decision"], "ask");
}

#[test]
fn the_origin_of_a_decision_is_shown() {
    let sandbox = CliSandbox::with_frozen_clock()
        .home_file(
            ".config/snell/snell.toml",
            "[guard]\npreset = \"strict\"\non_failure = \"deny\"\nprotect = [\"~/notes\"]\nsecrets = [\"~/vault\"]\n\n\
             [guard.rules]\n\"git.push-force\" = \"allow\"\n\n\
             [[guard.allow]]\ncommand = \"sudo systemctl restart nginx\"\nreason = \"the dev box needs it\"\nuntil = \
             \"2027-01-31\"\n\n\
             [[guard.allow]]\ncommand = \"sudo reboot\"\nreason = \"once\"\nuntil = \"2026-01-31\"\n",
        )
        .file("snell.toml", "[guard.rules]\n\"git.reset-hard\" = \"ask\"\n");
    assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
    let json = sandbox.run_snell(&["guard", "rules", "--json"], "").json();
    assert_eq!((&json["preset"], &json["on_failure"]), (&"strict".into(), &"deny".into()));
    let rules = json["rules"].as_array().unwrap();
    let told = |id: &str| {
        let rule = rules.iter().find(|rule| rule["id"] == id).unwrap();
        let text = |field: &str| rule[field].as_str().unwrap_or("-").to_owned();
        [text("decision"), text("source"), text("origin")].join(" ")
    };
    let own = "~/.config/snell/snell.toml";
    assert_eq!(told("git.push-force"), format!("allow user {own}:8"));
    assert_eq!(told("git.reset-hard"), "ask project snell.toml:2");
    assert_eq!(told("guard.limit"), format!("deny on_failure {own}:3"));
    assert_eq!(told("self.cover-tracks"), format!("deny preset {own}:2"));
    assert_eq!(told("files.delete-root"), "deny default -");
    assert_eq!(json["protect"][0]["path"], sandbox.home().join("notes").to_str().unwrap());
    assert_eq!(json["allow"][0]["expired"], false);
    assert_eq!(json["allow"][1]["expired"], true);

    let ran = sandbox.run_snell(&["guard", "rules"], "");
    let shown: Vec<Vec<_>> = ran.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let begins = |words: &[&str]| shown.iter().any(|line| line.starts_with(words));
    let row = ["git.push-force", "destructive", "allow", "user", "~/.config/snell/snell.toml:8"];
    assert!(begins(&row), "{}", ran.stdout);
    assert!(begins(&["MUST", "NOT", "BE", "READ", "FROM"]), "{}", ran.stdout);
    assert!(begins(&["sudo", "reboot", "once", "2026-01-31", "(expired)"]), "{}", ran.stdout);
    // A preset from the command line has no origin.
    let args = ["guard", "rules", "guard.unclear", "--json", "--preset", "standard"];
    let json = sandbox.run_snell(&args, "").json();
    assert_eq!((&json["decision"], &json["source"]), (&"allow".into(), &"preset".into()));
    assert_eq!(json["origin"], Value::Null);
}

#[test]
fn a_guard_that_is_off_is_reported() {
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "[handlers]\nguard = false\n");
    for args in [&["guard", "rules", "push"][..], &["guard", "check", "rm -rf /"], &["guard", "explain", "ls"]] {
        let ran = sandbox.run_snell(args, "");
        assert_eq!(
            ran.stderr,
            "warning: the guard is off, so Snell does not judge agents' calls\nhint: set guard = true in [handlers] of your snell.toml\n",
            "{args:?}"
        );
    }
}

#[test]
fn unreadable_settings_are_reported_and_the_guard_works() {
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "[guard\n");
    let ran = sandbox.run_snell(&["guard", "check", "rm -rf /"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("~/.config/snell/snell.toml:1:"), "{}", ran.stderr);
}

#[test]
fn a_misspelled_id_gets_a_suggestion() {
    let ran = CliSandbox::new().run_snell(&["guard", "rules", "git.push-forse"], "");
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr, "error: no rule matches \"git.push-forse\"\nhint: did you mean \"git.push-force\"?\n");
}

#[test]
fn unknown_tiers_and_searches_without_a_match_are_errors() {
    let sandbox = CliSandbox::new();
    let unknown = sandbox.run_snell(&["guard", "rules", "--tier", "x"], "");
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("possible values: catastrophic, self, secret"), "{unknown:?}");
    let none = sandbox.run_snell(&["guard", "rules", "push", "--tier", "secret"], "");
    assert_eq!(none.code, 1);
    assert_eq!(
        none.stderr,
        "error: no rule of tier secret matches \"push\"\nhint: run `snell guard rules` to list all rules\n"
    );
}
