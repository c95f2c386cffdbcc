//! Tables: every word stands in its own column.

use serde_json::{Value, json};

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story::Agent;

/// Screens on which tables are tables, and on which they are not.
const WIDTHS: &[u32] = &[900, 1089, 1100, 1280, 1600, 1920];

/// Views with tables; that of hooks marks the head of the column that it is sorted by.
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
];

/// Names of projects as there are many.
const PROJECTS: &[&str] = &[
    "documentation",
    "payment_gateway_service",
    "ClaudeHeadspaceServer",
    "api.example.com",
    "back\u{202e}wards",
];

/// What stands beyond the edge of its cell.
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

/// A call of which hooks made a long affair: a run of more than a minute, and one of hours.
fn takes_long(server: &Server, project: &str) {
    let run = |command: &str, duration_us: u64| {
        json!({"contract": "claude", "source": ".claude/settings.json", "line": 9, "command": command, "status": "ok",
            "duration_us": duration_us})
    };
    let runs = json!([
        run("./check-everything-there-is.sh --all", 72_000_000_u64),
        run("./wait.sh", 35_999_000_000_u64),
    ]);
    let judgement = json!({"took_us": 3_599_000_000_u64, "decision": "allow", "runs": runs});
    server.tell(
        "0a1b2c3d-long",
        "pre-tool-use",
        json!({"cwd": format!("/srv/{project}"), "tool_name": "Bash", "tool_input": {"command": "cargo test"},
            "snell": {"judgement": judgement}}),
    );
}

#[test]
fn nothing_in_a_table_stands_beyond_the_edge_of_its_column() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    for (number, project) in PROJECTS.iter().enumerate() {
        let session = format!("0a1b2c3d-{number}");
        Agent::of(&server, &session, project).is_refused("git push --force origin main");
    }
    takes_long(&server, "shop");
    for view in VIEWS {
        look_at(&browser, &server, view);
        browser.wait_for("document.documentElement.classList.contains('whole')");
        browser.unfold();
        for width in WIDTHS {
            browser.is_as_large_as(*width, 800);
            assert_eq!(browser.script(BEYOND, &[]), json!([]), "{view} {width}");
        }
    }
}

#[test]
fn hooks_have_room_for_what_runs() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    takes_long(&server, "shop");
    look_at(&browser, &server, "/hooks");
    for width in WIDTHS {
        browser.is_as_large_as(*width, 800);
        let room = browser.number("document.querySelector('.costs tbody th').clientWidth");
        assert!(room >= 240, "{room} pixels on {width}");
    }
}

#[test]
fn the_log_tells_all_of_a_reason() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    Agent::of(&server, "s1", "shop").is_refused("git push --force origin main");
    look_at(&browser, &server, "/logging");
    let reason: Value = browser.value("document.querySelector('.log .decision .text').title");
    assert_eq!(reason, "this rewrites what others have");
}
