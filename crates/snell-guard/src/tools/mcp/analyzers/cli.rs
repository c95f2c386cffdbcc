//! Tools that run command lines: shells, and servers that carry one program's.

use serde_json::Value as Json;

use crate::tools::mcp::findings::{FindingSink, MAX_REQUEST_TEXTS};
use crate::tools::mcp::request::{McpRequest, has_key_suffix, is_key_named};
use crate::tools::mcp::tables::servers;
use crate::tools::{CWD_KEYS, quote_shell_word};

/// How the keys end at which a command stands.
const COMMAND_KEY_SUFFIXES: &[&str] = &["command", "commands", "cmd", "cmds", "commandline", "script"];
/// Where the rest of its words may stand.
const ARGUMENT_KEYS: &[&str] =
    &["args", "arguments", "argv", "cmdargs", "commandargs", "cliargs", "subcommand", "flags"];
/// What is typed into a terminal.
const TYPED_TEXT_KEYS: &[&str] = &["input", "keys", "text", "line", "data", "content"];
const TYPING_VERBS: &[&str] = &["send", "write", "type", "interact", "input", "keys", "paste", "stdin"];
/// With these, a command is only spoken of.
const NON_EXECUTING_VERBS: &[&str] = &[
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
const SUBCOMMAND_TOOL_PROGRAMS: &[&str] =
    &["docker", "podman", "helm", "terraform", "tofu", "terragrunt", "pulumi", "cdk", "ansible", "prisma"];

pub(in crate::tools::mcp) fn analyze_cli(request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    let program = PROGRAMS.iter().find(|(names, _)| request.is_about(names)).map(|(_, program)| *program);
    let runs = request.is_about(servers::SHELLS);
    if request.has_tool_word(NON_EXECUTING_VERBS) || !(runs || program.is_some()) {
        return false;
    }
    let mut understood = false;
    if let Some(program) = program {
        understood = analyze_named_subcommand(program, request, desk);
    }
    let texts = collect_command_lines(request);
    if texts.len() > MAX_REQUEST_TEXTS {
        desk.mark_limited();
    }
    for text in texts.iter().take(MAX_REQUEST_TEXTS) {
        analyze_command_line(text, program, request, desk);
    }
    understood
}

fn analyze_command_line(
    command: &McpCommandLine,
    program: Option<&str>,
    request: &McpRequest<'_>,
    desk: &mut FindingSink<'_>,
) {
    let cwd = request.find_text(&normalize_keys(CWD_KEYS).iter().map(String::as_str).collect::<Vec<_>>());
    let text = &command.text;
    match program {
        Some(program) if request.has_tool_word(&["exec", "ssh"]) && !has_program_name(text, program) => {
            if matches!(program, "docker" | "podman") {
                desk.analyze_equivalent_command(&format!("{program} exec x {text}"), cwd);
            } else {
                desk.analyze_remote_command(text);
            }
        }
        Some(program) if !has_program_name(text, program) => {
            desk.analyze_equivalent_command(&format!("{program} {text}"), cwd)
        }
        _ if request.has_server_word(servers::REMOTE) => desk.analyze_remote_command(text),
        _ if request.is_about(&["powershell", "pwsh", "winrm"]) => {
            desk.analyze_equivalent_command(&format!("pwsh -Command {}", quote_shell_word(text)), cwd);
        }
        _ if command.is_verbatim => desk.analyze_command(text, cwd),
        _ => desk.analyze_equivalent_command(text, cwd),
    }
}

/// Whether the text already names the program.
fn has_program_name(text: &str, program: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().trim_matches('\'');
    first.rsplit('/').next() == Some(program)
}

/// `terraform_destroy`, `remove_volume`: the tool's name itself is the command line. True if its tables know it.
fn analyze_named_subcommand(program: &str, request: &McpRequest<'_>, desk: &mut FindingSink<'_>) -> bool {
    if request.is_dry_run() || !SUBCOMMAND_TOOL_PROGRAMS.contains(&program) {
        return false;
    }
    let says = |word: &&str| *word != program && *word != "cli";
    let words: Vec<&str> = request.tool_words().iter().map(String::as_str).filter(says).collect();
    let given =
        request.find_text(&["name", "id", "release", "releasename", "volume", "volumename", "container", "network"]);
    let given = given.filter(|name| !name.starts_with('-')).unwrap_or("x");
    if let Some((verb, noun)) = find_docker_subcommand(program, &words) {
        desk.analyze_program(&[program, noun, verb, given]);
        return true;
    }
    let mut argv = vec![program];
    argv.extend(words.iter().copied());
    argv.push(given);
    desk.analyze_program(&argv)
}

/// Docker's tools say `remove_volume` where its command line says `volume rm`.
fn find_docker_subcommand<'a>(program: &str, words: &[&'a str]) -> Option<(&'static str, &'a str)> {
    const VERBS: &[(&str, &str)] =
        &[("remove", "rm"), ("delete", "rm"), ("rm", "rm"), ("prune", "prune"), ("kill", "kill")];
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
struct McpCommandLine {
    text: String,
    is_verbatim: bool,
}

/// The command lines of a request: texts, lists of texts, lists of words, and the words that stand apart.
fn collect_command_lines(request: &McpRequest<'_>) -> Vec<McpCommandLine> {
    let mut commands = Vec::new();
    if let Some(written) = find_value(request.input, &|key| has_key_suffix(key, COMMAND_KEY_SUFFIXES)) {
        add_command_lines(written, &mut commands);
    }
    let rest = join_arguments(request);
    match commands.as_mut_slice() {
        [] if !rest.is_empty() => commands.push(McpCommandLine { text: rest, is_verbatim: false }),
        [only] if !rest.is_empty() => {
            only.text = format!("{} {rest}", only.text);
            only.is_verbatim = false;
        }
        _ => {}
    }
    if commands.is_empty() && request.has_tool_word(TYPING_VERBS) {
        commands.extend(request.find_texts(TYPED_TEXT_KEYS).into_iter().map(build_verbatim_command));
    }
    commands
}

fn build_verbatim_command(text: &str) -> McpCommandLine {
    McpCommandLine { text: text.to_owned(), is_verbatim: true }
}

fn add_command_lines(written: &Json, commands: &mut Vec<McpCommandLine>) {
    match written {
        Json::String(text) => commands.push(build_verbatim_command(text)),
        Json::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
            let are_words = texts.first().is_some_and(|first| !first.trim().contains(' '));
            if are_words {
                let words: Vec<String> = texts.iter().map(|word| quote_shell_word(word)).collect();
                commands.push(McpCommandLine { text: words.join(" "), is_verbatim: false });
            } else {
                // One shell runs them one after the other.
                commands.push(McpCommandLine { text: texts.join("\n"), is_verbatim: false });
            }
            // `[{"command": …}, …]`
            let inner =
                list.iter().filter_map(|item| find_value(item, &|key| has_key_suffix(key, COMMAND_KEY_SUFFIXES)));
            inner.filter(|inner| inner.is_string()).for_each(|inner| add_command_lines(inner, commands));
        }
        _ => {}
    }
}

/// The words that stand apart from the command: `"args": ["-rf", "/"]`, or as one text.
fn join_arguments(request: &McpRequest<'_>) -> String {
    let mut words = Vec::new();
    let mut add = |value: &Json| match value {
        Json::String(text) => words.push(text.clone()),
        Json::Array(list) => words.extend(list.iter().filter_map(Json::as_str).map(quote_shell_word)),
        Json::Object(flags) => {
            for (flag, value) in flags {
                let dashes = if flag.len() == 1 { "-" } else { "--" };
                match value {
                    Json::Bool(true) => words.push(format!("{dashes}{flag}")),
                    Json::String(text) => words.push(quote_shell_word(&format!("{dashes}{flag}={text}"))),
                    _ => {}
                }
            }
        }
        _ => {}
    };
    for object in collect_objects(request.input) {
        let here = object.iter().filter(|(key, _)| is_key_named(key, ARGUMENT_KEYS));
        here.for_each(|(_, value)| add(value));
    }
    words.join(" ")
}

/// The value of the first such key: of the input itself, or of what wraps it (`params`, `arguments`).
fn find_value<'a>(input: &'a Json, fits: &dyn Fn(&str) -> bool) -> Option<&'a Json> {
    let fitting = |object: &'a serde_json::Map<String, Json>| {
        let texts = object.iter().filter(|(_, value)| value.is_string() || value.is_array());
        texts.filter(|(key, _)| fits(key)).map(|(_, value)| value).next()
    };
    collect_objects(input).into_iter().find_map(fitting)
}

/// The input itself, and the objects right in it.
fn collect_objects(input: &Json) -> Vec<&serde_json::Map<String, Json>> {
    let top = input.as_object();
    let below = top.into_iter().flat_map(|object| object.values().filter_map(Json::as_object));
    top.into_iter().chain(below).collect()
}

/// Keys as they are compared: small, with nothing between their words.
fn normalize_keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.replace('_', "").to_ascii_lowercase()).collect()
}
