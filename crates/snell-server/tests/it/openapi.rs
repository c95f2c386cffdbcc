//! The OpenAPI description has every route and parameter, and every response matches it.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};
use snell::Timestamp;
use snell_server::{AccessRole, NamedTokens, OPENAPI, api_routes, page_routes};
use snell_test_support::http::HttpResponse;

use crate::support::{OpenRequest, TestApp, remember_call};

fn parse_openapi() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

/// The description of a response with this status.
fn find_response(document: &Value, method: &str, route: &str, status: u16) -> Value {
    let operation = &document["paths"][route][method.to_lowercase()];
    let response = &operation["responses"][status.to_string()];
    let response = match response["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => response,
    };
    assert!(response.is_object(), "{method} {route} has no answer {status}");
    response.clone()
}

fn check_response(document: &Value, method: &str, route: &str, answer: &HttpResponse) {
    let expected = find_response(document, method, route, answer.status);
    let content = expected["content"].as_object().unwrap();
    let kind = answer.header("content-type").unwrap().split(';').next().unwrap();
    assert!(content.contains_key(kind), "{method} {route} {}: {kind}", answer.status);
    for (name, _) in expected["headers"].as_object().into_iter().flatten() {
        assert!(answer.header(&name.to_lowercase()).is_some(), "{method} {route}: {name}");
    }
    if kind == "application/json" {
        let mut schema = content[kind]["schema"].clone();
        schema["components"] = document["components"].clone();
        let validator = Validator::options().should_validate_formats(true).build(&schema).unwrap();
        let value = answer.json();
        let faults: Vec<_> = validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{method} {route} {}: {faults:?} in {value}", answer.status);
    }
}

#[test]
fn the_description_names_every_route_and_no_other() {
    let document = parse_openapi();
    let mut told = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            told.insert((method.to_uppercase(), path.clone()));
        }
    }
    let real = api_routes().map(|(method, path)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(told, real);
}

#[test]
fn the_documentation_names_every_route() {
    let page = include_str!("../../../../docs/reference/http.md");
    for (method, path) in api_routes().chain(page_routes()) {
        assert!(page.contains(&format!("`{method} {path}`")), "{method} {path}");
    }
}

#[test]
fn the_server_returns_the_description() {
    let app = TestApp::start();
    assert_eq!(app.get_json("/api/openapi.json"), parse_openapi());
}

#[test]
fn every_reference_is_valid_and_every_operation_has_a_name() {
    fn collect_references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| collect_references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
            _ => {}
        }
    }
    let document = parse_openapi();
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    for reference in &references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
    let mut names = BTreeSet::new();
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
        }
    }
}

#[test]
fn the_description_has_all_parameters_of_the_server() {
    let app = TestApp::start();
    app.begin_session("s1");
    let document = parse_openapi();
    for (method, route) in api_routes().filter(|(method, route)| *method == "GET" && route.starts_with("/api/")) {
        let path = route.replace("{id}", "1");
        let Some(known) =
            app.get(&format!("{path}?no_such_parameter=1")).json()["message"].as_str().and_then(|message| {
                message.split("known parameters: ").nth(1).map(|names| names.trim_end_matches(')').to_owned())
            })
        else {
            continue;
        };
        let operation = &document["paths"][route][method.to_lowercase()];
        let in_query = |parameter: &&Value| parameter["in"] == "query";
        let parameters = operation["parameters"].as_array().into_iter().flatten().filter(in_query);
        let told: BTreeSet<_> = parameters.map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(told, known.split(", ").collect(), "{route}");
    }
}

/// Responses of the routes that need a token of their own.
fn check_token_responses(app: &TestApp, check: &dyn Fn(&str, &str, &HttpResponse)) {
    let tokens = NamedTokens::in_directory(app.data_dir());
    let admin = tokens.create("root", AccessRole::Administer, Timestamp::now()).unwrap().text;
    let send = |method: &str, route: &str, id: &str, body: &str, status: u16| {
        let request = app.request(method, &route.replace("{id}", id)).header(&format!("Authorization: Bearer {admin}"));
        let answer = if body.is_empty() { request.send() } else { request.json(body).send() };
        assert_eq!(answer.status, status, "{method} {route}: {answer:?}");
        check(method, route, &answer);
        answer.json()
    };
    let (list, revoke) = ("/api/tokens", "/api/tokens/{id}/revoke");
    let created = send("POST", list, "", r#"{"name":"ada","role":"look"}"#, 200);
    for body in
        [r#"{"name":"ada","role":"look"}"#, r#"{"name":"","role":"look"}"#, r#"{"name":"a","role":"king"}"#, "[]"]
    {
        send("POST", list, "", body, 400);
    }
    assert_eq!(send("GET", list, "", "", 200)["items"].as_array().unwrap().len(), 2);
    for status in [200, 404] {
        send("POST", revoke, created["id"].as_str().unwrap(), "", status);
    }
    check("GET", list, &app.get(list));
}

#[test]
fn every_response_matches_the_description() {
    let app = TestApp::start();
    let document = parse_openapi();
    let check = |method: &str, route: &str, answer: &HttpResponse| check_response(&document, method, route, answer);
    for (method, route) in api_routes().filter(|(method, route)| *method == "POST" && route.starts_with("/hook/")) {
        let judgement = json!({
            "took_us": 5, "decision": "block", "reason": "no",
            "runs": [{"contract": "snell", "source": "snell.toml", "line": 1, "command": "x", "status": "ok"}],
            "guard": [{"decision": "deny", "rule": "r", "tier": "t", "reason": "no", "advice": "do not"}],
        });
        let body = json!({
            "session_id": "s1", "cwd": app.data_dir(), "hook_event_name": "SubagentStop", "prompt": "go", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "last_assistant_message": "done", "snell": {"judgement": judgement},
        });
        let export = json!({"resourceLogs": [], "resourceMetrics": []});
        for body in [body, json!({}), export] {
            check(method, route, &app.request(method, route).json(&body.to_string()).send());
        }
        if route.starts_with("/v1/") {
            check(method, route, &app.request(method, route).header("Content-Type: application/x-protobuf").send());
        }
        let large = app.request(method, route).json(&" ".repeat(1024 * 1024 + 1)).send();
        assert_eq!(large.status, 413);
        check(method, route, &large);
    }
    let request = OpenRequest::open(&app, 1).uid;
    for (method, route) in api_routes().filter(|(method, route)| *method == "GET" && *route != "/api/tokens") {
        let is_request = route.starts_with("/api/requests/");
        let path = route.replace("{id}", if is_request { &request } else { "1" });
        if route == "/api/events/stream" {
            check(method, route, &app.open_stream("").head);
        } else {
            let answer = app.get(&path);
            assert_eq!(answer.status, 200, "{route}");
            check(method, route, &answer);
        }
        check(method, route, &app.request(method, &path).host("evil.example").send());
        if route.contains("{id}") {
            check(method, route, &app.get(&route.replace("{id}", "99")));
            check(method, route, &app.get(&route.replace("{id}", "x")));
        }
    }
    let route = "/api/requests/{id}";
    let answer = |path: &str, body: &str| check("POST", route, &app.request("POST", path).json(body).send());
    let path = route.replace("{id}", &request);
    let remember = r#"{"answer":"allow","message":"go","remember":{"scope":"session","until":"2999-01-01"}}"#;
    for body in ["{}", r#"{"answer":"reply"}"#, remember, remember] {
        answer(&path, body);
    }
    answer(&route.replace("{id}", "none"), remember);
    check("GET", route, &app.get(&path));
    remember_call(&app, &request);
    check("GET", "/api/remembered", &app.get("/api/remembered"));
    assert_ne!(app.get_json("/api/remembered")["items"], json!([]));
    let route = "/api/remembered/{id}/forget";
    for status in [200, 404] {
        let answer = app.request("POST", &route.replace("{id}", &request)).send();
        assert_eq!(answer.status, status);
        check("POST", route, &answer);
    }
    check_token_responses(&app, &check);
    let lists = [
        "/api/agents?ended=true",
        "/api/agents/1/turns",
        "/api/events",
        "/api/hooks",
        "/api/guard",
        "/api/requests?status=all",
    ];
    for items in lists {
        assert_ne!(app.get_json(items)["items"], json!([]), "{items} has been checked on something");
    }
}
