//! The hosts that a command names: in URLs, as `user@host:path`, and as operands of programs that connect to them.

use crate::invocation::{SymbolicText, base_name};
use crate::programs::{self, argv::ParsedArgs};

/// How the operands of a program name hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostOperands {
    /// The first operand is a host: `ssh host command`.
    First,
    /// Every operand that looks like a host name, also without a scheme: `curl example.com/x`.
    Addresses,
    /// Operands with a colon: `scp file host:path`.
    BeforeColon,
}

/// Programs that connect to hosts which are no URLs.
const CONNECTING_PROGRAMS: &[(&[&str], HostOperands)] = &[
    (&["ssh", "mosh", "sftp", "ftp", "telnet", "nc", "ncat", "netcat", "ping", "ssh-copy-id"], HostOperands::First),
    (&["curl", "wget", "http", "https", "xh", "lynx", "aria2c"], HostOperands::Addresses),
    (&["scp", "rsync"], HostOperands::BeforeColon),
];

/// The hosts that the words of a command name, in lower case and without users and ports.
pub(crate) fn find_command_hosts(argv: &[SymbolicText]) -> Vec<String> {
    let Some((program, arguments)) = argv.split_first() else {
        return Vec::new();
    };
    let mut hosts: Vec<String> = arguments.iter().filter_map(|word| find_address_host(&word.to_string())).collect();
    let name = program.as_text().map(base_name).unwrap_or_default();
    if let Some((_, style)) = CONNECTING_PROGRAMS.iter().find(|(names, _)| names.contains(&name)) {
        let operands: Vec<String> = match programs::find_program(name) {
            Some((_, program)) => {
                ParsedArgs::parse(program, arguments).operands.iter().map(ToString::to_string).collect()
            }
            None => arguments.iter().map(ToString::to_string).filter(|word| !word.starts_with('-')).collect(),
        };
        hosts.extend(find_operand_hosts(&operands, *style));
    }
    hosts.retain(|host| !host.is_empty());
    hosts.iter_mut().for_each(|host| host.make_ascii_lowercase());
    hosts
}

/// The host of a URL, or of `user@host:path`.
pub fn find_address_host(text: &str) -> Option<String> {
    if let Some((_, rest)) = text.split_once("://") {
        let authority = rest.split(['/', '?', '#', ' ', '"', '\'']).next()?;
        return Some(strip_user_and_port(authority).to_ascii_lowercase());
    }
    let (user, rest) = text.split_once('@')?;
    let (host, _) = rest.split_once(':')?;
    let is_name = |text: &str| !text.is_empty() && !text.contains(['/', ' ', ':', '@']);
    (is_name(user) && is_name(host)).then(|| host.to_ascii_lowercase())
}

fn find_operand_hosts(operands: &[String], style: HostOperands) -> Vec<String> {
    let without_scheme = operands.iter().filter(|word| !word.contains("://"));
    let is_host = |name: &str| name == "localhost" || (name.contains('.') && !name.starts_with(['.', '/', '~']));
    match style {
        HostOperands::First => without_scheme.take(1).map(|word| strip_user_and_port(word).to_owned()).collect(),
        HostOperands::Addresses => without_scheme
            .filter_map(|word| word.split(['/', '?', '#']).next())
            .map(strip_user_and_port)
            .filter(|name| is_host(name))
            .map(str::to_owned)
            .collect(),
        HostOperands::BeforeColon => without_scheme
            .filter_map(|word| word.split_once(':'))
            .filter(|(host, _)| !host.contains('/'))
            .map(|(host, _)| strip_user_and_port(host).to_owned())
            .collect(),
    }
}

/// `user@host:port` without the user and the port.
fn strip_user_and_port(authority: &str) -> &str {
    let host = authority.rsplit('@').next().unwrap_or(authority);
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_addresses_and_operands() {
        for (command, expected) in [
            ("curl https://Api.Example.com:8443/x?y", &["api.example.com"][..]),
            ("curl -o out.html example.com/x", &["example.com"]),
            ("curl -H a:b https://me:secret@a.org", &["a.org"]),
            ("wget http://[::1]:80/x", &["::1"]),
            ("git clone git@github.com:o/r", &["github.com"]),
            ("git push origin main", &[]),
            ("ssh -p 22 me@prod-1 uptime", &["prod-1"]),
            ("scp a.txt me@b.org:/tmp c.org:x", &["b.org", "b.org", "c.org"]),
            ("rsync -a /a/b:c d", &[]),
            ("npm install --registry=https://r.example.com/", &["r.example.com"]),
            ("echo a.b.c", &[]),
        ] {
            let argv: Vec<SymbolicText> = command.split(' ').map(SymbolicText::from_text).collect();
            assert_eq!(find_command_hosts(&argv), expected, "{command}");
        }
    }
}
