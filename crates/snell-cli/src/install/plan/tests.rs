//! Whatever a settings file looks like: Snell comes and goes, and nothing else moves.

use proptest::prelude::*;

use super::*;
use crate::install::agents::InstallAgent;

const PROGRAM: &str = "/opt/a b/snell";

fn desired_registration(way: InstallMode) -> DesiredRegistration {
    let agent = InstallAgent::find_by_name("claude").unwrap();
    let command = match way {
        InstallMode::Hook => PROGRAM,
        InstallMode::Notify => "/home/me/.claude/hooks/notify-headspace.sh",
    };
    DesiredRegistration {
        way,
        entries: HandlerEntry::for_events(agent, &agent.events().collect::<Vec<_>>(), way, command),
        recognizer: sample_recognizer(),
    }
}

fn sample_recognizer() -> EntryRecognizer {
    EntryRecognizer::sample(PROGRAM)
}

fn install_in(text: &str, way: InstallMode) -> InstallPlan {
    let plan = plan_install(Some(text), &PriorContent::Unknown, &sample_recognizer(), &desired_registration(way));
    plan.unwrap_or_else(|fault| panic!("{fault:?} in {text}"))
}

/// A file that was there, and that somebody has changed since.
fn changed_content(containers: &[CreatedContainer]) -> PriorContent<'_> {
    PriorContent::Changed { containers, existed: true }
}

/// Takes Snell out of a file that is not as it was left.
fn uninstall_from(text: &str, containers: &[CreatedContainer]) -> String {
    plan_uninstall(text, &changed_content(containers), &sample_recognizer()).unwrap().unwrap()
}

/// A document, before anybody has laid it out.
#[derive(Clone, Debug)]
enum JsonTree {
    Scalar(&'static str),
    Array(Vec<JsonTree>),
    Object(Vec<(String, JsonTree)>),
}

/// What people write between values.
const GAPS: &[&str] = &[
    "",
    "",
    " ",
    "\n",
    "\n  ",
    "\n\t",
    "\r\n    ",
    " /* a */ ",
    " // b\n",
    "\n\n  // \"hooks\": []\n  ",
    " /* c\n */",
    " // d\r\n\t",
];

/// Lays a document out, with a choice for every gap.
struct LayoutWriter<'a> {
    choices: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    text: String,
}

impl LayoutWriter<'_> {
    fn next_choice(&mut self, of: usize) -> usize {
        usize::from(*self.choices.next().unwrap_or(&0)) % of
    }

    fn write_gap(&mut self) {
        let choice = self.next_choice(GAPS.len());
        self.text.push_str(GAPS[choice]);
    }

    fn write_tree(&mut self, tree: &JsonTree) {
        match tree {
            JsonTree::Scalar(written) => self.text.push_str(written),
            JsonTree::Array(items) => self.write_items(items, ('[', ']'), Self::write_tree),
            JsonTree::Object(members) => self.write_items(members, ('{', '}'), |writer, (key, value)| {
                writer.text.push_str(&serde_json::Value::from(key.as_str()).to_string());
                writer.write_gap();
                writer.text.push(':');
                writer.write_gap();
                writer.write_tree(value);
            }),
        }
    }

    fn write_items<T>(&mut self, items: &[T], (open, close): (char, char), write: impl Fn(&mut Self, &T)) {
        self.text.push(open);
        self.write_gap();
        for (index, item) in items.iter().enumerate() {
            write(self, item);
            self.write_gap();
            let is_last = index + 1 == items.len();
            if !is_last || self.next_choice(4) == 0 {
                self.text.push(',');
                self.write_gap();
            }
        }
        self.text.push(close);
    }
}

fn object_tree(members: Vec<(&str, JsonTree)>) -> JsonTree {
    JsonTree::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn scalar_strategy() -> impl Strategy<Value = JsonTree> {
    prop::sample::select(vec!["1", "true", "null", "\"http://x//y\"", "\"a \\\" }\"", "\"ü\"", "\"/* no */\""])
        .prop_map(JsonTree::Scalar)
}

fn value_strategy() -> impl Strategy<Value = JsonTree> {
    scalar_strategy().prop_recursive(2, 8, 3, |inner| {
        let keys = prop::sample::select(vec!["a", "b", "hooks", "Stop"]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(JsonTree::Array),
            prop::collection::vec((keys, inner), 0..3).prop_map(JsonTree::Object),
        ]
    })
}

/// Somebody else's entry.
fn group_strategy() -> impl Strategy<Value = JsonTree> {
    let handler =
        object_tree(vec![("type", JsonTree::Scalar("\"command\"")), ("command", JsonTree::Scalar("\"say done\""))]);
    let group = |handlers: Vec<JsonTree>| {
        let matcher = ("matcher", JsonTree::Scalar("\"Bash\""));
        object_tree(vec![matcher, ("hooks", JsonTree::Array(handlers))])
    };
    prop_oneof![
        prop::collection::vec(Just(handler), 0..3).prop_map(group),
        Just(JsonTree::Scalar("\"/path/of/a/script.sh\"")),
    ]
}

fn hooks_strategy() -> impl Strategy<Value = JsonTree> {
    let event = prop::sample::select(vec!["Stop", "SessionStart", "SessionEnd", "Elsewhere"]).prop_map(str::to_owned);
    let groups = prop::collection::vec(group_strategy(), 0..3).prop_map(JsonTree::Array);
    prop::collection::vec((event, groups), 0..4).prop_map(|mut events| {
        events.sort_by(|one, other| one.0.cmp(&other.0));
        events.dedup_by(|one, other| one.0 == other.0);
        JsonTree::Object(events)
    })
}

/// A settings file.
fn settings_strategy() -> impl Strategy<Value = String> {
    let before = prop::collection::vec((prop::sample::select(vec!["model", "env"]), value_strategy()), 0..2);
    let after = prop::collection::vec((prop::sample::select(vec!["permissions", "\u{1f980}"]), value_strategy()), 0..2);
    let layout = prop::collection::vec(any::<u8>(), 1..60);
    (before, prop::option::of(hooks_strategy()), after, layout, any::<[bool; 2]>()).prop_map(
        |(before, hooks, after, layout, [marked, ended])| {
            let hooks = hooks.map(|hooks| ("hooks", hooks));
            let root = object_tree(before.into_iter().chain(hooks).chain(after).collect());
            let mut writer = LayoutWriter {
                choices: layout.iter().cycle(),
                text: if marked { "\u{feff}".into() } else { String::new() },
            };
            writer.write_gap();
            writer.write_tree(&root);
            writer.write_gap();
            let end = if ended { "\n" } else { "" };
            format!("{}{end}", writer.text)
        },
    )
}

/// Whether one text is the other with something put in.
fn is_subsequence(inner: &str, outer: &str) -> bool {
    let mut rest = outer.chars();
    inner.chars().all(|wanted| rest.any(|found| found == wanted))
}

proptest! {
    #[test]
    fn what_comes_in_goes_out_again(text in settings_strategy()) {
        let plan = install_in(&text, InstallMode::Notify);
        prop_assert!(is_subsequence(&text, &plan.after), "something was taken away from\n{}\nto\n{}", text, plan.after);
        prop_assert_eq!(plan.before.as_deref(), Some(text.as_str()));
        prop_assert_eq!(uninstall_from(&plan.after, &plan.containers), text.as_str(), "from\n{}", plan.after);
    }

    #[test]
    fn what_somebody_else_changes_in_between_stays(text in settings_strategy(), at_the_end in any::<bool>()) {
        let plan = install_in(&text, InstallMode::Notify);
        let is_empty = SettingsDocument::parse(&text).unwrap().root().unwrap().members().unwrap().is_empty();
        let edit = |text: &str| {
            let document = SettingsDocument::parse(text).unwrap();
            let mark = text.len() - text.trim_start_matches('\u{feff}').len();
            let open = mark + document.root().unwrap().offset + 1;
            match (at_the_end, is_empty) {
                (true, _) => format!("{text}\n// mine\n"),
                (false, true) => format!("{} /* mine */{}", &text[..open], &text[open..]),
                (false, false) => format!("{}\n \"mine\": [1],{}", &text[..open], &text[open..]),
            }
        };
        prop_assert_eq!(uninstall_from(&edit(&plan.after), &plan.containers), edit(&text), "from\n{}", plan.after);
    }

    #[test]
    fn installing_again_changes_nothing_and_the_other_way_replaces_it(text in settings_strategy()) {
        let first = install_in(&text, InstallMode::Notify);
        let known = PriorContent::Known(Some(&text));
        let changed = changed_content(&first.containers);
        for before in [&known, &changed, &PriorContent::Unknown] {
            let again = plan_install(Some(&first.after), before, &sample_recognizer(), &desired_registration(InstallMode::Notify)).unwrap();
            prop_assert_eq!(&again.after, &first.after);
        }
        let other = plan_install(Some(&first.after), &changed, &sample_recognizer(), &desired_registration(InstallMode::Hook)).unwrap();
        prop_assert_eq!(other.before.as_deref(), Some(text.as_str()));
        prop_assert_eq!(uninstall_from(&other.after, &other.containers), text.as_str());
    }
}

#[test]
fn files_that_hold_no_value_are_begun_and_ended() {
    for text in ["", "\n", "  ", "// nothing yet", "/* nothing */\n", "\u{feff}", "\u{feff}\r\n"] {
        let plan = install_in(text, InstallMode::Hook);
        assert!(plan.after.contains("\"SessionStart\": ["), "{}", plan.after);
        assert_eq!(uninstall_from(&plan.after, &plan.containers), text, "{}", plan.after);
    }
}

#[test]
fn our_entries_are_brought_up_to_date_where_they_stand() {
    let ours = r#"{"type": "command", "command": "/old/snell", "args": ["hook"], "timeout": 7}"#;
    let text = format!(
        "{{\"hooks\": {{\"Stop\": [{{\"matcher\": \"\", \"hooks\": [{ours}, {{\"type\": \"command\", \"command\": \"say\"}}]}}],\n\
         \"Gone\": [{{\"hooks\": [{ours}]}}],\n\"PreToolUse\": [{{\"hooks\": [{ours}]}}, {{\"hooks\": [{ours}]}}]}}}}"
    );
    let plan = install_in(&text, InstallMode::Hook);
    let after = &plan.after;
    let new = r#"{"type": "command", "command": "/opt/a b/snell", "args": ["hook", "--agent", "claude"]}"#;
    let stop = format!(r#""Stop": [{{"matcher": "", "hooks": [{new}, {{"type": "command", "command": "say"}}]}}]"#);
    assert!(after.contains(&stop), "{after}");
    assert!(after.contains(&format!(r#""PreToolUse": [{{"hooks": [{new}]}}]"#)), "{after}");
    assert!(!after.contains("Gone") && !after.contains("/old/snell"), "{after}");
    // They come back, and until then nothing moves.
    assert_eq!(plan.before.as_deref(), Some(text.as_str()));
    for before in [PriorContent::Known(Some(&text)), changed_content(&plan.containers), PriorContent::Unknown] {
        let again =
            plan_install(Some(after), &before, &sample_recognizer(), &desired_registration(InstallMode::Hook)).unwrap();
        assert_eq!(again.after, *after, "{before:?}");
    }
    assert!(plan.was_ours);
}

#[test]
fn an_entry_that_is_limited_is_made_to_be_for_everything() {
    let new = r#"{"type": "command", "command": "/opt/a b/snell", "args": ["hook", "--agent", "claude"]}"#;
    let say = r#"{"type": "command", "command": "say"}"#;
    let limited = |field: &str| new.replacen('{', &format!("{{{field}, "), 1);
    let group = |handlers: &[&str]| format!(r#"{{"hooks": [{}]}}"#, handlers.join(", "));
    let matched = |handlers: &[&str]| format!(r#"{{"matcher": "Bash", "hooks": [{}]}}"#, handlers.join(", "));
    let cases = [
        (matched(&[new]), group(&[new])),
        (matched(&[new, say]), format!("{}, {}", matched(&[say]), group(&[new]))),
        (format!("{}, {}", matched(&[new]), group(&[say, new])), group(&[say, new])),
        (group(&[&limited(r#""if": "Bash(git *)""#)]), group(&[new])),
        (group(&[&limited(r#""async": true"#)]), group(&[new])),
        (group(&[&limited(r#""async": false, "timeout": 9"#)]), group(&[&limited(r#""async": false, "timeout": 9"#)])),
    ];
    for (groups, expected) in cases {
        let text = format!(r#"{{"hooks": {{"PreToolUse": [{groups}]}}}}"#);
        let after = install_in(&text, InstallMode::Hook).after;
        assert!(after.contains(&format!(r#""PreToolUse": [{expected}]"#)), "{text}\n{after}");
        assert_eq!(install_in(&after, InstallMode::Hook).after, after);
    }
}

#[test]
fn a_handler_that_its_user_has_changed_stays_as_he_likes_it() {
    let first = install_in("{}", InstallMode::Hook).after;
    let mine =
        first.replace(r#""PreToolUse": [{"hooks": [{"#, r#""PreToolUse": [{"matcher": "*", "hooks": [{"timeout": 9, "#);
    assert_ne!(first, mine);
    assert_eq!(install_in(&mine, InstallMode::Hook).after, mine);
}

#[test]
fn what_is_put_right_once_is_right() {
    let text = "{\n  \"model\": 1\n}";
    let first = install_in(text, InstallMode::Hook);
    let kept = first.after.lines().filter(|line| !line.contains("\"PreToolUse\""));
    let lost = kept.collect::<Vec<_>>().join("\n");
    assert_ne!(lost, first.after);
    let second = plan_install(
        Some(&lost),
        &changed_content(&first.containers),
        &sample_recognizer(),
        &desired_registration(InstallMode::Hook),
    )
    .unwrap();
    assert_eq!(second.before.as_deref(), Some(text));
    let third = plan_install(
        Some(&second.after),
        &PriorContent::Known(second.before.as_deref()),
        &sample_recognizer(),
        &desired_registration(InstallMode::Hook),
    );
    assert_eq!(third.unwrap().after, second.after);
}

#[test]
fn what_cannot_take_entries_is_refused_with_its_place() {
    let cases = [
        ("[]", 0, "the file must be an object, not an array"),
        ("{\"hooks\": []}", 10, "\"hooks\" must be an object, not an array"),
        ("{\"hooks\": null}", 10, "\"hooks\" must be an object, not null"),
        ("{\"hooks\": {\"Stop\": {}}}", 19, "\"Stop\" must be an array, not an object"),
        ("{\"hooks\": {\"Stop\": \"x\"}}", 19, "\"Stop\" must be an array, not a string"),
        ("{\"a\": 1,, }", 8, "is not valid JSON"),
        ("{\"a\": 1", 0, "is not valid JSON"),
        ("{'a': 1}", 1, "is not valid JSON"),
        ("{} {}", 3, "is not valid JSON"),
    ];
    for (text, at, message) in cases {
        let fault = plan_install(
            Some(text),
            &PriorContent::Unknown,
            &sample_recognizer(),
            &desired_registration(InstallMode::Hook),
        )
        .unwrap_err();
        assert!(fault.message.contains(message), "{text}: {}", fault.message);
        assert_eq!(fault.at, at, "{text}");
    }
    // An event that Snell does not register on is nobody's business.
    install_in("{\"hooks\": {\"Elsewhere\": 1}}", InstallMode::Hook);
}

#[test]
fn of_members_of_one_name_the_last_counts() {
    let text = "{\"hooks\": {\"Stop\": []}, \"hooks\": {\"Stop\": 1, \"Stop\": [ ]}}";
    let plan = install_in(text, InstallMode::Hook);
    assert!(
        plan.after.starts_with("{\"hooks\": {\"Stop\": []}, \"hooks\": {\"Stop\": 1, \"Stop\": [{"),
        "{}",
        plan.after
    );
    assert_eq!(uninstall_from(&plan.after, &plan.containers), text);
}

#[test]
fn comments_of_others_keep_containers_of_ours_alive() {
    let plan = install_in("{}", InstallMode::Hook);
    let edited = plan.after.replace("\"Stop\": [", "\"Stop\": [ // mine\n");
    let left = uninstall_from(&edited, &plan.containers);
    assert!(left.contains("\"Stop\": [ // mine\n"), "{left}");
    assert!(!left.contains("snell"), "{left}");
    SettingsDocument::parse(&left).unwrap();
}
