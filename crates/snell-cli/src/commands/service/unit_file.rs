//! The service file: its text for each manager, and a checksum that shows whether it was changed.

use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::env::read_dir_variable;
use crate::output::CommandError;

/// The name of the service for launchd.
pub(super) const LAUNCHD_LABEL: &str = "snell.serve";

/// The programs that the receiver runs (tmux) are not in launchd's own search path.
const LAUNCHD_PATH: &str = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The variables that choose the directories of Snell. The service must use those of the installation.
const DIRECTORY_VARIABLES: [&str; 3] = ["SNELL_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// Stands before the checksum of all other lines.
const CHECKSUM_MARK: &str = "written by `snell service install`, checksum ";

/// A service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum ServiceFormat {
    /// A systemd user unit (Linux)
    Systemd,
    /// A launchd agent (macOS)
    Launchd,
}

impl ServiceFormat {
    pub(super) fn of_this_system() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }
}

/// The values in a service file.
#[derive(Debug)]
pub(super) struct UnitFacts {
    program: String,
    variables: Vec<(String, String)>,
    log_path: String,
}

impl UnitFacts {
    pub(super) fn from_env(program: &str, log_path: &Path) -> Self {
        let variable = |name: &&str| {
            let directory = read_dir_variable(name)?;
            Some(((*name).to_owned(), directory.to_str()?.to_owned()))
        };
        Self {
            program: program.to_owned(),
            variables: DIRECTORY_VARIABLES.iter().filter_map(variable).collect(),
            log_path: log_path.display().to_string(),
        }
    }
}

/// Who wrote a service file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitFileOwner {
    /// `snell service install`.
    Snell,
    /// The same, but it was changed afterwards.
    Edited,
    Other,
}

/// The text of the service file.
pub(super) fn render_unit(format: ServiceFormat, facts: &UnitFacts) -> anyhow::Result<String> {
    let values = facts.variables.iter().map(|(_, value)| value).chain([&facts.program, &facts.log_path]);
    if let Some(value) = values.into_iter().find(|value| value.chars().any(char::is_control)) {
        let problem = format!("the path {value:?} has a control character, which a service file cannot have");
        return Err(CommandError::new(problem).with_hint("rename the directory").into());
    }
    let body = match format {
        ServiceFormat::Systemd => render_systemd(facts),
        ServiceFormat::Launchd => render_launchd(facts),
    };
    Ok(insert_checksum(format, &body))
}

/// Sandboxing with namespaces would hide the processes, terminals and users that the receiver looks at, so the unit has none.
fn render_systemd(facts: &UnitFacts) -> String {
    let variables =
        facts.variables.iter().map(|(name, value)| format!("Environment=\"{name}={}\"\n", quote_value(value)));
    let variables: String = variables.collect();
    let program = quote_value(&facts.program);
    format!(
        "[Unit]\n\
         Description=Snell receiver\n\
         Documentation=man:snell-serve(1)\n\
         \n\
         [Service]\n\
         ExecStart=\"{program}\" serve\n\
         {variables}\
         Restart=on-failure\n\
         RestartSec=5s\n\
         UMask=0077\n\
         NoNewPrivileges=yes\n\
         LockPersonality=yes\n\
         MemoryDenyWriteExecute=yes\n\
         RestrictRealtime=yes\n\
         RestrictSUIDSGID=yes\n\
         RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n\
         SystemCallArchitectures=native\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// A value between double quotes. `%` starts a specifier.
fn quote_value(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

fn render_launchd(facts: &UnitFacts) -> String {
    let path = ("PATH".to_owned(), LAUNCHD_PATH.to_owned());
    let variables = facts.variables.iter().chain([&path]).map(|(name, value)| {
        format!("    <key>{}</key>\n    <string>{}</string>\n", escape_xml(name), escape_xml(value))
    });
    let variables: String = variables.collect();
    let (program, log) = (escape_xml(&facts.program), escape_xml(&facts.log_path));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n  \
           <key>Label</key>\n  <string>{LAUNCHD_LABEL}</string>\n  \
           <key>ProgramArguments</key>\n  <array>\n    \
             <string>{program}</string>\n    <string>serve</string>\n    <string>--log</string>\n    <string>warn</string>\n  \
           </array>\n  \
           <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n  \
           <key>RunAtLoad</key>\n  <true/>\n  \
           <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
           <key>ProcessType</key>\n  <string>Background</string>\n  \
           <key>Umask</key>\n  <integer>63</integer>\n  \
           <key>StandardOutPath</key>\n  <string>{log}</string>\n  \
           <key>StandardErrorPath</key>\n  <string>{log}</string>\n\
         </dict>\n\
         </plist>\n"
    )
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text with a comment that has its checksum: the first line, or the second one after an XML declaration.
fn insert_checksum(format: ServiceFormat, body: &str) -> String {
    let sum = hash_text(body);
    match (format, body.split_once('\n')) {
        (ServiceFormat::Launchd, Some((first, rest))) => format!("{first}\n<!-- {CHECKSUM_MARK}{sum} -->\n{rest}"),
        _ => format!("# {CHECKSUM_MARK}{sum}\n{body}"),
    }
}

/// Who wrote this service file, by its checksum.
pub(super) fn find_owner(text: &str) -> UnitFileOwner {
    let Some(line) = text.lines().find(|line| line.contains(CHECKSUM_MARK)) else {
        return UnitFileOwner::Other;
    };
    let sum = line.split(CHECKSUM_MARK).nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let body = text.replacen(&format!("{line}\n"), "", 1);
    if hash_text(&body) == sum { UnitFileOwner::Snell } else { UnitFileOwner::Edited }
}

fn hash_text(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> UnitFacts {
        UnitFacts {
            program: "/opt/a \"b\" 100% $x/snell".into(),
            variables: vec![("SNELL_HOME".into(), "/data/<a> & b".into())],
            log_path: "/home/ann/Library/Logs/snell.log".into(),
        }
    }

    #[test]
    fn special_characters_of_paths_are_quoted_for_each_manager() {
        let unit = render_unit(ServiceFormat::Systemd, &facts()).unwrap();
        assert!(unit.contains("ExecStart=\"/opt/a \\\"b\\\" 100%% $x/snell\" serve\n"), "{unit}");
        assert!(unit.contains("Environment=\"SNELL_HOME=/data/<a> & b\"\n"), "{unit}");
        let plist = render_unit(ServiceFormat::Launchd, &facts()).unwrap();
        assert!(plist.contains("<string>/opt/a \"b\" 100% $x/snell</string>"), "{plist}");
        assert!(plist.contains("<string>/data/&lt;a&gt; &amp; b</string>"), "{plist}");
        assert!(plist.starts_with("<?xml "), "{plist}");
    }

    #[test]
    fn every_change_of_a_file_is_seen() {
        for format in [ServiceFormat::Systemd, ServiceFormat::Launchd] {
            let text = render_unit(format, &facts()).unwrap();
            assert_eq!(find_owner(&text), UnitFileOwner::Snell, "{text}");
            assert_eq!(find_owner(&format!("{text}\n")), UnitFileOwner::Edited);
            assert_eq!(find_owner(&text.replace("serve", "status")), UnitFileOwner::Edited);
        }
        assert_eq!(find_owner("[Service]\nExecStart=/bin/true\n"), UnitFileOwner::Other);
    }

    #[test]
    fn a_path_with_a_line_break_is_refused() {
        let facts = UnitFacts { program: "/opt/a\nExecStartPre=/bin/evil".into(), ..facts() };
        assert!(render_unit(ServiceFormat::Systemd, &facts).is_err());
    }
}
