use serde_json::json;

use super::*;
use crate::judge::GuardToolCall;
use crate::judge::review::review_call;
use crate::policy::GuardPolicy;
use crate::test_support::test_context;

fn describe_losses(tool: &str, input: &serde_json::Value) -> String {
    let call = GuardToolCall { tool, input };
    let context = test_context();
    let shown: Vec<String> = review_call(&call, &GuardPolicy::default(), &context)
        .list_file_losses()
        .iter()
        .map(|loss| {
            let below = |path: &str| path.replacen(&context.project, "", 1).trim_start_matches('/').to_owned();
            let scope = match &loss.scope {
                LossScope::Path(path) => below(path),
                LossScope::Pattern { directory, names } => format!("{}+{}", below(directory), names.len()),
                LossScope::GitTree { directory, operands } => {
                    let operands: Vec<String> = operands.iter().map(|path| below(path)).collect();
                    format!("git:{}[{}]", below(directory), operands.join(","))
                }
                LossScope::Unknown(written) => format!("unknown:{written}"),
            };
            let depth = match &loss.only {
                Some(only) if only.matches(b".a.log") && !only.matches(b"a.txt") => "/**/*.log",
                Some(_) => "/**/?",
                None if loss.recursive => "/**",
                None => "",
            };
            format!("{:?} {scope}{depth}", loss.kind)
        })
        .collect();
    shown.join("; ")
}

#[test]
fn the_losses_of_a_command_are_the_files_that_it_deletes_or_overwrites() {
    for (command, expected) in [
        ("ls -la && cat notes.txt", ""),
        ("rm notes.txt", "Deleted notes.txt"),
        ("rm -rf data", "Deleted data/**"),
        ("rm -rf data; echo x > data", "Deleted data/**; Overwritten data"),
        ("rm *.log", "Deleted +1"),
        ("rm -r data/*/old", "Deleted data+2/**"),
        ("shred -u a.txt", "Removed a.txt; Overwritten a.txt"),
        ("find data -type f -exec rm {} +", "Deleted data+1/**"),
        ("find . -name '*.log' -delete", "Deleted /**/*.log"),
        ("find . -name '*.log' -o -name '*.txt' -delete", "Deleted /**"),
        ("rm -rf \"$DIRECTORY\"", "Deleted unknown:…/**"),
        ("echo x > notes.txt", "Overwritten notes.txt"),
        ("echo x >> notes.txt", ""),
        ("echo x > /dev/null", ""),
        ("sed -i s/a/b/ notes.txt", "Overwritten notes.txt"),
        ("mv a.txt sub/", "Overwritten sub/a.txt; Overwritten sub"),
        ("mv a.txt ~/elsewhere", "Overwritten ~/elsewhere/a.txt; Removed a.txt/**; Overwritten ~/elsewhere"),
        ("cp a.txt b.txt", "Overwritten b.txt; Overwritten b.txt/a.txt"),
        ("python3 -c 'import os; os.remove(\"a.txt\")'", "Deleted a.txt"),
        ("ssh host rm a.txt", ""),
        ("git reset --hard HEAD~1", "TrackedChanges git:[HEAD~1]/**"),
        ("git checkout -- a.txt", "Overwritten a.txt; TrackedChanges git:[a.txt]/**"),
        ("git -C sub clean -fd build", "UntrackedFiles git:sub[sub/build]/**"),
        ("git stash drop", "Stashes git:[drop]/**"),
    ] {
        let losses = describe_losses("Bash", &json!({"command": command}));
        assert_eq!(losses.replace("home/ann/elsewhere", "~/elsewhere"), expected, "{command}");
    }
}

#[test]
fn the_losses_of_other_tools_are_the_files_that_they_change() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Delete File: b.txt\n*** End Patch";
    for (tool, input, expected) in [
        ("Write", json!({"file_path": "a.txt", "content": "x"}), "Overwritten a.txt"),
        ("Edit", json!({"file_path": "a.txt", "old_string": "x", "new_string": "y"}), "Overwritten a.txt"),
        ("MultiEdit", json!({"file_path": "a.txt", "edits": []}), "Overwritten a.txt"),
        ("apply_patch", json!({"input": patch}), "Overwritten a.txt; Deleted b.txt"),
        ("Read", json!({"file_path": "a.txt"}), ""),
    ] {
        assert_eq!(describe_losses(tool, &input), expected, "{tool}");
    }
}

#[test]
fn a_pattern_matches_names_as_a_shell_does() {
    for (pattern, name, expected) in [
        ("\u{1}.log", "a.log", true),
        ("\u{1}.log", ".log", false),
        (".\u{1}", ".env", true),
        ("a\u{2}c", "abc", true),
        ("a\u{2}c", "ac", false),
    ] {
        let pattern = FileNamePattern { text: pattern.to_owned(), leading_dot: LeadingDot::Special };
        assert_eq!(pattern.matches(name.as_bytes()), expected, "{pattern:?} {name}");
    }
}
