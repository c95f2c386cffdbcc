//! The exported file of an agent, opened from disk.

use std::fs;

use crate::agent_story::StoryAgent;
use crate::axe;
use crate::driver::BrowserSession;
use crate::server::BrowserTestServer;

#[test]
fn an_export_is_read_from_a_file_without_a_server() {
    let Some(browser) = BrowserSession::open() else { return };
    let mut server = BrowserTestServer::start();
    let agent = StoryAgent::new(&server, "s1", "infra").make_refused_call("git push --force");
    let file = server.sandbox.home().join("export.html");
    fs::write(&file, server.get_page(&format!("/agents/{agent}/export.html"))).unwrap();
    server.kill();
    for scheme in ["light", "dark"] {
        browser.set_color_scheme(scheme);
        browser.open_url(&format!("file://{}", file.display()));
        browser.open_all_details();
        let seen = browser.visible_text();
        for shown in ["Publish it.", "git push --force", "git-push-force", "./guard.sh", "no such branch"] {
            assert!(seen.contains(shown), "{shown}: {seen}");
        }
        assert_eq!(
            browser.evaluate_number("performance.getEntriesByType('resource').length"),
            0,
            "nothing was fetched"
        );
        assert_eq!(browser.evaluate_number("document.scripts.length"), 0);
        let is_styled = "getComputedStyle(document.querySelector('.timeline')).listStyleType === 'none'";
        assert_eq!(browser.evaluate(is_styled), true, "its styles are in it, and allowed");
        assert_eq!(browser.take_console_messages(), [""; 0]);
        if let Some(script) = axe::load_axe_script() {
            let found = axe::find_violations(&browser, script);
            assert!(found.is_empty(), "{scheme}:\n{}", found.join("\n"));
        }
    }
}
