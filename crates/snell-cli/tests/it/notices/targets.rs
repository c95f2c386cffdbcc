//! What each target gets.

use sha2::{Digest, Sha256};
use snell_test_support::files::{list_entries_recursively, write_script};
use snell_test_support::stub_server::{StubRequest, StubServer};
use snell_test_support::wait::wait_until;

use super::{NoticeSandbox, start_target};
use crate::support::CliSandbox;

/// None of them has the form of a known secret, so only care keeps them out of the records.
const SECRETS: &[&str] = &["zzsigningkeyzz", "zzntfytokenzz", "zzslackpathzz"];

/// HMAC-SHA-256, written from its definition: H(K ^ opad, H(K ^ ipad, text)).
fn compute_signature(key: &str, text: &str) -> String {
    let mut padded = key.as_bytes().to_vec();
    padded.resize(64, 0);
    let mix = |with: u8| padded.iter().map(|byte| byte ^ with).collect::<Vec<_>>();
    let inner = Sha256::digest([mix(0x36), text.as_bytes().to_vec()].concat());
    let outer = Sha256::digest([mix(0x5c), inner.to_vec()].concat());
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn create_sandbox(server: &StubServer) -> NoticeSandbox {
    let url = server.url();
    let config = format!(
        "[notify]\nafter = \"1ms\"\ndesktop = true\ncommand = 'cat > \"$SNELL_PROJECT_DIR/command-input\"'\n\
         ntfy = {{ url = \"{url}/ntfy/my-topic\", token_file = \"token\" }}\nslack = {{ url_file = \"slack-url\" }}\n\
         webhook = {{ url = \"{url}/hook\", secret_file = \"key\" }}\n\n[server]\naddr = \"127.0.0.1:7433\"\n"
    );
    let sandbox = CliSandbox::new()
        .secret_home_file("key", SECRETS[0])
        .secret_home_file("token", SECRETS[1])
        .secret_home_file("slack-url", &format!("{url}/{}\n", SECRETS[2]));
    let bin = sandbox.home().join("bin");
    write_script(&bin.join("notify-send"), "printf '<%s>' \"$@\" >> \"$HOME/shown\"");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    NoticeSandbox::with_sandbox(sandbox.env("PATH", &path), &config)
}

fn find_request(requests: &[StubRequest], path: &str) -> StubRequest {
    let found: Vec<_> = requests.iter().filter(|request| request.path() == path).collect();
    assert_eq!(found.len(), 1, "{path}: {requests:?}");
    found[0].clone()
}

#[test]
fn every_target_gets_a_wait_once_and_no_secret_is_kept() {
    let server = start_target();
    let agents = create_sandbox(&server);
    agents.ask_permission("s1");
    agents.ask_permission("s1");
    let sent = ["desktop", "ntfy", "slack", "webhook", "command"].map(|target| format!("needs_user {target} sent"));
    agents.wait_for_deliveries(&sent.each_ref().map(String::as_str));
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{requests:?}");
    let (title, body) = ("Claude Code in project waits for you", "Claude needs your permission to use Bash");
    let link = "http://127.0.0.1:7433/agents/1";

    let ntfy = find_request(&requests, "/ntfy/");
    assert_eq!(ntfy.headers["authorization"], format!("Bearer {}", SECRETS[1]));
    let expected =
        serde_json::json!({"topic": "my-topic", "title": title, "message": body, "priority": 4, "click": link});
    assert_eq!(ntfy.json(), expected);

    let slack = find_request(&requests, &format!("/{}", SECRETS[2]));
    assert_eq!(slack.json(), serde_json::json!({"text": format!("*{title}*\n{body}\n{link}")}));

    let webhook = find_request(&requests, "/hook");
    let signed = format!("{}.{}", webhook.headers["x-snell-timestamp"], webhook.body);
    let expected = format!("sha256={}", compute_signature(SECRETS[0], &signed));
    assert_eq!(webhook.headers["x-snell-signature"], expected);
    let notice = webhook.json();
    assert_eq!(notice["id"], webhook.headers["x-snell-id"].as_str());
    assert_eq!((notice["kind"].as_str(), notice["title"].as_str()), (Some("needs_user"), Some(title)));
    assert_eq!((notice["agent"].as_str(), notice["session_id"].as_str()), (Some("claude"), Some("s1")));

    let command: serde_json::Value = agents.sandbox.read_json("command-input");
    assert_eq!(command, notice);
    let shown = std::fs::read_to_string(agents.sandbox.home().join("shown")).unwrap();
    assert_eq!(shown, format!("<--app-name=Snell><--><{title}><{body}\n{link}>"));
    check_no_secret_is_kept(&agents);
}

fn check_no_secret_is_kept(agents: &NoticeSandbox) {
    for args in [&["notices", "list", "--json"][..], &["lint"], &["doctor"], &["log", "--json"], &["notices", "test"]] {
        let ran = agents.sandbox.run_snell(args, "");
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{args:?}: {text}");
    }
    for path in list_entries_recursively(&agents.sandbox.data()).iter().filter(|path| path.is_file()) {
        let content = std::fs::read(path).unwrap();
        for secret in SECRETS {
            let is_there = content.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!is_there, "{} has {secret}", path.display());
        }
    }
}

#[test]
fn text_of_an_agent_is_never_code_and_has_no_hidden_characters() {
    let server = start_target();
    let agents = create_sandbox(&server);
    let message =
        "permission \u{202e}<b>$(touch pwned)</b>\u{1b}[31m `touch pwned` ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let fields = serde_json::json!({"message": message, "notification_type": "permission_prompt"});
    agents.send_event("s1", "Notification", fields);
    let shown = wait_until(|| {
        std::fs::read_to_string(agents.sandbox.home().join("shown")).ok().filter(|text| text.ends_with('>'))
    });
    assert!(shown.contains("&lt;b&gt;$(touch pwned)&lt;/b&gt;") && shown.contains("\\u{202e}"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']) && !shown.contains("ghp_16C7"), "{shown}");
    let requests = wait_until(|| Some(server.requests()).filter(|requests| requests.len() == 3));
    let slack = find_request(&requests, &format!("/{}", SECRETS[2]));
    assert!(slack.json()["text"].as_str().unwrap().contains("&lt;b&gt;"), "{slack:?}");
    assert!(requests.iter().all(|request| !request.body.contains("ghp_16C7")), "{requests:?}");
    assert!(!agents.sandbox.exists("pwned"));
}

#[test]
fn blocked_calls_and_ends_are_notices_too_and_idle_only_if_wanted() {
    let server = start_target();
    let agents = NoticeSandbox::with_webhook(&server, "");
    agents.make_blocked_call("s1");
    agents.make_blocked_call("s1");
    agents.send_event("s1", "Stop", serde_json::json!({"last_assistant_message": "Done."}));
    agents.send_event("s1", "SessionEnd", serde_json::json!({"reason": "logout"}));
    agents.wait_for_deliveries(&["blocked webhook sent", "ended webhook sent"]);
    let notices: Vec<_> = server.requests().iter().map(StubRequest::json).collect();
    let blocked = notices.iter().find(|notice| notice["kind"] == "blocked").unwrap();
    assert_eq!(blocked["title"], "Claude Code in project: a call was blocked");
    let body = blocked["body"].as_str().unwrap();
    assert!(body.starts_with("Bash was blocked: rm -rf ~ ("), "{body}");
    let ended = notices.iter().find(|notice| notice["kind"] == "ended").unwrap();
    assert_eq!(ended["body"], "the session ended: the user logged out");

    let agents = NoticeSandbox::with_webhook(&server, "on = [\"idle\"]");
    agents.make_blocked_call("s2");
    agents.send_event("s2", "Stop", serde_json::json!({"last_assistant_message": "Done."}));
    agents.wait_for_deliveries(&["idle webhook sent"]);
}
