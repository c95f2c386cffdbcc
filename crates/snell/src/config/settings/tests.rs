use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::config::source::ConfigSource;
use crate::contract::HOOK_KEYS;
use crate::event::EventName;

/// The schema of `snell.toml` for editors, which `snell docs schema-config` prints.
pub(in crate::config) fn read_config_schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/snell.toml.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_keys_of_the_schema_are_those_that_are_read() {
    let schema = read_config_schema();
    let handlers = handlers::list_handler_keys();
    let messages = messages::list_message_keys();
    let cases: [(&str, &[&str]); 15] = [
        ("", &[SETTING_KEYS, &["hook"]].concat()),
        ("/properties/handlers", &handlers),
        ("/properties/context", context::CONTEXT_KEYS),
        ("/properties/context/properties/core/items/anyOf/1", &["path", "about"]),
        ("/properties/remind", remind::REMIND_KEYS),
        ("/properties/messages", &messages),
        ("/properties/comms", comms::COMMS_KEYS),
        ("/properties/guard", guard::GUARD_KEYS),
        ("/properties/guard/properties/allow/items", guard::ENTRY_KEYS),
        ("/properties/notify", notify::NOTIFY_KEYS),
        ("/properties/notify/properties/ntfy/anyOf/1", notify::NTFY_KEYS),
        ("/properties/notify/properties/webhook", notify::WEBHOOK_KEYS),
        ("/properties/server", server::SERVER_KEYS),
        ("/properties/answers", answers::ANSWERS_KEYS),
        ("/properties/hook/items", HOOK_KEYS),
    ];
    for (table, keys) in cases {
        let table_schema = schema.pointer(table).unwrap();
        let known: Vec<_> = table_schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(known, keys, "{table}");
        assert_eq!(table_schema["additionalProperties"], false, "{table}");
        let described = keys.iter().all(|key| table_schema["properties"][key]["description"].is_string());
        assert!(described || table.ends_with("anyOf/1"), "{table} says what each key means");
    }
}

#[test]
fn the_defaults_of_the_schema_are_those_that_count() {
    let schema = read_config_schema();
    let find = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("the schema has no {path}"));
    let core: Vec<_> = context::CORE_FILES.iter().map(|(path, _)| *path).collect();
    assert_eq!(*find("/properties/context/properties/core/default"), json!(core));
    let contracts: Vec<_> = borrowable_contracts().collect();
    assert_eq!(*find("/properties/borrow/items/enum"), json!(contracts));
    let events: Vec<_> = EventName::all_names().collect();
    assert_eq!(*find("/properties/hook/items/properties/event/anyOf/0/enum"), json!(events));
    assert_eq!(*find("/properties/hook/items/properties/event/anyOf/1/items/enum"), json!(events));
}

#[test]
fn durations_have_units_up_to_weeks() {
    let days = |days: u64| Some(Duration::from_secs(days * DAY_SECONDS));
    let cases = [
        ("30d", days(30)),
        ("2w", days(14)),
        ("1w 1d", days(8)),
        ("90m", Some(Duration::from_secs(5400))),
        ("30", None),
        ("1mo", None),
        ("1y", None),
        ("0d", None),
        ("-3d", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration(text), expected, "{text}");
    }
}

/// The merged settings of the user's own file, of a trusted project's file, and of a launcher's profile.
fn merge_texts(user: &str, project: &str, launcher: Option<WorkProfile>) -> SnellSettings {
    let read = |text: &str, owner| {
        let source = ConfigSource::from_text("snell.toml".into(), text.into());
        let mut reader = ConfigReader::new(&source, owner);
        let node = SpannedNode::from_toml(text).unwrap();
        let fields = reader.read_object(&node, "the file").unwrap();
        read_settings(&mut reader, &fields);
        reader.settings
    };
    let (user, project) = (read(user, FileOwner::User), read(project, FileOwner::Project));
    let files = [
        AuthoredSettings { settings: &user, author: GuardAuthor::User },
        AuthoredSettings { settings: &project, author: GuardAuthor::Project },
    ];
    SnellSettings::from_files(&files, PathBases { home: None, project: Path::new("/") }, launcher)
}

#[test]
fn a_handler_runs_if_the_user_the_project_or_the_launcher_wants_it() {
    use HandlerSwitch::{ByLauncher, ByProject, ByUser, NotWanted, Off};
    let launched = Some(WorkProfile::ClaudeOs);
    // The user's file, the project's, the launcher, the switches of context, remind and comms, and whether files need trust.
    let cases = [
        ("", "", None, [NotWanted, NotWanted, NotWanted], true),
        ("profile = 'claude-os'", "", None, [ByUser, ByUser, ByUser], false),
        ("", "", launched, [ByLauncher, ByLauncher, ByLauncher], true),
        ("profile = 'claude-os'", "", launched, [ByUser, ByUser, ByUser], false),
        ("profile = 'claude-os'\n[context]\nrequire_trust = true", "", None, [ByUser, ByUser, ByUser], true),
        ("profile = 'claude-os'\n[handlers]\ncomms = false", "", launched, [ByUser, ByUser, Off], false),
        ("[handlers]\ncontext = true", "", None, [ByUser, NotWanted, NotWanted], false),
        ("[context]", "", None, [ByUser, NotWanted, NotWanted], false),
        ("[remind]\nstatus_after = '1m'", "", None, [NotWanted, ByUser, NotWanted], true),
        ("[comms]", "", None, [NotWanted, NotWanted, ByUser], true),
        ("[comms]\n[handlers]\ncomms = false", "", None, [NotWanted, NotWanted, Off], true),
        ("context_window = 5\n[messages]\nping = 'x'", "", None, [NotWanted, NotWanted, NotWanted], true),
        ("", "[context]\ncore = ['a.md']", None, [ByProject, NotWanted, NotWanted], true),
        ("", "[context]", launched, [ByProject, ByLauncher, ByLauncher], true),
    ];
    for (user, project, launcher, expected, needs_trust) in cases {
        let settings = merge_texts(user, project, launcher);
        let switches = [BuiltinHandler::Context, BuiltinHandler::Remind, BuiltinHandler::Comms]
            .map(|handler| settings.handlers.switch_of(handler));
        assert_eq!(switches, expected, "{user} / {project} / {launcher:?}");
        assert_eq!(settings.context_needs_trust(), needs_trust, "{user} / {project} / {launcher:?}");
        for always in [BuiltinHandler::Track, BuiltinHandler::Guard] {
            assert!(settings.handlers.is_enabled(always), "{user}");
        }
    }
}

#[test]
fn only_the_users_own_file_names_a_profile() {
    let by_user = ActiveProfile { profile: WorkProfile::ClaudeOs, origin: ProfileOrigin::UserFile };
    assert_eq!(merge_texts("profile = 'claude-os'", "", None).profile, Some(by_user));
    assert_eq!(merge_texts("", "profile = 'claude-os'", None).profile, None);
    assert_eq!(merge_texts("profile = 'claude'", "", None).profile, None);
}

#[test]
fn the_profile_has_larger_files() {
    let sizes = |text: &str| {
        let context = merge_texts(text, "", None).context;
        (context.max_file_bytes(), context.max_total_bytes())
    };
    let kib = 1024;
    assert_eq!(sizes(""), (64 * kib, 256 * kib));
    assert_eq!(sizes("profile = 'claude-os'"), (1024 * kib, 4096 * kib));
    assert_eq!(sizes("profile = 'claude-os'\n[context]\nmax_file = '1KiB'"), (kib, 4096 * kib));
}
