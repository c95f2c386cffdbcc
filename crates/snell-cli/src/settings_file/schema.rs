//! The keys of `snell.toml`, from its JSON Schema. A test of the library keeps the schema complete.

use serde_json::Value;
use snell::did_you_mean;

use crate::commands::docs;
use crate::output::CommandError;

/// The schema of `snell.toml`.
#[derive(Debug)]
pub(crate) struct SettingSchema {
    root: Value,
}

/// A key, with its schema.
#[derive(Clone, Debug)]
pub(crate) struct SettingKey<'s> {
    /// Its tables and itself: `guard`, `preset`. The id of a guard rule is one part, although it has dots.
    pub(crate) parts: Vec<String>,
    schema: &'s Value,
}

impl SettingSchema {
    pub(crate) fn load() -> anyhow::Result<Self> {
        Ok(Self { root: serde_json::from_str(docs::config_schema())? })
    }

    /// All keys with a value of their own, in the order of the schema. Hooks are not settings.
    pub(crate) fn list_keys(&self) -> Vec<SettingKey<'_>> {
        let mut found = Vec::new();
        collect_keys(&self.root, &[], &mut found);
        found
    }

    /// The key of this dotted name.
    pub(crate) fn find_key(&self, name: &str) -> anyhow::Result<SettingKey<'_>> {
        let mut key = SettingKey { parts: Vec::new(), schema: &self.root };
        let mut rest = name;
        while !rest.is_empty() {
            let (part, after) = rest.split_once('.').unwrap_or((rest, ""));
            if let Some(schema) = key.schema["properties"].get(part) {
                key.parts.push(part.to_owned());
                key.schema = schema;
                rest = after;
            } else if key.schema["additionalProperties"].is_object() {
                key.parts.push(rest.to_owned());
                key.schema = &key.schema["additionalProperties"];
                rest = "";
            } else {
                return Err(self.refuse_unknown_key(name).into());
            }
        }
        if key.parts.first().is_some_and(|part| part == HOOKS) {
            let problem = format!("\"{HOOKS}\" is a list of hooks, not a setting");
            return Err(CommandError::new(problem).with_hint("edit it: snell config edit").into());
        }
        if key.is_table() {
            let known: Vec<_> = self.list_keys().iter().map(SettingKey::name).collect();
            let inside: Vec<_> = known.iter().filter(|known| known.starts_with(&format!("{name}."))).cloned().collect();
            let problem = format!("\"{name}\" is a table");
            let keys = if inside.is_empty() { format!("{name}.ID") } else { inside.join(", ") };
            let hint = format!("name a key in it: {keys}");
            return Err(CommandError::new(problem).with_hint(hint).into());
        }
        Ok(key)
    }

    fn refuse_unknown_key(&self, name: &str) -> CommandError {
        let known: Vec<_> = self.list_keys().iter().map(SettingKey::name).collect();
        // People forget the table: `preset` instead of `guard.preset`.
        let in_table = known.iter().find(|known| known.rsplit('.').next() == Some(name)).map(String::as_str);
        let near = in_table.or_else(|| did_you_mean(name, known.iter().map(String::as_str)));
        CommandError::new(format!("unknown key \"{name}\"")).with_hint(match near {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "`snell config list` shows all keys".into(),
        })
    }
}

/// The key of the hooks.
const HOOKS: &str = "hook";

fn collect_keys<'s>(schema: &'s Value, above: &[String], found: &mut Vec<SettingKey<'s>>) {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let parts: Vec<_> = above.iter().cloned().chain([name.clone()]).collect();
        let key = SettingKey { parts, schema };
        if key.schema["properties"].is_object() {
            collect_keys(key.schema, &key.parts, found);
        } else if name != HOOKS {
            found.push(key);
        }
    }
}

impl SettingKey<'_> {
    /// Its dotted name.
    pub(crate) fn name(&self) -> String {
        self.parts.join(".")
    }

    /// Whether it has keys of its own.
    pub(crate) fn is_table(&self) -> bool {
        self.schema["properties"].is_object() || self.schema["additionalProperties"].is_object()
    }

    /// Its default as TOML, if it has a fixed one: a value or a list, which JSON writes in the same way.
    pub(crate) fn default_value(&self) -> Option<String> {
        match self.schema.get("default")? {
            Value::Array(items) => {
                Some(format!("[{}]", items.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")))
            }
            value => Some(value.to_string()),
        }
    }

    /// The values that it can have, if they are a list.
    pub(crate) fn choices(&self) -> Vec<&str> {
        self.schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The form of its value, for a hint.
    pub(crate) fn describe_form(&self) -> &'static str {
        match self.schema["type"].as_str() {
            Some("boolean") => "true or false",
            Some("integer") => "a whole number",
            Some("array") => "a list, such as '[\"a\", \"b\"]'",
            _ => "a value in TOML, such as '\"text\"' or 'true'",
        }
    }

    /// Whether a word without quotes is a string.
    pub(crate) fn takes_text(&self) -> bool {
        let forms = self.schema["anyOf"].as_array().into_iter().flatten();
        std::iter::once(self.schema).chain(forms).any(|form| form["type"] == "string" || form["enum"].is_array())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_dotted_name() {
        let schema = SettingSchema::load().unwrap();
        for (name, parts) in [
            ("keep", vec!["keep"]),
            ("guard.preset", vec!["guard", "preset"]),
            ("guard.rules.git.push-force", vec!["guard", "rules", "git.push-force"]),
        ] {
            let key = schema.find_key(name).unwrap();
            assert_eq!((key.parts.iter().map(String::as_str).collect::<Vec<_>>(), key.takes_text()), (parts, true));
        }
        assert!(!schema.find_key("handlers.comms").unwrap().takes_text());
        assert!(schema.find_key("guard").is_err() && schema.find_key("hook").is_err() && schema.find_key("").is_err());
    }

    #[test]
    fn every_key_is_listed_once_and_found_again() {
        let schema = SettingSchema::load().unwrap();
        let names: Vec<_> = schema.list_keys().iter().map(SettingKey::name).collect();
        assert!(names.len() > 40, "{names:?}");
        // A table with keys of any name, such as the rules of the guard, is no value.
        for key in schema.list_keys().iter().filter(|key| !key.is_table()) {
            assert_eq!(schema.find_key(&key.name()).unwrap().name(), key.name());
        }
    }
}
