//! Where the browser is, and how it is started.

use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::skip;

/// Names of the browser, and the variable that names another one.
const BROWSER: (&str, &[&str]) = ("SNELL_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);

/// The same for its driver.
const DRIVER: (&str, &[&str]) = ("SNELL_CHROMEDRIVER", &["chromedriver"]);

/// Nothing is shown, nothing is fetched but what a test asks for, and it works in containers too.
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

/// Containers often have next to no memory that processes can share. Where that is so, files on the disk stand in for it, which
/// makes every paint slower.
const WITHOUT_SHARED_MEMORY: &str = "--disable-dev-shm-usage";

/// How much of it a browser must find.
const ENOUGH_SHARED_BYTES: u64 = 1 << 30;

/// The programs.
pub struct ChromiumBinaries {
    pub browser: PathBuf,
    pub driver: PathBuf,
}

impl ChromiumBinaries {
    /// Looks for it.
    ///
    /// # Panics
    ///
    /// Where it is missing, and must not be.
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

    /// What a new session asks of the driver: a browser with a profile of its own in this directory.
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

/// Whether a test that cannot be done has failed.
pub fn is_browser_required() -> bool {
    std::env::var_os("SNELL_BROWSER").is_some_and(|value| value == "required")
}

fn find_program((variable, names): (&str, &[&str])) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        return Some(named.into());
    }
    names.iter().find_map(|name| skip::find_program(name))
}
