//! Paths of Windows as POSIX paths.

/// Directories of a drive whose case is that of the tables.
const KNOWN_DIRECTORIES: &[&str] = &["Windows", "Users", "Program Files", "Program Files (x86)", "ProgramData"];

/// Drives that are no file systems, and the paths that stand for them.
const DRIVES: &[(&str, &str)] = &[
    ("hklm:", "/Windows/registry"),
    ("hkey_local_machine", "/Windows/registry"),
    ("hkcr:", "/Windows/registry/classes"),
    ("hku:", "/Windows/registry/users"),
    ("hkcu:", "~/.registry"),
    ("hkey_current_user", "~/.registry"),
    ("cert:", "~/.registry/certificates"),
    ("wsman:", "/Windows/registry/wsman"),
    ("function:", "/dev/null"),
    ("alias:", "/dev/null"),
    ("variable:", "/dev/null"),
    ("env:", "/dev/null"),
];

/// A path of Windows, or any other text, as a POSIX path.
pub(super) fn to_posix_path(text: &str) -> String {
    let text = text.strip_prefix("Microsoft.PowerShell.Core\\FileSystem::").unwrap_or(text);
    let text = strip_ignoring_case(text, "filesystem::").unwrap_or(text);
    let text = strip_ignoring_case(text, "registry::").unwrap_or(text);
    let text = text.strip_prefix(r"\\?\").unwrap_or(text);
    if let Some(device) = text.strip_prefix(r"\\.\") {
        return if device.to_ascii_lowercase().starts_with("physicaldrive") {
            "/dev/sda".to_owned()
        } else {
            to_posix_path(device)
        };
    }
    let slashes = text.replace('\\', "/");
    for (drive, path) in DRIVES {
        if let Some(rest) = strip_ignoring_case(&slashes, drive) {
            let is_start = super::words::programs::START_KEYS.iter().any(|key| rest.to_ascii_lowercase().contains(key));
            return if is_start {
                "~/.config/autostart/registry".to_owned()
            } else {
                format!("{path}/{}", rest.trim_start_matches('/'))
            };
        }
    }
    if let Some(share) = slashes.strip_prefix("//") {
        return format!("/net/{share}");
    }
    match split_drive(&slashes) {
        Some((drive, rest)) => format!("/mnt/{drive}{}", restore_known_case(rest)),
        None => slashes,
    }
}

/// Whether a text of several words or with escapes may be a path.
pub(super) fn looks_like_path(text: &str) -> bool {
    let starts = [r".\", r"..\", r"~\", r"\\"].iter().any(|start| text.starts_with(start));
    let drive = split_drive(&text.replace('\\', "/")).is_some();
    let mut chars = text.chars().peekable();
    let mut is_plain = !text.contains(char::is_whitespace);
    while let Some(c) = chars.next() {
        is_plain &= c != '\\' || chars.peek().is_none_or(|next| next.is_alphanumeric() || "._-%*\\".contains(*next));
    }
    starts || drive || (text.contains('\\') && is_plain)
}

/// The drive and the rest of `C:`, `C:/x`.
pub(crate) fn split_drive(text: &str) -> Option<(char, &str)> {
    let drive = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = text.get(1..)?.strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(['/', '*', '.'])).then(|| (drive.to_ascii_lowercase(), rest))
}

/// File names of Windows ignore case; those of the tables do not.
fn restore_known_case(rest: &str) -> String {
    let rest = if rest.is_empty() || rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let names = rest.trim_start_matches('/');
    let first = names.split('/').next().unwrap_or_default();
    match KNOWN_DIRECTORIES.iter().find(|known| known.eq_ignore_ascii_case(first)) {
        Some(known) => format!("/{known}{}", names.get(first.len()..).unwrap_or_default()),
        None => rest,
    }
}

fn strip_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    text.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix)).and_then(|_| text.get(prefix.len()..))
}
