//! Tools that run command lines: shells, and servers that carry one program's.

use serde_json::Value as Json;

use super::desk::{Desk, MAX_TEXTS};
use super::request::{Request, ends_with, is_key};
use super::tables::servers;
use crate::tools::{CWD, quoted};

/// How the keys end at which a command stands.
const COMMAND: &[&str] = &["command", "commands", "cmd", "cmds", "commandline", "script"];
/// Where the rest of its words may stand.
const ARGUMENTS: &[&str] = &[
    "args",
    "arguments",
    "argv",
    "cmdargs",
    "commandargs",
    "cliargs",
    "subcommand",
    "flags",
];
/// What is typed into a terminal.
const TYPED: &[&str] = &["input", "keys", "text", "line", "data", "content"];
const TYPES: &[&str] = &["send", "write", "type", "interact", "input", "keys", "paste", "stdin"];
/// With these, a command is only spoken of.
const SPEAKS: &[&str] = &[
    "explain",
    "search",
    "validate",
    "check",
    "lint",
    "parse",
    "suggest",
    "describe",
    "help",
    "find",
    "list",
    "get",
    "is",
    "history",
    "format",
    "generate",
    "analyze",
    "translate",
    "save",
    "bookmark",
    "lookup",
    "docs",
    "documentation",
    "add",
    "comment",
    "issue",
    "preview",
    "block",
    "allow",
    "allowlist",
];
/// Servers and tools that carry the command line of one program.
const PROGRAMS: &[(&[&str], &str)] = &[
    (&["docker"], "docker"),
    (&["podman"], "podman"),
    (&["gcloud", "gcp"], "gcloud"),
    (&["az", "azure"], "az"),
    (&["aws"], "aws"),
    (&["helm"], "helm"),
    (&["terraform"], "terraform"),
    (&["tofu", "opentofu"], "tofu"),
    (&["terragrunt"], "terragrunt"),
    (&["pulumi"], "pulumi"),
    (&["cdk"], "cdk"),
    (&["argocd"], "argocd"),
    (&["heroku"], "heroku"),
    (&["fly", "flyio", "flyctl"], "flyctl"),
    (&["vercel"], "vercel"),
    (&["netlify"], "netlify"),
    (&["railway"], "railway"),
    (&["wrangler", "cloudflare"], "wrangler"),
    (&["doctl", "digitalocean"], "doctl"),
    (&["firebase"], "firebase"),
    (&["supabase"], "supabase"),
    (&["prisma"], "prisma"),
    (&["nomad"], "nomad"),
    (&["gh", "github"], "gh"),
    (&["npm"], "npm"),
    (&["ansible"], "ansible"),
    (&["systemd", "systemctl"], "systemctl"),
    (&["proxmox"], "qm"),
];

/// Programs whose servers name their tools after what the command line says.
const SPELLED: &[&str] = &[
    "docker",
    "podman",
    "helm",
    "terraform",
    "tofu",
    "terragrunt",
    "pulumi",
    "cdk",
    "ansible",
    "prisma",
];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let program = PROGRAMS
        .iter()
        .find(|(names, _)| request.is_about(names))
        .map(|(_, program)| *program);
    let runs = request.is_about(servers::SHELLS);
    if request.says(SPEAKS) || !(runs || program.is_some()) {
        return false;
    }
    let mut understood = false;
    if let Some(program) = program {
        understood = as_named(program, request, desk);
    }
    let texts = commands(request);
    if texts.len() > MAX_TEXTS {
        desk.limit();
    }
    for text in texts.iter().take(MAX_TEXTS) {
        run(text, program, request, desk);
    }
    understood
}

fn run(command: &Command, program: Option<&str>, request: &Request<'_>, desk: &mut Desk<'_>) {
    let cwd = request.text(&keys(CWD).iter().map(String::as_str).collect::<Vec<_>>());
    let text = &command.text;
    match program {
        Some(program) if request.says(&["exec", "ssh"]) && !is_begun(text, program) => {
            if matches!(program, "docker" | "podman") {
                desk.same_as(&format!("{program} exec x {text}"), cwd);
            } else {
                desk.elsewhere(text);
            }
        }
        Some(program) if !is_begun(text, program) => desk.same_as(&format!("{program} {text}"), cwd),
        _ if request.serves(servers::REMOTE) => desk.elsewhere(text),
        _ if request.is_about(&["powershell", "pwsh", "winrm"]) => {
            desk.same_as(&format!("pwsh -Command {}", quoted(text)), cwd);
        }
        _ if command.as_written => desk.command(text, cwd),
        _ => desk.same_as(text, cwd),
    }
}

/// Whether the text already names the program.
fn is_begun(text: &str, program: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().trim_matches('\'');
    first.rsplit('/').next() == Some(program)
}

/// `terraform_destroy`, `remove_volume`: the tool's name itself is the command line. True if its tables know it.
fn as_named(program: &str, request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    if request.is_dry() || !SPELLED.contains(&program) {
        return false;
    }
    let says = |word: &&str| *word != program && *word != "cli";
    let words: Vec<&str> = request.tool().iter().map(String::as_str).filter(says).collect();
    let given = request.text(&[
        "name",
        "id",
        "release",
        "releasename",
        "volume",
        "volumename",
        "container",
        "network",
    ]);
    let given = given.filter(|name| !name.starts_with('-')).unwrap_or("x");
    if let Some((verb, noun)) = docker_words(program, &words) {
        desk.program(&[program, noun, verb, given]);
        return true;
    }
    let mut argv = vec![program];
    argv.extend(words.iter().copied());
    argv.push(given);
    desk.program(&argv)
}

/// Docker's tools say `remove_volume` where its command line says `volume rm`.
fn docker_words<'a>(program: &str, words: &[&'a str]) -> Option<(&'static str, &'a str)> {
    const VERBS: &[(&str, &str)] = &[
        ("remove", "rm"),
        ("delete", "rm"),
        ("rm", "rm"),
        ("prune", "prune"),
        ("kill", "kill"),
    ];
    const NOUNS: &[&str] = &["volume", "network", "image", "container", "system", "builder"];
    if !matches!(program, "docker" | "podman") {
        return None;
    }
    let (_, verb) = VERBS.iter().find(|(said, _)| words.contains(said))?;
    let noun = words.iter().find_map(|word| {
        let single = word.strip_suffix('s').unwrap_or(word);
        NOUNS.contains(&single).then_some(single)
    });
    Some((verb, noun?))
}

/// A command line, and whether it stands so in the input.
struct Command {
    text: String,
    as_written: bool,
}

/// The command lines of a request: texts, lists of texts, lists of words, and the words that stand apart.
fn commands(request: &Request<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    if let Some(written) = find(request.input, &|key| ends_with(key, COMMAND)) {
        collect(written, &mut commands);
    }
    let rest = arguments(request);
    match commands.as_mut_slice() {
        [] if !rest.is_empty() => commands.push(Command {
            text: rest,
            as_written: false,
        }),
        [only] if !rest.is_empty() => {
            only.text = format!("{} {rest}", only.text);
            only.as_written = false;
        }
        _ => {}
    }
    if commands.is_empty() && request.says(TYPES) {
        commands.extend(request.texts(TYPED).into_iter().map(written_so));
    }
    commands
}

fn written_so(text: &str) -> Command {
    Command {
        text: text.to_owned(),
        as_written: true,
    }
}

fn collect(written: &Json, commands: &mut Vec<Command>) {
    match written {
        Json::String(text) => commands.push(written_so(text)),
        Json::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
            let are_words = texts.first().is_some_and(|first| !first.trim().contains(' '));
            if are_words {
                let words: Vec<String> = texts.iter().map(|word| quoted(word)).collect();
                commands.push(Command {
                    text: words.join(" "),
                    as_written: false,
                });
            } else {
                // One shell runs them one after the other.
                commands.push(Command {
                    text: texts.join("\n"),
                    as_written: false,
                });
            }
            // `[{"command": …}, …]`
            let inner = list
                .iter()
                .filter_map(|item| find(item, &|key| ends_with(key, COMMAND)));
            inner
                .filter(|inner| inner.is_string())
                .for_each(|inner| collect(inner, commands));
        }
        _ => {}
    }
}

/// The words that stand apart from the command: `"args": ["-rf", "/"]`, or as one text.
fn arguments(request: &Request<'_>) -> String {
    let mut words = Vec::new();
    let mut add = |value: &Json| match value {
        Json::String(text) => words.push(text.clone()),
        Json::Array(list) => words.extend(list.iter().filter_map(Json::as_str).map(quoted)),
        Json::Object(flags) => {
            for (flag, value) in flags {
                let dashes = if flag.len() == 1 { "-" } else { "--" };
                match value {
                    Json::Bool(true) => words.push(format!("{dashes}{flag}")),
                    Json::String(text) => words.push(quoted(&format!("{dashes}{flag}={text}"))),
                    _ => {}
                }
            }
        }
        _ => {}
    };
    for object in levels(request.input) {
        let here = object.iter().filter(|(key, _)| is_key(key, ARGUMENTS));
        here.for_each(|(_, value)| add(value));
    }
    words.join(" ")
}

/// The value of the first such key: of the input itself, or of what wraps it (`params`, `arguments`).
fn find<'a>(input: &'a Json, fits: &dyn Fn(&str) -> bool) -> Option<&'a Json> {
    let fitting = |object: &'a serde_json::Map<String, Json>| {
        let texts = object.iter().filter(|(_, value)| value.is_string() || value.is_array());
        texts.filter(|(key, _)| fits(key)).map(|(_, value)| value).next()
    };
    levels(input).into_iter().find_map(fitting)
}

/// The input itself, and the objects right in it.
fn levels(input: &Json) -> Vec<&serde_json::Map<String, Json>> {
    let top = input.as_object();
    let below = top
        .into_iter()
        .flat_map(|object| object.values().filter_map(Json::as_object));
    top.into_iter().chain(below).collect()
}

/// Keys as they are compared: small, with nothing between their words.
fn keys(names: &[&str]) -> Vec<String> {
    names
        .iter()
        .map(|name| name.replace('_', "").to_ascii_lowercase())
        .collect()
}
