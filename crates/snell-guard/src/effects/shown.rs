//! Secrets of the environment that are printed where the agent, and whoever reads along, sees them.

use std::collections::BTreeSet;

use snell_secrets::{SecretIssuer, is_secret_variable, pattern_names_secrets};

use super::Environment;
use super::scene::Scene;
use crate::credentials::{is_foreign, issuer_of_hosts, written_out};
use crate::invocation::{Invocation, Stdin, Stdout, Value};
use crate::paths::{Class, locate};
use crate::world::World;

/// Programs that say what they are told.
const SAY: &[&str] = &["echo", "printf"];

/// Programs that print what they read as it is, or so that it can be read back.
const REPEAT: &[&str] = &[
    "base32", "base64", "cat", "column", "dd", "fold", "head", "hexdump", "less", "more", "nl", "od", "rev", "sort",
    "strings", "tac", "tail", "tee", "uniq", "xxd",
];

/// Programs that print parts of what they read.
const CUT: &[&str] = &["awk", "cut", "gawk", "jq", "mawk", "sed", "tr"];

/// Programs that pick lines.
const PICK: &[&str] = &["ag", "egrep", "fgrep", "grep", "rg", "ripgrep"];

/// Programs that list all variables, if they are told nothing else.
const LIST: &[&str] = &["declare", "env", "export", "printenv", "set", "typeset"];

/// Programs that send what they are given to an address.
const SEND: &[&str] = &["curl", "http", "https", "wget", "xh"];

/// Flags of those that say who asks, which is what secrets are for.
const ASKING: &[&str] = &[
    "-H",
    "--header",
    "-u",
    "--user",
    "--oauth2-bearer",
    "-A",
    "--auth",
    "-a",
    "--password",
];

/// So few characters of a secret say nothing: `${TOKEN:0:4}`, `head -c 4`.
pub(crate) const MAX_HINT: usize = 8;

/// Judges whether secret variables would be printed, or sent to somebody whom they do not concern.
pub(super) fn apply(scene: &mut Scene<'_>, environment: Environment) {
    let invocation = scene.invocation;
    let name = name_of(invocation);
    if SEND.contains(&name) && is_dropped(invocation) {
        return scene.rule("secret.send-private");
    }
    if SEND.contains(&name) && is_written_out(invocation) {
        scene.rule("secret.send-written");
    }
    if invocation.stdout != Stdout::Inherited {
        return;
    }
    let shows = told(invocation).is_some()
        || (reads_on(invocation) && is_fed(invocation))
        || names_a_secret(name, invocation)
        || lists_secrets(invocation, environment);
    if shows {
        scene.rule("secret.show-variable");
    }
}

/// Whose secret it is if what these print is, or can be turned back into, the value of a secret variable.
pub(super) fn carried(invocations: &[Invocation]) -> Option<&'static str> {
    for invocation in invocations.iter().rev() {
        let told = told(invocation);
        if told.is_some() || !reads_on(invocation) {
            return told;
        }
        match &invocation.stdin {
            Stdin::Inherited => {}
            stdin => return held(stdin),
        }
    }
    None
}

/// Whether a file of secrets is read into the shell, so that all programs see them.
pub(super) fn loads(invocation: &Invocation, world: &World) -> bool {
    let file = invocation.argv.get(1);
    matches!(name_of(invocation), "source" | ".")
        && !invocation.elsewhere
        && file.is_some_and(|file| {
            locate(file, invocation.cwd.as_deref(), world)
                .classes
                .has(Class::Secret)
        })
}

fn name_of(invocation: &Invocation) -> &str {
    let name = invocation.argv.first().and_then(Value::as_text).unwrap_or_default();
    name.rsplit('/').next().unwrap_or(name)
}

fn arguments(invocation: &Invocation) -> &[Value] {
    invocation.argv.get(1..).unwrap_or_default()
}

fn told(invocation: &Invocation) -> Option<&'static str> {
    let says = SAY.contains(&name_of(invocation));
    arguments(invocation)
        .iter()
        .filter(|_| says)
        .find_map(Value::credential)
}

fn is_fed(invocation: &Invocation) -> bool {
    match &invocation.stdin {
        Stdin::Pipe(left) => carried(left).is_some(),
        stdin => held(stdin).is_some(),
    }
}

fn held(stdin: &Stdin) -> Option<&'static str> {
    match stdin {
        Stdin::Text(text) => text.credential(),
        Stdin::Inherited | Stdin::Pipe(_) | Stdin::File(_) => None,
    }
}

/// Whether it prints what it reads from standard input, or enough of it.
fn reads_on(invocation: &Invocation) -> bool {
    let name = name_of(invocation);
    let prints = REPEAT.contains(&name) || CUT.contains(&name) || (PICK.contains(&name) && prints_lines(invocation));
    prints && !is_hint(name, arguments(invocation))
}

/// `head -c 4`, `cut -c1-4`
fn is_hint(name: &str, arguments: &[Value]) -> bool {
    let flag = match name {
        "head" | "tail" | "cut" => "-c",
        _ => return false,
    };
    let at = arguments.iter().position(|value| value.leading().starts_with(flag));
    let glued = at.and_then(|at| arguments.get(at)).map(|value| value.after(flag.len()));
    let next = at.and_then(|at| arguments.get(at + 1));
    let value = glued
        .filter(|value| value.as_text() != Some(""))
        .or_else(|| next.cloned());
    let last = value
        .as_ref()
        .and_then(Value::as_text)
        .and_then(|text| text.rsplit('-').next());
    last.and_then(|text| text.parse::<usize>().ok())
        .is_some_and(|count| count <= MAX_HINT)
}

/// Whether it prints the lines that it finds, rather than their number, their place or all the others.
fn prints_lines(invocation: &Invocation) -> bool {
    let flags = arguments(invocation).iter().map(Value::leading);
    !flags
        .filter(|text| text.starts_with('-'))
        .any(|text| match text.strip_prefix("--") {
            Some(long) => matches!(
                long,
                "count" | "quiet" | "silent" | "files-with-matches" | "invert-match"
            ),
            None => text.contains(['c', 'q', 'l', 'v']),
        })
}

/// `declare -p GITHUB_TOKEN`
fn names_a_secret(name: &str, invocation: &Invocation) -> bool {
    let arguments = arguments(invocation);
    matches!(name, "declare" | "typeset" | "export")
        && arguments.first().and_then(Value::as_text) == Some("-p")
        && arguments.iter().filter_map(Value::as_text).any(is_secret_variable)
}

/// `env | grep TOKEN`, and `env` itself once a file of secrets was read.
fn lists_secrets(invocation: &Invocation, environment: Environment) -> bool {
    let left = match &invocation.stdin {
        Stdin::Pipe(left) => left.as_slice(),
        _ => &[],
    };
    let (mut picked, mut narrowed) = (false, false);
    for stage in std::iter::once(invocation).chain(left.iter().rev()) {
        let name = name_of(stage);
        if is_list(name, stage) {
            return picked || (environment == Environment::Loaded && !narrowed);
        }
        if PICK.contains(&name) && prints_lines(stage) {
            let names = arguments(stage)
                .iter()
                .filter_map(Value::as_text)
                .filter(|text| !text.starts_with('-'));
            let secrets = names.take(1).any(pattern_names_secrets) && !only_names(stage);
            picked |= secrets;
            narrowed |= !secrets;
        } else if CUT.contains(&name) {
            if !picks_by_script(name, stage) {
                return false;
            }
            picked = true;
        } else if !REPEAT.contains(&name) || is_hint(name, arguments(stage)) {
            return false;
        }
    }
    false
}

fn is_list(name: &str, invocation: &Invocation) -> bool {
    let told = arguments(invocation);
    LIST.contains(&name)
        && told
            .iter()
            .all(|value| matches!(value.as_text(), Some("-p" | "-x" | "-px" | "-0" | "--null")))
}

/// `grep -o '^[A-Z_]*TOKEN'` shows names and no values.
fn only_names(invocation: &Invocation) -> bool {
    let has = |wanted: &str| {
        arguments(invocation)
            .iter()
            .any(|value| value.as_text() == Some(wanted))
    };
    let shows_values = |value: &Value| value.as_text().is_some_and(|text| text.contains(['=', '.', '+']));
    (has("-o") || has("-oE")) && !arguments(invocation).iter().any(shows_values)
}

/// `awk '/TOKEN/'`, `sed -n '/TOKEN/p'`: scripts that pick lines. What replaces hides, and the first field is the name.
fn picks_by_script(name: &str, invocation: &Invocation) -> bool {
    let told: Vec<&str> = arguments(invocation).iter().filter_map(Value::as_text).collect();
    let script = told
        .iter()
        .rev()
        .find(|text| !text.starts_with('-'))
        .copied()
        .unwrap_or_default();
    match name {
        "sed" => told.contains(&"-n") && script.ends_with('p') && pattern_names_secrets(script),
        "awk" | "gawk" | "mawk" => {
            pattern_names_secrets(script) && !script.contains("print $1}") && !script.contains("$1}")
        }
        _ => false,
    }
}

/// Whether a secret is in the address of somebody whom it does not concern, or in what is sent there.
fn is_dropped(invocation: &Invocation) -> bool {
    let mut after_asking = false;
    let mut given = arguments(invocation).iter().filter(|value| {
        let asks = std::mem::replace(
            &mut after_asking,
            value.as_text().is_some_and(|text| ASKING.contains(&text)),
        );
        !asks && !ASKING.iter().any(|flag| value.leading().starts_with(flag))
    });
    let Some(issuer) = given.find_map(Value::credential).filter(|issuer| !issuer.is_empty()) else {
        return false;
    };
    goes_to_others(issuer_of_hosts(issuer), invocation)
}

/// Whether a secret that is written out in an argument or on standard input goes to a host that has not issued it.
fn is_written_out(invocation: &Invocation) -> bool {
    let piped = match &invocation.stdin {
        Stdin::Pipe(left) => left.iter().filter(|left| SAY.contains(&name_of(left))).collect(),
        _ => Vec::new(),
    };
    let held = match &invocation.stdin {
        Stdin::Text(text) => Some(text),
        _ => None,
    };
    let texts = arguments(invocation)
        .iter()
        .chain(piped.into_iter().flat_map(arguments))
        .chain(held);
    let issuers: BTreeSet<SecretIssuer> = texts.flat_map(|text| written_out(&text.to_string())).collect();
    issuers.iter().any(|issuer| goes_to_others(*issuer, invocation))
}

/// Whether what is sent goes to somebody else than whoever gave a secret out.
fn goes_to_others(issuer: SecretIssuer, invocation: &Invocation) -> bool {
    let addresses = arguments(invocation)
        .iter()
        .filter(|value| value.leading().contains("://"));
    let mut addresses = addresses.map(|value| format!("{}/", value.leading()));
    addresses.any(|address| is_foreign(issuer, &address))
}
