//! A receiver with tokens of people and machines, with a proxy in front of it, and with TLS: as processes of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use snell_test_support::http::HttpResponse;
use snell_test_support::process::Signal;
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::skip::require_program;
use snell_test_support::wait::wait_until;

use super::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// A receiver that serves no one without a token.
fn start_receiver(sandbox: &CliSandbox) -> ServeProcess {
    let token = sandbox.home().join("shared");
    start_server(sandbox, &[ANYWHERE, &["--log", "debug", "--token-file", token.to_str().unwrap()]].concat())
}

fn create_token(sandbox: &CliSandbox, name: &str, role: &str) -> String {
    let created = sandbox.run_snell(&["token", "create", name, "--role", role], "");
    assert_eq!(created.code, 0, "{created:?}");
    let token = created.stdout.trim().to_owned();
    assert!(token.starts_with("snell_") && token.len() == 70, "only the token is on stdout: {created:?}");
    assert!(!created.stderr.contains(&token) && created.stderr.contains(name), "{created:?}");
    token
}

fn get(receiver: &ServeProcess, path: &str, token: &str) -> HttpResponse {
    receiver.request("GET", path).header(&format!("Authorization: Bearer {token}")).send()
}

#[test]
fn tokens_are_created_used_listed_and_revoked_while_the_receiver_runs() {
    let sandbox = CliSandbox::new().secret_home_file("shared", "shared");
    let receiver = start_receiver(&sandbox);
    let ada = create_token(&sandbox, "ada", "look");
    let build = create_token(&sandbox, "build 17", "send");
    assert_eq!(get(&receiver, "/api/agents", &ada).status, 200);
    assert_eq!(get(&receiver, "/api/agents", &build).status, 403);
    let event = json!({"session_id": "s1", "cwd": "/work/shop"});
    let sent = |token: &str| {
        let request = receiver.request("POST", "/hook/stop").header(&format!("Authorization: Bearer {token}"));
        request.json(&event.to_string()).send().status
    };
    assert_eq!([sent(&ada), sent(&build), sent("snell_0")], [403, 200, 401]);
    let listed = sandbox.run_snell(&["token", "list"], "");
    let lines: Vec<_> = listed.stdout.lines().map(|line| line.split("  ").next().unwrap().to_owned()).collect();
    assert_eq!(lines, ["NAME", "ada", "build 17"], "{listed:?}");
    let tokens: serde_json::Value =
        serde_json::from_str(&sandbox.run_snell(&["token", "list", "--json"], "").stdout).unwrap();
    assert_eq!((&tokens[0]["name"], &tokens[1]["role"]), (&json!("ada"), &json!("send")));
    assert_eq!(tokens[0].as_object().unwrap().len(), 4, "{tokens}");
    let again = sandbox.run_snell(&["token", "create", "ada", "--role", "answer"], "");
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("there is already a token \"ada\""), "{again:?}");
    let revoked = sandbox.run_snell(&["token", "revoke", "ada"], "");
    assert!(revoked.code == 0 && revoked.stdout.starts_with("Revoked: ada (look, "), "{revoked:?}");
    assert_eq!(get(&receiver, "/api/agents", &ada).status, 401);
    let unknown = sandbox.run_snell(&["token", "revoke", "ada"], "");
    assert!(unknown.stderr.contains("there is no token \"ada\""), "{unknown:?}");
    // Tokens are in no file, no log and no report.
    let doctor = sandbox.run_snell(&["doctor"], "");
    let (_, log) = receiver.stop_with_signal(Signal::TERM);
    let database = sandbox.database().with_file_name("tokens.json");
    let stored = std::fs::read_to_string(database).unwrap();
    for token in [ada, build] {
        let secret = &token[6..];
        for text in [&doctor.stdout, &doctor.stderr, &log, &stored, &listed.stdout] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn a_receiver_that_others_reach_starts_with_a_named_token_instead_of_a_shared_one() {
    let sandbox = CliSandbox::new();
    let everywhere = ["--addr", "0.0.0.0:0"];
    let mut command = sandbox.command(&["serve"]);
    let refused = ServeProcess::spawn(command.args(everywhere)).unwrap_err();
    assert!(refused.contains("a token is required") && refused.contains("snell token create"), "{refused}");
    create_token(&sandbox, "build-17", "send");
    start_server(&sandbox, &everywhere);
}

#[test]
fn an_installed_machine_forwards_its_events_with_a_token_of_its_own() {
    let server = CliSandbox::new().secret_home_file("shared", "shared");
    let receiver = start_receiver(&server);
    let token = create_token(&server, "laptop", "send");
    let laptop = CliSandbox::new().secret_home_file("laptop.token", &token);
    let file = laptop.home().join("laptop.token");
    let forward = ["install", "claude", "--forward", &receiver.url("/"), "--token-file", file.to_str().unwrap()];
    let shown = laptop.run_snell(&[&forward[..], &["--dry-run"]].concat(), "");
    assert!(shown.stdout.contains("+url = ") && !laptop.home().join(".config/snell/snell.toml").exists(), "{shown:?}");
    for expected in ["under [server], so what Snell records here is sent there", "already has url"] {
        let installed = laptop.run_snell(&forward, "");
        assert!(installed.code == 0 && installed.stdout.contains(expected), "{installed:?}");
    }
    let elsewhere = laptop.run_snell(&["install", "claude", "--forward", "http://elsewhere.example"], "");
    assert!(elsewhere.code == 1 && elsewhere.stderr.contains("already has server.url"), "{elsewhere:?}");
    let settings = std::fs::read_to_string(laptop.home().join(".config/snell/snell.toml")).unwrap();
    assert!(!settings.contains(&token), "{settings}");
    laptop.run_event("Stop", &json!({}));
    super::run_hook(&laptop, &[], "SessionStart", json!({"session_id": "from-the-laptop"}));
    wait_until(|| {
        let agents = get(&receiver, "/api/agents?ended=true", "shared").json();
        agents["items"].as_array().unwrap().iter().any(|agent| agent["session_id"] == "from-the-laptop").then_some(())
    });
}

/// A certificate for `localhost`, and its key.
fn make_certificate(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (directory.join("cert.pem"), directory.join("key.pem"));
    let status = Command::new(require_program("openssl")?)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .arg("-out")
        .arg(&certificate)
        .arg("-keyout")
        .arg(&key)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    Some((certificate, key))
}

/// A receiver with TLS, and its port.
fn start_with_tls(
    sandbox: &CliSandbox,
    certificate: &Path,
    key: &Path,
) -> Result<(String, snell_test_support::process::ChildGuard), String> {
    use std::io::{BufRead, BufReader, Read};
    let settings = format!("[server]\ntls_cert = {certificate:?}\ntls_key = {key:?}\n");
    std::fs::create_dir_all(sandbox.home().join(".config/snell")).unwrap();
    std::fs::write(sandbox.home().join(".config/snell/snell.toml"), settings).unwrap();
    let mut command = sandbox.command(&["serve"]);
    command.args(ANYWHERE).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = snell_test_support::process::ChildGuard::spawn(&mut command);
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    match line.trim_end().strip_prefix("Snell listens on https://") {
        Some(address) => Ok((address.rsplit(':').next().unwrap().to_owned(), child)),
        None => {
            child.0.stderr.as_mut().unwrap().read_to_string(&mut line).unwrap();
            Err(line)
        }
    }
}

#[test]
fn with_a_certificate_the_receiver_speaks_tls_and_nothing_else() {
    let Some(curl) = require_program("curl") else { return };
    let sandbox = CliSandbox::new();
    let Some((certificate, key)) = make_certificate(&sandbox.home()) else { return };
    let (port, _receiver) = start_with_tls(&sandbox, &certificate, &key).unwrap();
    let call = |url: &str, more: &[&str]| {
        let output =
            Command::new(&curl).args(["-sS", "--cacert"]).arg(&certificate).args(more).arg(url).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let https = |path: &str| format!("https://localhost:{port}{path}");
    assert_eq!(call(&https("/healthz"), &[]), "ok\n");
    let event = ["-H", "Content-Type: application/json", "-d", r#"{"session_id":"s1","cwd":"/work"}"#];
    assert!(call(&https("/hook/session-start"), &event).contains("\"status\":\"ok\""));
    for older in ["1.2", "1.3"] {
        assert_eq!(call(&https("/healthz"), &["--tls-max", older]), "ok\n", "TLS {older}");
    }
    let plain = call(&format!("http://localhost:{port}/healthz"), &[]);
    assert!(!plain.contains("ok\n"), "{plain}");
    let stranger = Command::new(&curl).args(["-sS"]).arg(https("/healthz")).output().unwrap();
    assert!(!stranger.status.success(), "the certificate is checked");
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let sandbox = CliSandbox::new();
    let Some((certificate, key)) = make_certificate(&sandbox.home()) else { return };
    let missing = sandbox.home().join("missing.pem");
    let (open, no_key) = (sandbox.home().join("open.pem"), sandbox.home().join("no-key.pem"));
    std::fs::copy(&key, &open).unwrap();
    std::fs::copy(&certificate, &no_key).unwrap();
    snell_test_support::files::set_file_mode(&no_key, 0o600);
    snell_test_support::files::set_file_mode(&open, 0o644);
    let cases = [
        (&missing, &key, "the certificate: "),
        (&certificate, &missing, "the key: "),
        (&certificate, &no_key, "the key: "),
        (&certificate, &open, "every user of this machine can read the key"),
    ];
    for (certificate, key, expected) in cases {
        let error = start_with_tls(&sandbox, certificate, key).err().unwrap();
        assert!(error.contains("cannot use the certificate") && error.contains(expected), "{error}");
    }
}
