//! Texts of agents are shown, never run: with hostile text in every field, a page has the same tags and attributes as
//! with harmless text.

use maud::{Markup, Render};
use serde_json::json;
use snell::Timestamp;
use snell_store::{
    AgentState, AgentView, ChangedInput, GuardVerdictView, HookRunView, SightingView, StateConfidence, StateSource,
    TimelineEvent, TimestampSource, TurnActor, TurnIntent, TurnView,
};

use super::format::AgentName;

/// Texts that are dangerous in a browser if they are not escaped.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg onload=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' autofocus onfocus='alert(1)",
    "</title></head><body onload=alert(1)>",
    "</style><script>alert(1)</script>",
    "</li></ol></details><form action=//evil.example>",
    "<!-- ",
    "--><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x3c;script&#x3e;",
    "javascript:alert(1)",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<iframe srcdoc=\"<script>alert(1)</script>\">",
    "<\u{0}script>alert(1)</script>",
    "\u{202e}txet lufmrah",
    "`${alert(1)}` {{alert(1)}}",
    "<time data-form=ago datetime=x data-src=/hook/stop>",
];

/// The harmless text to compare with.
const HARMLESS: &str = "harmless";

fn sample_agent(text: &str) -> AgentView {
    let some = || Some(text.to_owned());
    AgentView {
        agent_id: 7,
        project_id: 3,
        project: text.to_owned(),
        project_path: text.to_owned(),
        product: some(),
        session_id: some(),
        state: AgentState::AwaitingInput,
        state_since: Timestamp::UNIX_EPOCH,
        state_source: StateSource::Hook,
        confidence: StateConfidence::High,
        why: text.to_owned(),
        background: None,
        silent_since: Some(Timestamp::UNIX_EPOCH),
        current_tool: some(),
        last_words: some(),
        last_words_by: Some(TurnActor::Agent),
        status_text: some(),
        tmux_session: some(),
        tmux_pane: some(),
        pid: Some(1),
        host: some(),
        role: some(),
        mode: some(),
        model: some(),
        context_percent: Some(50.0),
        started_at: Timestamp::UNIX_EPOCH,
        last_seen_at: Timestamp::UNIX_EPOCH,
        ended_at: Some(Timestamp::UNIX_EPOCH),
        end_reason: some(),
        request_reading: vec![text.to_owned()],
        open_request: some(),
    }
}

/// An event with this text in all fields.
pub(super) fn sample_event(name: &str, text: &str) -> TimelineEvent {
    let some = || Some(text.to_owned());
    TimelineEvent {
        id: 9,
        at: Timestamp::UNIX_EPOCH,
        event: name.to_owned(),
        tool: some(),
        tool_summary: some(),
        tool_duration_ms: Some(1.0),
        ended_by: some(),
        error: some(),
        is_end_of_call: false,
        decision: some(),
        reason: some(),
        changed_input: Some(ChangedInput {
            before: json!({"a": text, text: text}),
            after: json!({"a": [text], text: 1}),
        }),
        changed_output: Some(json!({ text: [text] })),
        told: some(),
        is_unended: true,
        is_late: true,
        state: AgentState::Idle,
        state_before: Some(AgentState::Processing),
        message: some(),
        hook_runs: vec![HookRunView {
            contract: text.to_owned(),
            source: text.to_owned(),
            line: 1,
            command: text.to_owned(),
            matcher: some(),
            status: text.to_owned(),
            exit_code: Some(1),
            signal: Some(9),
            duration_us: 5,
            stdout: text.to_owned(),
            stderr: text.to_owned(),
            why: some(),
        }],
        guard_verdicts: vec![GuardVerdictView {
            decision: text.to_owned(),
            would: some(),
            rule: text.to_owned(),
            tier: text.to_owned(),
            reason: text.to_owned(),
            advice: some(),
            of_changed_input: true,
        }],
        seen_after: vec![SightingView {
            id: 3,
            after_event: 9,
            at: Timestamp::UNIX_EPOCH,
            state_before: Some(AgentState::Processing),
            state: AgentState::Ended,
            source: StateSource::Process,
            confidence: StateConfidence::Medium,
            why: text.to_owned(),
        }],
    }
}

/// A turn with this text.
pub(super) fn sample_turn(turn_id: i64, actor: TurnActor, text: &str, second: i64) -> TurnView {
    TurnView {
        turn_id,
        agent_id: 7,
        command_id: 1,
        actor,
        intent: TurnIntent::Command,
        text: text.to_owned(),
        timestamp: Timestamp::from_second(second).unwrap(),
        timestamp_source: TimestampSource::Server,
    }
}

/// Every part of a page that shows texts of agents, with this text in all fields.
fn render_all_parts(text: &str) -> Vec<(&'static str, Markup)> {
    let now = Timestamp::from_second(100).unwrap();
    let mut parts = super::agents::render_samples(&sample_agent(text), now);
    parts.extend(super::agent::render_samples(&sample_agent(text), text, now));
    parts.extend(super::logging::render_samples(text, now));
    parts.extend(super::hooks::render_samples(text, now));
    parts.extend(super::guard::render_samples(text, now));
    parts.extend(super::requests::render_samples(text, now));
    parts.extend(super::usage::render_samples(text, now));
    parts.push(("name", AgentName(&sample_agent(text)).render()));
    parts.push(("login", super::login::render_login_form_for(&"/agents/7".parse().unwrap())));
    parts
}

/// The tags of a page with the names of their attributes, as a browser parses them.
fn extract_tags(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(begin) = rest.find('<') {
        rest = &rest[begin + 1..];
        let (mut tag, mut quoted) = (String::new(), false);
        let mut end = rest.len();
        for (at, letter) in rest.char_indices() {
            match letter {
                '"' => quoted = !quoted,
                '>' if !quoted => {
                    end = at + 1;
                    break;
                }
                _ if !quoted => tag.push(letter),
                _ => {}
            }
        }
        found.push(tag);
        rest = &rest[end..];
    }
    found
}

#[test]
fn hostile_text_in_any_field_adds_no_tag_and_no_attribute() {
    let harmless = render_all_parts(HARMLESS);
    assert!(harmless.len() > 8, "every part of the page is there");
    for text in HOSTILE {
        for ((name, expected), (_, found)) in harmless.iter().zip(render_all_parts(text)) {
            let (expected, found) = (extract_tags(&expected.0), extract_tags(&found.0));
            assert_eq!(found, expected, "{text:?} in {name}");
        }
    }
}

#[test]
fn hostile_text_is_shown_as_it_is() {
    let text = "<b>\"'&";
    for (name, part) in render_all_parts(text) {
        let shows = part.0.contains("&lt;b&gt;&quot;'&amp;");
        // These have it only in addresses, if at all.
        let is_silent = ["login", "count of new events"].contains(&name);
        assert!(shows || is_silent, "{name}: {}", part.0);
    }
}

/// The visible text of a part: no tags, styles, folded text or text that scrolls.
fn extract_visible_text(html: &str) -> Vec<String> {
    let (mut seen, mut within) = (vec![String::new()], Vec::new());
    for piece in html.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split(' ').next().unwrap_or_default();
        match name {
            "details" | "summary" | "pre" | "style" => within.push(name.to_owned()),
            "/details" | "/summary" | "/pre" | "/style" => drop(within.pop()),
            "li" | "p" | "dd" | "td" | "option" | "label" | "legend" | "h1" | "h2" | "h3" => seen.push(String::new()),
            _ => {}
        }
        let is_folded = matches!(within.last().map(String::as_str), Some("details" | "pre" | "style"));
        if let (false, Some(last)) = (is_folded, seen.last_mut()) {
            last.push_str(text);
        }
    }
    seen
}

#[test]
fn names_and_texts_of_any_length_are_seen_in_a_few_lines() {
    let long = "A".repeat(20_000);
    for (name, part) in render_all_parts(&long) {
        if name == "login" {
            continue;
        }
        for seen in extract_visible_text(&part.0) {
            let most = 3_000;
            assert!(seen.len() <= most, "{name}: {} characters in one place", seen.len());
        }
    }
}
