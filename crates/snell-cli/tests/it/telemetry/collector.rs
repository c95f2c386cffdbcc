//! A real collector, which prints what it has understood.

use std::fs::File;
use std::net::TcpListener;
use std::process::Command;

use serde_json::json;
use snell_test_support::agents::AgentCache;
use snell_test_support::process::ChildGuard;
use snell_test_support::skip::report_skipped;
use snell_test_support::wait::wait_until;

use super::TelemetrySandbox;

/// An address at which nothing listens.
fn find_free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn a_real_collector_understands_spans_logs_and_metrics() {
    let program = AgentCache::locate().map(|cache| cache.collector_program()).filter(|program| program.is_file());
    let Some(program) = program else {
        report_skipped("there is no OpenTelemetry collector (`cargo xtask check` installs one)");
        return;
    };
    for (signal, expected) in [
        ("traces", ["Name           : invoke_agent claude", "gen_ai.tool.name: Str(Bash)"]),
        ("logs", ["snell.guard.decision: Str(deny)", "gen_ai.tool.name: Str(Bash)"]),
        ("metrics", ["snell.tool.calls", "snell.agents"]),
    ] {
        let agents = TelemetrySandbox::new("");
        let address = find_free_address();
        let config = format!("[telemetry]\nendpoint = \"http://{address}\"\ninterval = \"50ms\"\n");
        std::fs::write(agents.config_file(), config).unwrap();
        let printed = agents.sandbox.home().join("collector.log");
        let mut command = Command::new(&program);
        command.args(["start", "--otlp-http-endpoint", &address, "--otlp-grpc-endpoint", &find_free_address()]);
        command.args(["--exporter", "blackhole", "--debug-log", signal, "--debug-log-verbosity", "detailed"]);
        command.arg("--pid-file").arg(agents.sandbox.home().join("collector.pid"));
        command.stdout(File::create(&printed).unwrap()).stderr(File::create(printed.with_extension("err")).unwrap());
        let _collector = ChildGuard::spawn(&mut command);
        agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
        agents.send_event("s1", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}));
        agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
        let _server = agents.start_server();
        wait_until(|| {
            let text = std::fs::read_to_string(&printed).unwrap_or_default();
            expected.iter().all(|words| text.contains(words)).then_some(())
        });
        let status: serde_json::Value =
            serde_json::from_str(&agents.sandbox.run_snell(&["status", "--json"], "").stdout).unwrap();
        let signals = status["telemetry"]["signals"].as_array().unwrap();
        assert!(signals.iter().all(|signal| signal["refused"] == 0), "{signals:?}");
    }
}
