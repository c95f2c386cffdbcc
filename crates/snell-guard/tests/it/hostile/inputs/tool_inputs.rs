//! Inputs of other tools.

use serde_json::{Value as Json, json};

use super::{MEBIBYTE, repeat_to_size};

pub(super) type HostileToolInput = (&'static str, &'static str, fn() -> Json);

/// Inputs of other tools.
pub(super) const OTHERS: &[HostileToolInput] = &[
    ("a deeply nested input", "mcp__fs__write", || nest_objects("path")),
    ("a deeply nested list", "mcp__fs__write", || nest_lists(json!("a"))),
    ("a deeply nested command", "Bash", || build_object("command", nest_lists(json!("a")))),
    ("a wide input", "mcp__fs__delete", || {
        let pairs = (0..100_000).map(|i| (format!("path{i}"), json!("/etc")));
        Json::Object(pairs.collect())
    }),
    ("many paths", "mcp__fs__delete", || json!({ "paths": vec!["/home/ann/../../etc"; 100_000] })),
    ("many paths to read", "read_many_files", || json!({ "paths": vec!["a/../.env"; 100_000] })),
    ("a long path", "Write", || json!({ "file_path": format!("/{}", "a/../".repeat(200_000)) })),
    ("a long content", "Write", || json!({ "file_path": "a", "content": repeat_to_size("rm -rf /\n") })),
    ("a wide input of commands", "mcp__acme__run", || {
        let pairs = (0..20_000).map(|i| (format!("step{i}"), json!("rm -rf ~/a")));
        Json::Object(pairs.collect())
    }),
    ("many doublings in an unknown field", "mcp__acme__run", || {
        let doubling = format!("set a b;{}rm $x", "x=$x$x;".repeat(500));
        json!({ "payload": vec![doubling; 32] })
    }),
    ("a list of words in an unknown field", "mcp__acme__run", || json!({ "payload": vec!["rm"; 200_000] })),
    ("many edits", "MultiEdit", || {
        let edit = json!({ "old_string": "a", "new_string": "b" });
        json!({ "file_path": "a", "edits": vec![edit; 50_000] })
    }),
    ("a glob of stars", "Grep", || json!({ "pattern": "a", "glob": "*".repeat(MEBIBYTE) })),
    ("a glob of lists", "Grep", || json!({ "pattern": "a", "glob": repeat_to_size("{a,b}") })),
    ("a glob of directories", "Glob", || json!({ "pattern": repeat_to_size("**/") })),
    ("many words", "shell", || json!({ "command": vec!["a"; 300_000] })),
    ("many quotes as words", "shell", || json!({ "command": vec!["'"; 200_000] })),
    ("a script as words", "shell", || json!({ "command": ["bash", "-lc", repeat_to_size("rm a;")] })),
    (
        "a patch with many files",
        "apply_patch",
        || json!({ "input": format!("*** Begin Patch\n{}*** End Patch", "*** Delete File: ../a\n".repeat(45_000)) }),
    ),
    (
        "a patch with one long file",
        "apply_patch",
        || json!({ "input": format!("*** Begin Patch\n*** Add File: a\n{}*** End Patch", "+rm -rf /\n".repeat(100_000)) }),
    ),
    ("a patch without lines", "apply_patch", || json!({ "input": repeat_to_size("*** ") })),
    (
        "a patch of another kind",
        "apply_patch",
        || json!({ "patch": repeat_to_size("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n") }),
    ),
    (
        "a patch by a program",
        "Bash",
        || json!({ "command": format!("apply_patch <<'E'\n*** Begin Patch\n{}*** End Patch\nE", "*** Delete File: ../a\n".repeat(45_000)) }),
    ),
    ("sql for a server", "mcp__pg__query", || json!({ "sql": repeat_to_size("drop table a;") })),
    ("sql with quotes", "mcp__pg__query", || json!({ "sql": repeat_to_size("'a''") })),
    ("a command for a server", "mcp__ssh__exec", || json!({ "command": repeat_to_size("'rm a';") })),
    ("a long address", "WebFetch", || json!({ "url": format!("http://{}", repeat_to_size("a.")) })),
    ("many addresses", "WebFetch", || json!({ "prompt": repeat_to_size("http://1.2.3.4/a ") })),
    ("addresses with names", "WebFetch", || json!({ "url": format!("http://{}", repeat_to_size("a@")) })),
];

/// An object. (`json!` would copy its contents, and overflow the stack.)
fn build_object(key: &str, value: Json) -> Json {
    Json::Object([(key.to_owned(), value)].into_iter().collect())
}

/// Nested objects under the same key.
fn nest_objects(key: &str) -> Json {
    (0..100_000).fold(json!("rm -rf /"), |inner, _| build_object(key, inner))
}

/// Nested lists.
fn nest_lists(inner: Json) -> Json {
    (0..100_000).fold(inner, |inner, _| Json::Array(vec![inner]))
}
