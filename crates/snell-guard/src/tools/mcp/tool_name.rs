//! Splits the names of tools into words.

use super::tables;

/// The name of an MCP tool, in lower-case words.
pub(in crate::tools) struct McpToolName {
    pub(super) server: Vec<String>,
    pub(super) tool: Vec<String>,
}

impl McpToolName {
    /// Each agent joins server and tool in its own way. `None` if it is not an MCP tool.
    pub(in crate::tools) fn parse(name: &str) -> Option<Self> {
        if let Some(name) = name.strip_prefix("mcp__") {
            let (server, tool) = name.split_once("__").unwrap_or(("", name));
            return Some(Self::from_server_and_tool(server, tool));
        }
        if let Some((server, tool)) = name.strip_prefix('@').and_then(|name| name.split_once('/')) {
            return Some(Self::from_server_and_tool(server, tool));
        }
        if let Some(tool) = name.strip_prefix("MCP:") {
            // The name has no server, so the tool's words stand for it.
            return Some(Self::from_server_and_tool(tool, tool));
        }
        if let Some(joined) = name.strip_prefix("mcp_") {
            return Some(Self::from_joined_name(joined));
        }
        // `server_tool` and `server-tool`: only a name that starts with a known server is certainly not one of the
        // agent's own tools.
        let (first, _) = name.split_once(['_', '-'])?;
        tables::is_server_name(&first.to_ascii_lowercase()).then(|| Self::from_joined_name(name))
    }

    /// The words in the server's name.
    pub(in crate::tools) fn into_server(self) -> Vec<String> {
        self.server
    }

    fn from_server_and_tool(server: &str, tool: &str) -> Self {
        let server = split_identifier(server);
        let mut tool = split_identifier(tool);
        // `mcp__slack__slack_post_message`
        let own = tool.iter().take_while(|word| server.contains(word)).count();
        if own < tool.len() {
            tool.drain(..own);
        }
        Self { server, tool }
    }

    /// `server_tool`: the server's name may be one word or two.
    fn from_joined_name(name: &str) -> Self {
        let all = split_identifier(name);
        Self { server: all.iter().take(2).cloned().collect(), tool: all.into_iter().skip(1).collect() }
    }
}

/// Words in lower case: `deleteRepo`, `delete-repo` and `delete_repo` are equal, and so are `deleteDBCluster` and
/// `delete_db_cluster`.
pub(super) fn split_identifier(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        let small_follows = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && small_follows));
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_as_each_agent_writes_them() {
        for (name, server, tool) in [
            ("mcp__github__delete_repository", "github", "delete repository"),
            ("mcp__aws-rds__DeleteDBCluster", "aws rds", "delete db cluster"),
            ("mcp__slack__slack_post_message", "slack", "post message"),
            ("mcp__docker__docker", "docker", "docker"),
            ("mcp_github_deleteRepo", "github delete", "delete repo"),
            ("@git/git_reset", "git", "reset"),
            ("MCP:run_sql", "run sql", "run sql"),
            ("postgres_query", "postgres query", "query"),
            ("github-mcp-server-list_issues", "github mcp", "mcp server list issues"),
        ] {
            let named = McpToolName::parse(name).expect(name);
            assert_eq!((named.server.join(" "), named.tool.join(" ")), (server.into(), tool.into()), "{name}");
        }
        for name in ["Bash", "TodoWrite", "list_dir", "codebase_search", "", "_", "some-thing"] {
            assert!(McpToolName::parse(name).is_none(), "{name}");
        }
    }
}
