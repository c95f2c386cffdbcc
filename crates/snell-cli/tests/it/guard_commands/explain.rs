//! `snell guard explain`: the programs, their effects, the rules, and the flips.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::CliSandbox;

#[test]
fn the_output_shows_programs_effects_rules_and_flips() {
    let sandbox = CliSandbox::new();
    let command = "x=rm; sudo $x -rf /srv/old && make | tee b";
    let ran = sandbox.run_snell(&["guard", "explain", command, "--cwd", "/srv/app", "--project", "/srv/app"], "");
    assert_eq!(ran.code, 0);
    // The list of rules changes more often than the format.
    let (others, told): (Vec<_>, Vec<_>) = ran.stdout.lines().partition(|line| line.contains("no match: "));
    assert!(others.len() == 2 && others[0].contains("files.delete-root"), "{others:?}");
    insta::assert_snapshot!(told.join("\n"), @"
    deny  files.delete-system (catastrophic)
      x=rm; sudo $x -rf /srv/old && make | tee b
            ^^^^^^^^^^^^^^^^^^^^
    Why       rm would delete /srv/old, which belongs to the system.
    Instead   Delete only inside the project or in a temporary directory, for example `rm -rf build`.

    1. rm -rf /srv/old
       written  sudo $x -rf /srv/old
       through  sudo
       in       /srv/app
       runs     as another user
       ask privilege.raise (privilege, default)
       deletes /srv/old (system), with everything in it
          deny files.delete-system (catastrophic, default, locked)

    2. make
       in       /srv/app

    3. tee b
       in       /srv/app
       stdin    the output of make
       overwrites /srv/app/b (in the project)

    To change the decision:
      allow  Remove `sudo $x -rf /srv/old`.
             x=rm; : && make | tee b
      ask    Turn off rule files.delete-system in your own settings.
             [guard.rules]
             \"files.delete-system\" = \"allow\"
      allow  Turn off rules files.delete-system and privilege.raise in your own settings.
             [guard.rules]
             \"files.delete-system\" = \"allow\"
             \"privilege.raise\" = \"allow\"
    ");
}

#[test]
fn programs_see_all_of_it() {
    let sandbox = CliSandbox::new();
    let json = sandbox.run_snell(&["guard", "explain", "--json", "cd / && env A=b rm -rf $X/etc etc"], "").json();
    assert_eq!((&json["decision"], &json["rule"]), (&json!("deny"), &json!("files.delete-system")));
    let step = &json["steps"].as_array().unwrap().iter().find(|step| step["words"][0]["text"] == "rm").unwrap().clone();
    assert_eq!(step["through"], json!(["env"]));
    assert_eq!(step["cwd"], "/");
    assert_eq!((&step["words"][2]["known"], &step["words"][3]["text"]), (&json!(false), &json!("etc")));
    let effects = step["effects"].as_array().unwrap();
    let deleted = effects.iter().find(|effect| effect["target"] == "/etc").unwrap();
    let looks = deleted["rules"].as_array().unwrap();
    let found = looks.iter().find(|look| look["rule"] == "files.delete-system").unwrap();
    assert_eq!(
        (&found["matched"], &found["verdict"], &found["source"]),
        (&json!(true), &json!("deny"), &json!("rule"))
    );
    assert!(looks.iter().any(|look| look["matched"] == false), "{looks:?}");
}

#[test]
fn every_change_that_is_offered_changes_the_verdict() {
    let sandbox = CliSandbox::new();
    let mut tried = 0;
    for command in ["rm -rf / x; ls", "sudo make install", "git push --force origin main", "cat ~/.ssh/id_rsa | wc -l"]
    {
        let explained = sandbox.run_snell(&["guard", "explain", "--json", command], "").json();
        let before = &explained["decision"];
        let flips = explained["flips"].as_array().unwrap();
        assert!(!flips.is_empty(), "{command}");
        for flip in flips.iter().filter(|flip| flip["change"] == "word" || flip["change"] == "command") {
            let changed = flip["then"].as_str().unwrap();
            let after = sandbox.run_snell(&["guard", "check", "--json", changed], "").decision();
            assert_eq!(flip["decision"], after.as_str(), "{command}: {changed}");
            assert_ne!(*before, after.as_str(), "{command}: {changed}");
            tried += 1;
        }
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn explain_and_check_decide_the_same() {
    let sandbox = CliSandbox::new();
    let commands = ["ls", "rm -rf /", "history -c", "eval \"$X\"", "git commit -m 'rm -rf /'", "echo 'unclosed"];
    for preset in ["standard", "strict", "audit"] {
        for command in commands {
            let ask =
                |what: &str| sandbox.run_snell(&["guard", what, "--json", "--preset", preset, command], "").json();
            let (checked, explained) = (ask("check"), ask("explain"));
            for (field, value) in checked.as_object().unwrap() {
                assert_eq!(*value, explained[field], "{field} of {command} under {preset}");
            }
            assert_eq!(checked.get("would"), explained.get("would"), "{command} under {preset}");
        }
    }
}

#[test]
fn a_file_behind_a_link_is_explained_where_it_is() {
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", "[guard]\n");
    symlink(sandbox.home().join(".config/snell"), sandbox.project().join("conf")).unwrap();
    let input = json!({"file_path": sandbox.project().join("conf/snell.toml"), "content": ""}).to_string();
    let args = ["--tool", "Write", "--input", &input];
    let checked = sandbox.run_snell(&[&["guard", "check"][..], &args].concat(), "");
    assert_eq!(checked.code, 2, "{checked:?}");
    let explained = sandbox.run_snell(&[&["guard", "explain", "--json"][..], &args].concat(), "").json();
    assert_eq!(explained["decision"], "deny", "{explained}");
    assert_eq!(explained["effects"][0]["target"], sandbox.home().join(".config/snell/snell.toml").to_str().unwrap());
}

#[test]
fn suggested_settings_are_valid_and_have_the_promised_effect() {
    let commands = [
        "pkill node",
        "pkill 'a\u{1b}[31mb'",
        "pkill 'a\tb\u{202e}c'",
        "pkill 'a\"b\\c'",
        "pkill \"it's\" 'ü\u{1f600}\u{7f}'",
        "sudo ls; pkill 'x y'",
        "$TOOL build",
    ];
    let mut tried = 0;
    for command in commands {
        let input = json!({ "command": command }).to_string();
        let judged = |sandbox: &CliSandbox, what: &str| {
            let args = ["guard", what, "--json", "--tool", "Bash", "--input", &input];
            sandbox.run_snell(&args, "").json()
        };
        let explained = judged(&CliSandbox::new(), "explain");
        let of_settings = |flip: &&Value| ["rule", "allowed", "preset"].iter().any(|kind| flip["change"] == *kind);
        for flip in explained["flips"].as_array().unwrap().iter().filter(of_settings) {
            let settings = flip["then"].as_str().unwrap();
            let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", settings);
            assert_eq!(judged(&sandbox, "check")["decision"], flip["decision"], "{command:?}: {settings}");
            let lint = sandbox.run_snell(&["lint"], "");
            assert!(lint.stdout.starts_with("No problems"), "{command:?}: {settings}: {lint:?}");
            tried += 1;
        }
    }
    assert!(tried > commands.len(), "{tried}");
}
