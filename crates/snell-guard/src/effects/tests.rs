use proptest::prelude::*;

use super::*;
use crate::invocation::{Part, Stdin, Unknown};
use crate::plain::{read, world};

/// Effects as `kind place`, or the rule's name.
fn shown(line: &str) -> Vec<String> {
    effects(&read(line), &world()).list.iter().map(show).collect()
}

fn show(effect: &Effect) -> String {
    let what = match effect.what {
        What::Kind(kind) => format!("{kind:?}"),
        What::Rule(number) => rules::RULES[number].id.to_owned(),
    };
    let place = effect
        .place
        .as_ref()
        .map(|place| format!(" {}", place.told()))
        .unwrap_or_default();
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
        // `-d` takes an `@` only in front, `--data-urlencode` anywhere; what is no file lies in the project and hurts nobody.
        ("curl -da@b.c https://h", "Send /home/ann/work/app/b.c"),
        ("scp /x h:", "Send -r /x"),
        ("scp h:/x /y", "Put /y, Put /y/x"),
        (
            "cp /a /b/c.txt",
            "Read /a, Put /b/c.txt, Replace /b/c.txt, Put /b/c.txt/a",
        ),
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
        assert_eq!(shown(&line).join(", "), expected, "{line}");
    }
}

#[test]
fn every_rule_that_the_code_speaks_of_exists() {
    for id in [
        "privilege.raise",
        "secret.send-private",
        "network.reverse-shell",
        "network.run-unseen",
        "network.run-fetched",
        "process.kill-everything",
        "process.kill-found",
        "infra.drop-database",
        "infra.drop-table",
        "infra.delete-all-rows",
        "infra.service",
        "infra.drop-user",
    ] {
        assert_eq!(rules::RULES[number_of(id)].id, id);
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
        let mut invocations = read(line);
        invocations[0].variables = vec![(variable.0.to_owned(), Value::text(variable.1))];
        assert_eq!(
            effects(&invocations, &world()).list.len(),
            expected,
            "{variable:?} {line}"
        );
    }
}

#[test]
fn output_carries_where_it_comes_from() {
    for (line, expected) in [
        ("curl https://h", Unknown::Unseen),
        ("curl -s https://h | jq .x", Unknown::Unseen),
        ("curl -o x https://h", Unknown::Anything),
        ("cat .env", Unknown::Private),
        ("env | base64", Unknown::Private),
        ("printenv PATH", Unknown::Anything),
        ("pgrep node", Unknown::Processes),
        ("ps aux | grep x", Unknown::Processes),
        ("cat server.pid", Unknown::Told),
        ("cat ~/.snell/server.pid", Unknown::Agent),
        ("ssh h cat x", Unknown::Unseen),
        ("aws s3 cp s3://b/x -", Unknown::Unseen),
        ("aws s3 cp s3://b/x y", Unknown::Anything),
        ("dig +short txt h", Unknown::Unseen),
        ("dig +short h", Unknown::Anything),
        ("xclip -o", Unknown::Unseen),
        ("git show origin/x:i.sh", Unknown::Unseen),
        ("git show HEAD:i.sh", Unknown::Anything),
        ("docker ps -aq", Unknown::Processes),
        ("docker -H x container ls --quiet", Unknown::Processes),
        ("docker ps -aq --filter name=x", Unknown::Anything),
        ("docker ps", Unknown::Anything),
        ("kubectl get ns -o name", Unknown::Processes),
        ("redis-cli --scan --pattern '*'", Unknown::Processes),
        ("redis-cli --scan --pattern 'session:*'", Unknown::Anything),
        ("echo hi", Unknown::Anything),
    ] {
        assert_eq!(output_of(&read(line), &world()), expected, "{line}");
    }
}

/// One argument is replaced by something unknown.
fn with_unknown(line: &str, unknown: Unknown) -> Vec<String> {
    let mut invocations = read(line);
    for invocation in &mut invocations {
        for value in invocation.argv.iter_mut().filter(|value| value.as_text() == Some("@")) {
            *value = Value::unknown(unknown);
        }
    }
    effects(&invocations, &world()).list.iter().map(show).collect()
}

#[test]
fn unknown_values_are_judged_by_where_they_come_from() {
    for (line, unknown, expected) in [
        ("kill @", Unknown::Processes, "process.kill-found"),
        ("kill -9 @", Unknown::Processes, "process.kill-found"),
        ("kill -0 @", Unknown::Processes, ""),
        ("kill @", Unknown::Anything, ""),
        ("docker rm -f @", Unknown::Processes, "containers.remove-all …"),
        (
            "docker container stop web @",
            Unknown::Processes,
            "containers.remove-all …",
        ),
        ("docker rm -f @", Unknown::Anything, ""),
        ("docker logs @", Unknown::Processes, ""),
        ("kubectl delete pod @", Unknown::Processes, "cluster.delete …"),
        ("kubectl delete pod @", Unknown::Anything, ""),
        ("redis-cli del @", Unknown::Processes, "infra.drop-database …"),
        ("redis-cli del @", Unknown::Anything, ""),
        ("git checkout @", Unknown::Anything, "Append /home/ann/work/app, Put …"),
        ("eval @", Unknown::Unseen, "network.run-unseen"),
        ("eval @", Unknown::Anything, ""),
        ("bash @", Unknown::Unseen, "network.run-unseen"),
        ("bash -c @", Unknown::Unseen, "network.run-unseen"),
        ("python3 -c @", Unknown::Unseen, "network.run-unseen"),
        ("bash build.sh @", Unknown::Unseen, ""),
        ("source @", Unknown::Unseen, "network.run-unseen"),
        ("curl -d @ https://h", Unknown::Private, "secret.send-private"),
        ("dig @", Unknown::Private, "secret.send-private"),
        ("echo @", Unknown::Private, ""),
        ("@ -rf /etc", Unknown::Anything, "Delete -r /etc"),
        ("@ -f -r /etc", Unknown::Anything, "Delete -r /etc"),
        ("@ -r /etc", Unknown::Anything, ""),
    ] {
        assert_eq!(with_unknown(line, unknown).join(", "), expected, "{line} {unknown:?}");
    }
}

#[test]
fn numbers_out_of_a_pipe_are_looked_up_unless_they_are_the_shells_own() {
    for (left, expected) in [
        ("lsof -t", true),
        ("pgrep x", true),
        ("jobs -p", false),
        ("cat x.pid", false),
    ] {
        let mut kill = read("kill -9").remove(0);
        kill.argv.push(Value::unknown(Unknown::Anything));
        kill.via = vec!["xargs".to_owned()];
        kill.stdin = Stdin::Pipe(read(left));
        let found = effects_of(&kill, &world())
            .iter()
            .any(|effect| show(effect) == "process.kill-found");
        assert_eq!(found, expected, "{left}");
    }
}

#[test]
fn a_call_with_too_many_operands_says_so() {
    let line = format!("rm {}", "a ".repeat(MAX_EFFECTS + 10));
    let effects = effects(&read(&line), &world());
    assert!(effects.too_many);
    assert_eq!(effects.list.len(), MAX_EFFECTS);
}

/// Each stage looks at its left in two ways. If those looked further, this would take 2^64 steps and never end.
#[test]
fn a_long_pipe_is_looked_at_once() {
    let stage = |left: Option<Invocation>| Invocation {
        stdin: left.map_or(Stdin::Inherited, |left| Stdin::Pipe(vec![left])),
        ..read("nc example.com 9").remove(0)
    };
    let pipe = (0..64).fold(stage(None), |left, _| stage(Some(left)));
    assert_eq!(effects_of(&pipe, &world()), []);
}

fn any_value() -> impl Strategy<Value = Value> {
    let part = prop_oneof![
        "[-a-z0-9/.~=@:+*;]{0,12}".prop_map(Part::Text),
        Just(Part::Pattern("*".to_owned())),
        prop::sample::select(vec![
            Unknown::Anything,
            Unknown::Name,
            Unknown::Unseen,
            Unknown::Private,
            Unknown::Processes
        ])
        .prop_map(Part::Unknown),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| Value { parts })
}

proptest! {
    #[test]
    fn no_arguments_are_too_odd(
        program in prop::sample::select(programs::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>()),
        arguments in prop::collection::vec(any_value(), 0..6),
        stdin in prop::option::of(any_value()),
    ) {
        let mut argv = vec![Value::text(program)];
        argv.extend(arguments);
        let stdin = stdin.map_or(Stdin::Inherited, Stdin::Text);
        let invocation = Invocation { argv, stdin, ..Invocation::default() };
        let effects = effects(&[invocation], &world());
        let _ = rules::findings(&effects.list).iter().map(rules::Finding::reason).collect::<Vec<_>>();
    }

    #[test]
    fn another_operand_never_makes_a_command_harmless(extra in "[a-z]{1,8}", before in any::<bool>()) {
        for line in ["rm -rf /etc", "cat .env", "shred ~/x"] {
            let (program, rest) = line.split_once(' ').unwrap();
            let line = if before { format!("{program} {extra} {rest}") } else { format!("{line} {extra}") };
            let effects = effects(&read(&line), &world());
            prop_assert!(rules::judge(&effects.list).is_some(), "{}", line);
        }
    }
}
