//! The session that a command is about: named, or the caller's own.

use snell_test_support::process::{CommandOutput, LiveProcess};

use super::{begin_session, query_text, run_snell_with_env};
use crate::support::CliSandbox;

/// Two sessions in a project, one in another, and one in a project that is the current directory; none of them is ours.
struct FourSessions {
    sandbox: CliSandbox,
    _bystanders: Vec<LiveProcess>,
}

const PANE: &str = "%7";

type EnvVariableList = &'static [(&'static str, &'static str)];
type TextList = &'static [&'static str];

impl FourSessions {
    fn new() -> Self {
        let sandbox = CliSandbox::with_frozen_clock();
        let bystanders: Vec<_> = (0..4).map(|_| LiveProcess::new()).collect();
        let rows = [("aa-one", "both"), ("aa-two", "both"), ("b-three", "alone"), ("b-four", "../project")];
        for ((session, directory), process) in rows.iter().zip(&bystanders) {
            let pid = process.pid().to_string();
            let server = format!("/{session}.sock,1,0");
            let variables = [("CLAUDE_PID", pid.as_str()), ("TMUX_PANE", PANE), ("TMUX", &server)];
            begin_session(&sandbox, session, directory, &variables);
        }
        Self { sandbox, _bystanders: bystanders }
    }

    /// Sets a status in this directory of the home directory, and answers whose it has become.
    fn set_status_from(
        &self,
        directory: &str,
        variables: &[(&str, &str)],
        args: &[&str],
    ) -> Result<String, CommandOutput> {
        let mut all = vec!["session", "status", "at work"];
        all.extend(args);
        let mut command = self.sandbox.command(&all);
        command.current_dir(self.sandbox.home().join(directory)).envs(variables.iter().copied());
        let ran: CommandOutput = command.output().unwrap().into();
        if ran.code != 0 {
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
            return Err(ran);
        }
        let whose = query_text(
            &self.sandbox,
            "SELECT group_concat(session_id) FROM conversations WHERE status_text IS NOT NULL",
        );
        self.sandbox.open_database_with("UPDATE conversations SET status_text = NULL");
        Ok(whose.unwrap())
    }
}

#[test]
fn a_session_is_found_by_the_first_thing_that_leads_to_one() {
    let four = FourSessions::new();
    let rows: [(&str, EnvVariableList, TextList, &str); 10] = [
        // Named, in whole or by its beginning, whatever else there is.
        ("both", &[], &["--session", "b-three"], "b-three"),
        ("both", &[("CLAUDE_SESSION_ID", "aa-one")], &["--session", "b-t"], "b-three"),
        ("both", &[("CLAUDE_SESSION_ID", "unknown")], &["--session", "aa-t"], "aa-two"),
        // In the environment; the launcher's id first.
        ("alone", &[("CLAUDE_SESSION_ID", "aa-one")], &[], "aa-one"),
        ("alone", &[("CLAUDE_CODE_SESSION_ID", "aa-two")], &[], "aa-two"),
        ("alone", &[("CLAUDE_SESSION_ID", "aa-one"), ("CLAUDE_CODE_SESSION_ID", "aa-two")], &[], "aa-one"),
        ("alone", &[("CLAUDE_SESSION_ID", ""), ("CLAUDE_CODE_SESSION_ID", "aa-two")], &[], "aa-two"),
        // By the pane, which is another one on another server.
        ("alone", &[("TMUX_PANE", PANE), ("TMUX", "/aa-two.sock,9,9")], &[], "aa-two"),
        // By the project; a pane that is nobody's leads nowhere.
        ("alone", &[("TMUX_PANE", PANE), ("TMUX", "/other.sock,9,9")], &[], "b-three"),
        ("../project", &[], &[], "b-four"),
    ];
    for (directory, variables, args, expected) in rows {
        let whose = four.set_status_from(directory, variables, args);
        assert_eq!(whose.unwrap(), expected, "{directory} {variables:?} {args:?}");
    }
}

#[test]
fn where_none_or_several_are_found_it_says_which_there_are() {
    let four = FourSessions::new();
    const ALL: TextList = &["aa-one", "aa-two", "b-three", "b-four"];
    let rows: [(&str, EnvVariableList, TextList, &str, TextList); 8] = [
        ("both", &[], &[], "2 sessions are open in ", &["aa-one", "aa-two"]),
        ("both", &[("TMUX_PANE", PANE)], &[], "4 sessions are open in this tmux pane", ALL),
        ("../data", &[], &[], "no session is open in ", ALL),
        ("alone", &[], &["--session", "aa"], "2 session ids start with \"aa\"", &["aa-one", "aa-two"]),
        ("alone", &[], &["--session", "zz"], "no session id starts with \"zz\"", ALL),
        ("alone", &[], &["--session", ""], "the session id is empty", &[]),
        // What is not known is not passed over, although the project has a session.
        ("alone", &[("CLAUDE_SESSION_ID", "aa")], &[], "CLAUDE_SESSION_ID is \"aa\"", ALL),
        ("alone", &[("CLAUDE_CODE_SESSION_ID", "zz")], &[], "CLAUDE_CODE_SESSION_ID is \"zz\"", ALL),
    ];
    for (directory, variables, args, expected, named) in rows {
        let ran = four.set_status_from(directory, variables, args).unwrap_err();
        let case = format!("{directory} {variables:?} {args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(expected), "{case}");
        for name in named {
            assert!(ran.stderr.contains(&format!("{name} (")), "{case}");
        }
        let explicit = args.is_empty();
        assert_eq!(ran.stderr.contains("--session ID"), explicit, "{case}");
    }
}

#[test]
fn an_agent_is_known_by_its_process_however_many_shells_are_between() {
    let four = FourSessions::new();
    let sandbox = &four.sandbox;
    begin_session(sandbox, "ours", "both", &[]);
    let mut command = sandbox.shell("sh -c '\"$0\" \"$@\"; :' \"$0\" \"$@\"; :", &["session", "status", "at work"]);
    let ran: CommandOutput = command.output().unwrap().into();
    assert_eq!(ran.stdout, "The status of ours is now: at work\n", "{ran:?}");
}

#[test]
fn what_an_agent_starts_has_inherited_the_launchers_id_and_is_known_by_its_own() {
    let sandbox = CliSandbox::with_frozen_clock();
    let launched = LiveProcess::new();
    let pid = launched.pid().to_string();
    let launcher = ("CLAUDE_SESSION_ID", "launched");
    begin_session(&sandbox, "outer", "both", &[launcher, ("CLAUDE_PID", &pid)]);
    let ids = [launcher, ("CLAUDE_CODE_SESSION_ID", "outer")];
    let ran = run_snell_with_env(&sandbox, &ids, &["session", "status", "outside"]);
    assert_eq!(ran.stdout, "The status of launched is now: outside\n", "{ran:?}");
    sandbox.open_database_with("UPDATE agents SET state = 'processing'");
    begin_session(&sandbox, "inner", "both", &[launcher]);
    let ids = [launcher, ("CLAUDE_CODE_SESSION_ID", "inner")];
    let ran = run_snell_with_env(&sandbox, &ids, &["session", "status", "inside"]);
    assert_eq!(ran.stdout, "The status of inner is now: inside\n", "{ran:?}");
}

#[test]
fn before_anything_is_recorded_there_is_no_session_and_nothing_is_made() {
    let sandbox = CliSandbox::with_frozen_clock();
    let rows: [&[&str]; 5] = [
        &["session", "show"],
        &["session", "status", "at work"],
        &["session", "ping"],
        &["worker", "done", "build"],
        &["wake", "1"],
    ];
    for args in rows {
        let ran = sandbox.run_snell(args, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(" has been recorded yet"),
            "{args:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(std::fs::read_dir(sandbox.data()).unwrap().count(), 0);
}
