//! Invisible characters in texts of agents are shown wherever people read them.

use serde_json::json;
use snell_server::{AnswerKey, AnswerLink, page_routes};
use snell_store::requests::AnswerChoice;

use super::{create_waiting_agent, start_with_stopped_clock};
use crate::support::OpenRequest;

/// Each changes the direction of text, is invisible, or controls a terminal.
const UNSEEN: &[char] = &[
    '\u{0}',
    '\u{7}',
    '\u{8}',
    '\u{1b}',
    '\u{7f}',
    '\u{85}',
    '\u{9b}',
    '\u{ad}',
    '\u{61c}',
    '\u{200b}',
    '\u{200d}',
    '\u{200e}',
    '\u{200f}',
    '\u{2028}',
    '\u{2029}',
    '\u{202a}',
    '\u{202e}',
    '\u{2060}',
    '\u{2066}',
    '\u{2069}',
    '\u{3164}',
    '\u{feff}',
    '\u{e0001}',
    '\u{e0041}',
    '\u{e007f}',
];

/// Text that must not change.
const KEPT: &str = "👩\u{200d}💻 שלום\n\tdone";

#[test]
fn invisible_characters_are_shown_in_every_view_fragment_and_file() {
    let app = start_with_stopped_clock();
    let hidden: String = UNSEEN.iter().flat_map(|c| [*c, 'x']).collect();
    let text = format!("{hidden}{KEPT}");
    create_waiting_agent(&app, "s1", &text);
    app.send_event("stop", &json!({"session_id": "s2", "cwd": app.data_dir(), "last_assistant_message": text}));
    let hidden = text.clone();
    let request = OpenRequest::open_with(&app, 1, |request| {
        request.title.clone_from(&hidden);
        request.tool = Some(hidden.clone());
        request.detail = json!({
            "input": {"command": hidden, "description": hidden}, "cwd": hidden, "reading": [hidden],
            "reasons": [{"author": hidden, "rule": hidden, "text": hidden}],
        });
    });
    let key = AnswerKey::load_or_create(app.data_dir()).unwrap();
    let link = AnswerLink { uid: request.uid, choice: AnswerChoice::Allow, expires_at: i64::MAX };
    let link = key.sign_link(&link);
    let looked_at = page_routes().filter(|(method, path)| *method == "GET" && !path.starts_with("/assets"));
    for (_, path) in looked_at.filter(|(_, path)| *path != "/login") {
        for number in ["1", "3"] {
            let path = path.replace("{id}", number).replace("/agents/3", "/agents/2").replace("{link}", &link);
            let answer = app.request("GET", &path).without_chunking().send();
            assert_eq!(answer.status, 200, "{path}");
            let zwj = |at: usize| answer.body[at..].starts_with("\u{200d}💻");
            let raw = answer.body.char_indices().find(|(at, c)| UNSEEN.contains(c) && !zwj(*at));
            assert_eq!(raw, None, "{path}: {}", answer.body);
        }
    }
    for path in ["/", "/agents/1", "/agents/1/export.html", "/agents/2", "/logging", "/logging/3", "/requests"] {
        let body = app.request("GET", path).without_chunking().send().body;
        for shown in ["\\u{0}x", "\\u{1b}x", "\\u{202e}x", "\\u{e0041}x", "👩\u{200d}💻 שלום"] {
            assert!(body.contains(shown), "{path}: {shown} in {body}");
        }
    }
    let timeline = app.request("GET", "/agents/2").send().body;
    assert!(timeline.contains(KEPT), "lines and tabs stay: {timeline}");
}
