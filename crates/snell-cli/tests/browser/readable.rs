//! On every screen, in every browser: narrow, without scripts, without complaints.

use serde_json::json;

use crate::driver::Browser;
use crate::live::{look_at, open};
use crate::server::Server;
use crate::story::Agent;
use crate::{story, views};

/// The narrowest screen that counts, in pixels.
const NARROW: u32 = 360;

/// Screens of all sizes.
const WIDTHS: &[u32] = &[NARROW, 500, 700, 768, 900, 1024, 1100, 1280];

/// Agents whose every text is longer than any line.
fn endless_to(server: &Server) {
    let endless = "Donaudampfschiff".repeat(40);
    Agent::of(server, &endless, &endless).asks(&endless);
    Agent::of(server, &endless, &endless).is_refused(&endless);
}

#[track_caller]
fn fits(browser: &Browser, view: &str, width: u32) {
    browser.unfold();
    assert_eq!(browser.number("innerWidth"), u64::from(width), "{view}");
    let found = browser.number("document.documentElement.scrollWidth");
    assert!(found <= u64::from(width), "{view} is {found} pixels wide on {width}");
}

#[test]
fn no_view_scrolls_sideways_on_any_screen() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    endless_to(&server);
    let views = views::all(&browser, &server);
    for view in views.iter().map(String::as_str).chain(views::APART.iter().copied()) {
        open(&browser, &server, view);
        for width in WIDTHS {
            browser.is_as_large_as(*width, 740);
            fits(&browser, view, *width);
        }
    }
    let server = Server::locked("correct-horse");
    browser.is_as_large_as(NARROW, 740);
    open(&browser, &server, "/agents/1");
    fits(&browser, "the way in", NARROW);
}

#[test]
fn no_view_scrolls_sideways_with_letters_twice_as_large() {
    let Some(browser) = Browser::with_large_letters() else {
        return;
    };
    let server = Server::start();
    story::told_to(&server);
    endless_to(&server);
    browser.is_as_large_as(1280, 740);
    for view in views::all(&browser, &server) {
        open(&browser, &server, &view);
        let size = browser.number("parseFloat(getComputedStyle(document.body).fontSize)");
        assert_eq!(size, 30, "letters are as large as the user has them");
        fits(&browser, &view, 1280);
    }
}

/// Words of the log that stand on two lines although one has room for them.
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
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/logging");
    for width in [1280, 1200, 1100, 768, NARROW] {
        browser.is_as_large_as(width, 740);
        let broken = browser.script(BROKEN_WORDS, &[]);
        assert_eq!(broken, serde_json::json!([]), "{width}");
    }
    browser.is_as_large_as(1280, 740);
    let wide = |column: &str| browser.number(&format!("document.querySelector('.log td.{column}').offsetWidth"));
    for other in ["decision", "when", "who", "name"] {
        assert!(wide("what") > wide(other), "{other}");
    }
}

/// The labels of charts: how large they are as they are seen, and whether they are cut off or upon each other.
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
fn the_labels_of_charts_can_be_read_on_any_screen() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    for view in ["/hooks", "/guard", "/guard?period=day"] {
        look_at(&browser, &server, view);
        for width in WIDTHS {
            browser.is_as_large_as(*width, 740);
            let labels = browser.script(LABELS, &[]);
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
fn the_labels_of_a_chart_can_be_read_however_long_hooks_took() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    browser.is_as_large_as(NARROW, 740);
    for duration_us in [260_u64, 90_000, 450_000, 72_000_000, 6_000_000_000] {
        let run = json!({"contract": "snell", "source": "snell.toml", "line": 4, "command": "./look.sh", "status": "ok",
            "duration_us": duration_us});
        let judgement = json!({"took_us": duration_us, "decision": "allow", "runs": [run]});
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "snell": {"judgement": judgement}});
        server.tell("s1", "pre-tool-use", call);
        look_at(&browser, &server, "/hooks");
        for label in browser.script(LABELS, &[]).as_array().unwrap() {
            assert_eq!(label["isCut"], false, "{duration_us}: {label}");
        }
    }
}

#[test]
fn the_view_one_looks_at_is_marked_also_where_colours_are_the_users() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    browser.has_feature("forced-colors", "active");
    look_at(&browser, &server, "/hooks");
    let line = |which: &str| {
        browser.text(&format!(
            "getComputedStyle(document.querySelector('{which}')).borderBottomColor"
        ))
    };
    assert_eq!(browser.value("matchMedia('(forced-colors: active)').matches"), true);
    assert_ne!(line(".top nav a[aria-current]"), line(".top nav a:not([aria-current])"));
}

#[test]
fn the_days_of_the_guard_are_told_as_days() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/guard");
    browser.unfold();
    let day = browser.texts("#verdicts-table tbody th").join(" ");
    let is_day = day.len() == 10 && day.matches('-').count() == 2;
    assert!(is_day, "{day}");
}

#[test]
fn nothing_moves_for_those_who_want_no_motion() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    browser.has_feature("prefers-reduced-motion", "reduce");
    for view in views::all(&browser, &server) {
        open(&browser, &server, &view);
        let moving = "[...document.querySelectorAll('*')].filter((element) => {
            const style = getComputedStyle(element);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0 || style.scrollBehavior === 'smooth';
        }).length";
        assert_eq!(browser.number(moving), 0, "{view}");
    }
}

#[test]
fn every_view_can_be_read_without_scripts() {
    let Some(browser) = Browser::without_scripts() else {
        return;
    };
    let server = Server::start();
    story::told_to(&server);
    let views = views::all(&browser, &server);
    for view in &views {
        browser.go(&server.at(view));
        let seen = browser.seen();
        assert_eq!(browser.texts("h1").len(), 1, "{view}");
        assert!(seen.contains("not live: that needs JavaScript"), "{view}: {seen}");
        assert!(browser.texts("main")[0].len() > 40, "{view}: {seen}");
    }
    browser.go(&server.at("/"));
    let seen = browser.seen();
    for shown in [
        "Which of the two tax tables",
        "working",
        "idle",
        "1 needs you",
        "Ended within a day (1)",
    ] {
        assert!(seen.contains(shown), "{shown}: {seen}");
    }
    browser.click("#open-1");
    browser.wait_for_text("#timeline", "Let the basket keep its goods");
    browser.click("form.filter input[name=prompts]");
    browser.click("form.filter button");
    browser.wait_for("location.search.includes('tools=1')");
    assert!(!browser.texts("#timeline")[0].contains("Let the basket keep its goods"));
}

#[test]
fn the_browser_has_nothing_to_complain_about_on_any_view() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    for view in views::all(&browser, &server) {
        look_at(&browser, &server, &view);
        Agent::of(&server, "s9", "shop").asks(&format!("Seen on {view}?"));
        browser.wait_for("document.title.startsWith('(2) ')");
        Agent::of(&server, "s9", "shop").rests("Yes.");
        browser.wait_for("document.title.startsWith('(1) ')");
        assert_eq!(browser.complaints(), [""; 0], "{view}");
    }
    // What is forbidden would have been told.
    browser.script("document.body.setAttribute('style', 'color: red')", &[]);
    let told = browser.complaints();
    assert!(
        told.iter().any(|told| told.contains("Content Security Policy")),
        "{told:?}"
    );
}

#[test]
fn a_timeline_on_paper_has_nothing_that_can_be_clicked_on() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    look_at(&browser, &server, "/agents/4");
    browser.devtools("Emulation.setEmulatedMedia", &serde_json::json!({"media": "print"}));
    let shown = |selector: &str| browser.value(&format!("document.querySelector('{selector}').checkVisibility()"));
    for left_out in [".top nav", "form.filter", "#jump", "#notify", "#connection"] {
        assert_eq!(shown(left_out), false, "{left_out}");
    }
    for kept in ["h1", "#timeline li", "#head"] {
        assert_eq!(shown(kept), true, "{kept}");
    }
}
