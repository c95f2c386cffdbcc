//! What MCP servers offer. Their tools have any name, so they are judged by class: what the server is about, which verb
//! the tool's name holds, and what it is given.

use serde_json::Value as Json;

use super::{PATH, as_program, command, command_elsewhere, command_in, fetch, files, strings};
use crate::effects::Kind;
use crate::judge::Seen;
use crate::syntax::Span;
use crate::world::World;

/// The rule for what is destroyed by a tool's name alone.
const DESTROY: &str = "infra.tool-destroy";

/// Servers that work on the files of this machine.
const FILES: &[&str] = &[
    "filesystem",
    "fs",
    "file",
    "files",
    "commander",
    "serena",
    "editor",
    "jetbrains",
    "idea",
    "vscode",
];
/// Servers and tools that run commands.
const SHELLS: &[&str] = &[
    "shell",
    "bash",
    "zsh",
    "terminal",
    "commander",
    "ssh",
    "exec",
    "execute",
    "command",
    "commands",
    "cli",
    "console",
    "tmux",
    "iterm",
    "process",
    "run",
];
/// Servers that run them on another machine.
const REMOTE: &[&str] = &["ssh", "remote"];
/// Servers that fetch addresses.
const FETCHERS: &[&str] = &[
    "fetch",
    "browser",
    "playwright",
    "puppeteer",
    "firecrawl",
    "http",
    "curl",
    "web",
];
/// Servers for databases, and the client that reads the same language.
const DATABASES: &[(&[&str], &[&str])] = &[
    (&["redis", "valkey", "keydb"], &["redis-cli"]),
    (&["mongo", "mongodb"], &["mongosh", "--eval"]),
    (
        &[
            "postgres",
            "postgresql",
            "pg",
            "mysql",
            "mariadb",
            "sqlite",
            "sql",
            "mssql",
            "sqlserver",
            "supabase",
            "neon",
            "clickhouse",
            "snowflake",
            "bigquery",
            "duckdb",
            "redshift",
            "cockroachdb",
            "planetscale",
            "database",
            "db",
            "dbhub",
            "oracle",
            "turso",
            "libsql",
        ],
        &["psql", "-c"],
    ),
];
/// Where a statement is written.
const STATEMENT: &[&str] = &["sql", "query", "statement", "statements", "queries", "command", "code"];
/// Servers behind which something runs that others need.
const INFRASTRUCTURE: &[&str] = &[
    "kubernetes",
    "k8s",
    "kubectl",
    "openshift",
    "helm",
    "aws",
    "s3",
    "ec2",
    "rds",
    "dynamodb",
    "cloudformation",
    "gcp",
    "gcloud",
    "gke",
    "azure",
    "aks",
    "terraform",
    "tofu",
    "pulumi",
    "docker",
    "portainer",
    "heroku",
    "vercel",
    "netlify",
    "cloudflare",
    "fly",
    "flyio",
    "render",
    "railway",
    "digitalocean",
    "linode",
    "hetzner",
    "vultr",
    "supabase",
    "neon",
    "planetscale",
    "firebase",
    "mongodb",
    "mongo",
    "redis",
    "postgres",
    "mysql",
    "proxmox",
    "openstack",
    "nomad",
    "vault",
    "elasticsearch",
    "snowflake",
    "bigquery",
    "convex",
    "upstash",
];
/// Servers that hold work: what is destroyed there is a repository or more.
const HOSTS: &[&str] = &["github", "gitlab", "bitbucket", "gitea", "forgejo", "devops"];
/// What must not be destroyed there.
const HOSTED: &[&str] = &[
    "repository",
    "repo",
    "project",
    "organization",
    "org",
    "group",
    "workspace",
    "environment",
];
/// Verbs that destroy.
const DESTROYS: &[&str] = &[
    "delete",
    "destroy",
    "drop",
    "terminate",
    "purge",
    "wipe",
    "uninstall",
    "teardown",
    "deprovision",
    "remove",
    "flush",
    "flushall",
    "flushdb",
    "truncate",
];
/// What comes back by itself, or is not missed.
const SMALL: &[&str] = &[
    "pod",
    "pods",
    "container",
    "containers",
    "image",
    "images",
    "comment",
    "label",
    "cache",
    "preview",
    "draft",
    "key",
    "document",
    "documents",
    "row",
    "many",
    "one",
    "index",
];
/// Verbs for files, gravest first, and what they do.
const VERBS: &[(&[&str], Kind)] = &[
    (&["delete", "remove", "unlink", "rm", "trash", "erase"], Kind::Delete),
    (
        &[
            "write", "edit", "create", "save", "update", "replace", "append", "insert", "put", "modify", "patch", "set",
        ],
        Kind::Overwrite,
    ),
    (
        &[
            "read", "get", "view", "cat", "open", "load", "show", "head", "tail", "upload",
        ],
        Kind::Read,
    ),
];

/// The name of a tool, taken apart into words.
pub(super) struct Named {
    server: Vec<String>,
    tool: Vec<String>,
}

impl Named {
    /// `mcp__server__tool`
    pub(super) fn read(name: &str) -> Option<Self> {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        Some(Self {
            server: words(server),
            tool: words(tool),
        })
    }

    fn serves(&self, names: &[&str]) -> bool {
        self.server.iter().any(|word| names.contains(&word.as_str()))
    }

    fn says(&self, names: &[&str]) -> bool {
        self.tool.iter().any(|word| names.contains(&word.as_str()))
    }
}

/// Words in small letters: `deleteRepo`, `delete-repo` and `delete_repo` are the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a tool of a server would do.
pub(super) fn look(named: &Named, input: &Json, world: &World, seen: &mut Seen) {
    let client = DATABASES.iter().find(|(names, _)| named.serves(names));
    if let Some((_, client)) = client {
        for statement in strings(input, STATEMENT) {
            let argv: Vec<&str> = client.iter().copied().chain([statement]).collect();
            seen.effects.extend(as_program(&argv, world));
        }
    } else if named.serves(SHELLS) || named.says(SHELLS) {
        run(named, input, world, seen);
    }
    if named.serves(FILES) {
        on_files(named, input, world, seen);
    }
    if named.serves(FETCHERS) || named.says(FETCHERS) {
        fetch(input, world, seen);
    }
    if destroys(named) {
        seen.mark(DESTROY, Span::default());
    }
}

/// A tool that may run a command but is given none does something else.
fn run(named: &Named, input: &Json, world: &World, seen: &mut Seen) {
    let Some(command) = command(input) else {
        return;
    };
    if named.serves(&["kubectl", "kubernetes", "k8s"]) && !command.trim_start().starts_with("kubectl") {
        command_in(&format!("kubectl {command}"), world, seen);
    } else if named.serves(REMOTE) {
        command_elsewhere(&command, world, seen);
    } else {
        command_in(&command, world, seen);
    }
}

fn on_files(named: &Named, input: &Json, world: &World, seen: &mut Seen) {
    let source = || strings(input, &["source", "from", "src", "old_path", "oldPath"]);
    let target = || strings(input, &["destination", "to", "dest", "target", "new_path", "newPath"]);
    if named.says(&["move", "rename"]) {
        files(Kind::Take, source(), world, seen);
        files(Kind::Overwrite, target(), world, seen);
    } else if named.says(&["copy"]) {
        files(Kind::Read, source(), world, seen);
        files(Kind::Overwrite, target(), world, seen);
    } else if named.says(&["create", "make"]) && named.says(&["directory", "folder", "dir"]) {
        files(Kind::Put, strings(input, PATH), world, seen);
    } else if let Some((_, kind)) = VERBS.iter().find(|(verbs, _)| named.says(verbs)) {
        let first = seen.effects.len();
        files(*kind, strings(input, PATH), world, seen);
        for effect in seen.effects.iter_mut().skip(first) {
            effect.recursive = *kind == Kind::Delete;
        }
    }
}

/// Whether the names alone say that something is destroyed.
fn destroys(named: &Named) -> bool {
    named.says(DESTROYS)
        && (named.serves(HOSTS) && named.says(HOSTED) || named.serves(INFRASTRUCTURE) && !named.says(SMALL))
}
