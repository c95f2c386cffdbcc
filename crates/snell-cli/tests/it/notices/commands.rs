//! `snell notices`, and `[notify]` in `snell lint`.

use snell_test_support::stub_server::{StubReply, StubServer};

use super::{NoticeSandbox, start_target};
use crate::support::CliSandbox;

#[test]
fn a_test_reaches_each_target_or_says_why_not() {
    let server = start_target();
    let config = format!(
        "[notify]\nntfy = \"{}/topic\"\nslack = {{ url_env = \"NO_SUCH\" }}\ncommand = \"exit 3\"\nquiet = \"00:00-23:59\"\n",
        server.url()
    );
    let agents = NoticeSandbox::new(&config);
    let ran = agents.sandbox.run_snell(&["notices", "test"], "");
    let expected = "ntfy: sent\nslack: failed: the variable NO_SUCH is not set\n\
                    command: failed: /bin/sh failed (exit status: 3)\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (1, expected));
    assert_eq!(server.requests().len(), 1);
    server.set_reply(StubReply::answer(500, ""));
    assert!(
        agents
            .sandbox
            .run_snell(&["notices", "test"], "")
            .stdout
            .starts_with("ntfy: failed: it answered with status 500")
    );
}

#[test]
fn without_targets_or_notices_it_says_what_to_do() {
    let sandbox = CliSandbox::new();
    let ran = sandbox.run_snell(&["notices", "test"], "");
    assert_eq!(ran.code, 1);
    let expected = "error: no target for notices is configured\nhint: add [notify] to";
    assert!(ran.stderr.starts_with(expected), "{ran:?}");
    let ran = sandbox.run_snell(&["notices", "list"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "No notices yet. To set them up: snell docs notices\n"));
    assert_eq!(sandbox.run_snell(&["notices", "list", "--json"], "").stdout.trim(), "[]");
}

#[test]
fn lint_points_at_secrets_in_the_file_without_showing_them() {
    let config = "[notify]\nslack = \"https://hooks.slack.com/services/zzsecretzz\"\n";
    let agents = NoticeSandbox::new(config);
    let ran = agents.sandbox.run_snell(&["lint"], "");
    let text = format!("{}{}", ran.stdout, ran.stderr);
    assert!(text.contains("snell.toml:2:9: warning: \"url\" is a secret in the file"), "{text}");
    assert!(text.contains("write it to a file with mode 600, and name that file in \"url_file\""), "{text}");
    assert!(!text.contains("zzsecretzz"), "{text}");
}

#[test]
fn a_redirect_is_not_followed() {
    let server = StubServer::with_reply(StubReply::answer(302, ""));
    let agents = NoticeSandbox::new(&format!("[notify]\nntfy = \"{}/topic\"\n", server.url()));
    let ran = agents.sandbox.run_snell(&["notices", "test"], "");
    assert_eq!(ran.stdout, "ntfy: failed: it answered with status 302\n");
    assert_eq!(server.requests().len(), 1);
}
