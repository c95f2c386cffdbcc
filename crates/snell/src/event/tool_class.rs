//! Classes of tools, over the tool names of all agents.

/// A class of tools. Every agent has its own names for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Runs a shell command.
    Shell,
    /// Reads a file.
    FileRead,
    /// Creates or changes a file.
    FileWrite,
    /// Finds files or text.
    Search,
    /// Accesses the web.
    Web,
    /// Starts a sub-agent.
    Agent,
    /// A tool of an MCP server.
    Mcp,
}

struct ToolClassRow {
    class: ToolClass,
    name: &'static str,
    tools: &'static [&'static str],
}

const TOOL_CLASS_ROWS: [ToolClassRow; 7] = [
    ToolClassRow {
        class: ToolClass::Shell,
        name: "shell",
        tools: &[
            "Bash",
            "PowerShell",
            "run_shell_command",
            "Shell",
            "bash",
            "powershell",
            "Execute",
            "run_in_terminal",
            "execute_bash",
            "run_command",
            "run_commands",
            "execute_command",
            "run_terminal_command",
            "file_system.bash",
            "exec",
            "exec_command",
            "local_shell",
        ],
    },
    ToolClassRow {
        class: ToolClass::FileRead,
        name: "file.read",
        tools: &[
            "Read",
            "read_file",
            "view",
            "read",
            "fs_read",
            "read_code",
            "read_many_files",
            "read_files",
            "file_system.read_file",
        ],
    },
    ToolClassRow {
        class: ToolClass::FileWrite,
        name: "file.write",
        tools: &[
            "Write",
            "Edit",
            "MultiEdit",
            "NotebookEdit",
            "write_file",
            "edit_file",
            "replace",
            "edit",
            "apply_patch",
            "ApplyPatch",
            "create",
            "Create",
            "str_replace_editor",
            "create_file",
            "replace_string_in_file",
            "write",
            "fs_write",
            "write_code",
            "write_to_file",
            "replace_in_file",
            "editor",
            "search_replace",
            "notebook_edit",
            "file_system.write_file",
            "file_system.edit",
        ],
    },
    ToolClassRow {
        class: ToolClass::Search,
        name: "search",
        tools: &[
            "Glob",
            "Grep",
            "glob",
            "grep",
            "grep_search",
            "file_search",
            "search_file_content",
            "search_files",
            "search_codebase",
            "file_system.grep",
        ],
    },
    ToolClassRow {
        class: ToolClass::Web,
        name: "web",
        tools: &[
            "WebFetch",
            "WebSearch",
            "web_fetch",
            "web_search",
            "google_web_search",
            "FetchUrl",
            "fetch_webpage",
            "webfetch",
            "FetchURL",
            "SearchWeb",
        ],
    },
    ToolClassRow {
        class: ToolClass::Agent,
        name: "agent",
        tools: &[
            "Agent",
            "Task",
            "spawn_agent",
            "task",
            "runSubagent",
            "use_subagent",
            "invoke_agent",
            "spawn_subagent",
            "AgentSwarm",
        ],
    },
    ToolClassRow { class: ToolClass::Mcp, name: "mcp", tools: &["mcp_tool_use"] },
];

/// The start of the names of MCP tools.
const MCP_PREFIXES: &[&str] = &["mcp__", "mcp_", "MCP:", "@"];

impl ToolClass {
    /// Parses the name of a class in `snell.toml`.
    pub fn parse(name: &str) -> Option<Self> {
        TOOL_CLASS_ROWS.iter().find(|row| row.name == name).map(|row| row.class)
    }

    /// The classes' names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TOOL_CLASS_ROWS.iter().map(|row| row.name)
    }

    /// The listed names of the tools of all classes.
    pub(crate) fn tool_names() -> impl Iterator<Item = &'static str> {
        TOOL_CLASS_ROWS.iter().flat_map(|row| row.tools.iter().copied())
    }

    /// The name of the class in `snell.toml`.
    pub fn as_str(self) -> &'static str {
        TOOL_CLASS_ROWS.iter().find(|row| row.class == self).map_or("", |row| row.name)
    }

    /// Whether a tool of this name is in the class.
    pub fn contains(self, tool: &str) -> bool {
        let is_listed = TOOL_CLASS_ROWS.iter().any(|row| row.class == self && row.tools.contains(&tool));
        is_listed || (self == Self::Mcp && MCP_PREFIXES.iter().any(|prefix| tool.starts_with(prefix)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_the_names_of_every_agent() {
        let cases = [
            ("shell", "Bash", true),
            ("shell", "run_shell_command", true),
            ("shell", "Read", false),
            ("shell", "file_system.bash", true),
            ("shell", "run_terminal_command", true),
            ("file.read", "read_many_files", true),
            ("file.write", "replace_in_file", true),
            ("search", "search_codebase", true),
            ("web", "FetchURL", true),
            ("agent", "spawn_subagent", true),
            ("file.write", "Edit", true),
            ("file.write", "apply_patch", true),
            ("file.read", "Write", false),
            ("web", "WebSearch", true),
            ("mcp", "mcp__github__create_issue", true),
            ("mcp", "MCP:search", true),
            ("mcp", "Bash", false),
        ];
        for (class, tool, expected) in cases {
            let class = ToolClass::parse(class).unwrap();
            assert_eq!(class.contains(tool), expected, "{class:?} {tool}");
        }
    }
}
