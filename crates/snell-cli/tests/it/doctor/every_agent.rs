//! `snell doctor` with every agent: a denial is proven for each, and trust that is missing is reported.

use std::fs;

use crate::install::InstallHome;

use super::{list_faults, run_doctor};

/// Every agent in which Snell can be installed.
fn list_agents(home: &InstallHome) -> Vec<String> {
    let said = home.run_snell(&["install", "nobody"]).stderr;
    let names = said.split("use one of: ").nth(1).unwrap().trim();
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn a_denial_is_proven_for_every_agent_in_its_own_words() {
    let home = InstallHome::new().with_program_in_path();
    let agents = list_agents(&home);
    assert!(agents.len() >= 20, "{agents:?}");
    let args = ["install"].into_iter().chain(agents.iter().map(String::as_str));
    home.run_successfully(&args.collect::<Vec<_>>());
    let found = run_doctor(&home);
    for agent in &agents {
        let call = format!("hook --agent {agent}: ");
        let proofs = found.iter().filter(|one| one.starts_with("Proof ok ") && one.contains(&call));
        let denials = proofs.filter(|one| one.contains("`rm -rf /` is denied by files.delete-root"));
        assert_eq!(denials.count(), 1, "{agent}: {found:#?}");
    }
    // Codex skips hooks until its user trusts them.
    let faults = list_faults(&home);
    assert!(faults.len() == 1 && faults[0].starts_with("Switches warning Codex skips Snell on "), "{faults:#?}");
}

#[test]
fn hooks_that_codex_does_not_trust_are_named() {
    let home = InstallHome::new().with_program_in_path();
    home.run_successfully(&["install", "codex"]);
    let directory = home.sandbox.home().join(".codex");
    let expected = "Switches warning Codex skips Snell on EVENTS until you trust its hooks | \
                    start Codex, enter /hooks, and trust them";
    assert_eq!(list_faults(&home), [expected.replace("EVENTS", "all events")]);
    let hooks = fs::read_to_string(directory.join("hooks.json")).unwrap();
    let hooks: serde_json::Value = serde_json::from_str(&hooks).unwrap();
    let events: Vec<_> = hooks["hooks"].as_object().unwrap().keys().collect();
    assert!(events.len() > 5, "{events:?}");
    let mut trusted = String::new();
    for event in events.into_iter().filter(|event| !["SessionStart", "Stop"].contains(&event.as_str())) {
        let mut name = String::new();
        for letter in event.chars() {
            name.push_str(if letter.is_uppercase() && !name.is_empty() { "_" } else { "" });
            name.push(letter.to_ascii_lowercase());
        }
        let file = directory.join("hooks.json");
        let hash = "trusted_hash = \"sha256:0\"";
        trusted.push_str(&format!("[hooks.state.\"{}:{name}:0:0\"]\n{hash}\n", file.display()));
    }
    fs::write(directory.join("config.toml"), trusted).unwrap();
    let [fault] = &list_faults(&home)[..] else { panic!("one fault") };
    let named = ["SessionStart, Stop", "Stop, SessionStart"].map(|events| expected.replace("EVENTS", events));
    assert!(named.contains(fault), "{fault}");
}
