//! Forms accept values as people type them, and keep invalid ones.

use super::{create_waiting_agent, get_page, slice_between, start_with_stopped_clock};

#[test]
fn an_invalid_value_has_an_error_and_the_form_keeps_all_values() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    let cases: [(&str, &str, &[&str]); 7] = [
        (
            "/logging?q=needle&since=then&tool=Bash",
            "&quot;Since&quot; must be a time such as",
            &["name=\"q\" value=\"needle\"", "name=\"tool\" value=\"Bash\"", "name=\"since\" value=\"then\""],
        ),
        (
            "/logging?agent_id=x&session_id=s",
            "&quot;Agent&quot; must be an agent's number such as 3 or #3, not &quot;x&quot;",
            &["name=\"agent_id\" value=\"x\"", "name=\"session_id\" value=\"s\""],
        ),
        (
            "/logging?decision=maybe&q=x",
            "must be one of allowed, asked, blocked, not &quot;maybe&quot;",
            &["name=\"q\" value=\"x\""],
        ),
        (
            "/guard?agent_id=%3Cb%3E&rule=git.x",
            "such as 3 or #3, not &quot;&lt;b&gt;&quot;",
            &["name=\"rule\" value=\"git.x\"", "name=\"agent_id\" value=\"&lt;b&gt;\""],
        ),
        (
            "/guard?decision=never&tier=t",
            "must be one of blocked, asked, allowed, would be blocked",
            &["name=\"tier\" value=\"t\""],
        ),
        ("/agents/1?tools=yes", "&quot;Tools&quot; must be one of 1, 0, not &quot;yes&quot;", &["name=\"tools\""]),
        (
            "/?q=shop&state=asleep",
            "&quot;State&quot; must be one of needs you, working, working in the background, idle, not &quot;asleep&quot;",
            &["name=\"q\" value=\"shop\""],
        ),
    ];
    for (path, message, kept) in cases {
        let answer = app.get(path);
        assert_eq!(answer.status, 400, "{path}");
        let trouble = slice_between(&answer.body, "role=\"alert\"", "</p>");
        assert!(trouble.contains(message), "{path}: {trouble}");
        for part in kept.iter().chain(&["<nav ", "<form ", "id=\"trouble\""]) {
            assert!(answer.body.contains(part), "{path}: {part} in {}", answer.body);
        }
        if !path.starts_with("/agents") {
            assert!(answer.body.contains("aria-invalid=\"true\" aria-describedby=\"trouble\""), "{path}");
        }
    }
}

#[test]
fn values_are_understood_as_people_type_them() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    let shows_all = |path: &str| {
        let body = get_page(&app, path).body;
        assert_eq!(body.contains("id=\"event-3\""), !path.contains("until="), "{path}: {body}");
    };
    for since in
        ["2026-03-02", "+2026-03-02+", "2026-03-02+11:00", "2026-03-02T11:59", "2026-03-02+11:59:00", "1h", "++1h"]
    {
        shows_all(&format!("/logging?since={since}"));
    }
    for until in ["2026-03-02", "2026-03-02+11:00", "2026-03-02T13:00:00%2B02:00"] {
        shows_all(&format!("/logging?until={until}"));
    }
    shows_all("/logging?agent_id=%231");
    get_page(&app, "/guard?agent_id=%231");
    shows_all("/logging?since=&agent_id=++&event=+PreToolUse+&tool=+Bash");
    get_page(&app, "/guard?rule=++&agent_id=+1+&decision=");
    let form = get_page(&app, "/logging").body;
    assert!(form.contains("2026-03-01 12:00 (in the time zone of this page)"), "the form names the zone: {form}");
}

#[test]
fn kinds_of_a_timeline_can_be_excluded() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    let cases = [
        ("", true, true),
        ("?prompts=1", true, false),
        ("?prompts=0", false, true),
        ("?prompts=0&tools=0", false, false),
        ("?prompts=0&tools=1", false, true),
    ];
    for (query, prompts, tools) in cases {
        let body = get_page(&app, &format!("/agents/1{query}")).body;
        let timeline = slice_between(&body, "id=\"timeline\"", "</ol>");
        assert_eq!(timeline.contains("class=\"prompt\""), prompts, "{query}: {timeline}");
        assert_eq!(timeline.contains("class=\"call\""), tools, "{query}: {timeline}");
    }
}

#[test]
fn agents_are_found_by_text_and_state() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "roof", "May I take the Ladder?");
    app.begin_session("cellar");
    let cards = |body: &str| -> Vec<i64> {
        let cards = body.split("<article class=\"card\" id=\"agent-").skip(1);
        cards.map(|card| card.split('"').next().unwrap().parse().unwrap()).collect()
    };
    let cases: [(&str, &[i64]); 9] = [
        ("", &[1, 2]),
        ("q=ladder", &[1]),
        ("q=ROOF+may", &[1]),
        ("q=ladder+cellar", &[]),
        ("q=+cellar+", &[2]),
        ("state=awaiting_input", &[1]),
        ("state=idle", &[2]),
        ("state=processing", &[]),
        ("q=cellar&state=idle", &[2]),
    ];
    for (query, expected) in cases {
        let body = get_page(&app, &format!("/?{query}")).body;
        let mut found = cards(&body);
        found.sort_unstable();
        assert_eq!(found, expected, "{query}: {body}");
        assert!(body.contains("May I take the Ladder?"), "who needs somebody is told all the same: {query}");
        // Fragments have the same filter.
        let whole = slice_between(&body, "<div id=\"agents\"", "\" data-parts").replace("&amp;", "&");
        let fragment = get_page(&app, whole.rsplit('"').next().unwrap()).body;
        assert!(body.contains(&fragment), "{query}: {fragment}");
        let parts = slice_between(&body, "data-parts=\"", "\" data-when").replace("&amp;", "&");
        let some = get_page(&app, &format!("{}1,2", parts.trim_start_matches("data-parts=\""))).body;
        let mut some = cards(&some);
        some.sort_unstable();
        assert_eq!(some, expected, "{query}");
    }
    let body = get_page(&app, "/?q=ladder&state=awaiting_input").body;
    for part in ["name=\"q\" value=\"ladder\"", "<option value=\"awaiting_input\" selected>", "1 of 2 agents. "] {
        assert!(body.contains(part), "{part} in {body}");
    }
}

#[test]
fn invisible_characters_stay_in_the_form() {
    let app = start_with_stopped_clock();
    for path in ["/?q=%E2%80%AEx", "/logging?q=%E2%80%AEx", "/guard?rule=%E2%80%AEx"] {
        let body = get_page(&app, path).body;
        assert!(body.contains(" value=\"&#8238;x\""), "{path}: {body}");
    }
}

#[test]
fn a_state_filter_accepts_the_label_and_the_name() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    for (asked, is_there) in [("needs+you", true), ("awaiting_input", true), ("working", false)] {
        let body = get_page(&app, &format!("/?state={asked}")).body;
        assert_eq!(body.contains("id=\"agent-1\""), is_there, "{asked}");
        assert!(body.contains(" selected"), "{asked}");
    }
}
