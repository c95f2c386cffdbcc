//! A line that is typed into a pane, as its user would.

use super::{TmuxError, TmuxPaneDetails, TmuxServer};

impl TmuxServer {
    /// Types a line into this pane, and presses Enter. A pane that shows its history is made to listen first.
    ///
    /// # Errors
    ///
    /// When tmux does not do it.
    pub async fn type_line(&self, pane: &TmuxPaneDetails, text: &str) -> Result<(), TmuxError> {
        let id = pane.pane.id.as_str();
        if pane.is_in_mode {
            // The first ends whatever mode it is; earlier versions of tmux know only the second.
            if self.run_command(&["copy-mode", "-q", "-t", id]).await.is_err() {
                self.run_command(&["send-keys", "-t", id, "-X", "cancel"]).await?;
            }
        }
        self.run_command(&["send-keys", "-t", id, "-l", "--", &to_send_keys_argument(text)]).await?;
        // A key of its own: programs take a line that comes with its end for something that was pasted.
        self.run_command(&["send-keys", "-t", id, "Enter"]).await?;
        Ok(())
    }
}

/// A text as tmux takes it: on one line, and without a semicolon at its end, which would end the command.
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
