use proptest::prelude::*;

use super::*;
use crate::effects::effects;
use crate::paths::{Class, Classes};
use crate::plain::{protected, read, world};
use crate::world::World;

/// What the plain reading of a command line leads to.
fn verdict(line: &str) -> Option<&'static Rule> {
    judge(&effects_of_case(line)).map(|finding| finding.rule)
}

/// What it would do, where some places are to be left alone.
fn effects_of_case(line: &str) -> Vec<Effect> {
    effects_in(&world(), line)
}

/// A case of a rule: those of the one about homes are of an agent that was started in one.
fn effects_of(rule: &Rule, line: &str) -> Vec<Effect> {
    let world = world();
    if rule.on != Classes::from([Class::HomeProject]) {
        return effects_in(&world, line);
    }
    let at_home = World {
        cwd: world.home.clone(),
        project: world.home.clone(),
        ..world
    };
    effects_in(&at_home, line)
}

fn effects_in(world: &World, line: &str) -> Vec<Effect> {
    let mut invocations = read(line);
    invocations
        .iter_mut()
        .for_each(|invocation| invocation.cwd = Some(world.cwd.clone()));
    let mut all = effects(&invocations, world).list;
    let places = all.iter_mut().filter_map(|effect| effect.place.as_mut());
    places.for_each(|place| place.protect(&protected(), world));
    all
}

#[test]
fn every_rule_finds_what_it_is_for_and_nothing_else() {
    let mut faults = Vec::new();
    for rule in RULES {
        for line in rule.cases.matches {
            let found: Vec<&str> = findings(&effects_of(rule, line))
                .iter()
                .map(|finding| finding.rule.id)
                .collect();
            if !found.contains(&rule.id) {
                faults.push(format!("{}: `{line}` should match; found {found:?}", rule.id));
            }
        }
        for line in rule.cases.not_match {
            if let Some(found) = judge(&effects_of(rule, line)).map(|finding| finding.rule) {
                faults.push(format!(
                    "{}: `{line}` should match nothing; found {}",
                    rule.id, found.id
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Beyond the cases of single rules: what must not happen, and what people do all day.
#[test]
fn commands_are_judged_as_the_table_says() {
    let mut faults = Vec::new();
    for row in include_str!("commands.txt").lines() {
        let (expected, line) = row.split_once(' ').unwrap();
        let (found, id) = match verdict(line) {
            Some(rule) if rule.decision == Decision::Deny => ("deny", rule.id),
            Some(rule) => ("ask", rule.id),
            None => ("allow", "no rule"),
        };
        if found != expected {
            faults.push(format!("{row}: {found} ({id})"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_gravest_finding_is_the_one_that_is_told() {
    for (line, expected) in [
        ("rm -rf notes.txt ~/x /", "files.delete-root"),
        ("sudo rm ; rm -rf ~", "files.delete-home"),
        ("chmod 777 x ; pkill node", "process.kill-by-name"),
        ("chmod -R 777 .", "privilege.open-project-root"),
        ("rm ~/.snell/x", "self.change"),
    ] {
        assert_eq!(verdict(line).map(|rule| rule.id), Some(expected), "{line}");
    }
}

#[test]
fn rules_are_sorted_by_gravity() {
    let order: Vec<_> = RULES.iter().map(|rule| (rule.decision, rule.tier)).collect();
    assert!(order.is_sorted());
}

#[test]
fn no_advice_is_itself_denied() {
    for rule in RULES {
        for (at, quoted) in rule.advice.split('`').enumerate() {
            if at % 2 == 1 && !quoted.contains("$!") {
                assert_eq!(verdict(quoted).map(|found| found.id), None, "{}: `{quoted}`", rule.id);
            }
        }
    }
}

#[test]
fn a_reason_names_its_target_and_shows_nothing_odd() {
    let effects = effects(&read("rm -rf ../other\u{1b}[31m"), &world());
    let finding = judge(&effects.list).unwrap();
    assert_eq!(
        finding.reason(),
        "/home/ann/work/other\\u{1b}[31m lies outside of the project; rm would remove it."
    );
}

#[test]
fn what_happens_on_another_machine_is_judged_by_what_is_the_same_there() {
    for (line, via, expected) in [
        ("rm -rf /", "ssh", Some("files.delete-root")),
        ("rm -rf /etc", "ssh", Some("files.delete-system")),
        ("rm -rf build", "ssh", None),
        ("rm -rf /data/x", "ssh", None),
        ("rm -rf /", "docker exec", Some("files.delete-root")),
        ("rm -rf /var/cache/x", "docker exec", None),
        ("pkill nginx", "docker exec", None),
        ("pkill nginx", "ssh", Some("process.kill-by-name")),
        ("cat .env", "ssh", Some("secret.read")),
        ("psql -c 'DROP TABLE users'", "docker exec", Some("infra.drop-table")),
    ] {
        let mut invocations = read(line);
        for invocation in &mut invocations {
            invocation.elsewhere = true;
            invocation.via = vec![via.to_owned()];
        }
        let effects = effects(&invocations, &world());
        assert_eq!(
            judge(&effects.list).map(|finding| finding.rule.id),
            expected,
            "{via}: {line}"
        );
    }
}

#[test]
fn tools_that_are_no_shell_are_judged_by_the_same_places() {
    use crate::effects::effect_on;
    for (kind, path, expected) in [
        (Kind::Read, "/home/ann/work/app/.env", Some("secret.read")),
        (Kind::Read, "src/main.rs", None),
        (Kind::Put, "/etc/hosts", Some("files.write-system")),
        (Kind::Put, "/home/ann/.bashrc", Some("files.write-start-up")),
        (Kind::Put, "/home/ann/.claude/settings.json", Some("self.change")),
        (Kind::Put, "src/main.rs", None),
    ] {
        let effect = effect_on(kind, path, "Write", &world());
        assert_eq!(
            judge(&[effect]).map(|finding| finding.rule.id),
            expected,
            "{kind:?} {path}"
        );
    }
}

/// A container often has one directory for everything.
#[test]
fn a_project_that_is_the_home_is_still_no_place_to_wipe() {
    let mut world = world();
    (world.home, world.project, world.cwd) = ("/root".into(), "/root".into(), "/root".into());
    for (line, expected) in [
        ("rm -rf /root", Some("files.delete-home")),
        ("rm -rf /root/build", Some("files.delete-in-home")),
        ("rm /root/build/x", None),
        ("cat /root/.ssh/id_rsa", Some("secret.read")),
        ("rm -rf /etc", Some("files.delete-system")),
    ] {
        let effects = effects(&read(line), &world);
        assert_eq!(judge(&effects.list).map(|finding| finding.rule.id), expected, "{line}");
    }
}

proptest! {
    #[test]
    fn what_lies_below_a_protected_place_may_not_be_deleted_either(
        top in prop::sample::select(vec!["/etc", "/usr", "/boot", "/data", "/home/bob", "~/Documents", "~/.ssh", ".git/objects"]),
        below in "(/[a-z]{1,6}){0,5}",
        flags in prop::sample::select(vec!["", "-rf ", "-f ", "-r --force "]),
    ) {
        let line = format!("rm {flags}{top}{below}");
        prop_assert!(verdict(&line).is_some_and(|rule| rule.decision == Decision::Deny), "{}", line);
    }

    #[test]
    fn what_lies_in_the_project_is_the_agents_own(below in "[a-z]{1,6}(/[a-z]{1,6}){0,4}") {
        for line in [format!("rm -rf {below}"), format!("rm -rf /tmp/{below}"), format!("cat {below}"), format!("touch {below}")] {
            prop_assert_eq!(verdict(&line).map(|rule| rule.id), None, "{}", line);
        }
    }
}
