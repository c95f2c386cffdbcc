//! Whether the user sees a pane.

use super::{TmuxError, TmuxServer};

/// A pane and its place, separated by spaces.
const PLACE_FORMAT: &str = "#{pane_id} #{pane_active} #{window_active} #{session_id}";

/// A client's session, whether tmux asks terminals for their focus, and the client's flags.
const CLIENT_FORMAT: &str = "#{session_id} #{focus-events} #{client_flags}";

impl TmuxServer {
    /// Whether this pane is the active one of the active window of a client whose terminal has the focus. Without the option
    /// `focus-events`, tmux does not know the focus, and the answer is no.
    ///
    /// # Errors
    ///
    /// If tmux fails.
    pub async fn is_pane_in_front(&self, pane: &str) -> Result<bool, TmuxError> {
        let panes = self.run_command(&["list-panes", "-a", "-F", PLACE_FORMAT]).await?;
        let sessions = find_showing_sessions(&panes, pane);
        if sessions.is_empty() {
            return Ok(false);
        }
        let clients = self.run_command(&["list-clients", "-F", CLIENT_FORMAT]).await?;
        Ok(clients.lines().any(|client| is_focused_client(client, &sessions)))
    }
}

/// The sessions whose current window shows this pane as the active one.
fn find_showing_sessions<'a>(panes: &'a str, pane: &str) -> Vec<&'a str> {
    let places = panes.lines().map(|line| line.splitn(4, ' ').collect::<Vec<_>>());
    let showing = places.filter_map(|place| match place[..] {
        [id, "1", "1", session] if id == pane => Some(session),
        _ => None,
    });
    showing.collect()
}

fn is_focused_client(client: &str, sessions: &[&str]) -> bool {
    let mut fields = client.splitn(3, ' ');
    let session = fields.next().unwrap_or_default();
    let knows_focus = matches!(fields.next(), Some("on" | "1"));
    let mut flags = fields.next().unwrap_or_default().split(',');
    sessions.contains(&session) && knows_focus && flags.any(|flag| flag == "focused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_in_front_if_a_focused_client_shows_it() {
        let panes = "%1 1 1 $0\n%2 0 1 $0\n%3 1 0 $0\n%1 1 1 $4\n";
        let cases = [
            ("%1", "$0 on attached,focused,UTF-8", true),
            ("%1", "$4 1 attached,focused", true),
            ("%1", "$0 off attached,focused", false),
            ("%1", "$0 on attached,UTF-8", false),
            ("%1", "$7 on attached,focused", false),
            ("%1", "$0 on ", false),
            ("%2", "$0 on attached,focused", false),
            ("%3", "$0 on attached,focused", false),
            ("%9", "$0 on attached,focused", false),
        ];
        for (pane, client, expected) in cases {
            let found = is_focused_client(client, &find_showing_sessions(panes, pane));
            assert_eq!(found, expected, "{pane}: {client}");
        }
    }
}
