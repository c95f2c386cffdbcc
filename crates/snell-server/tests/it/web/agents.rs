//! The view of all agents: those that need you, and the cards.

use serde_json::json;
use snell_store::{ContextReport, Store};

use super::{create_waiting_agent, get_page, slice_between, start_with_stopped_clock};
use crate::support::TestApp;

#[test]
fn waiting_agents_come_first_with_reason_and_duration() {
    let app = start_with_stopped_clock();
    let since = |session: &str, at: &str, message: &str| {
        let cwd = app.data_dir().join(session);
        app.send_event(
            "notification",
            &json!({"session_id": session, "cwd": cwd, "timestamp": at, "message": message,
                "notification_type": "permission_prompt"}),
        );
    };
    since("later", "2026-03-02T11:58:00Z", "May I write?");
    since("sooner", "2026-03-02T09:00:00Z", "May I read?");
    app.send_event("stop", &json!({"session_id": "content", "cwd": app.data_dir().join("c")}));
    let body = get_page(&app, "/").body;
    assert!(body.contains("<title>(2) Agents – Snell</title>"), "{body}");
    let needs = slice_between(&body, "<section class=\"needs\"", "</section>");
    let (sooner, later) = (needs.find("May I read?").unwrap(), needs.find("May I write?").unwrap());
    assert!(sooner < later, "who has waited for longest comes first: {needs}");
    assert!(needs.contains(">3 h</time>") && needs.contains(">2 min</time>"), "{needs}");
    assert!(!needs.contains("content"), "{needs}");
    assert!(body.find("class=\"needs\"").unwrap() < body.find("class=\"card\"").unwrap());
    assert!(slice_between(&body, "id=\"counts\"", "</p>").contains("2 need you"));
}

#[test]
fn an_agent_with_work_in_the_background_is_not_idle() {
    let app = start_with_stopped_clock();
    let stop = |session: &str, tasks: serde_json::Value| {
        let cwd = app.data_dir().join(session);
        let fields = json!({"session_id": session, "cwd": cwd, "background_tasks": tasks});
        app.send_event("user-prompt-submit", &json!({"session_id": session, "cwd": cwd, "prompt": "Go"}));
        app.send_event("stop", &fields);
    };
    stop("ready", json!([]));
    let look = json!({"id": "a1", "type": "subagent", "status": "running", "description": "look"});
    stop("looking", json!([look, {"id": "b1", "type": "shell", "status": "running"}]));
    let shown = |path: &str| -> Vec<(String, serde_json::Value)> {
        let agents = app.get_json(path)["items"].as_array().unwrap().clone();
        let describe =
            |agent: &serde_json::Value| (agent["session_id"].as_str().unwrap().to_owned(), agent["background"].clone());
        agents.iter().map(describe).collect()
    };
    let work = json!({"subagents": 1, "commands": 1, "wakeups": 0});
    assert_eq!(shown("/api/agents?state=background"), [("looking".to_owned(), work.clone())]);
    assert_eq!(shown("/api/agents?state=processing"), [("looking".to_owned(), work)]);
    assert_eq!(shown("/api/agents?state=idle"), [("ready".to_owned(), serde_json::Value::Null)]);
    let body = get_page(&app, "/").body;
    let card = slice_between(&body, "data-state=\"background\"", "</article>");
    for part in ["▷", "working in the background", "1 sub-agent, 1 command", "look"] {
        assert!(card.contains(part), "{part} in {card}");
    }
    let counts = slice_between(&body, "id=\"counts\"", "</p>");
    assert!(counts.contains("0 working") && counts.contains("1 in the background"), "{counts}");
    let cards = |state: &str| get_page(&app, &format!("/?state={state}")).body.matches("<article").count();
    assert_eq!([cards("background"), cards("processing"), cards("idle")], [1, 0, 1]);
}

#[test]
fn a_card_shows_the_state_of_its_agent_and_its_source() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "0123456789abcdef", "Shall I?");
    let agent = app.get_json(&format!("/api/agents/{id}"));
    let mut store = Store::open(&app.database_path()).unwrap().store;
    let conversation = store.find_agent_location(id).unwrap().unwrap().conversation_id.unwrap();
    let at = "2026-03-02T12:00:00Z".parse().unwrap();
    store.set_status(conversation, Some("Mending the till"), at).unwrap();
    let report = ContextReport { percent: Some(81.4), ..ContextReport::default() };
    assert!(store.set_context_usage("0123456789abcdef", &report).unwrap());
    let card = get_page(&app, &format!("/fragments/agents/{id}")).body;
    for part in [
        "<code>01234567</code>",
        "data-state=\"awaiting_input\"",
        "▲",
        "needs you",
        "Mending the till",
        "last active",
        ">0 s ago</time>",
        "value=\"81.4\"",
        "81 %",
        "<code>Shall I?</code>",
        "certain, reported by a hook",
        &format!("href=\"/agents/{id}\""),
    ] {
        assert!(card.contains(part), "{part} in {card}");
    }
    assert!(card.contains(agent["why"].as_str().unwrap()), "{card}");
    // The API has it, too.
    assert_eq!(app.get_json(&format!("/api/agents/{id}"))["status_text"], "Mending the till");
}

#[test]
fn cards_are_grouped_by_project_and_keep_their_places() {
    let app = start_with_stopped_clock();
    for (session, project) in [("a", "zebra"), ("b", "ant"), ("c", "zebra"), ("d", "bee")] {
        let cwd = app.data_dir().join(project);
        app.send_event(
            "session-start",
            &json!({"session_id": session, "cwd": cwd, "tmux_pane": format!("%{session}")}),
        );
    }
    let order = |body: &str| {
        let names = body.split("<h2 id=\"project-").skip(1);
        let projects: Vec<_> = names.map(|rest| slice_between(rest, "<bdi>", "</bdi>").to_owned()).collect();
        let cards = body.split("<article class=\"card\" id=\"").skip(1);
        let cards: Vec<_> = cards.map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        (projects, cards)
    };
    let before = order(&get_page(&app, "/").body);
    assert_eq!(before.0, ["<bdi>ant", "<bdi>bee", "<bdi>zebra"]);
    assert_eq!(before.1, ["agent-2", "agent-4", "agent-1", "agent-3"]);
    app.send_event("user-prompt-submit", &json!({"session_id": "c", "prompt": "go"}));
    assert_eq!(order(&get_page(&app, "/").body), before);
}

#[test]
fn recently_ended_agents_are_folded() {
    let app = start_with_stopped_clock();
    let end = |session: &str, at: &str| {
        let cwd = app.data_dir().join(session);
        app.send_event("session-start", &json!({"session_id": session, "cwd": cwd, "timestamp": at}));
        app.send_event("session-end", &json!({"session_id": session, "timestamp": at, "reason": "logout"}));
    };
    end("today", "2026-03-02T11:00:00Z");
    end("lastweek", "2026-02-20T11:00:00Z");
    let body = get_page(&app, "/").body;
    let ended = slice_between(&body, "<details class=\"ended\"", "</ul>");
    assert!(
        ended.contains("Ended in the last 24 hours (1)")
            && ended.contains("today")
            && ended.contains("the user logged out"),
        "{ended}"
    );
    assert!(!body.contains("lastweek") && !body.contains("class=\"card\""), "{body}");
    // It still has its own page.
    assert!(get_page(&app, "/agents/2").body.contains("lastweek"));
}

#[test]
fn without_agents_the_page_shows_what_to_do() {
    let app = TestApp::start();
    let body = get_page(&app, "/").body;
    assert!(body.contains("No agents need you.") && body.contains("snell install"), "{body}");
    assert!(body.contains("<title>Agents – Snell</title>"));
    assert!(body.contains("0 working") && body.contains("0 idle"));
}

#[test]
fn some_cards_are_fetched_at_once() {
    let app = start_with_stopped_clock();
    for session in ["s1", "s2", "s3"] {
        app.begin_session(session);
    }
    let some = get_page(&app, "/fragments/agents?only=3,1,99").body;
    assert_eq!(some.matches("<article").count(), 2);
    let cards = [get_page(&app, "/fragments/agents/3").body, get_page(&app, "/fragments/agents/1").body];
    assert_eq!(some, cards.concat());
    for wrong in ["x", "1,,2", "1;2", "-1"] {
        let answer = app.get(&format!("/fragments/agents?only={wrong}"));
        assert_eq!((answer.status, answer.message().contains("list of agent numbers")), (400, true), "{wrong}");
    }
}

#[test]
fn two_hundred_agents_fit_on_the_page() {
    let app = start_with_stopped_clock();
    for number in 0..200 {
        app.send_event(
            "session-start",
            &json!({"session_id": format!("s{number}"), "cwd": app.data_dir().join(format!("p{}", number % 20)),
                "tmux_pane": format!("%{number}")}),
        );
    }
    let body = get_page(&app, "/").body;
    assert_eq!(body.matches("<article").count(), 200);
    assert!(body.len() < 400_000, "{}", body.len());
}

#[test]
fn a_card_shows_the_prompt_or_the_last_reply() {
    let app = start_with_stopped_clock();
    let tell = |route: &str, text: &str| {
        let told = json!({"session_id": "s1", "cwd": app.data_dir(), "prompt": text, "last_assistant_message": text});
        app.send_event(route, &told);
        get_page(&app, "/fragments/agents/1").body
    };
    let asked = tell("user-prompt-submit", "Mend the roof.");
    assert!(asked.contains("<span class=\"label\">prompt </span><bdi>Mend the roof.</bdi>"), "{asked}");
    let answered = tell("stop", "It is dry.");
    assert!(answered.contains("<span class=\"label\">last reply </span><bdi>It is dry.</bdi>"), "{answered}");
    assert_eq!(app.get_json("/api/agents/1")["last_words_by"], "AGENT");
}

#[test]
fn a_role_that_equals_the_session_is_shown_once() {
    let app = start_with_stopped_clock();
    let sender = json!({"sender": {"product": "claude", "role": "builder"}});
    for (session, name) in [("builder", "claude builder"), ("b-17", "claude builder b-17")] {
        let told = app.send_event("stop", &json!({"session_id": session, "cwd": app.data_dir(), "snell": sender}));
        let body = get_page(&app, &format!("/agents/{}", told["agent_id"])).body;
        assert!(body.contains(&format!("<title>{name} – Snell</title>")), "{body}");
    }
}

#[test]
fn the_reason_of_an_end_is_shown_in_words_or_as_recorded() {
    let app = start_with_stopped_clock();
    let cases = [("prompt_input_exit", "the user quit"), ("a new reason", "<code class=\"quiet\">a new reason</code>")];
    for (reason, shown) in cases {
        let told =
            app.send_event("session-end", &json!({"session_id": reason, "cwd": app.data_dir(), "reason": reason}));
        for path in ["/".to_owned(), format!("/agents/{}", told["agent_id"])] {
            let body = get_page(&app, &path).body;
            assert!(body.contains(shown), "{path}: {body}");
        }
    }
}

#[test]
fn names_of_any_length_leave_room_for_the_rest() {
    let app = start_with_stopped_clock();
    let long = "N".repeat(20_000);
    let call = json!({"session_id": "s1", "cwd": format!("/srv/{long}"), "tool_name": long, "tool_use_id": "t1",
        "tool_input": {"command": "ls"}, "snell": {"sender": {"product": long, "role": long}}});
    app.send_event("pre-tool-use", &call);
    let body = get_page(&app, "/logging").body;
    let option = slice_between(&body, "<option value=\"1\"", "</option>");
    assert!(option.len() < 400, "{} characters", option.len());
    let body = get_page(&app, "/agents/1").body;
    let title = slice_between(&body, "<title>", "</title>");
    assert!(title.len() < 120, "{title}");
    let row = slice_between(&body, "class=\"call\"", "</li>");
    let shown = slice_between(row, "<summary>", "</summary>");
    assert!(shown.len() < 120, "{} characters", shown.len());
    assert!(row.contains(&"N".repeat(5_000)), "all of it is folded");
}

#[test]
fn words_are_shown_without_the_blank_lines_before_them() {
    let app = start_with_stopped_clock();
    let said = json!({"session_id": "s1", "cwd": app.data_dir(), "last_assistant_message": "\n\n  \nIt is done."});
    app.send_event("stop", &said);
    for path in ["/", "/agents/1", "/logging"] {
        let body = get_page(&app, path).body;
        assert!(body.contains(">It is done.<"), "{path}: {body}");
    }
}

#[test]
fn projects_with_the_same_name_show_their_paths_everywhere() {
    let app = start_with_stopped_clock();
    for owner in ["amber", "birch"] {
        let cwd = app.data_dir().join(owner).join("api");
        std::fs::create_dir_all(&cwd).unwrap();
        let asked =
            json!({"session_id": owner, "cwd": cwd, "message": "May I?", "notification_type": "permission_prompt"});
        app.send_event("notification", &asked);
        let ended = json!({"session_id": format!("{owner}-old"), "cwd": cwd, "pid": 1});
        app.send_event("session-end", &ended);
    }
    let event = "/logging/1";
    for path in ["/", "/fragments/needs", "/logging", "/fragments/log", event] {
        let body = get_page(&app, path).body;
        assert!(body.contains(">amber/api<"), "{path}: {body}");
        assert!(path == event || body.contains(">birch/api<"), "{path}: {body}");
        assert!(!body.contains(">api<"), "{path}: {body}");
    }
}

#[test]
fn projects_are_sorted_without_case() {
    let app = start_with_stopped_clock();
    for name in ["beta", "Alpha", "Gamma"] {
        app.send_event("stop", &json!({"session_id": name, "cwd": app.data_dir().join(name)}));
    }
    for path in ["/", "/logging"] {
        let body = get_page(&app, path).body;
        let place = |name: &str| body.find(&format!(">{name}<")).unwrap_or_else(|| panic!("{path}: {name}: {body}"));
        // The log, below the form, has the newest event first.
        assert!(place("Alpha") < place("beta") && place("beta") < place("Gamma"), "{path}");
    }
}
