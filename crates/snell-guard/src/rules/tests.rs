use proptest::prelude::*;

use super::*;
use crate::effects::collect_effects;
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, PathClasses};
use crate::test_support::{parse_commands, test_context, test_protections};

/// The gravest rule for a command line that is parsed without the shell.
fn find_case_rule(line: &str) -> Option<&'static GuardRule> {
    collect_findings(&case_effects(line)).first().map(|finding| finding.rule)
}

/// The effects of a command line, with protected paths.
fn case_effects(line: &str) -> Vec<Effect> {
    effects_in_context(&test_context(), line)
}

/// The effects of a rule's case. Cases of the rule for home projects run in a home directory.
fn rule_case_effects(rule: &GuardRule, line: &str) -> Vec<Effect> {
    let world = test_context();
    if rule.on != PathClasses::from([PathClass::HomeProject]) {
        return effects_in_context(&world, line);
    }
    let at_home = JudgeContext { cwd: world.home.clone(), project: world.home.clone(), ..world };
    effects_in_context(&at_home, line)
}

fn effects_in_context(context: &JudgeContext, line: &str) -> Vec<Effect> {
    let mut invocations = parse_commands(line);
    invocations.iter_mut().for_each(|invocation| invocation.cwd = Some(context.cwd.clone()));
    let mut all = collect_effects(&invocations, context).effects;
    let places = all.iter_mut().filter_map(|effect| effect.place.as_mut());
    places.for_each(|place| place.apply_protections(&test_protections(), context));
    all
}

#[test]
fn every_rule_matches_its_cases_and_no_others() {
    let mut faults = Vec::new();
    for rule in RULES {
        for line in rule.cases.matches {
            let found: Vec<&str> =
                collect_findings(&rule_case_effects(rule, line)).iter().map(|finding| finding.rule.id).collect();
            if !found.contains(&rule.id) {
                faults.push(format!("{}: `{line}` should match; found {found:?}", rule.id));
            }
        }
        for line in rule.cases.not_match {
            if let Some(found) = collect_findings(&rule_case_effects(rule, line)).first().map(|finding| finding.rule) {
                faults.push(format!("{}: `{line}` should match nothing; found {}", rule.id, found.id));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Cases beyond those of single rules: dangerous commands and everyday work.
#[test]
fn commands_are_judged_as_the_table_says() {
    let mut faults = Vec::new();
    for row in include_str!("commands.txt").lines() {
        let (expected, line) = row.split_once(' ').unwrap();
        let (found, id) = match find_case_rule(line) {
            Some(rule) if rule.decision == RuleDecision::Deny => ("deny", rule.id),
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
fn the_gravest_finding_comes_first() {
    for (line, expected) in [
        ("rm -rf notes.txt ~/x /", "files.delete-root"),
        ("sudo rm ; rm -rf ~", "files.delete-home"),
        ("chmod 777 x ; pkill node", "process.kill-by-name"),
        ("chmod -R 777 .", "privilege.open-project-root"),
        ("rm ~/.snell/x", "self.change"),
    ] {
        assert_eq!(find_case_rule(line).map(|rule| rule.id), Some(expected), "{line}");
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
                assert_eq!(find_case_rule(quoted).map(|found| found.id), None, "{}: `{quoted}`", rule.id);
            }
        }
    }
}

#[test]
fn a_reason_names_its_target_and_shows_nothing_odd() {
    let effects = collect_effects(&parse_commands("rm -rf ../other\u{1b}[31m"), &test_context());
    let finding = collect_findings(&effects.effects)[0];
    assert_eq!(
        finding.format_reason(),
        "rm would delete /home/ann/work/other\\u{1b}[31m, which is outside the project."
    );
}

#[test]
fn remote_commands_are_judged_by_paths_that_mean_the_same_there() {
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
        let mut invocations = parse_commands(line);
        for invocation in &mut invocations {
            invocation.elsewhere = true;
            invocation.via = vec![via.to_owned()];
        }
        let effects = collect_effects(&invocations, &test_context());
        assert_eq!(
            collect_findings(&effects.effects).first().map(|finding| finding.rule.id),
            expected,
            "{via}: {line}"
        );
    }
}

#[test]
fn file_tools_are_judged_by_the_same_paths() {
    use crate::effects::build_path_effect;
    for (kind, path, expected) in [
        (PathAction::Read, "/home/ann/work/app/.env", Some("secret.read")),
        (PathAction::Read, "src/main.rs", None),
        (PathAction::Put, "/etc/hosts", Some("files.write-system")),
        (PathAction::Put, "/home/ann/.bashrc", Some("files.write-start-up")),
        (PathAction::Put, "/home/ann/.claude/settings.json", Some("self.change")),
        (PathAction::Put, "src/main.rs", None),
    ] {
        let effect = build_path_effect(kind, path, "Write", &test_context());
        assert_eq!(collect_findings(&[effect]).first().map(|finding| finding.rule.id), expected, "{kind:?} {path}");
    }
}

/// A container often has one directory for everything.
#[test]
fn a_project_that_is_the_home_directory_cannot_be_wiped() {
    let mut world = test_context();
    (world.home, world.project, world.cwd) = ("/root".into(), "/root".into(), "/root".into());
    for (line, expected) in [
        ("rm -rf /root", Some("files.delete-home")),
        ("rm -rf /root/build", Some("files.delete-in-home")),
        ("rm /root/build/x", None),
        ("cat /root/.ssh/id_rsa", Some("secret.read")),
        ("rm -rf /etc", Some("files.delete-system")),
    ] {
        let effects = collect_effects(&parse_commands(line), &world);
        assert_eq!(collect_findings(&effects.effects).first().map(|finding| finding.rule.id), expected, "{line}");
    }
}

proptest! {
    #[test]
    fn files_below_a_protected_directory_cannot_be_deleted(
        top in prop::sample::select(vec!["/etc", "/usr", "/boot", "/data", "/home/bob", "~/Documents", "~/.ssh", ".git/objects"]),
        below in "(/[a-z]{1,6}){0,5}",
        flags in prop::sample::select(vec!["", "-rf ", "-f ", "-r --force "]),
    ) {
        let line = format!("rm {flags}{top}{below}");
        prop_assert!(find_case_rule(&line).is_some_and(|rule| rule.decision == RuleDecision::Deny), "{}", line);
    }

    #[test]
    fn an_agent_may_use_files_of_its_project(below in "[a-z]{1,6}(/[a-z]{1,6}){0,4}") {
        for line in [format!("rm -rf {below}"), format!("rm -rf /tmp/{below}"), format!("cat {below}"), format!("touch {below}")] {
            prop_assert_eq!(find_case_rule(&line).map(|rule| rule.id), None, "{}", line);
        }
    }
}
