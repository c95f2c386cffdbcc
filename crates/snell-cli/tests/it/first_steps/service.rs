//! `snell service` with managers that only note what they are asked to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use snell_test_support::files::write_script;
use snell_test_support::skip::require_program;

use crate::support::CliSandbox;

/// Notes its arguments, and whether the service runs.
const SYSTEMCTL: &str = r#"echo "$*" >> "$HOME/calls"
case "$2" in
  show-environment) [ ! -e "$HOME/unreachable" ] || { echo 'no bus' >&2; exit 1; } ;;
  start|restart) [ ! -e "$HOME/broken" ] || { echo 'it is broken' >&2; exit 1; }; touch "$HOME/running" ;;
  disable) rm -f "$HOME/running" ;;
  is-active) [ -e "$HOME/running" ] && echo active || { echo inactive; exit 3; } ;;
esac"#;

const LAUNCHCTL: &str = r#"echo "$*" >> "$HOME/calls"
case "$1 $2" in
  "print "*/snell.serve) [ -e "$HOME/running" ] && echo '	state = running' || exit 113 ;;
  bootstrap*) touch "$HOME/running" ;;
  bootout*) rm -f "$HOME/running" ;;
esac"#;

struct ServiceSandbox {
    sandbox: CliSandbox,
    format: &'static str,
    unit: PathBuf,
}

impl ServiceSandbox {
    fn new(format: &'static str) -> Self {
        let sandbox = CliSandbox::new();
        let bin = sandbox.home().join("bin");
        write_script(&bin.join("systemctl"), SYSTEMCTL);
        write_script(&bin.join("launchctl"), LAUNCHCTL);
        let unit = sandbox.home().join(match format {
            "systemd" => ".config/systemd/user/snell.service",
            _ => "Library/LaunchAgents/snell.serve.plist",
        });
        let path = format!("{}:/usr/bin:/bin", bin.display());
        Self { sandbox: sandbox.env("PATH", &path), format, unit }
    }

    /// Runs `snell service …`, and returns its exit code and both outputs.
    fn run(&self, args: &[&str]) -> (i32, String) {
        let ran = self.sandbox.run_snell(&[&["service"], args, &["--format", self.format]].concat(), "");
        (ran.code, ran.stdout + &ran.stderr)
    }

    /// What the manager was asked to do since the last call, without questions about the state.
    fn take_calls(&self) -> Vec<String> {
        let path = self.sandbox.home().join("calls");
        let calls = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        let is_question =
            |call: &&str| call.contains("print") || call.contains("is-active") || call.contains("show-environment");
        calls.lines().filter(|call| !is_question(call)).map(str::to_owned).collect()
    }

    fn touch(&self, name: &str) {
        fs::write(self.sandbox.home().join(name), "").unwrap();
    }
}

fn domain() -> String {
    format!("gui/{}", rustix::process::geteuid().as_raw())
}

#[test]
fn a_service_is_installed_once_and_removed_again() {
    let domain = domain();
    for format in ["systemd", "launchd"] {
        let here = ServiceSandbox::new(format);
        let unit = here.unit.display().to_string();
        let start = match format {
            "systemd" => vec![
                "--user daemon-reload".to_owned(),
                "--user enable snell.service".to_owned(),
                "--user start snell.service".to_owned(),
            ],
            _ => vec![format!("bootstrap {domain} {unit}")],
        };
        let stop = match format {
            "systemd" => vec!["--user disable --now snell.service".to_owned(), "--user daemon-reload".to_owned()],
            _ => vec![format!("bootout {domain}/snell.serve")],
        };
        let (code, shown) = here.run(&["install"]);
        assert!(code == 0 && shown.contains(&format!("Wrote {unit}\n")), "{shown}");
        assert!(
            shown.contains("Started the service") && shown.contains("  Page       http://127.0.0.1:7433\n"),
            "{shown}"
        );
        assert_eq!(here.take_calls(), start);
        let text = fs::read_to_string(&here.unit).unwrap();
        let (code, shown) = here.run(&["install"]);
        assert!(code == 0 && shown.starts_with("Nothing to do: "), "{shown}");
        assert_eq!((here.take_calls(), fs::read_to_string(&here.unit).unwrap()), (vec![], text));
        let (code, shown) = here.run(&["status"]);
        assert!(code == 0 && shown.contains("installed: ") && shown.contains("  State      running\n"), "{shown}");
        let (code, shown) = here.run(&["uninstall"]);
        assert!(code == 0 && shown.contains(&format!("Removed {unit}\n")), "{shown}");
        assert_eq!((here.take_calls(), here.unit.exists()), (stop, false));
        let (code, shown) = here.run(&["uninstall"]);
        assert!(code == 0 && shown.starts_with("Nothing to do: "), "{shown}");
        let (code, shown) = here.run(&["status"]);
        assert!(code == 1 && shown.contains("not installed; to install it: snell service install"), "{shown}");
    }
}

#[test]
fn a_file_that_was_changed_or_is_not_snells_is_kept() {
    for format in ["systemd", "launchd"] {
        for own in ["", "[Service]\nExecStart=/bin/true\n"] {
            let here = ServiceSandbox::new(format);
            let expected = if own.is_empty() {
                assert_eq!(here.run(&["install"]).0, 0);
                let text = fs::read_to_string(&here.unit).unwrap();
                fs::write(&here.unit, text.replace("serve", "serve --port 9000")).unwrap();
                "was changed after its installation, so it was not changed\nhint: "
            } else {
                fs::create_dir_all(here.unit.parent().unwrap()).unwrap();
                fs::write(&here.unit, own).unwrap();
                "was not written by Snell, so it was not changed\nhint: "
            };
            let text = fs::read_to_string(&here.unit).unwrap();
            here.take_calls();
            for action in ["install", "uninstall"] {
                let (code, shown) = here.run(&[action]);
                assert!(code == 1 && shown.contains(expected), "{action}: {shown}");
            }
            assert_eq!((fs::read_to_string(&here.unit).unwrap(), here.take_calls()), (text, vec![]));
            assert!(here.run(&["status"]).1.contains("installed, and changed since: "));
        }
    }
}

#[test]
fn without_a_manager_the_file_is_written_and_the_commands_are_shown() {
    let here = ServiceSandbox::new("systemd");
    here.touch("unreachable");
    let (code, shown) = here.run(&["install"]);
    assert!(code == 0 && here.unit.is_file(), "{shown}");
    assert!(
        shown.contains("the service was not started: `systemctl --user show-environment` failed: no bus"),
        "{shown}"
    );
    assert!(shown.contains("To start it, run:\n  systemctl --user daemon-reload\n"), "{shown}");
    assert_eq!(here.take_calls(), [""; 0]);
    let (code, shown) = here.run(&["uninstall"]);
    assert!(
        code == 0 && shown.contains("To stop it, run:\n  systemctl --user disable --now snell.service\n"),
        "{shown}"
    );
    assert!(!here.unit.exists());
}

#[test]
fn a_service_that_does_not_start_is_an_error_with_its_log() {
    let here = ServiceSandbox::new("systemd");
    here.touch("broken");
    let (code, shown) = here.run(&["install"]);
    assert!(
        code == 1
            && shown.contains("cannot start the service: `systemctl --user start snell.service` failed: it is broken"),
        "{shown}"
    );
    assert!(shown.contains("hint: read its log: journalctl --user -u snell.service"), "{shown}");
}

#[test]
fn an_outdated_file_is_replaced_and_the_service_restarted() {
    let here = ServiceSandbox::new("systemd");
    assert_eq!(here.run(&["install"]).0, 0);
    here.take_calls();
    let other = here.sandbox.home().join("other");
    let ran = here
        .sandbox
        .command(&["service", "install", "--format", "systemd"])
        .env("SNELL_HOME", &other)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let text = fs::read_to_string(&here.unit).unwrap();
    assert!(text.contains(&format!("Environment=\"SNELL_HOME={}\"\n", other.display())), "{text}");
    assert_eq!(here.take_calls().last().unwrap(), "--user restart snell.service");
}

#[test]
fn a_dry_run_prints_the_file_and_writes_nothing() {
    let here = ServiceSandbox::new("systemd");
    let (code, shown) = here.run(&["install", "--dry-run"]);
    assert!(code == 0 && !here.unit.exists(), "{shown}");
    for line in [
        &format!("ExecStart=\"{}\" serve\n", env!("CARGO_BIN_EXE_snell")),
        "Restart=on-failure\n",
        "NoNewPrivileges=yes\n",
        "Would run:\n  systemctl --user daemon-reload\n",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // These would hide the terminals and processes of agents.
    for option in ["PrivateTmp", "ProtectProc", "PrivateUsers", "ProtectHome"] {
        assert!(!shown.contains(option), "{shown}");
    }
    assert_eq!(here.run(&["install"]).0, 0);
    here.take_calls();
    let (code, shown) = here.run(&["uninstall", "--dry-run"]);
    assert!(code == 0 && shown.contains("Would remove ") && here.unit.exists(), "{shown}");
    assert_eq!(here.take_calls(), [""; 0]);
}

#[test]
fn status_tells_programs_whether_the_page_answers() {
    let here = ServiceSandbox::new("systemd");
    assert_eq!(here.run(&["install"]).0, 0);
    let report = here.sandbox.run_snell(&["service", "status", "--json", "--format", "systemd"], "").json();
    assert_eq!((&report["manager"], &report["state"]), (&"systemd".into(), &"running".into()));
    assert_eq!(
        (&report["installed"], &report["edited"], &report["url"]),
        (&true.into(), &false.into(), &"http://127.0.0.1:7433".into())
    );
}

#[test]
fn systemd_accepts_the_unit() {
    let Some(analyze) = require_program("systemd-analyze") else {
        return;
    };
    let here = ServiceSandbox::new("systemd");
    assert_eq!(here.run(&["install"]).0, 0);
    let output = Command::new(analyze).args(["--user", "--man=no", "verify"]).arg(&here.unit).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let about_unit: Vec<_> = said.lines().filter(|line| line.contains("snell.service")).collect();
    assert!(about_unit.is_empty(), "{said}");
}

#[test]
fn the_launchd_file_is_a_property_list() {
    let here = ServiceSandbox::new("launchd");
    assert_eq!(here.run(&["install"]).0, 0);
    let text = fs::read_to_string(&here.unit).unwrap();
    let Some(python) = require_program("python3") else {
        return;
    };
    let read = "import plistlib,sys,json; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
    let output = Command::new(python).args(["-c", read]).arg(&here.unit).output().unwrap();
    let list: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}: {text}"));
    assert_eq!(list["Label"], "snell.serve");
    assert_eq!(list["ProgramArguments"], serde_json::json!([env!("CARGO_BIN_EXE_snell"), "serve", "--log", "warn"]));
    assert_eq!(list["KeepAlive"]["SuccessfulExit"], false);
    assert!(Path::new(list["StandardErrorPath"].as_str().unwrap()).ends_with("Library/Logs/snell.log"));
}
