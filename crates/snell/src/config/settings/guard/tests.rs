use serde_json::json;

use super::*;
use crate::config::discovery::FileOwner;
use crate::config::reader::ConfigReader;
use crate::config::settings::tests::read_config_schema;
use crate::config::source::ConfigSource;
use crate::config::spanned::SpannedNode;

const HOME: &str = "/home/me";
const PROJECT: &str = "/home/me/work";

/// The settings and the diagnostics of a file.
fn read_guard_text(text: &str, whose: FileOwner) -> (FileGuardSettings, Vec<String>) {
    let source = ConfigSource::from_text("snell.toml".into(), text.into());
    let mut reading = ConfigReader::new(&source, whose);
    let guard = read_guard(&mut reading, &SpannedNode::from_toml(text).unwrap());
    let findings = reading.diagnostics.iter().map(ToString::to_string);
    (guard, findings.collect())
}

fn test_bases() -> PathBases<'static> {
    PathBases { home: Some(Path::new(HOME)), project: Path::new(PROJECT) }
}

/// Merges files without problems.
fn merge_files(files: &[(&str, GuardAuthor)]) -> GuardSettings {
    let read = files.iter().map(|(text, author)| {
        let whose = match author {
            GuardAuthor::User => FileOwner::User,
            GuardAuthor::Project | GuardAuthor::Untrusted => FileOwner::Project,
        };
        let (guard, findings) = read_guard_text(text, whose);
        assert_eq!(findings, Vec::<String>::new(), "{text}");
        (guard, *author)
    });
    let read: Vec<_> = read.collect();
    GuardSettings::from_files(read.iter().map(|(guard, author)| (guard, *author)), test_bases(), GuardPreset::default())
}

#[test]
fn the_words_of_the_schema_are_those_that_are_read() {
    let schema = read_config_schema();
    for (key, words) in [
        ("preset", PRESETS.iter().map(|(word, _)| *word).collect::<Vec<_>>()),
        ("on_failure", CHOICES.iter().map(|(word, _)| *word).collect()),
        ("headless", HEADLESS_CHOICES.iter().map(|(word, _)| *word).collect()),
    ] {
        let known = &schema["properties"]["guard"]["properties"][key];
        assert_eq!(known["enum"], json!(words), "{key}");
        assert_eq!(known["default"], words[0], "{key}");
    }
}

#[test]
fn invalid_entries_are_reported_and_the_others_are_used() {
    let cases = [
        (
            "preset = \"strickt\"",
            "1:10: error: \"preset\" must be one of \"standard\", \"claude-os\", \"strict\", \"audit\", not \"strickt\" (it is ignored) \
             (hint: did you mean \"strict\"?)",
        ),
        (
            "on_failure = true",
            "1:14: error: \"on_failure\" must be one of \"ask\", \"deny\", \"allow\", not a boolean (using \"ask\")",
        ),
        (
            "headless = \"ask\"",
            "1:12: error: \"headless\" must be one of \"deny\", \"allow\", not \"ask\" (using \"deny\")",
        ),
        ("protected_branches = \"main\"", "1:22: error: \"protected_branches\" must be an array, not a string"),
        (
            "protected_branches = [\"main\", \"a b\"]",
            "1:31: error: \"protected_branches\" has no branch's name: \"a b\" (hint: write a branch such as \"main\", or a \
             pattern such as \"release/*\")",
        ),
        ("protect = \"~/notes\"", "1:11: error: \"protect\" must be an array, not a string"),
        (
            "secrets = [\"\"]",
            "1:12: error: \"secrets\" has an empty path (hint: write a path such as \"~/notes\", or remove it)",
        ),
        (
            "[rules]\n\"git.force-push\" = \"never\"",
            "2:20: error: \"git.force-push\" must be one of \"ask\", \"deny\", \"allow\", not \"never\" (it is ignored)",
        ),
        ("rules = []", "1:9: error: [guard.rules] must be an object, not an array"),
        (
            "allow = \"ls\"",
            "1:9: error: \"allow\" must be a list of tables, not a string (hint: write [[guard.allow]] with \"command\" and \
             \"reason\")",
        ),
        (
            "[[allow]]\ncommand = \"ls\"",
            "1:1: error: a [[guard.allow]] has no \"reason\" (the entry is ignored) (hint: write reason = \"why it may run\")",
        ),
        (
            "[[allow]]\ncommand = \" \"\nreason = \"so\"",
            "2:11: error: \"command\" is empty (the entry is ignored) (hint: write command = \"sudo systemctl restart nginx\")",
        ),
        (
            "[[allow]]\ncommand = \"ls\"\nreason = \"so\"\nuntil = \"soon\"",
            "4:9: error: \"until\" must be a date (the entry is ignored) (hint: write a date such as \"2027-01-31\")",
        ),
        (
            "[[allow]]\ncommand = \"ls\"\nreason = \"so\"\nuntil = 2027-01-31T10:00:00Z",
            "4:9: error: \"until\" must be a date (the entry is ignored) (hint: write a date such as \"2027-01-31\")",
        ),
        ("strict = true", "1:1: warning: unknown key \"strict\" in [guard]"),
    ];
    for (text, expected) in cases {
        let (guard, findings) = read_guard_text(text, FileOwner::User);
        assert_eq!(findings, [format!("snell.toml:{expected}")], "{text}");
        assert_eq!(guard, FileGuardSettings::default(), "{text}");
    }
    let text = "preset = 1\nprotect = [3, \"~/notes\"]\n[rules]\na = 1\nb = \"deny\"\n[[allow]]\ncommand = \"ls\"\n\
        [[allow]]\ncommand = \"ls\"\nreason = \"so\"\n";
    let (guard, findings) = read_guard_text(text, FileOwner::User);
    assert_eq!(findings.len(), 4, "{findings:?}");
    assert_eq!((guard.protect.len(), guard.rules.len(), guard.entries.len()), (1, 1, 1));
}

#[test]
fn a_project_cannot_choose_a_milder_preset_or_on_failure() {
    for (text, expected) in [
        (
            "preset = \"audit\"",
            "1:10: warning: \"preset\" in a project's file can only be \"strict\" or \"claude-os\" (it is ignored) (hint: move it to \
             ~/.config/snell/snell.toml)",
        ),
        (
            "preset = \"standard\"",
            "1:10: warning: \"preset\" in a project's file can only be \"strict\" or \"claude-os\" (it is ignored) (hint: move it to \
             ~/.config/snell/snell.toml)",
        ),
        (
            "on_failure = \"allow\"",
            "1:1: warning: \"on_failure\" has no effect in a project's file (hint: move it to ~/.config/snell/snell.toml)",
        ),
        (
            "headless = \"allow\"",
            "1:1: warning: \"headless\" has no effect in a project's file (hint: move it to ~/.config/snell/snell.toml)",
        ),
    ] {
        let (guard, findings) = read_guard_text(text, FileOwner::Project);
        assert_eq!(findings, [format!("snell.toml:{expected}")], "{text}");
        assert_eq!(guard, FileGuardSettings::default(), "{text}");
    }
}

#[test]
fn a_project_can_only_add_protected_branches() {
    use GuardAuthor::{Project, Untrusted, User};
    let [main, dev, none] =
        ["[\"main\"]", "[\"dev\", \"refs/heads/qa\"]", "[]"].map(|list| format!("protected_branches = {list}"));
    let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let cases: [(&[(&str, GuardAuthor)], _, _); 5] = [
        (&[], None, strings(&[])),
        (&[(&main, User)], Some(strings(&["main"])), strings(&[])),
        (&[(&none, User), (&none, Project)], Some(strings(&[])), strings(&[])),
        (&[(&dev, Project)], None, strings(&["dev", "qa"])),
        (&[(&main, User), (&dev, Untrusted)], Some(strings(&["main"])), strings(&["dev", "qa"])),
    ];
    for (files, users, projects) in cases {
        let branches = merge_files(files).protected_branches;
        assert_eq!((branches.users, branches.projects), (users, projects), "{files:?}");
    }
}

#[test]
fn the_users_preset_applies_unless_a_project_is_stricter() {
    use GuardAuthor::{Project, Untrusted, User};
    let cases: [(&[(&str, GuardAuthor)], GuardPreset); 8] = [
        (&[], GuardPreset::Standard),
        (&[("preset = \"audit\"", User)], GuardPreset::Audit),
        (&[("preset = \"strict\"", Project)], GuardPreset::Strict),
        (&[("preset = \"strict\"", Untrusted)], GuardPreset::Strict),
        (&[("preset = \"claude-os\"", User)], GuardPreset::ClaudeOs),
        (&[("preset = \"claude-os\"", Untrusted)], GuardPreset::ClaudeOs),
        (&[("preset = \"strict\"", User), ("preset = \"claude-os\"", Project)], GuardPreset::Strict),
        (&[("preset = \"audit\"", User), ("preset = \"strict\"", Untrusted)], GuardPreset::Strict),
    ];
    for (files, expected) in cases {
        assert_eq!(merge_files(files).preset, expected, "{files:?}");
    }
}

#[test]
fn paths_begin_where_their_file_is_at_home() {
    let text = "protect = [\"~/notes\", \"infra/prod/**\", \"/srv/./data/\", \"../x\"]";
    let paths = |author| {
        let settings = merge_files(&[(text, author)]);
        settings.protect.into_iter().map(|protected| protected.path).collect()
    };
    let users: Vec<PathBuf> = paths(GuardAuthor::User);
    let expected = ["/home/me/notes", "/home/me/infra/prod/**", "/srv/data", "/home/x"];
    assert_eq!(users, expected.map(PathBuf::from));
    let projects: Vec<PathBuf> = paths(GuardAuthor::Untrusted);
    let expected = ["/home/me/notes", "/home/me/work/infra/prod/**", "/srv/data", "/home/me/x"];
    assert_eq!(projects, expected.map(PathBuf::from));
}

#[test]
fn the_users_choice_applies_unless_a_project_is_stricter() {
    use GuardAuthor::{Project, Untrusted, User};
    use GuardChoice::{Allow, Ask, Deny};
    type RuleChoiceCase<'a> = (&'a [(GuardChoice, GuardAuthor)], Option<(GuardChoice, GuardAuthor)>);
    // The default is to ask the user.
    let cases: [RuleChoiceCase<'_>; 11] = [
        (&[], None),
        (&[(Allow, User)], Some((Allow, User))),
        (&[(Allow, Project)], Some((Allow, Project))),
        (&[(Allow, Untrusted)], None),
        (&[(Ask, Untrusted)], None),
        (&[(Deny, Untrusted)], Some((Deny, Untrusted))),
        (&[(Deny, User), (Allow, Project)], Some((Deny, User))),
        (&[(Allow, User), (Deny, Project)], Some((Deny, Project))),
        (&[(Allow, User), (Ask, Untrusted)], Some((Ask, Untrusted))),
        (&[(Allow, Project), (Deny, Untrusted)], Some((Deny, Untrusted))),
        (&[(Deny, User), (Deny, Project)], Some((Deny, User))),
    ];
    for (said, expected) in cases {
        let texts: Vec<_> = said
            .iter()
            .map(|(choice, author)| {
                let word = CHOICES.iter().find(|(_, known)| known == choice).unwrap().0;
                (format!("[rules]\n\"a.b\" = \"{word}\""), *author)
            })
            .collect();
        let files: Vec<_> = texts.iter().map(|(text, author)| (text.as_str(), *author)).collect();
        let settings = merge_files(&files);
        let counts = settings.choice_for("a.b", Ask).map(|said| (said.choice, said.author));
        assert_eq!(counts, expected, "{said:?}");
        assert_eq!(settings.choice_for("a", Ask), None);
    }
}

#[test]
fn a_rule_need_not_be_quoted() {
    let settings = merge_files(&[("[rules]\ngit.force-push = \"deny\"", GuardAuthor::User)]);
    let [choice] = settings.rules.as_slice() else {
        panic!("{settings:?}");
    };
    assert_eq!((choice.rule.as_str(), choice.choice), ("git.force-push", GuardChoice::Deny));
    assert_eq!((choice.origin.line, choice.origin.column), (2, 5));
}

#[test]
fn an_allowed_command_is_allowed_until_the_end_of_its_last_day() {
    let entry = |until: &str| format!("[[allow]]\ncommand = \"ls\"\nreason = \"so\"\n{until}");
    let cases = [
        ("", "2099-01-01T00:00:00Z", false),
        ("until = \"2027-01-31\"", "2027-01-31T23:59:59Z", false),
        ("until = 2027-01-31", "2027-01-31T23:59:59Z", false),
        ("until = \"2027-01-31\"", "2027-02-01T00:00:00Z", true),
    ];
    for (until, now, expected) in cases {
        let settings = merge_files(&[(&entry(until), GuardAuthor::Project)]);
        let allowed = &settings.entries[0];
        assert_eq!(allowed.is_expired(now.parse().unwrap()), expected, "{until} at {now}");
        assert_eq!((allowed.command.as_deref(), allowed.reason.as_deref()), (Some("ls"), Some("so")));
        let untrusted = merge_files(&[(&entry(until), GuardAuthor::Untrusted)]);
        assert_eq!(untrusted.entries, []);
    }
}
