//! Finds and starts the browser.

use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::skip;

/// The variable with the path of the browser, and its usual names.
const BROWSER: (&str, &[&str]) = ("SNELL_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);

/// The same for its driver.
const DRIVER: (&str, &[&str]) = ("SNELL_CHROMEDRIVER", &["chromedriver"]);

/// Headless, without background requests, and able to run in containers.
const ARGUMENTS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1200,850",
];

/// Containers often have little shared memory. Files replace it then, which makes every paint slower.
const WITHOUT_SHARED_MEMORY: &str = "--disable-dev-shm-usage";

/// The shared memory that a browser needs.
const ENOUGH_SHARED_BYTES: u64 = 1 << 30;

/// The paths of the browser and its driver.
pub struct ChromiumBinaries {
    pub browser: PathBuf,
    pub driver: PathBuf,
}

impl ChromiumBinaries {
    /// Finds the programs.
    ///
    /// # Panics
    ///
    /// If they are missing and required.
    pub fn locate() -> Option<Self> {
        let found = find_program(BROWSER).and_then(|browser| {
            let driver = find_program(DRIVER)?;
            Some(Self { browser, driver })
        });
        let why = "Chromium and its driver are missing; on Debian: apt-get install chromium chromium-driver; \
            elsewhere name them in SNELL_CHROMIUM and SNELL_CHROMEDRIVER";
        if found.is_none() {
            assert!(!is_browser_required(), "{why}");
            skip::report_skipped(why);
        }
        found
    }

    /// The capabilities of a new session: a browser with its profile in this directory.
    pub fn session_capabilities(&self, profile: &std::path::Path, preferences: &Value) -> Value {
        let mut arguments: Vec<String> = ARGUMENTS.iter().map(ToString::to_string).collect();
        arguments.push(format!("--user-data-dir={}", profile.display()));
        if !has_enough_shared_memory() {
            arguments.push(WITHOUT_SHARED_MEMORY.to_owned());
        }
        let options = json!({"binary": self.browser, "args": arguments, "prefs": preferences});
        json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 120_000, "pageLoad": 120_000},
        }}})
    }
}

fn has_enough_shared_memory() -> bool {
    let shared = rustix::fs::statvfs("/dev/shm");
    shared.is_ok_and(|shared| shared.f_bavail * shared.f_frsize >= ENOUGH_SHARED_BYTES)
}

/// Whether a missing browser is a failure.
pub fn is_browser_required() -> bool {
    std::env::var_os("SNELL_BROWSER").is_some_and(|value| value == "required")
}

fn find_program((variable, names): (&str, &[&str])) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        return Some(named.into());
    }
    names.iter().find_map(|name| skip::find_program(name))
}
