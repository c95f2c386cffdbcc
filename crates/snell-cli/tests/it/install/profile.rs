//! `snell install --profile`: one line of the user's own `snell.toml`, and back.

use crate::support::CliSandbox;

const CONFIG: &str = ".config/snell/snell.toml";
const INSTALL: &[&str] = &["install", "claude", "--profile", "claude-os"];

fn read_config(sandbox: &CliSandbox) -> Option<String> {
    std::fs::read_to_string(sandbox.home().join(CONFIG)).ok()
}

#[test]
fn the_profile_comes_with_the_installation_and_goes_with_it() {
    let cases = [
        (None, "profile = \"claude-os\"\n"),
        (
            Some("# mine\nkeep = \"7d\" # a week\n\n[guard]\n"),
            "# mine\nkeep = \"7d\" # a week\nprofile = \"claude-os\"\n\n[guard]\n",
        ),
        (
            Some("[guard]\n# strict\npreset = \"strict\"\n"),
            "profile = \"claude-os\"\n\n[guard]\n# strict\npreset = \"strict\"\n",
        ),
    ];
    for (before, after) in cases {
        let sandbox = before.iter().fold(CliSandbox::new(), |sandbox, text| sandbox.home_file(CONFIG, text));
        let shown = sandbox.run_snell(&[INSTALL, &["--dry-run"]].concat(), "");
        assert!(shown.stdout.contains("+profile = \"claude-os\"\n"), "{shown:?}");
        assert_eq!(read_config(&sandbox).as_deref(), before, "a dry run writes nothing");
        let ran = sandbox.run_snell(INSTALL, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains(&format!("  Profile    {}\n", sandbox.home().join(CONFIG).display())), "{ran:?}");
        assert_eq!(read_config(&sandbox).as_deref(), Some(after));
        let again = sandbox.run_snell(INSTALL, "");
        assert!(again.stdout.ends_with("already has the profile.\n"), "{again:?}");
        let shown = sandbox.run_snell(&["uninstall", "claude", "--dry-run"], "");
        assert!(shown.stdout.contains("-profile = \"claude-os\"\n"), "{shown:?}");
        let removed = sandbox.run_snell(&["uninstall", "claude"], "");
        assert!(removed.stdout.contains("Removed the profile from "), "{removed:?}");
        assert_eq!(read_config(&sandbox).as_deref(), before);
    }
}

#[test]
fn uninstalling_takes_only_what_installing_wrote() {
    // The file before, a change after the installation, and the file after uninstalling.
    type LaterEdit = fn(&str) -> String;
    let cases: [(&str, LaterEdit, &str); 4] = [
        ("", |text| format!("{text}keep = \"7d\"\n"), "keep = \"7d\"\n"),
        ("", |text| text.replace("\"claude-os\"", "'claude-os'"), "profile = 'claude-os'\n"),
        ("profile = \"claude-os\" # mine\n", str::to_owned, "profile = \"claude-os\" # mine\n"),
        ("keep = \"7d\"\n", |_| "keep = \"8d\"\n".into(), "keep = \"8d\"\n"),
    ];
    for (before, edit, expected) in cases {
        let sandbox = CliSandbox::new().home_file(CONFIG, before);
        assert_eq!(sandbox.run_snell(INSTALL, "").code, 0);
        let edited = edit(&read_config(&sandbox).unwrap());
        let sandbox = sandbox.home_file(CONFIG, &edited);
        assert_eq!(sandbox.run_snell(&["uninstall", "claude"], "").code, 0);
        assert_eq!(read_config(&sandbox).as_deref(), Some(expected), "{before}");
    }
}

#[test]
fn a_file_that_cannot_be_edited_stops_the_installation() {
    let sandbox = CliSandbox::new().home_file(CONFIG, "keep = \n");
    let ran = sandbox.run_snell(INSTALL, "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("snell.toml:1:8: is not valid TOML"), "{ran:?}");
    assert!(!sandbox.home().join(".claude/settings.json").exists(), "nothing is installed");
    let ran = CliSandbox::new().run_snell(&["install", "claude", "--profile", "claude"], "");
    assert!(ran.code == 1 && ran.stderr.contains("claude-os"), "{ran:?}");
}

#[test]
fn json_names_the_file_and_its_change() {
    let sandbox = CliSandbox::new();
    let report = sandbox.run_snell(&[INSTALL, &["--json"]].concat(), "").json();
    assert_eq!(report["profile"]["changed"], true, "{report}");
    assert_eq!(report["profile"]["file"], sandbox.home().join(CONFIG).display().to_string());
    let report = sandbox.run_snell(&["uninstall", "claude", "--json"], "").json();
    assert_eq!(report["profile"]["changed"], true, "{report}");
}
