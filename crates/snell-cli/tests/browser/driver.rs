//! A browser, driven over WebDriver.
//!
//! WebDriver is JSON over HTTP. The tests need little of it, so they use no client library.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;

use crate::chromium::ChromiumBinaries;

/// Longer than any step takes, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The interval of checks while waiting.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// A key without a letter, as WebDriver names it.
pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";

/// A browser for one test, which ends with it.
pub struct BrowserSession {
    http: Agent,
    /// The address of its commands.
    session: String,
    driver: Child,
    _profile: TempDir,
}

impl BrowserSession {
    /// Starts a browser; `None` if this machine has none.
    pub fn open() -> Option<Self> {
        Some(Self::start(&ChromiumBinaries::locate()?, &json!({})))
    }

    /// Starts a browser without JavaScript.
    pub fn without_scripts() -> Option<Self> {
        let preferences = json!({"profile.default_content_setting_values.javascript": 2});
        Some(Self::start(&ChromiumBinaries::locate()?, &preferences))
    }

    /// Starts a browser with a double font size.
    pub fn with_large_letters() -> Option<Self> {
        let preferences = json!({"webkit.webprefs.default_font_size": 32});
        Some(Self::start(&ChromiumBinaries::locate()?, &preferences))
    }

    fn start(chromium: &ChromiumBinaries, preferences: &Value) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (driver, port) = start_driver(chromium, &profile);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(PATIENCE + PATIENCE))
            .build();
        let mut browser = Self {
            http: config.into(),
            session: format!("http://127.0.0.1:{port}/session"),
            driver,
            _profile: profile,
        };
        let wanted = chromium.session_capabilities(browser._profile.path(), preferences);
        let opened = browser.post_webdriver("", &wanted);
        let id = opened["sessionId"].as_str().unwrap();
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    pub fn open_url(&self, address: &str) {
        self.post_webdriver("/url", &json!({"url": address}));
    }

    /// Goes back to the previous page.
    pub fn go_back(&self) {
        self.post_webdriver("/back", &json!({}));
    }

    /// Opens another window, switches to it and returns its handle.
    pub fn open_window(&self) -> String {
        let opened = self.post_webdriver("/window/new", &json!({"type": "window"}));
        let window = opened["handle"].as_str().unwrap().to_owned();
        self.switch_window(&window);
        window
    }

    /// Switches to another window.
    pub fn switch_window(&self, window: &str) {
        self.post_webdriver("/window", &json!({"handle": window}));
    }

    /// The result of a script in the page, with `arguments`.
    pub fn run_script(&self, script: &str, arguments: &[Value]) -> Value {
        self.post_webdriver("/execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// As [`BrowserSession::run_script`], for a script that calls its last argument with the result.
    pub fn run_async_script(&self, script: &str) -> Value {
        self.post_webdriver("/execute/async", &json!({"script": script, "args": []}))
    }

    /// The value of an expression.
    pub fn evaluate(&self, expression: &str) -> Value {
        self.run_script(&format!("return {expression}"), &[])
    }

    pub fn evaluate_number(&self, expression: &str) -> u64 {
        let value = self.evaluate(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression}: {value}")) as u64
    }

    pub fn evaluate_text(&self, expression: &str) -> String {
        let value = self.evaluate(expression);
        let text = value.as_str().unwrap_or_else(|| panic!("{expression}: {value}"));
        text.to_owned()
    }

    /// The visible texts of all elements of a selector.
    pub fn element_texts(&self, selector: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map((element) => element.innerText)";
        serde_json::from_value(self.run_script(script, &[selector.into()])).unwrap()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_for(&self, expression: &str) {
        let started = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != true {
            let waited = started.elapsed();
            assert!(waited < PATIENCE, "never came true: {expression}\n{}", self.visible_text());
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits until the first element of a selector contains this text.
    #[track_caller]
    pub fn wait_for_text(&self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.wait_for(&format!("document.querySelector({selector})?.innerText.includes({text})"));
    }

    /// Opens all folded parts.
    pub fn open_all_details(&self) {
        let unfold = "document.querySelectorAll('details').forEach((fold) => { fold.open = true })";
        self.run_script(unfold, &[]);
    }

    /// Waits until the title shows this number of waiting agents.
    #[track_caller]
    pub fn wait_for_waiting_count(&self, number: usize) {
        let begin = if number > 0 { format!("({number}) Agents") } else { "Agents".into() };
        self.wait_for(&format!("document.title.startsWith('{begin}')"));
    }

    /// The visible text of the page.
    pub fn visible_text(&self) -> String {
        self.evaluate_text("document.body.innerText")
    }

    /// Presses and releases a key.
    pub fn press_key(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post_webdriver("/actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    /// Clicks on the first element of a selector.
    pub fn click_element(&self, selector: &str) {
        let found = self.post_webdriver("/element", &json!({"using": "css selector", "value": selector}));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap();
        self.post_webdriver(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types a text into the first element of a selector.
    pub fn type_into(&self, selector: &str, text: &str) {
        let found = self.post_webdriver("/element", &json!({"using": "css selector", "value": selector}));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap();
        self.post_webdriver(&format!("/element/{element}/value"), &json!({"text": text}));
    }

    /// Hides the page, as another tab in front of it does.
    pub fn hide_page(&self) {
        self.send_devtools_command("Page.setWebLifecycleState", &json!({"state": "frozen"}));
        self.send_devtools_command("Page.setWebLifecycleState", &json!({"state": "active"}));
        self.wait_for("document.hidden");
    }

    /// Shows the page again.
    pub fn show_page(&self) {
        self.send_devtools_command("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        self.wait_for("!document.hidden");
    }

    /// A command of the DevTools protocol.
    pub fn send_devtools_command(&self, command: &str, parameters: &Value) -> Value {
        self.post_webdriver("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    pub fn set_color_scheme(&self, scheme: &str) {
        self.set_media_feature("prefers-color-scheme", scheme);
    }

    pub fn set_media_feature(&self, name: &str, value: &str) {
        let features = json!([{"name": name, "value": value}]);
        self.send_devtools_command("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Sets the size of the viewport.
    pub fn resize_viewport(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.send_devtools_command("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Sets the permission for notices.
    pub fn set_notification_permission(&self, state: &str) {
        let descriptor = json!({"name": "notifications"});
        self.post_webdriver("/permissions", &json!({"descriptor": descriptor, "state": state}));
    }

    /// Runs a script at the beginning of every page that is opened from now on.
    pub fn run_on_new_document(&self, script: &str) {
        let source = json!({"source": script});
        self.send_devtools_command("Page.addScriptToEvaluateOnNewDocument", &source);
    }

    /// The console messages since the last call.
    pub fn take_console_messages(&self) -> Vec<String> {
        let log = self.post_webdriver("/se/log", &json!({"type": "browser"}));
        let message = |entry: &Value| entry["message"].as_str().unwrap().to_owned();
        log.as_array().unwrap().iter().map(message).collect()
    }

    /// The memory of the page's scripts after a garbage collection.
    pub fn measure_heap_bytes(&self) -> u64 {
        self.send_devtools_command("HeapProfiler.collectGarbage", &json!({}));
        let usage = self.send_devtools_command("Runtime.getHeapUsage", &json!({}));
        usage["usedSize"].as_f64().unwrap() as u64
    }

    /// The number of DOM nodes after a garbage collection.
    pub fn count_dom_nodes(&self) -> u64 {
        self.send_devtools_command("HeapProfiler.collectGarbage", &json!({}));
        let counters = self.send_devtools_command("Memory.getDOMCounters", &json!({}));
        counters["nodes"].as_u64().unwrap()
    }

    /// A screenshot, as PNG in base64.
    pub fn picture(&self) -> String {
        let url = format!("{}/screenshot", self.session);
        read_webdriver_value(self.http.get(url).call()).as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn post_webdriver(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.session);
        let request = self.http.post(url).content_type("application/json");
        read_webdriver_value(request.send(body.to_string()))
    }
}

impl Drop for BrowserSession {
    fn drop(&mut self) {
        // The driver ends the browser when the session ends.
        let _ = self.http.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The value of a successful response.
#[track_caller]
fn read_webdriver_value(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Value {
    let mut answer = answer.unwrap();
    let status = answer.status();
    let limit = 64 * 1024 * 1024;
    let body = answer.body_mut().with_config().limit(limit).read_to_string().unwrap();
    assert!(status.is_success(), "{status}: {body}");
    serde_json::from_str::<Value>(&body).unwrap()["value"].take()
}

/// How often the driver is started: on a busy machine, another process may take its port first.
const DRIVER_STARTS: usize = 3;

/// Starts the driver on a free port, which it prints.
fn start_driver(chromium: &ChromiumBinaries, home: &TempDir) -> (Child, u16) {
    let started = (0..DRIVER_STARTS).find_map(|_| try_start_driver(chromium, home));
    started.expect("the driver tells its port")
}

fn try_start_driver(chromium: &ChromiumBinaries, home: &TempDir) -> Option<(Child, u16)> {
    let mut driver = Command::new(&chromium.driver)
        .arg("--port=0")
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let said = BufReader::new(driver.stdout.as_mut().unwrap());
    let port = said.lines().find_map(|line| {
        let line = line.unwrap();
        let port = line.strip_prefix("ChromeDriver was started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    if port.is_none() {
        // It has closed its output, so it ends or has ended.
        let _ = driver.kill();
        let _ = driver.wait();
    }
    Some((driver, port?))
}
