use std::path::Path;

use serde_json::{Value, json};

use super::*;
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
    let handlers: Vec<_> = HANDLERS.iter().map(|(name, _)| *name).collect();
    let messages = messages::list_message_keys();
    let cases: [(&str, &[&str]); 14] = [
        ("", &[SETTING_KEYS, &["hook"]].concat()),
        ("/properties/handlers", &handlers),
        ("/properties/context", context::CONTEXT_KEYS),
        ("/properties/context/properties/core/items/anyOf/1", &["path", "about"]),
        ("/properties/remind", remind::REMIND_KEYS),
        ("/properties/messages", &messages),
        ("/properties/comms", comms::COMMS_KEYS),
        ("/properties/guard", guard::GUARD_KEYS),
        ("/properties/guard/properties/allow/items", guard::ALLOW_KEYS),
        ("/properties/notify", notify::NOTIFY_KEYS),
        ("/properties/notify/properties/ntfy/anyOf/1", notify::NTFY_KEYS),
        ("/properties/notify/properties/webhook", notify::WEBHOOK_KEYS),
        ("/properties/server", server::SERVER_KEYS),
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

#[test]
fn every_handler_runs_unless_it_is_switched_off() {
    for (name, handler) in HANDLERS {
        assert!(SnellSettings::default().handlers.is_enabled(*handler), "{name}");
        assert_eq!(handler.name(), *name);
    }
}
