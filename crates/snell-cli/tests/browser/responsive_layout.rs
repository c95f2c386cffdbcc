//! Layout on all screens: narrow, without scripts, without console messages.

use serde_json::json;

use crate::agent_story::StoryAgent;
use crate::driver::BrowserSession;
use crate::live::{open_live_page, open_page};
use crate::server::BrowserTestServer;
use crate::{agent_story, views};

/// The narrowest supported screen, in pixels.
const NARROW: u32 = 360;

/// Screens of all sizes.
const WIDTHS: &[u32] = &[NARROW, 500, 700, 768, 900, 1024, 1100, 1280];

/// Sends agents whose texts are longer than any line.
fn send_endless_texts(server: &BrowserTestServer) {
    let endless = "Donaudampfschiff".repeat(40);
    StoryAgent::new(server, &endless, &endless).ask_question(&endless);
    StoryAgent::new(server, &endless, &endless).make_refused_call(&endless);
}

#[track_caller]
fn assert_no_sideways_scroll(browser: &BrowserSession, view: &str, width: u32) {
    browser.open_all_details();
    assert_eq!(browser.evaluate_number("innerWidth"), u64::from(width), "{view}");
    let found = browser.evaluate_number("document.documentElement.scrollWidth");
    assert!(found <= u64::from(width), "{view} is {found} pixels wide on {width}");
}

#[test]
fn no_view_scrolls_sideways_on_any_screen() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    send_endless_texts(&server);
    let views = views::discover_views(&browser, &server);
    for view in views.iter().map(String::as_str).chain(views::APART.iter().copied()) {
        open_page(&browser, &server, view);
        for width in WIDTHS {
            browser.resize_viewport(*width, 740);
            assert_no_sideways_scroll(&browser, view, *width);
        }
    }
    let server = BrowserTestServer::with_token("correct-horse");
    browser.resize_viewport(NARROW, 740);
    open_page(&browser, &server, "/agents/1");
    assert_no_sideways_scroll(&browser, "the way in", NARROW);
}

#[test]
fn no_view_scrolls_sideways_with_a_double_font_size() {
    let Some(browser) = BrowserSession::with_large_letters() else {
        return;
    };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    send_endless_texts(&server);
    browser.resize_viewport(1280, 740);
    for view in views::discover_views(&browser, &server) {
        open_page(&browser, &server, &view);
        let size = browser.evaluate_number("parseFloat(getComputedStyle(document.body).fontSize)");
        assert_eq!(size, 30, "letters are as large as the user has them");
        assert_no_sideways_scroll(&browser, &view, 1280);
    }
}

/// Words of the log that are broken although the column has room for them.
const BROKEN_WORDS: &str = "const broken = [];
    for (const node of document.querySelectorAll('#log-table td *, #log-table th')) {
        if (node.children.length) continue;
        const text = node.firstChild;
        for (const { 0: word, index } of (text?.data ?? '').matchAll(/\\S+/g)) {
            if (word.length > 20) continue;
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
            if (tops.size > 1 && !/[-\\/]/.test(word)) broken.push(word);
        }
    }
    return broken";

#[test]
fn the_log_breaks_no_word_and_its_summary_has_the_most_room() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/logging");
    for width in [1280, 1200, 1100, 768, NARROW] {
        browser.resize_viewport(width, 740);
        let broken = browser.run_script(BROKEN_WORDS, &[]);
        assert_eq!(broken, serde_json::json!([]), "{width}");
    }
    browser.resize_viewport(1280, 740);
    let wide =
        |column: &str| browser.evaluate_number(&format!("document.querySelector('.log td.{column}').offsetWidth"));
    for other in ["decision", "when", "who", "name"] {
        assert!(wide("what") > wide(other), "{other}");
    }
}

/// The labels of charts: their visible size, and whether they are cut off or overlap.
const LABELS: &str = "return [...document.querySelectorAll('svg.chart')].flatMap((chart) => {
        const frame = chart.getBoundingClientRect();
        const labels = [...chart.querySelectorAll('text')].filter((label) => label.textContent);
        const boxes = labels.map((label) => label.getBoundingClientRect());
        const scale = frame.width / chart.viewBox.baseVal.width;
        return labels.map((label, index) => {
            const box = boxes[index];
            const meets = (other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
            return {
                text: label.textContent,
                size: parseFloat(getComputedStyle(label).fontSize) * scale,
                isCut: box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1,
                isCovered: boxes.some((other, at) => at > index && meets(other)),
            };
        });
    })";

#[test]
fn chart_labels_are_readable_on_any_screen() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    for view in ["/hooks", "/guard", "/guard?period=day", "/usage"] {
        open_live_page(&browser, &server, view);
        for width in WIDTHS {
            browser.resize_viewport(*width, 740);
            let labels = browser.run_script(LABELS, &[]);
            let labels = labels.as_array().unwrap();
            assert!(labels.len() > 5, "{view}");
            for label in labels {
                assert!(label["size"].as_f64().unwrap() >= 11.0, "{view} {width}: {label}");
                assert_eq!(
                    (&label["isCut"], &label["isCovered"]),
                    (&false.into(), &false.into()),
                    "{view} {width}: {label}"
                );
            }
        }
    }
}

#[test]
fn chart_labels_are_readable_for_any_duration() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    browser.resize_viewport(NARROW, 740);
    for duration_us in [260_u64, 90_000, 450_000, 72_000_000, 6_000_000_000] {
        let run = json!({"contract": "snell", "source": "snell.toml", "line": 4, "command": "./look.sh", "status": "ok",
            "duration_us": duration_us});
        let judgement = json!({"took_us": duration_us, "decision": "allow", "runs": [run]});
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "snell": {"judgement": judgement}});
        server.send_event("s1", "pre-tool-use", call);
        open_live_page(&browser, &server, "/hooks");
        for label in browser.run_script(LABELS, &[]).as_array().unwrap() {
            assert_eq!(label["isCut"], false, "{duration_us}: {label}");
        }
    }
}

#[test]
fn the_current_view_is_marked_with_forced_colours() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    browser.set_media_feature("forced-colors", "active");
    open_live_page(&browser, &server, "/hooks");
    let line = |which: &str| {
        browser.evaluate_text(&format!("getComputedStyle(document.querySelector('{which}')).borderBottomColor"))
    };
    assert_eq!(browser.evaluate("matchMedia('(forced-colors: active)').matches"), true);
    assert_ne!(line(".top nav a[aria-current]"), line(".top nav a:not([aria-current])"));
}

#[test]
fn the_guard_chart_shows_days() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/guard");
    browser.open_all_details();
    let day = browser.element_texts("#verdicts-table tbody th").join(" ");
    let is_day = day.len() == 10 && day.matches('-').count() == 2;
    assert!(is_day, "{day}");
}

#[test]
fn reduced_motion_disables_animations() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    browser.set_media_feature("prefers-reduced-motion", "reduce");
    for view in views::discover_views(&browser, &server) {
        open_page(&browser, &server, &view);
        let moving = "[...document.querySelectorAll('*')].filter((element) => {
            const style = getComputedStyle(element);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0 || style.scrollBehavior === 'smooth';
        }).length";
        assert_eq!(browser.evaluate_number(moving), 0, "{view}");
    }
}

#[test]
fn every_view_can_be_read_without_scripts() {
    let Some(browser) = BrowserSession::without_scripts() else {
        return;
    };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    let views = views::discover_views(&browser, &server);
    for view in &views {
        browser.open_url(&server.page_url(view));
        let seen = browser.visible_text();
        assert_eq!(browser.element_texts("h1").len(), 1, "{view}");
        assert!(seen.contains("not live: live updates need JavaScript"), "{view}: {seen}");
        assert!(browser.element_texts("main")[0].len() > 40, "{view}: {seen}");
    }
    browser.open_url(&server.page_url("/"));
    let seen = browser.visible_text();
    for shown in ["Which of the two tax tables", "working", "idle", "1 needs you", "Ended in the last 24 hours (1)"] {
        assert!(seen.contains(shown), "{shown}: {seen}");
    }
    browser.click_element("#open-1");
    browser.wait_for_text("#timeline", "Let the basket keep its goods");
    browser.click_element("form.filter input[name=prompts]");
    browser.click_element("form.filter button");
    browser.wait_for("location.search.includes('tools=1')");
    assert!(!browser.element_texts("#timeline")[0].contains("Let the basket keep its goods"));
}

#[test]
fn no_view_causes_console_messages() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    for view in views::discover_views(&browser, &server) {
        open_live_page(&browser, &server, &view);
        StoryAgent::new(&server, "s9", "shop").ask_question(&format!("Seen on {view}?"));
        browser.wait_for("document.title.startsWith('(2) ')");
        StoryAgent::new(&server, "s9", "shop").finish_turn("Yes.");
        browser.wait_for("document.title.startsWith('(1) ')");
        assert_eq!(browser.take_console_messages(), [""; 0], "{view}");
    }
    // The browser reports violations of the policy.
    browser.run_script("document.body.setAttribute('style', 'color: red')", &[]);
    let told = browser.take_console_messages();
    assert!(told.iter().any(|told| told.contains("Content Security Policy")), "{told:?}");
}

#[test]
fn a_printed_timeline_has_no_controls() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    open_live_page(&browser, &server, "/agents/4");
    browser.send_devtools_command("Emulation.setEmulatedMedia", &serde_json::json!({"media": "print"}));
    let shown = |selector: &str| browser.evaluate(&format!("document.querySelector('{selector}').checkVisibility()"));
    for left_out in [".top nav", "form.filter", "#jump", "#notify", "#connection"] {
        assert_eq!(shown(left_out), false, "{left_out}");
    }
    for kept in ["h1", "#timeline li", "#head"] {
        assert_eq!(shown(kept), true, "{kept}");
    }
}
