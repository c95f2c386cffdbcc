//! The file of one agent, opened from a disk.

use std::fs;

use crate::axe;
use crate::driver::Browser;
use crate::server::Server;
use crate::story::Agent;

#[test]
fn an_export_is_read_from_a_file_without_a_server() {
    let Some(browser) = Browser::open() else { return };
    let mut server = Server::start();
    let agent = Agent::of(&server, "s1", "infra").is_refused("git push --force");
    let file = server.sandbox.home().join("export.html");
    fs::write(&file, server.get(&format!("/agents/{agent}/export.html"))).unwrap();
    server.kill();
    for scheme in ["light", "dark"] {
        browser.prefers(scheme);
        browser.go(&format!("file://{}", file.display()));
        browser.unfold();
        let seen = browser.seen();
        for shown in [
            "Publish it.",
            "git push --force",
            "git-push-force",
            "./guard.sh",
            "no such branch",
        ] {
            assert!(seen.contains(shown), "{shown}: {seen}");
        }
        assert_eq!(
            browser.number("performance.getEntriesByType('resource').length"),
            0,
            "nothing was fetched"
        );
        assert_eq!(browser.number("document.scripts.length"), 0);
        let is_styled = "getComputedStyle(document.querySelector('.timeline')).listStyleType === 'none'";
        assert_eq!(browser.value(is_styled), true, "its styles are in it, and allowed");
        assert_eq!(browser.complaints(), [""; 0]);
        if let Some(script) = axe::script() {
            let found = axe::findings(&browser, script);
            assert!(found.is_empty(), "{scheme}:\n{}", found.join("\n"));
        }
    }
}
