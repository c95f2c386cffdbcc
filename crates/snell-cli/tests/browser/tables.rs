//! Tables: every word is in its own column.

use serde_json::{Value, json};

use crate::agent_story::{self, StoryAgent};
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

/// Screens with and without the table layout.
const WIDTHS: &[u32] = &[900, 1089, 1100, 1280, 1600, 1920];

/// Views with tables. The view of hooks marks the sorted column.
const VIEWS: &[&str] = &[
    "/logging",
    "/hooks",
    "/hooks?sort=runs",
    "/hooks?sort=failures",
    "/hooks?sort=timeouts",
    "/hooks?sort=blocks",
    "/hooks?sort=max",
    "/hooks?sort=today",
    "/hooks?sort=last",
    "/guard",
    "/guard?period=day",
    "/usage",
    "/usage?by=session&sort=cache_write",
];

/// Typical project names.
const PROJECTS: &[&str] =
    &["documentation", "payment_gateway_service", "ClaudeHeadspaceServer", "api.example.com", "back\u{202e}wards"];

/// Elements that overflow their cell.
const BEYOND: &str = "const beyond = [];
    for (const cell of document.querySelectorAll('table td, table th')) {
        if (!cell.checkVisibility() || getComputedStyle(cell.closest('thead, tbody')).position === 'absolute') continue;
        const range = document.createRange();
        range.selectNodeContents(cell);
        const reached = Math.max(0, ...[...range.getClientRects()].map((box) => box.right));
        const edge = cell.getBoundingClientRect().right;
        if (reached > edge + .5) beyond.push(`${cell.innerText}: ${reached} > ${edge}`);
    }
    return [...new Set(beyond)]";

/// Sends a call with hook runs of more than a minute and of hours.
fn send_slow_hook_runs(server: &BrowserTestServer, project: &str) {
    let run = |command: &str, duration_us: u64| {
        json!({"contract": "claude", "source": ".claude/settings.json", "line": 9, "command": command, "status": "ok",
            "duration_us": duration_us})
    };
    let runs =
        json!([run("./check-everything-there-is.sh --all", 72_000_000_u64), run("./wait.sh", 35_999_000_000_u64),]);
    let judgement = json!({"took_us": 3_599_000_000_u64, "decision": "allow", "runs": runs});
    server.send_event(
        "0a1b2c3d-long",
        "pre-tool-use",
        json!({"cwd": format!("/srv/{project}"), "tool_name": "Bash", "tool_input": {"command": "cargo test"},
            "snell": {"judgement": judgement}}),
    );
}

#[test]
fn nothing_in_a_table_overflows_its_column() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    for (number, project) in PROJECTS.iter().enumerate() {
        let session = format!("0a1b2c3d-{number}");
        StoryAgent::new(&server, &session, project).make_refused_call("git push --force origin main");
    }
    send_slow_hook_runs(&server, "shop");
    agent_story::send_usage(&server, "0a1b2c3d-0", "a-model-with-a-very-long-name-and-without-a-price");
    for view in VIEWS {
        open_live_page(&browser, &server, view);
        browser.wait_for("document.documentElement.classList.contains('whole')");
        browser.open_all_details();
        for width in WIDTHS {
            browser.resize_viewport(*width, 800);
            assert_eq!(browser.run_script(BEYOND, &[]), json!([]), "{view} {width}");
        }
    }
}

#[test]
fn the_column_of_hooks_has_room_for_commands() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    send_slow_hook_runs(&server, "shop");
    open_live_page(&browser, &server, "/hooks");
    for width in WIDTHS {
        browser.resize_viewport(*width, 800);
        let room = browser.evaluate_number("document.querySelector('.costs tbody th').clientWidth");
        assert!(room >= 240, "{room} pixels on {width}");
    }
}

#[test]
fn the_log_has_the_full_reason() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    StoryAgent::new(&server, "s1", "shop").make_refused_call("git push --force origin main");
    open_live_page(&browser, &server, "/logging");
    let reason: Value = browser.evaluate("document.querySelector('.log .decision .text').title");
    assert_eq!(reason, "this rewrites what others have");
}
