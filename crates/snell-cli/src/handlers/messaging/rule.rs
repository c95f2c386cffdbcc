//! The decision by the tags of a contact.

use snell::{Decision, MessageUse};

/// The trust in a recipient, from the most to the least. Of several entries, the greatest applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ContactStanding {
    /// A contact tagged `claude_direct`.
    Direct,
    /// A contact tagged `claude_draft` only.
    Draft,
    /// A contact without either tag.
    Untagged,
    /// Not in the contacts file.
    Unknown,
}

/// Decides about a message to a recipient of this standing.
pub(super) fn decide_message(what: MessageUse, standing: ContactStanding) -> Decision {
    match (what, standing) {
        (MessageUse::Nothing, _) | (_, ContactStanding::Direct) | (MessageUse::Drafts, ContactStanding::Draft) => {
            Decision::None
        }
        (MessageUse::Sends, ContactStanding::Draft) => Decision::Ask,
        (MessageUse::Sends | MessageUse::Drafts, ContactStanding::Untagged | ContactStanding::Unknown) => {
            Decision::Deny
        }
    }
}

/// Decides about a message without any recipient.
pub(super) fn decide_without_recipient(what: MessageUse) -> Decision {
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
            (ContactStanding::Direct, Decision::None, Decision::None),
            (ContactStanding::Draft, Decision::Ask, Decision::None),
            (ContactStanding::Untagged, Decision::Deny, Decision::Deny),
            (ContactStanding::Unknown, Decision::Deny, Decision::Deny),
        ];
        for (standing, sends, drafts) in cases {
            assert_eq!(decide_message(MessageUse::Sends, standing), sends, "{standing:?}");
            assert_eq!(decide_message(MessageUse::Drafts, standing), drafts, "{standing:?}");
            assert_eq!(decide_message(MessageUse::Nothing, standing), Decision::None, "{standing:?}");
        }
        assert_eq!(decide_without_recipient(MessageUse::Sends), Decision::Deny);
        assert_eq!(decide_without_recipient(MessageUse::Drafts), Decision::None);
    }
}
