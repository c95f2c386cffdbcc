//! The JSON Schema of `snell.toml`, made from the table that also reads it.

use serde_json::{Map, Value, json};

use crate::config::{CORE_FILES, HANDLERS, SETTING_KEYS, borrowable};
use crate::contract::{HOOK_KEYS, Key, Kind};
use crate::event::EventName;

/// The JSON Schema of `snell.toml`, for editors.
pub fn config_schema() -> Value {
    let mut properties = of_keys(SETTING_KEYS);
    let hook = json!({
        "description": "Hooks, in the order in which they run.",
        "type": "array",
        "items": {
            "type": "object",
            "properties": of_keys(HOOK_KEYS),
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

fn of_keys(keys: &[Key]) -> Map<String, Value> {
    let described = |key: &Key| {
        let mut schema = of_kind(key.kind);
        schema.insert("description".into(), key.about.into());
        (key.name.to_owned(), Value::Object(schema))
    };
    keys.iter().map(described).collect()
}

fn of_kind(kind: Kind) -> Map<String, Value> {
    let schema = match kind {
        Kind::Text => json!({"type": "string", "minLength": 1}),
        Kind::Flag => json!({"type": "boolean", "default": false}),
        Kind::Duration => {
            json!({"type": "string", "pattern": "[0-9] *[a-zµ]", "examples": ["10s", "500ms", "2m"], "default": "10s"})
        }
        Kind::Arguments => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
        Kind::Contracts => {
            let names: Vec<_> = borrowable().collect();
            json!({"type": "array", "items": {"enum": names}, "default": []})
        }
        Kind::Retention => json!({
            "type": "string",
            "pattern": "^forever$|[0-9] *[a-zµ]",
            "examples": ["30d", "2w", "forever"],
            "default": "30d",
        }),
        Kind::Handlers => {
            let switches: Map<_, _> = HANDLERS
                .iter()
                .map(|row| {
                    let switch = json!({"type": "boolean", "default": true, "description": row.about});
                    (row.name.to_owned(), switch)
                })
                .collect();
            json!({"type": "object", "properties": switches, "additionalProperties": false})
        }
        Kind::Table(keys) => {
            json!({"type": "object", "properties": of_keys(keys), "additionalProperties": false})
        }
        Kind::Words(default) => json!({"type": "string", "default": default}),
        Kind::Thresholds => json!({
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 100},
            "minItems": 4,
            "maxItems": 4,
            "uniqueItems": true,
        }),
        Kind::CoreFiles => {
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
        Kind::Size(default) => json!({"type": "string", "pattern": "^0*[1-9][0-9]* *([KM]i?)?B$", "default": default}),
        Kind::Directories => json!({"type": "array", "items": {"type": "string", "minLength": 1}, "default": []}),
        Kind::Switch => json!({"type": "boolean", "default": true}),
        Kind::Interval(default) => json!({"type": "string", "pattern": "[0-9] *[a-zµ]", "default": default}),
        Kind::Address => {
            json!({"type": "string", "pattern": "^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]+$", "default": "127.0.0.1:7433"})
        }
        Kind::Receiver => json!({
            "type": "string",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@:][^?#@]*$",
            "examples": ["https://box.example", "http://127.0.0.1:7433"],
        }),
        Kind::Database => json!({"type": "string", "pattern": "^sqlite:."}),
        Kind::Hosts => json!({"type": "array", "items": {"type": "string", "pattern": "^[^/@?#* ]+$"}, "default": []}),
        Kind::Names => json!({"type": "array", "items": {"type": "string", "pattern": "[^ ]"}, "default": []}),
        Kind::Count => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
        Kind::OneOf(words) => json!({"enum": words, "default": words.first()}),
        // A key with a dot that is not quoted is a table in a table.
        Kind::Choices(words) => json!({
            "type": "object",
            "additionalProperties": {"anyOf": [{"enum": words}, {"type": "object"}]},
        }),
        Kind::Tables(keys, required) => json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": of_keys(keys),
                "required": required,
                "additionalProperties": false,
            },
        }),
        Kind::Date => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
        Kind::Events => {
            let names: Vec<_> = EventName::all_names().collect();
            json!({
                "anyOf": [
                    {"enum": names},
                    {"type": "array", "items": {"enum": names}, "minItems": 1},
                ],
            })
        }
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::report::Report;

    /// Compares a generated file with the one in the tree; `SNELL_BLESS=1` writes it instead.
    fn assert_in_tree(name: &str, generated: &Value) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs/schema")
            .join(name);
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
        assert_in_tree("snell.toml.json", &config_schema());
    }

    #[test]
    fn the_schema_of_the_run_result_in_the_tree_is_the_generated_one() {
        let generator = schemars::generate::SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        assert_in_tree(
            "run-result.json",
            &generator.into_root_schema_for::<Report>().to_value(),
        );
    }
}
