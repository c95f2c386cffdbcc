//! Secret variables that a command would print.

use crate::programs::words::secrets as words;
use std::collections::BTreeSet;

use snell_secrets::{SecretIssuer, is_secret_variable, pattern_names_secrets};

use crate::effects::EnvSecrets;
use crate::effects::collector::EffectCollector;
use crate::effects::secrets::credentials::{find_secret_issuers, is_foreign_address, issuer_from_host_part};
use crate::invocation::{Invocation, StdinSource, StdoutTarget, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, locate_path};

/// This many characters of a secret reveal nothing: `${TOKEN:0:4}`, `head -c 4`.
pub(crate) const MAX_HINT_CHARS: usize = 8;

/// Judges whether secret variables would be printed, or sent to a host that did not issue them.
pub(in crate::effects) fn apply_secret_exposure(collector: &mut EffectCollector<'_>, environment: EnvSecrets) {
    let invocation = collector.invocation;
    let name = invocation.base_name();
    if words::HTTP_CLIENTS.contains(&name) && sends_variable_to_foreign_host(invocation) {
        return collector.add_rule_effect("secret.send-private");
    }
    if words::HTTP_CLIENTS.contains(&name)
        && (sends_literal_secret(invocation) || shows_variable_to_foreign_host(invocation))
    {
        collector.add_rule_effect("secret.send-written");
    }
    if invocation.stdout != StdoutTarget::Inherited {
        return;
    }
    let shows = find_echoed_secret(invocation).is_some()
        || (prints_stdin(invocation) && is_fed_secret(invocation))
        || prints_secret_declaration(name, invocation)
        || lists_secret_variables(invocation, environment);
    if shows {
        collector.add_rule_effect("secret.show-variable");
    }
}

/// The issuer of the secret if these programs print a secret variable, or something that reveals it.
pub(crate) fn find_carried_secret(invocations: &[Invocation]) -> Option<&'static str> {
    for invocation in invocations.iter().rev() {
        let echoed = find_echoed_secret(invocation);
        if echoed.is_some() || !prints_stdin(invocation) {
            return echoed;
        }
        match &invocation.stdin {
            StdinSource::Inherited => {}
            stdin => return stdin.as_text().and_then(SymbolicText::credential_issuer),
        }
    }
    None
}

/// Whether the shell loads a file of secrets, so that all programs see them.
pub(crate) fn loads_secret_file(invocation: &Invocation, context: &JudgeContext) -> bool {
    let file = invocation.argv.get(1);
    matches!(invocation.base_name(), "source" | ".")
        && !invocation.elsewhere
        && file.is_some_and(|file| {
            locate_path(file, invocation.cwd.as_deref(), context).classes.contains(PathClass::Secret)
        })
}

fn find_echoed_secret(invocation: &Invocation) -> Option<&'static str> {
    let says = words::ECHO_PROGRAMS.contains(&invocation.base_name());
    invocation.arguments().iter().filter(|_| says).find_map(SymbolicText::credential_issuer)
}

fn is_fed_secret(invocation: &Invocation) -> bool {
    match &invocation.stdin {
        StdinSource::Pipe(left) => find_carried_secret(left).is_some(),
        stdin => stdin.as_text().and_then(SymbolicText::credential_issuer).is_some(),
    }
}

/// Whether it prints its standard input, or enough of it.
fn prints_stdin(invocation: &Invocation) -> bool {
    let name = invocation.base_name();
    let prints = words::PASS_THROUGH_PROGRAMS.contains(&name)
        || words::FIELD_PROGRAMS.contains(&name)
        || (words::GREP_PROGRAMS.contains(&name) && prints_matching_lines(invocation));
    prints && !prints_only_hint(name, invocation.arguments())
}

/// `head -c 4`, `cut -c1-4`
fn prints_only_hint(name: &str, arguments: &[SymbolicText]) -> bool {
    let flag = match name {
        "head" | "tail" | "cut" => "-c",
        _ => return false,
    };
    let at = arguments.iter().position(|value| value.leading_text().starts_with(flag));
    let glued = at.and_then(|at| arguments.get(at)).map(|value| value.skip_leading_bytes(flag.len()));
    let next = at.and_then(|at| arguments.get(at + 1));
    let value = glued.filter(|value| value.as_text() != Some("")).or_else(|| next.cloned());
    let last = value.as_ref().and_then(SymbolicText::as_text).and_then(|text| text.rsplit('-').next());
    last.and_then(|text| text.parse::<usize>().ok()).is_some_and(|count| count <= MAX_HINT_CHARS)
}

/// Whether it prints matching lines, not their number, their position or the other lines.
fn prints_matching_lines(invocation: &Invocation) -> bool {
    let flags = invocation.arguments().iter().map(SymbolicText::leading_text);
    !flags.filter(|text| text.starts_with('-')).any(|text| match text.strip_prefix("--") {
        Some(long) => matches!(long, "count" | "quiet" | "silent" | "files-with-matches" | "invert-match"),
        None => text.contains(['c', 'q', 'l', 'v']),
    })
}

/// `declare -p GITHUB_TOKEN`
fn prints_secret_declaration(name: &str, invocation: &Invocation) -> bool {
    let arguments = invocation.arguments();
    matches!(name, "declare" | "typeset" | "export")
        && arguments.first().and_then(SymbolicText::as_text) == Some("-p")
        && arguments.iter().filter_map(SymbolicText::as_text).any(is_secret_variable)
}

/// `env | grep TOKEN`, and `env` itself after a file of secrets was loaded.
fn lists_secret_variables(invocation: &Invocation, environment: EnvSecrets) -> bool {
    let (mut picked, mut narrowed) = (false, false);
    for stage in std::iter::once(invocation).chain(invocation.stdin.pipeline().iter().rev()) {
        let name = stage.base_name();
        if lists_environment(name, stage) {
            return picked || (environment == EnvSecrets::Loaded && !narrowed);
        }
        if words::GREP_PROGRAMS.contains(&name) && prints_matching_lines(stage) {
            let names =
                stage.arguments().iter().filter_map(SymbolicText::as_text).filter(|text| !text.starts_with('-'));
            let secrets = names.take(1).any(pattern_names_secrets) && !greps_only_names(stage);
            picked |= secrets;
            narrowed |= !secrets;
        } else if words::FIELD_PROGRAMS.contains(&name) {
            if !script_picks_secrets(name, stage) {
                return false;
            }
            picked = true;
        } else if !words::PASS_THROUGH_PROGRAMS.contains(&name) || prints_only_hint(name, stage.arguments()) {
            return false;
        }
    }
    false
}

fn lists_environment(name: &str, invocation: &Invocation) -> bool {
    let arguments = invocation.arguments();
    words::ENV_LISTERS.contains(&name)
        && arguments.iter().all(|value| matches!(value.as_text(), Some("-p" | "-x" | "-px" | "-0" | "--null")))
}

/// `grep -o '^[A-Z_]*TOKEN'` shows names and no values.
fn greps_only_names(invocation: &Invocation) -> bool {
    let has = |wanted: &str| invocation.arguments().iter().any(|value| value.as_text() == Some(wanted));
    let shows_values = |value: &SymbolicText| value.as_text().is_some_and(|text| text.contains(['=', '.', '+']));
    (has("-o") || has("-oE")) && !invocation.arguments().iter().any(shows_values)
}

/// `awk '/TOKEN/'`, `sed -n '/TOKEN/p'`: scripts that select lines. A substitution hides the value, and the first field
/// is the name.
fn script_picks_secrets(name: &str, invocation: &Invocation) -> bool {
    let arguments: Vec<&str> = invocation.arguments().iter().filter_map(SymbolicText::as_text).collect();
    let script = arguments.iter().rev().find(|text| !text.starts_with('-')).copied().unwrap_or_default();
    match name {
        "sed" => arguments.contains(&"-n") && script.ends_with('p') && pattern_names_secrets(script),
        "awk" | "gawk" | "mawk" => {
            pattern_names_secrets(script) && !script.contains("print $1}") && !script.contains("$1}")
        }
        _ => false,
    }
}

/// Whether a secret variable is in a URL of a host that did not issue it, or in data that is sent there.
fn sends_variable_to_foreign_host(invocation: &Invocation) -> bool {
    // A key that signs is never part of a request.
    let signs = |value: &SymbolicText| value.credential_issuer().is_some_and(|issuer| issuer.contains("aws"));
    let mut given = list_arguments(invocation).filter(|(value, authenticates)| !authenticates || signs(value));
    let issuer = given.find_map(|(value, _)| value.credential_issuer()).filter(|issuer| !issuer.is_empty());
    issuer.is_some_and(|issuer| goes_to_foreign_host(issuer_from_host_part(issuer), invocation))
}

/// Whether a secret variable authenticates at a host that did not issue it: `Authorization: Bearer $GITHUB_TOKEN`.
fn shows_variable_to_foreign_host(invocation: &Invocation) -> bool {
    // Many services take the same requests and keys as these.
    const IMITATED: &[&str] = &["", "openai", "anthropic"];
    let issuers = list_arguments(invocation).filter(|(_, authenticates)| *authenticates);
    let mut issuers =
        issuers.filter_map(|(value, _)| value.credential_issuer()).filter(|issuer| !IMITATED.contains(issuer));
    issuers.any(|issuer| goes_to_foreign_host(issuer_from_host_part(issuer), invocation))
}

/// The arguments, and whether each is for authentication.
fn list_arguments(invocation: &Invocation) -> impl Iterator<Item = (&SymbolicText, bool)> {
    let mut is_value = false;
    invocation.arguments().iter().map(move |value| {
        let is_flag = value.as_text().is_some_and(|text| words::AUTH_FLAGS.contains(&text));
        let follows = std::mem::replace(&mut is_value, is_flag);
        (value, follows || words::AUTH_FLAGS.iter().any(|flag| value.leading_text().starts_with(flag)))
    })
}

/// Whether a literal secret in an argument or on standard input goes to a host that did not issue it.
fn sends_literal_secret(invocation: &Invocation) -> bool {
    let piped = invocation.stdin.pipeline().iter().filter(|left| words::ECHO_PROGRAMS.contains(&left.base_name()));
    let piped = piped.flat_map(Invocation::arguments).chain(invocation.stdin.as_text());
    let texts = invocation.arguments().iter().chain(piped);
    let issuers: BTreeSet<SecretIssuer> = texts.flat_map(|text| find_secret_issuers(&text.to_string())).collect();
    issuers.iter().any(|issuer| goes_to_foreign_host(*issuer, invocation))
}

/// Whether data goes to a host that did not issue the secret.
fn goes_to_foreign_host(issuer: SecretIssuer, invocation: &Invocation) -> bool {
    let addresses = invocation.arguments().iter().filter(|value| value.leading_text().contains("://"));
    let mut addresses = addresses.map(|value| format!("{}/", value.leading_text()));
    addresses.any(|address| is_foreign_address(issuer, &address))
}
