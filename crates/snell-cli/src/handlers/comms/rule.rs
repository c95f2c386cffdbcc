//! Who may be written to: the table of tags.

use snell::{Decision, MessageUse};

/// What a recipient is to the user, from the most to the least trusted: of several, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// A contact tagged `claude_direct`.
    Direct,
    /// A contact tagged `claude_draft` only.
    Draft,
    /// A contact without either tag.
    Untagged,
    /// Nobody the user knows.
    Unknown,
}

/// What is decided of a message to a recipient of this standing.
pub(super) fn ruling(what: MessageUse, standing: Standing) -> Decision {
    match (what, standing) {
        (MessageUse::Nothing, _) | (_, Standing::Direct) | (MessageUse::Drafts, Standing::Draft) => Decision::None,
        (MessageUse::Sends, Standing::Draft) => Decision::Ask,
        (MessageUse::Sends | MessageUse::Drafts, Standing::Untagged | Standing::Unknown) => Decision::Deny,
    }
}

/// What is decided of a message of which nobody can tell to whom it goes.
pub(super) fn ruling_without_recipient(what: MessageUse) -> Decision {
    match what {
        MessageUse::Sends => Decision::Deny,
        MessageUse::Drafts | MessageUse::Nothing => Decision::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_who_may_be_written_to() {
        let cases = [
            (Standing::Direct, Decision::None, Decision::None),
            (Standing::Draft, Decision::Ask, Decision::None),
            (Standing::Untagged, Decision::Deny, Decision::Deny),
            (Standing::Unknown, Decision::Deny, Decision::Deny),
        ];
        for (standing, sends, drafts) in cases {
            assert_eq!(ruling(MessageUse::Sends, standing), sends, "{standing:?}");
            assert_eq!(ruling(MessageUse::Drafts, standing), drafts, "{standing:?}");
            assert_eq!(ruling(MessageUse::Nothing, standing), Decision::None, "{standing:?}");
        }
        assert_eq!(ruling_without_recipient(MessageUse::Sends), Decision::Deny);
        assert_eq!(ruling_without_recipient(MessageUse::Drafts), Decision::None);
    }
}
