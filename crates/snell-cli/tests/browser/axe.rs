//! The accessibility engine: a fixed version of axe-core, downloaded once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, process};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::chromium::is_browser_required;
use crate::driver::BrowserSession;

const ADDRESS: &str = "https://registry.npmjs.org/axe-core/-/axe-core-4.14.0.tgz";
const SHA256: &str = "2277b0a3ef47af9b52497faa3e71598e86e0a0e5e6eb295207a5657ede4709af";
const SCRIPT: &str = "package/axe.min.js";

/// Finds serious and critical violations.
const RUN: &str = "const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations, passes }) => done({
        passed: passes.length,
        found: violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id} (${help}): ${html.slice(0, 200)}`)),
    }), (error) => done({ error: String(error) }))";

/// Its script; `None` if it cannot be downloaded.
///
/// # Panics
///
/// If it cannot be downloaded and is required.
pub fn load_axe_script() -> Option<&'static str> {
    static SCRIPT_TEXT: OnceLock<Result<String, String>> = OnceLock::new();
    match SCRIPT_TEXT.get_or_init(fetch_axe_script) {
        Ok(script) => Some(script),
        Err(why) => {
            assert!(!is_browser_required(), "{why}");
            snell_test_support::skip::report_skipped(why);
            None
        }
    }
}

/// The violations on the open page.
pub fn find_violations(browser: &BrowserSession, script: &str) -> Vec<String> {
    browser.run_script(script, &[]);
    let told = browser.run_async_script(RUN);
    assert!(told["passed"].as_u64() > Some(5), "it has looked: {told}");
    let found: &Value = &told["found"];
    serde_json::from_value(found.clone()).unwrap()
}

fn fetch_axe_script() -> Result<String, String> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let archive = directory.join(format!("axe-{}.tgz", &SHA256[..16]));
    if !has_expected_checksum(&archive) {
        let part = directory.join(format!("axe-{}.part", process::id()));
        run_command(Command::new("curl").args(["-fsSL", "--retry", "3", "-o"]).arg(&part).arg(ADDRESS))?;
        fs::rename(&part, &archive).map_err(|error| error.to_string())?;
    }
    if !has_expected_checksum(&archive) {
        return Err(format!("{ADDRESS} is not what it was: its SHA-256 is not {SHA256}"));
    }
    run_command(Command::new("tar").args(["-xzOf"]).arg(&archive).arg(SCRIPT))
}

fn has_expected_checksum(archive: &Path) -> bool {
    fs::read(archive).is_ok_and(|bytes| {
        let digest = Sha256::digest(&bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == SHA256
    })
}

fn run_command(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
