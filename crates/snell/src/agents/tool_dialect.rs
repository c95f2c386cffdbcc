//! The tools of a product: its own names and input keys, and the canonical ones, which are Claude Code's.
//!
//! An event has canonical names, so that the guard, matchers and hooks mean the same under every product. A changed input
//! is translated back. A hook file of a product is read with the same table in the other direction.

use serde_json::{Map, Value};

use crate::event::ToolCall;

/// The tools of one product.
#[derive(Debug)]
pub struct ToolDialect {
    pub(crate) rows: &'static [ToolDialectRow],
    /// How the product names the tools of MCP servers.
    pub(crate) mcp: McpNameForm,
}

/// One tool of a product.
#[derive(Debug)]
pub(crate) struct ToolDialectRow {
    /// The product's name of the tool.
    pub(crate) native: &'static str,
    /// Claude Code's name.
    pub(crate) canonical: &'static str,
    pub(crate) input: ToolInputForm,
}

/// How the input of a tool differs from that of Claude Code's tool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolInputForm {
    /// The keys have other names: the product's, and Claude Code's. Keys that are not listed are equal.
    Keys(&'static [(&'static str, &'static str)]),
    /// This key has a list of commands, which run one after the other.
    CommandList(&'static str),
}

/// How a product names the tools of MCP servers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum McpNameForm {
    /// `mcp__SERVER__TOOL`, as Claude Code.
    Canonical,
    /// `mcp_SERVER_TOOL`.
    SingleUnderscores,
    /// `SERVER__TOOL`.
    WithoutPrefix,
    /// `SERVER_TOOL`. A tool of the product without a row may have such a name, too.
    ServerAndTool,
    /// This prefix, and the tool without its server.
    Prefix(&'static str),
}

/// Claude Code's own names, which need no translation.
pub(crate) static CANONICAL_TOOLS: ToolDialect = ToolDialect { rows: &[], mcp: McpNameForm::Canonical };

/// A row whose input has equal keys.
pub(crate) const fn same_input(native: &'static str, canonical: &'static str) -> ToolDialectRow {
    renamed_keys(native, canonical, &[])
}

/// A row whose input has other keys.
pub(crate) const fn renamed_keys(
    native: &'static str,
    canonical: &'static str,
    keys: &'static [(&'static str, &'static str)],
) -> ToolDialectRow {
    ToolDialectRow { native, canonical, input: ToolInputForm::Keys(keys) }
}

/// The server of an MCP tool whose product does not name it.
const UNNAMED_SERVER: &str = "mcp";

impl ToolDialect {
    /// The call with canonical names. The product's own name is kept in [`ToolCall::native_name`].
    pub(crate) fn to_canonical(&self, mut call: ToolCall) -> ToolCall {
        if call.native_name.is_some() {
            return call;
        }
        if let Some(row) = self.find_native(&call.name).filter(|row| row.is_fitting(&call)) {
            call.input = call.input.map(|input| row.input.to_canonical(input));
            if row.canonical != row.native {
                call.native_name = Some(std::mem::replace(&mut call.name, row.canonical.to_owned()));
            }
        } else if let Some(name) = self.mcp.to_canonical(&call.name) {
            call.native_name = Some(std::mem::replace(&mut call.name, name));
        }
        call
    }

    /// An input of the call that hooks changed, with the product's own keys.
    pub(crate) fn to_native_input(&self, call: &ToolCall, input: Value) -> Value {
        let native = call.native_name.as_deref().unwrap_or(&call.name);
        self.find_native(native).map_or(input.clone(), |row| row.input.to_native(input))
    }

    /// The call as the product would name it, for a hook that was written for the product: the tool's name and its input.
    pub(crate) fn to_native_call(&self, call: &ToolCall) -> ToolCall {
        let own = call.native_name.as_deref().and_then(|name| self.find_native(name));
        let same_class = || self.rows.iter().find(|row| row.canonical == call.name);
        let Some(row) = own.or_else(same_class) else {
            return ToolCall { name: self.mcp.to_native(&call.name), ..call.clone() };
        };
        let input = call.input.clone().map(|input| row.input.to_native(input));
        ToolCall { name: row.native.to_owned(), input, ..call.clone() }
    }

    /// An answer's input for a call that [`ToolDialect::to_native_call`] wrote, with canonical keys.
    pub(crate) fn to_canonical_input(&self, call: &ToolCall, input: Value) -> Value {
        let native = self.to_native_call(call).name;
        self.find_native(&native).map_or(input.clone(), |row| row.input.to_canonical(input))
    }

    fn find_native(&self, name: &str) -> Option<&'static ToolDialectRow> {
        self.rows.iter().find(|row| row.native == name)
    }
}

impl ToolDialectRow {
    /// Whether the call is one of the canonical tool. A tool that manages processes runs a command with some inputs only.
    fn is_fitting(&self, call: &ToolCall) -> bool {
        let has = |key: &str| call.input.as_ref().is_some_and(|input| input.get(key).is_some());
        !(has("action") && self.canonical == "Bash" && !has("command"))
    }
}

impl ToolInputForm {
    fn to_canonical(self, input: Value) -> Value {
        match self {
            Self::Keys(keys) => rename_keys(input, keys.iter().copied()),
            Self::CommandList(key) => join_commands(input, key),
        }
    }

    fn to_native(self, input: Value) -> Value {
        match self {
            Self::Keys(keys) => rename_keys(input, keys.iter().map(|(native, canonical)| (*canonical, *native))),
            Self::CommandList(key) => split_commands(input, key),
        }
    }
}

/// Renames keys in place, so that their order stays. A key whose new name exists already stays as it is.
fn rename_keys(input: Value, names: impl Iterator<Item = (&'static str, &'static str)> + Clone) -> Value {
    let Value::Object(fields) = input else {
        return input;
    };
    let new_name = |key: &str| names.clone().find(|(from, _)| *from == key).map(|(_, to)| to);
    let is_taken = |name: &str| fields.contains_key(name);
    let renames: Vec<_> = fields.keys().map(|key| new_name(key).filter(|name| !is_taken(name))).collect();
    let renamed = fields.into_iter().zip(renames).map(|((key, value), name)| (name.map_or(key, str::to_owned), value));
    Value::Object(renamed.collect())
}

/// `{commands: [a, b]}` to `{command: …}`. Each command runs in a shell of its own, so several become calls of `sh -c`: nothing in
/// one of them changes the meaning of the next.
fn join_commands(input: Value, key: &str) -> Value {
    let (items, mut fields) = match input {
        Value::Array(items) => (Some(items), Map::new()),
        Value::Object(fields) => {
            let items = match fields.get(key) {
                Some(Value::Array(items)) => Some(items.clone()),
                Some(Value::String(text)) => Some(read_command_list(text)),
                _ if fields.contains_key("args") => Some(vec![Value::Object(fields.clone())]),
                _ => None,
            };
            (items, fields)
        }
        other => return other,
    };
    let Some(lines) = items.as_ref().and_then(|items| items.iter().map(read_command_line).collect::<Option<Vec<_>>>())
    else {
        return items.filter(|_| fields.is_empty()).map_or(Value::Object(fields), Value::Array);
    };
    for used in [key, "args"] {
        fields.shift_remove(used);
    }
    let command = match lines.as_slice() {
        [one] => one.clone(),
        several => several.iter().map(|line| format!("sh -c {}", quote_word(line))).collect::<Vec<_>>().join("\n"),
    };
    fields.insert("command".into(), command.into());
    Value::Object(fields)
}

/// A command, or a list of commands as JSON.
fn read_command_list(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap_or_else(|_| vec![text.into()])
}

/// A line of shell, or a program and its arguments.
fn read_command_line(item: &Value) -> Option<String> {
    if let Some(line) = item.as_str() {
        return Some(line.to_owned());
    }
    let program = item.get("command")?.as_str()?;
    let Some(args) = item.get("args").and_then(Value::as_array) else {
        return Some(program.to_owned());
    };
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words = std::iter::once(program.to_owned()).chain(args.iter().map(word));
    Some(words.map(|word| quote_word(&word)).collect::<Vec<_>>().join(" "))
}

/// The text as one word of shell.
fn quote_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn split_commands(input: Value, key: &str) -> Value {
    let Value::Object(mut fields) = input else {
        return input;
    };
    if let Some(command) = fields.shift_remove("command") {
        fields.insert(key.to_owned(), Value::Array(vec![command]));
    }
    Value::Object(fields)
}

impl McpNameForm {
    fn to_canonical(self, name: &str) -> Option<String> {
        match self {
            Self::Canonical => None,
            Self::WithoutPrefix => {
                let (server, tool) = name.split_once("__").filter(|(server, _)| *server != "mcp")?;
                Some(format!("mcp__{server}__{tool}"))
            }
            Self::ServerAndTool => {
                let (server, tool) = name.split_once('_').filter(|(_, tool)| !tool.starts_with('_'))?;
                Some(format!("mcp__{server}__{tool}"))
            }
            Self::SingleUnderscores => {
                let (server, tool) =
                    name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'))?.split_once('_')?;
                Some(format!("mcp__{server}__{tool}"))
            }
            Self::Prefix(prefix) => {
                let tool = name.strip_prefix(prefix)?;
                let (server, tool) = tool.split_once('/').unwrap_or((UNNAMED_SERVER, tool));
                Some(format!("mcp__{server}__{tool}"))
            }
        }
    }

    fn to_native(self, name: &str) -> String {
        let parts = || name.strip_prefix("mcp__")?.split_once("__");
        match (self, parts()) {
            (Self::WithoutPrefix, Some((server, tool))) => format!("{server}__{tool}"),
            (Self::ServerAndTool, Some((server, tool))) => format!("{server}_{tool}"),
            (Self::SingleUnderscores, Some((server, tool))) => format!("mcp_{server}_{tool}"),
            (Self::Prefix(prefix), Some((UNNAMED_SERVER, tool))) => format!("{prefix}{tool}"),
            (Self::Prefix(prefix), Some((server, tool))) => match prefix {
                "@" => format!("@{server}/{tool}"),
                _ => format!("{prefix}{tool}"),
            },
            _ => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    static SHARK: ToolDialect = ToolDialect {
        rows: &[
            same_input("run", "Bash"),
            renamed_keys("put", "Write", &[("path", "file_path"), ("text", "content")]),
            ToolDialectRow { native: "many", canonical: "Bash", input: ToolInputForm::CommandList("commands") },
        ],
        mcp: McpNameForm::SingleUnderscores,
    };

    fn call(name: &str, input: Value) -> ToolCall {
        ToolCall { name: name.into(), input: Some(input), ..ToolCall::default() }
    }

    #[test]
    fn a_call_is_translated_and_back() {
        let cases = [
            (call("run", json!({"command": "ls"})), "Bash", json!({"command": "ls"})),
            (call("put", json!({"path": "a", "text": "b"})), "Write", json!({"file_path": "a", "content": "b"})),
            (call("many", json!({"commands": ["ls"]})), "Bash", json!({"command": "ls"})),
            (call("mcp_github_create_issue", json!({})), "mcp__github__create_issue", json!({})),
            (call("unheard_of", json!({"x": 1})), "unheard_of", json!({"x": 1})),
        ];
        for (native, name, input) in cases {
            let canonical = SHARK.to_canonical(native.clone());
            assert_eq!((canonical.name.as_str(), canonical.input.as_ref()), (name, Some(&input)));
            let back = SHARK.to_native_call(&canonical);
            assert_eq!((back.name, back.input.clone()), (native.name.clone(), native.input.clone()));
            assert_eq!(Some(SHARK.to_native_input(&canonical, input.clone())), native.input);
            assert_eq!(SHARK.to_canonical_input(&canonical, native.input.unwrap()), input);
        }
    }

    #[test]
    fn each_command_of_a_list_has_a_shell_of_its_own() {
        let cases = [
            (json!({"commands": ["ls"]}), "ls"),
            (json!({"commands": ["exit 0", "rm -rf ~"]}), "sh -c 'exit 0'\nsh -c 'rm -rf ~'"),
            (json!({"commands": ["echo 'a", {"command": "rm -rf ~"}]}), "sh -c 'echo '\\''a'\nsh -c 'rm -rf ~'"),
            (json!({"commands": [{"command": "find", "args": ["/a b", "-delete"]}]}), "'find' '/a b' '-delete'"),
            (json!({"command": "find", "args": ["/", "-delete"]}), "'find' '/' '-delete'"),
            (json!(["ls"]), "ls"),
            (json!({"commands": "rm -rf ~"}), "rm -rf ~"),
            (json!({"commands": "[\"exit 0\", \"rm -rf ~\"]"}), "sh -c 'exit 0'\nsh -c 'rm -rf ~'"),
            (json!({"commands": "[ -f a ] && rm -rf ~"}), "[ -f a ] && rm -rf ~"),
        ];
        for (input, command) in cases {
            let canonical = SHARK.to_canonical(call("many", input.clone()));
            assert_eq!(canonical.input, Some(json!({"command": command})), "{input}");
        }
        let unreadable = json!({"commands": [7]});
        assert_eq!(SHARK.to_canonical(call("many", unreadable.clone())).input, Some(unreadable));
    }

    #[test]
    fn a_key_never_replaces_another() {
        let canonical = SHARK.to_canonical(call("put", json!({"path": "a", "file_path": "b"})));
        assert_eq!(canonical.input, Some(json!({"path": "a", "file_path": "b"})));
    }
}
