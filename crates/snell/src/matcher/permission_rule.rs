//! Claude Code's `if`: a permission rule that a tool call must fall under.

use std::path::{Component, Path, PathBuf};

use super::glob::{Glob, GlobDialect};
use super::host::address_matches;
use super::subcommands::SubcommandList;
use super::tool_pattern::{split_tool_argument, starts_with_words};
use crate::diagnostic::UserMessage;
use crate::event::{ToolCall, ToolClass};

/// `ToolCall` or `ToolCall(what)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PermissionRule {
    written: String,
    tool: String,
    argument: Option<String>,
}

/// The directories in which paths of a rule start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleRoots<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) project: &'a Path,
    pub(crate) home: Option<&'a Path>,
}

impl PermissionRule {
    /// Parses a rule. The error is a predicate, to follow the name of the key.
    pub(crate) fn parse(written: &str) -> Result<Self, UserMessage> {
        let (tool, argument) = split_tool_argument(written)?;
        if tool.is_empty() {
            return Err(UserMessage::new("names no tool").with_hint("write a rule such as \"Bash(git *)\""));
        }
        Ok(Self {
            written: written.to_owned(),
            tool: tool.to_owned(),
            argument: argument.filter(|argument| !matches!(*argument, "" | "*")).map(str::to_owned),
        })
    }

    pub(crate) fn source_text(&self) -> &str {
        &self.written
    }

    pub(crate) fn covers(&self, tool: &ToolCall, roots: RuleRoots<'_>) -> bool {
        if !self.covers_tool(&tool.name) {
            return false;
        }
        let Some(argument) = &self.argument else {
            return true;
        };
        if let Some(pattern) = argument.strip_prefix("domain:") {
            return tool.principal_argument().is_some_and(|address| address_matches(pattern, &address));
        }
        let file_tool = ToolClass::FileRead.contains(&tool.name) || ToolClass::FileWrite.contains(&tool.name);
        // A call without this argument may do anything, so the hook runs.
        if ToolClass::Shell.contains(&tool.name) {
            tool.command().is_none_or(|line| covers_command(argument, &line))
        } else if file_tool {
            tool.file_path().is_none_or(|file| covers_path(argument, file, roots))
        } else {
            let subject = match tool.name.as_str() {
                "Agent" | "Task" => {
                    tool.input.as_ref().and_then(|input| input.get("subagent_type")?.as_str().map(Into::into))
                }
                _ => tool.principal_argument(),
            };
            subject.is_some_and(|text| Glob::new(argument, GlobDialect::PLAIN).matches(&text))
        }
    }

    fn covers_tool(&self, name: &str) -> bool {
        if self.tool == name || (self.tool == "Edit" && ToolClass::FileWrite.contains(name)) {
            return true;
        }
        // `mcp__server` stands for every tool of that server.
        let of_server = self.tool.starts_with("mcp__")
            && name.strip_prefix(self.tool.as_str()).is_some_and(|rest| rest.starts_with("__"));
        of_server || (self.tool.contains('*') && Glob::new(&self.tool, GlobDialect::PLAIN).matches(name))
    }
}

/// Whether a rule about commands covers any part of a command line. It also does if the commands of the line are unknown.
fn covers_command(pattern: &str, line: &str) -> bool {
    let Some(found) = SubcommandList::parse(line) else {
        return true;
    };
    let words = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")).unwrap_or(pattern);
    let names_more_than_the_command = words.trim().contains(char::is_whitespace);
    if found.expands && names_more_than_the_command {
        return true;
    }
    let open_ended = words.len() < pattern.len();
    let covers = |command: &str| {
        if open_ended && !words.contains('*') {
            starts_with_words(command, words)
        } else {
            Glob::new(pattern, GlobDialect::PLAIN).matches(command)
                || (open_ended && Glob::new(words, GlobDialect::PLAIN).matches(command))
        }
    };
    found.commands.iter().any(|command| {
        let unknown = command.written.starts_with(['$', '`']);
        unknown || covers(&command.written) || covers(&command.plain)
    })
}

/// The longest path of a file system. How an agent reads a longer one is unknown.
const MAX_PATH_BYTES: usize = 4096;

/// Whether a rule about files covers a path: `//x` from the root, `~/x` from home, `/x` from the project, else from the
/// working directory; a pattern without a slash names a file or directory anywhere below it.
fn covers_path(pattern: &str, file: &str, roots: RuleRoots<'_>) -> bool {
    if file.len() > MAX_PATH_BYTES {
        return true;
    }
    let file = normalize_path(&roots.cwd.join(file));
    let (base, pattern): (&Path, &str) = if let Some(rest) = pattern.strip_prefix("//") {
        (Path::new("/"), rest)
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        match roots.home {
            Some(home) => (home, rest),
            None => return false,
        }
    } else if let Some(rest) = pattern.strip_prefix('/') {
        (roots.project, rest)
    } else {
        (roots.cwd, pattern.strip_prefix("./").unwrap_or(pattern))
    };
    let Ok(relative) = file.strip_prefix(normalize_path(base)) else {
        return false;
    };
    let pattern = pattern.trim_end_matches('/');
    let anywhere = !pattern.contains('/');
    let glob = Glob::new(pattern, GlobDialect::PATHS);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if anywhere {
        return parts.iter().any(|part| glob.matches(part));
    }
    // A pattern that names a directory covers its content.
    (1..=parts.len()).any(|length| glob.matches(&parts[..length].join("/")))
}

/// The path without `.` and `..`, by its text alone.
pub(crate) fn normalize_path(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn test_roots() -> RuleRoots<'static> {
        RuleRoots { cwd: Path::new("/p/sub"), project: Path::new("/p"), home: Some(Path::new("/h")) }
    }

    fn make_tool_call(name: &str, field: &str, value: &str) -> ToolCall {
        ToolCall { name: name.into(), input: Some(json!({ field: value })), ..ToolCall::default() }
    }

    #[test]
    fn a_rule_about_commands_looks_at_every_part_of_the_line() {
        let cases = [
            ("Bash", "anything", true),
            ("Bash(*)", "anything", true),
            ("Bash(git *)", "git push", true),
            ("Bash(git *)", "git", true),
            ("Bash(git *)", "gitk", false),
            ("Bash(git:*)", "git push", true),
            ("Bash(git push)", "git push", true),
            ("Bash(git push)", "git push -f", false),
            ("Bash(git *)", "cd x && git push", true),
            ("Bash(git *)", "FOO=1 git push", true),
            ("Bash(git *)", "echo $(git log)", true),
            ("Bash(git *)", "ls -l", false),
            ("Bash(git *)", "echo $HOME", false),
            ("Bash(git push *)", "echo $HOME", true),
            ("Bash(git push *)", "git pull", false),
            ("Bash(git *)", "$CMD push", true),
            ("Bash(git *)", "echo 'unterminated", true),
            ("Bash(* --force)", "git push --force", true),
            ("Bash(* --force)", "git push", false),
            ("Bash(git *)", "echo ${x:-$(git push)}", true),
            ("Bash(git *)", "echo \"${x:-`git push`}\"", true),
            ("Bash(git *)", "echo $'\\'' ; git push ; echo $'\\'' # '", true),
            ("Bash(git *)", ">/dev/null git push", true),
            ("Bash(git *)", "2> log git push", true),
            ("Bash(git *)", "\\git push", true),
            ("Bash(git *)", "g\"\"it push", true),
            ("Bash(git *)", "function f { git push; }; f", true),
            ("Bash(git push *)", "git  push origin", true),
            ("Bash(git push *)", "git \\\n push origin", true),
            ("Bash(git *)", "echo 'git push'", false),
        ];
        for (rule, line, expected) in cases {
            let rule = PermissionRule::parse(rule).unwrap();
            assert_eq!(
                rule.covers(&make_tool_call("Bash", "command", line), test_roots()),
                expected,
                "{} on {line}",
                rule.source_text()
            );
        }
    }

    #[test]
    fn a_rule_about_files_begins_where_its_first_characters_say() {
        let cases = [
            ("Edit(*.ts)", "Edit", "/p/sub/a/b.ts", true),
            ("Edit(*.ts)", "Write", "/p/sub/b.ts", true),
            ("Edit(*.ts)", "Read", "/p/sub/b.ts", false),
            ("Edit(/src/**)", "Edit", "/p/src/x/y.rs", true),
            ("Edit(/src/**)", "Edit", "/p/sub/src/y.rs", false),
            ("Read(~/.ssh/**)", "Read", "/h/.ssh/id", true),
            ("Read(//etc/**)", "Read", "/etc/passwd", true),
            ("Read(//etc)", "Read", "/etc/a/b", true),
            ("Read(./a.txt)", "Read", "/p/sub/a.txt", true),
            ("Read(x/a.txt)", "Read", "/p/sub/x/../x/a.txt", true),
            ("Read(x/a.txt)", "Read", "x/a.txt", true),
            ("Read(.env)", "Read", "/p/sub/deep/.env", true),
            ("Read(//etc/**)", "Read", "../../etc/passwd", true),
            ("Edit(*.env)", "apply_patch", "a.env", true),
        ];
        for (rule, tool, file, expected) in cases {
            let rule = PermissionRule::parse(rule).unwrap();
            assert_eq!(
                rule.covers(&make_tool_call(tool, "file_path", file), test_roots()),
                expected,
                "{} on {tool} {file}",
                rule.source_text()
            );
        }
    }

    #[test]
    fn other_rules_compare_names_hosts_and_kinds() {
        let cases = [
            ("mcp__github", make_tool_call("mcp__github__issue", "x", ""), true),
            ("mcp__git", make_tool_call("mcp__github__issue", "x", ""), false),
            ("mcp__github__*", make_tool_call("mcp__github__issue", "x", ""), true),
            ("WebFetch(domain:*.x.com)", make_tool_call("WebFetch", "url", "https://a.x.com"), true),
            ("WebFetch(domain:*.x.com)", make_tool_call("WebFetch", "url", "https://y.com"), false),
            ("Agent(Explore)", make_tool_call("Agent", "subagent_type", "Explore"), true),
            ("Agent(Explore)", make_tool_call("Agent", "subagent_type", "Plan"), false),
        ];
        for (rule, tool, expected) in cases {
            assert_eq!(PermissionRule::parse(rule).unwrap().covers(&tool, test_roots()), expected, "{rule}");
        }
    }

    proptest! {
        #[test]
        fn no_rule_panics(rule in r"\PC{0,20}", text in r"\PC{0,30}") {
            if let Ok(rule) = PermissionRule::parse(&rule) {
                rule.covers(&make_tool_call("Bash", "command", &text), test_roots());
                rule.covers(&make_tool_call("Edit", "file_path", &text), test_roots());
            }
        }
    }
}
