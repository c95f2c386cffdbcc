//! Lists the panes of the tmux servers in which agents run.

use std::time::Duration;

use snell_store::{TmuxPane, TmuxServerPanes};

use super::{TmuxError, TmuxPaneDetails, TmuxServer};

/// The time limit per server when many are queried.
const PER_SERVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The fields of a pane, one pane per line, separated by spaces: without a UTF-8 locale, tmux replaces tabs with
/// underscores.
const PANE_FORMAT: &str = "#{pane_id} #{pane_dead} #{pane_pid} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} \
    #{pane_current_command}";

/// Lists the panes of these servers; `None` is the default of tmux. Servers that do not answer are skipped.
pub(crate) async fn query_pane_servers(sockets: Vec<Option<String>>) -> Vec<TmuxServerPanes> {
    let mut servers = Vec::new();
    for socket in sockets {
        let listed = TmuxServer::new(socket.clone()).with_timeout(PER_SERVER_TIMEOUT).list_panes().await;
        if let Some(panes) = interpret_panes(listed) {
            servers.push(TmuxServerPanes { socket, panes });
        }
    }
    servers
}

/// The panes of a server; `None` if they are unknown.
fn interpret_panes(listed: Result<Vec<TmuxPaneDetails>, TmuxError>) -> Option<Vec<TmuxPane>> {
    match listed {
        Ok(panes) => Some(panes.into_iter().map(|pane| pane.pane).collect()),
        // A missing server has no panes. Without a socket it is not clear which server is missing.
        Err(TmuxError::NoServer { socket: Some(_) }) => Some(Vec::new()),
        Err(_) => None,
    }
}

impl TmuxServer {
    /// All panes of the server.
    ///
    /// # Errors
    ///
    /// If tmux fails or prints something unexpected.
    pub async fn list_panes(&self) -> Result<Vec<TmuxPaneDetails>, TmuxError> {
        let lines = self.run_command(&["list-panes", "-a", "-F", PANE_FORMAT]).await?;
        // An invalid line may be a pane with an agent, so all panes are unknown then.
        lines.lines().map(parse_pane).collect()
    }
}

fn parse_pane(line: &str) -> Result<TmuxPaneDetails, TmuxError> {
    let unexpected = || TmuxError::UnexpectedReply(format!("unexpected line {line:?}"));
    let fields: Vec<_> = line.splitn(7, ' ').collect();
    let [id, is_dead, pid, modes, is_synchronized, takes_no_input, command] = fields[..] else {
        return Err(unexpected());
    };
    if !id.starts_with('%') {
        return Err(unexpected());
    }
    Ok(TmuxPaneDetails {
        pane: TmuxPane { id: id.to_owned(), is_dead: is_dead == "1", command: command.to_owned() },
        pid: pid.parse().ok().filter(|pid| *pid > 0),
        // The field is the number of modes.
        is_in_mode: !matches!(modes, "" | "0"),
        is_synchronized: is_synchronized == "1",
        takes_no_input: takes_no_input == "1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{ExitStatus, Output};

    fn parse_answer(
        code: i32,
        stdout: &str,
        stderr: &str,
        socket: Option<&str>,
    ) -> Result<Vec<TmuxPaneDetails>, TmuxError> {
        let output = Output { status: ExitStatus::from_raw(code << 8), stdout: stdout.into(), stderr: stderr.into() };
        let lines = TmuxServer::new(socket.map(str::to_owned)).parse_output(&output)?;
        lines.lines().map(parse_pane).collect()
    }

    #[test]
    fn panes_are_parsed() {
        let stdout = "%0 0 12 0 0 0 claude\n%12 1 0 2 1 1 my agent\n%3 0 7    \n";
        let shown = |pane: TmuxPaneDetails| {
            let TmuxPaneDetails { pane, pid, .. } = &pane;
            format!("{} {} {} {pid:?}", pane.id, pane.is_dead, pane.command)
        };
        let panes = parse_answer(0, stdout, "", Some("/s")).unwrap();
        let flags: Vec<_> =
            panes.iter().map(|pane| (pane.is_in_mode, pane.is_synchronized, pane.takes_no_input)).collect();
        assert_eq!(flags, [(false, false, false), (true, true, true), (false, false, false)]);
        let panes: Vec<_> = panes.into_iter().map(shown).collect();
        assert_eq!(panes, ["%0 false claude Some(12)", "%12 true my agent None", "%3 false  Some(7)"]);
    }

    #[test]
    fn one_invalid_line_makes_all_panes_unknown() {
        let rows =
            ["%0 0 1 0 0 0 claude\n%1_0_1_0_0_0_claude\n", "%0\n", "\n%0 0 1 0 0 0 claude\n", "0 0 1 0 0 0 claude\n"];
        for stdout in rows {
            assert_eq!(interpret_panes(parse_answer(0, stdout, "", Some("/s"))), None, "{stdout:?}");
        }
    }

    #[test]
    fn a_missing_server_has_no_panes_and_other_failures_are_unknown() {
        let rows = [
            ("no server running on /tmp/tmux-0/default", Some("/s"), Some(0)),
            ("error connecting to /tmp/x (No such file or directory)", Some("/s"), Some(0)),
            ("no server running on /tmp/tmux-0/default", None, None),
            ("unknown option -- F", Some("/s"), None),
        ];
        for (stderr, socket, expected) in rows {
            let panes = interpret_panes(parse_answer(1, "", stderr, socket));
            assert_eq!(panes.map(|panes| panes.len()), expected, "{stderr}");
        }
    }
}
