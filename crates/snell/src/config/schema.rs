//! The JSON Schema of `snell.toml`, made from the table that also reads it.

use serde_json::{Map, Value, json};

use crate::config::{CORE_FILES, HANDLERS, SETTING_KEYS, borrowable_contracts};
use crate::contract::{ConfigKey, ConfigValueKind, HOOK_KEYS};
use crate::event::EventName;

/// The JSON Schema of `snell.toml`, for editors.
pub fn build_config_schema() -> Value {
    let mut properties = build_properties(SETTING_KEYS);
    let hook = json!({
        "description": "Hooks, in the order in which they run.",
        "type": "array",
        "items": {
            "type": "object",
            "properties": build_properties(HOOK_KEYS),
            "required": ["event"],
            "oneOf": [{"required": ["run"]}, {"required": ["exec"]}],
            "additionalProperties": false,
        },
    });
    properties.insert("hook".into(), hook);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "snell.toml",
        "description": "Hooks that work under every coding agent.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn build_properties(keys: &[ConfigKey]) -> Map<String, Value> {
    let described = |key: &ConfigKey| {
        let mut schema = build_value_schema(key.kind);
        schema.insert("description".into(), key.about.into());
        (key.name.to_owned(), Value::Object(schema))
    };
    keys.iter().map(described).collect()
}

fn build_value_schema(kind: ConfigValueKind) -> Map<String, Value> {
    let schema = match kind {
        ConfigValueKind::Handlers => build_handlers_schema(),
        ConfigValueKind::CoreFiles => build_core_files_schema(),
        ConfigValueKind::Contracts => {
            json!({"type": "array", "items": {"enum": borrowable_contracts().collect::<Vec<_>>()}, "default": []})
        }
        ConfigValueKind::Table(keys) => {
            json!({"type": "object", "properties": build_properties(keys), "additionalProperties": false})
        }
        // A key with a dot that is not quoted is a table in a table.
        ConfigValueKind::Choices(words) => json!({
            "type": "object",
            "additionalProperties": {"anyOf": [{"enum": words}, {"type": "object"}]},
        }),
        ConfigValueKind::Tables(keys, required) => json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": build_properties(keys),
                "required": required,
                "additionalProperties": false,
            },
        }),
        ConfigValueKind::Events => {
            let names: Vec<_> = EventName::all_names().collect();
            json!({"anyOf": [{"enum": names}, {"type": "array", "items": {"enum": names}, "minItems": 1}]})
        }
        scalar_or_list => build_plain_schema(scalar_or_list),
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Schemas of values that are one string, number or flag, or a list of them.
fn build_plain_schema(kind: ConfigValueKind) -> Value {
    const INTERVAL: &str = "[0-9] *[a-zµ]";
    const ADDRESS: &str = "^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]+$";
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let list = |items: Value| json!({"type": "array", "items": items, "default": []});
    match kind {
        ConfigValueKind::Text => json!({"type": "string", "minLength": 1}),
        ConfigValueKind::Flag => json!({"type": "boolean", "default": false}),
        ConfigValueKind::Switch => json!({"type": "boolean", "default": true}),
        ConfigValueKind::Count => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
        ConfigValueKind::Words(default) => json!({"type": "string", "default": default}),
        ConfigValueKind::OneOf(words) => json!({"enum": words, "default": words.first()}),
        ConfigValueKind::Date => text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        ConfigValueKind::Database => text("^sqlite:."),
        ConfigValueKind::Interval(default) => json!({"type": "string", "pattern": INTERVAL, "default": default}),
        ConfigValueKind::Duration => {
            json!({"type": "string", "pattern": INTERVAL, "examples": ["10s", "500ms", "2m"], "default": "10s"})
        }
        ConfigValueKind::Retention => json!({
            "type": "string",
            "pattern": format!("^forever$|{INTERVAL}"),
            "examples": ["30d", "2w", "forever"],
            "default": "30d",
        }),
        ConfigValueKind::Size(default) => {
            json!({"type": "string", "pattern": "^0*[1-9][0-9]* *([KM]i?)?B$", "default": default})
        }
        ConfigValueKind::Address => json!({"type": "string", "pattern": ADDRESS, "default": "127.0.0.1:7433"}),
        ConfigValueKind::Receiver => json!({
            "type": "string",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@:][^?#@]*$",
            "examples": ["https://box.example", "http://127.0.0.1:7433"],
        }),
        ConfigValueKind::Arguments => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
        ConfigValueKind::Directories => list(json!({"type": "string", "minLength": 1})),
        ConfigValueKind::Hosts => list(text("^[^/@?#* ]+$")),
        ConfigValueKind::Names => list(text("[^ ]")),
        ConfigValueKind::Thresholds => json!({
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 100},
            "minItems": 4,
            "maxItems": 4,
            "uniqueItems": true,
        }),
        ConfigValueKind::Handlers
        | ConfigValueKind::CoreFiles
        | ConfigValueKind::Contracts
        | ConfigValueKind::Table(_)
        | ConfigValueKind::Choices(_)
        | ConfigValueKind::Tables(..)
        | ConfigValueKind::Events => Value::Null,
    }
}

fn build_handlers_schema() -> Value {
    let switch = |about| json!({"type": "boolean", "default": true, "description": about});
    let switches: Map<_, _> = HANDLERS.iter().map(|row| (row.name.to_owned(), switch(row.about))).collect();
    json!({"type": "object", "properties": switches, "additionalProperties": false})
}

fn build_core_files_schema() -> Value {
    let path = json!({"type": "string", "minLength": 1});
    let described = json!({
        "type": "object",
        "properties": {"path": path, "about": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": false,
    });
    let default: Vec<_> = CORE_FILES.iter().map(|(path, _)| *path).collect();
    json!({"type": "array", "items": {"anyOf": [path, described]}, "default": default})
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::report::VerdictReport;

    /// Compares a generated file with the one in the tree; `SNELL_BLESS=1` writes it instead.
    fn assert_matches_committed(name: &str, generated: &Value) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
        let generated = format!("{generated:#}\n");
        if std::env::var_os("SNELL_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            committed, generated,
            "docs/schema/{name} is out of date; run `SNELL_BLESS=1 cargo test -p snell schema`"
        );
    }

    #[test]
    fn the_schema_of_snell_toml_in_the_tree_is_the_generated_one() {
        assert_matches_committed("snell.toml.json", &build_config_schema());
    }

    #[test]
    fn the_schema_of_the_run_result_in_the_tree_is_the_generated_one() {
        let generator = schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
        assert_matches_committed("run-result.json", &generator.into_root_schema_for::<VerdictReport>().to_value());
    }
}
