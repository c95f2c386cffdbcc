//! Finds misspelled names of tools in matchers. Only `snell lint` needs it.

use crate::agents::AgentProduct;
use crate::diagnostic::{UserMessage, did_you_mean};
use crate::event::ToolClass;

/// Tools of Claude Code that no class has and that other products have under no name.
const OTHER_TOOLS: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "KillBash",
    "KillShell",
    "LSP",
    "LS",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookRead",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

/// A warning about the first plain name in a matcher that is no tool of any product and no class, but is similar to one.
/// Other unknown names may be tools that an agent or a host adds.
pub fn find_misspelled_tool(matcher: &str) -> Option<UserMessage> {
    let is_plain =
        |item: &&str| !item.is_empty() && item.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    matcher.split(['|', ',']).map(str::trim).filter(is_plain).find_map(|item| {
        let is_known = ToolClass::Mcp.contains(item) || list_tool_names().any(|name| name == item);
        let near = did_you_mean(item, list_tool_names()).filter(|_| !is_known)?;
        Some(UserMessage::new(format!("no agent has a tool \"{item}\"")).with_hint(format!("did you mean \"{near}\"?")))
    })
}

/// The names of classes, and of the tools of all products.
fn list_tool_names() -> impl Iterator<Item = &'static str> {
    let rows = AgentProduct::all().iter().flat_map(|product| product.tool_dialect().rows);
    let names = rows.flat_map(|row| [row.canonical, row.native]);
    ToolClass::names().chain(ToolClass::tool_names()).chain(OTHER_TOOLS.iter().copied()).chain(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_resemble_a_known_one_are_reported() {
        for (matcher, near) in [
            ("shel", Some("shell")),
            ("Bsah", Some("Bash")),
            ("Edit|Wrte", Some("Write")),
            ("file.wirte, Read", Some("file.write")),
            ("shell", None),
            ("Bash", None),
            ("run_shell_command", None),
            ("Edit|Write,MultiEdit", None),
            ("mcp__memory__read", None),
            ("mcp__.*", None),
            ("Bash.*", None),
            ("^(Edit|Write)$", None),
            ("NotebookRead|BashOutput", None),
            ("deploy_to_staging", None),
            ("*", None),
            ("", None),
        ] {
            let expected = near.map(|near| format!("did you mean \"{near}\"?"));
            assert_eq!(find_misspelled_tool(matcher).and_then(|found| found.hint), expected, "{matcher}");
        }
    }
}
