//! What tmux shows: every pane of the servers that agents sit in.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::process::Output;
use std::time::Duration;

use snell_store::{Pane, PaneServer};
use tokio::process::Command;

/// How long tmux may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// What tmux is to tell of each pane, on a line of its own. Parted by blanks: where nothing says that the terminal takes
/// UTF-8, as for a server that the system starts, tmux writes underscores in the place of tabs.
const FORMAT: &str = "#{pane_id} #{pane_dead} #{pane_current_command}";

/// What tmux says when there is no server at a socket.
const NOBODY_THERE: &[&str] = &["no server running", "error connecting to"];

/// Asks these servers for their panes; nothing stands for the one that tmux asks by itself. Those that do not answer are
/// left out.
pub(crate) async fn look(sockets: Vec<Option<String>>) -> Vec<PaneServer> {
    let mut servers = Vec::new();
    for socket in sockets {
        if let Some(panes) = panes(socket.as_deref()).await {
            servers.push(PaneServer { socket, panes });
        }
    }
    servers
}

async fn panes(socket: Option<&str>) -> Option<Vec<Pane>> {
    match socket.map(is_own) {
        Some(Ok(false)) => return None,
        // Where there is no socket there is no server, and none of its panes.
        Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Some(Vec::new()),
        Some(Err(_)) => return None,
        Some(Ok(true)) | None => {}
    }
    let mut tmux = Command::new("tmux");
    if let Some(socket) = socket {
        tmux.args(["-S", socket]);
    }
    tmux.args(["list-panes", "-a", "-F", FORMAT]).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, tmux.output()).await.ok()?.ok()?;
    understood(&output, socket.is_some())
}

/// Whether this is a socket of our own: whoever told of it may be anybody.
fn is_own(socket: &str) -> io::Result<bool> {
    let metadata = std::fs::metadata(socket)?;
    Ok(metadata.file_type().is_socket() && metadata.uid() == rustix::process::geteuid().as_raw())
}

fn understood(output: &Output, is_named: bool) -> Option<Vec<Pane>> {
    if output.status.success() {
        let lines = String::from_utf8_lossy(&output.stdout);
        // A line that is not understood may be a pane with an agent in it, so then nothing is known.
        return lines.lines().map(pane).collect();
    }
    // Which server it would be if none is named depends on who asks.
    let said = String::from_utf8_lossy(&output.stderr);
    let is_gone = is_named && NOBODY_THERE.iter().any(|start| said.starts_with(start));
    is_gone.then(Vec::new)
}

fn pane(line: &str) -> Option<Pane> {
    let mut fields = line.splitn(3, ' ');
    Some(Pane {
        id: fields.next().filter(|id| id.starts_with('%'))?.to_owned(),
        is_dead: fields.next()? == "1",
        command: fields.next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn output(code: i32, stdout: &str, stderr: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.into(),
            stderr: stderr.into(),
        }
    }

    #[test]
    fn panes_are_understood() {
        let said = output(0, "%0 0 claude\n%12 1 my agent\n%3 0 \n", "");
        let shown = |pane: Pane| format!("{} {} {}", pane.id, pane.is_dead, pane.command);
        let panes: Vec<_> = understood(&said, true).unwrap().into_iter().map(shown).collect();
        assert_eq!(panes, ["%0 false claude", "%12 true my agent", "%3 false "]);
    }

    #[test]
    fn where_one_pane_is_not_understood_nothing_is_known() {
        for said in ["%0 0 claude\n%1_0_claude\n", "%0\n", "\n%0 0 claude\n", "0 0 claude\n"] {
            assert_eq!(understood(&output(0, said, ""), true), None, "{said:?}");
        }
    }

    #[test]
    fn a_server_that_is_gone_has_no_panes_and_other_failures_say_nothing() {
        let rows = [
            ("no server running on /tmp/tmux-0/default", true, Some(0)),
            ("error connecting to /tmp/x (No such file or directory)", true, Some(0)),
            ("no server running on /tmp/tmux-0/default", false, None),
            ("unknown option -- F", true, None),
        ];
        for (said, is_named, expected) in rows {
            let panes = understood(&output(1, "", said), is_named);
            assert_eq!(panes.map(|panes| panes.len()), expected, "{said}");
        }
    }
}
