//! Types a line into a pane.

use super::{TmuxError, TmuxPaneDetails, TmuxServer};

impl TmuxServer {
    /// Types a line into this pane and presses Enter. Ends copy mode first.
    ///
    /// # Errors
    ///
    /// If tmux fails.
    pub async fn type_line(&self, pane: &TmuxPaneDetails, text: &str) -> Result<(), TmuxError> {
        let id = pane.pane.id.as_str();
        if pane.is_in_mode {
            // The first command ends any mode; older versions of tmux have only the second.
            if self.run_command(&["copy-mode", "-q", "-t", id]).await.is_err() {
                self.run_command(&["send-keys", "-t", id, "-X", "cancel"]).await?;
            }
        }
        self.type_text(pane, text).await?;
        // Enter is sent separately, because programs treat a line with its end as pasted text.
        self.press_enter(pane).await
    }

    /// Types a text into this pane, without Enter.
    pub(crate) async fn type_text(&self, pane: &TmuxPaneDetails, text: &str) -> Result<(), TmuxError> {
        self.run_command(&["send-keys", "-t", &pane.pane.id, "-l", "--", &to_send_keys_argument(text)]).await.map(drop)
    }

    /// Presses Enter in this pane.
    pub(crate) async fn press_enter(&self, pane: &TmuxPaneDetails) -> Result<(), TmuxError> {
        self.run_command(&["send-keys", "-t", &pane.pane.id, "Enter"]).await.map(drop)
    }

    /// The text that this pane shows.
    pub(crate) async fn read_screen(&self, pane: &TmuxPaneDetails) -> Result<String, TmuxError> {
        self.run_command(&["capture-pane", "-p", "-t", &pane.pane.id]).await
    }
}

/// An argument of `send-keys`: on one line, with an escaped semicolon at the end, which would end the command.
fn to_send_keys_argument(text: &str) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.ends_with(';') {
        line.insert(line.len() - 1, '\\');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_the_command_or_the_line() {
        let rows = [
            ("[SYS]: done", "[SYS]: done"),
            ("one\ntwo\r\u{1b}[A", "one two  [A"),
            ("one; two;", "one; two\\;"),
            ("\\;", "\\\\;"),
            (";", "\\;"),
        ];
        for (text, expected) in rows {
            assert_eq!(to_send_keys_argument(text), expected, "{text:?}");
        }
    }
}
