//! Parses addresses, and compares them.

/// Prefixes for a kind of address.
const SCHEMES: &[&str] = &["mailto:", "sms:", "tel:", "whatsapp:"];

/// WhatsApp ids of people are telephone numbers.
const WHATSAPP_PEOPLE: &[&str] = &["@s.whatsapp.net", "@c.us"];

/// A shorter number is not a telephone number.
const MIN_PHONE_DIGITS: usize = 5;

/// An address. Equal addresses have the same recipient.
///
/// Case is ignored for ASCII only: `K` (U+212A, the Kelvin sign) is not `k`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum MessageAddress {
    /// `ann@example.com`.
    Mail(String),
    /// Every mailbox of a domain: `*@example.com`. Only contacts have it.
    Domain(String),
    /// Its digits.
    Phone(String),
    /// `@ann`.
    Handle(String),
    /// `#team`.
    Channel(String),
    /// Any other address: a chat number, a name, or a handle or channel without its sign.
    Word(String),
}

impl MessageAddress {
    /// Parses one address without a display name. Nothing if it is empty.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = strip_scheme(text.trim()).to_ascii_lowercase();
        if let Some(digits) = WHATSAPP_PEOPLE.iter().find_map(|of| parse_phone_digits(text.strip_suffix(of)?)) {
            return Some(Self::Phone(digits));
        }
        if let Some(digits) = parse_phone_digits(&text) {
            return Some(Self::Phone(digits));
        }
        let signed = |sign: char| text.strip_prefix(sign).filter(|rest| !rest.is_empty());
        if let Some(handle) = signed('@') {
            return Some(Self::Handle(handle.to_owned()));
        }
        if let Some(channel) = signed('#') {
            return Some(Self::Channel(channel.to_owned()));
        }
        match split_mailbox(&text) {
            Some(_) => Some(Self::Mail(text)),
            None => Some(Self::Word(text)).filter(|word| *word != Self::Word(String::new())),
        }
    }

    /// Parses an address of a contact, which may be a whole domain.
    pub(super) fn parse_contact(text: &str) -> Option<Self> {
        let domain = strip_scheme(text.trim()).strip_prefix("*@");
        match domain.filter(|domain| split_mailbox(&format!("a@{domain}")).is_some() && !domain.contains('*')) {
            Some(domain) => Some(Self::Domain(domain.to_ascii_lowercase())),
            None => Self::parse(text),
        }
    }

    /// The addresses of contacts that match exactly this one.
    pub(super) fn equivalents(&self) -> Vec<Self> {
        match self {
            Self::Handle(name) | Self::Channel(name) => vec![self.clone(), Self::Word(name.clone())],
            Self::Word(name) => vec![self.clone(), Self::Handle(name.clone()), Self::Channel(name.clone())],
            Self::Mail(_) | Self::Phone(_) | Self::Domain(_) => vec![self.clone()],
        }
    }

    /// The domain of a mail address, for contacts with a whole domain.
    pub(super) fn mail_domain(&self) -> Option<Self> {
        let Self::Mail(mail) = self else {
            return None;
        };
        let (local, domain) = split_mailbox(mail)?;
        // A mailbox such as a%elsewhere@example.com asks its server to forward the mail.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-='&~".contains(c);
        local.chars().all(is_plain).then(|| Self::Domain(domain.to_owned()))
    }

    /// The address without its sign.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Mail(text)
            | Self::Domain(text)
            | Self::Phone(text)
            | Self::Handle(text)
            | Self::Channel(text)
            | Self::Word(text) => text,
        }
    }

    /// Its key in a contacts file.
    pub(super) fn contact_key(&self) -> &'static str {
        match self {
            Self::Mail(_) | Self::Domain(_) => "email",
            Self::Phone(_) => "phone",
            Self::Channel(_) => "channel",
            Self::Handle(_) | Self::Word(_) => "handle",
        }
    }
}

/// A name in lower case. A letter stays as it is if its lower case has a different upper case.
pub(super) fn fold_case(name: &str) -> String {
    let fold = |c: char| {
        let mut lower = c.to_lowercase();
        let single = lower.next().filter(|_| lower.next().is_none());
        single.filter(|single| single.to_uppercase().eq([c])).unwrap_or(c)
    };
    name.trim().chars().map(fold).collect()
}

/// The addresses in a text that may hold several, separated by `,`, `;` or line breaks, each perhaps with a display name.
pub(super) fn split_addresses(text: &str) -> impl Iterator<Item = &str> {
    split_pieces(text).flat_map(strip_display_name)
}

/// Whether a text is certainly an address in any field: a mail address, or an international telephone number. A shorter number
/// may be anything.
pub(super) fn is_evident_address(text: &str) -> bool {
    let bare = strip_scheme(text.trim());
    match MessageAddress::parse(text) {
        Some(MessageAddress::Mail(mail)) => {
            split_mailbox(&mail).is_some_and(|(local, domain)| is_host_name(domain) && !local.contains(['/', ':']))
        }
        Some(MessageAddress::Phone(digits)) => {
            let is_marked = bare.len() < text.trim().len() || bare.starts_with('+') || bare.contains('@');
            is_marked && (7..=15).contains(&digits.len())
        }
        _ => false,
    }
}

fn is_host_name(domain: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-.[]:".contains(c);
    domain.chars().all(is_part) && domain.trim_matches('.').contains(['.', '['])
}

fn strip_scheme(text: &str) -> &str {
    let strip = |scheme: &&str| {
        let (head, rest) = text.split_at_checked(scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| rest.trim())
    };
    SCHEMES.iter().find_map(strip).unwrap_or(text)
}

/// The local part and the domain of a mail address.
fn split_mailbox(text: &str) -> Option<(&str, &str)> {
    let (local, domain) = text.split_once('@')?;
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "@<>()\",;\\".contains(c);
    let is_side = |side: &str| !side.is_empty() && !side.contains(is_odd);
    (is_side(local) && is_side(domain)).then_some((local, domain))
}

/// The digits of a telephone number, without the international prefix.
fn parse_phone_digits(text: &str) -> Option<String> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '(');
    let rest = text.strip_prefix('+').unwrap_or(text);
    let is_digit_or_gap = |c: char| c.is_ascii_digit() || " -./()\u{a0}".contains(c);
    if !begins || !rest.chars().all(is_digit_or_gap) {
        return None;
    }
    let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
    let digits = match digits.strip_prefix("00") {
        Some(abroad) if !text.starts_with('+') => abroad.to_owned(),
        _ => digits,
    };
    (digits.len() >= MIN_PHONE_DIGITS).then_some(digits)
}

/// Parts between separators. A separator inside balanced quotes is part of a display name.
fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut all = QuoteTracker::default();
    text.chars().for_each(|c| all.advance(c));
    let is_balanced = !all.are_open;
    let mut quotes = QuoteTracker::default();
    let is_separator = move |c: char| {
        quotes.advance(c);
        let is_quoted = is_balanced && quotes.are_open;
        matches!(c, '\n' | '\r') || (matches!(c, ',' | ';') && !is_quoted)
    };
    let pieces = text.split(is_separator).map(str::trim);
    pieces.filter(|piece| !piece.is_empty())
}

/// Tracks quotation marks in a text.
#[derive(Debug, Default)]
struct QuoteTracker {
    are_open: bool,
    is_escaped: bool,
}

impl QuoteTracker {
    fn advance(&mut self, c: char) {
        let was_escaped = self.is_escaped;
        self.is_escaped = self.are_open && c == '\\' && !was_escaped;
        if c == '"' && !was_escaped {
            self.are_open = !self.are_open;
        }
    }
}

/// The address of `"Ann, A." <ann@example.com>`. A display name that looks like an address is returned too, because a careless
/// mail program would write to it. A text in another form stays whole, and matches no contact.
fn strip_display_name(piece: &str) -> Vec<&str> {
    let parts = piece.strip_suffix('>').and_then(|head| head.rsplit_once('<'));
    match parts {
        Some((name, address)) if name.contains('@') => vec![name.trim().trim_matches('"'), address.trim()],
        Some((name, address)) if !name.contains(['<', '>']) => vec![address.trim()],
        _ => vec![piece],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mail_address(text: &str) -> Option<MessageAddress> {
        Some(MessageAddress::Mail(text.into()))
    }

    fn phone_address(text: &str) -> Option<MessageAddress> {
        Some(MessageAddress::Phone(text.into()))
    }

    fn word_address(text: &str) -> Option<MessageAddress> {
        Some(MessageAddress::Word(text.into()))
    }

    #[test]
    fn addresses_are_read_by_their_form() {
        let cases = [
            ("Ann@Example.COM", mail_address("ann@example.com")),
            (" mailto:ann@example.com ", mail_address("ann@example.com")),
            ("MAILTO: ann@example.com", mail_address("ann@example.com")),
            ("ann+list@example.com", mail_address("ann+list@example.com")),
            ("mailto:ann@example.com?cc=eve@example.org", word_address("ann@example.com?cc=eve@example.org")),
            ("ann@example.com eve@example.org", word_address("ann@example.com eve@example.org")),
            ("ann@evil.example@example.com", word_address("ann@evil.example@example.com")),
            ("+49 (170) 123-4567", phone_address("491701234567")),
            ("0049 170 1234567", phone_address("491701234567")),
            ("491701234567", phone_address("491701234567")),
            ("+0049170", phone_address("0049170")),
            ("whatsapp:+491701234567", phone_address("491701234567")),
            ("491701234567@s.whatsapp.net", phone_address("491701234567")),
            ("491701234567@c.us", phone_address("491701234567")),
            ("12345-678@g.us", mail_address("12345-678@g.us")),
            ("-1001234567", word_address("-1001234567")),
            ("1234", word_address("1234")),
            ("@Ann", Some(MessageAddress::Handle("ann".into()))),
            ("@ann:example.org", Some(MessageAddress::Handle("ann:example.org".into()))),
            ("#Team", Some(MessageAddress::Channel("team".into()))),
            ("U012AB3CD", word_address("u012ab3cd")),
            ("*@example.com", mail_address("*@example.com")),
            ("@", word_address("@")),
            ("", None),
            ("  ", None),
            ("mailto:", None),
        ];
        for (text, expected) in cases {
            assert_eq!(MessageAddress::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn some_texts_are_addresses_wherever_they_stand() {
        let cases = [
            ("ann@example.com", true),
            ("mailto:ann@example.com", true),
            ("ann@[192.0.2.1]", true),
            ("+49 170 1234567", true),
            ("tel:0170 1234567", true),
            ("491701234567@s.whatsapp.net", true),
            ("12345", false),
            ("1712345678.123456", false),
            ("2024-01-01", false),
            ("https://ann@example.com/", false),
            ("image@sha256", false),
            ("ask ann@example.com", false),
            ("@ann", false),
            ("+1", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_evident_address(text), expected, "{text}");
        }
    }

    #[test]
    fn only_contacts_stand_for_a_domain() {
        let cases = [
            ("*@Example.com", Some(MessageAddress::Domain("example.com".into()))),
            ("*@*", mail_address("*@*")),
            ("*@", word_address("*@")),
            ("*", word_address("*")),
            ("ann@example.com", mail_address("ann@example.com")),
        ];
        for (text, expected) in cases {
            assert_eq!(MessageAddress::parse_contact(text), expected, "{text}");
        }
        let cases = [
            ("ann@example.com", Some("example.com")),
            ("ann@sub.example.com", Some("sub.example.com")),
            ("ann%evil.example@example.com", None),
            ("ann!x@example.com", None),
            ("*@example.com", None),
            ("@example.com", None),
        ];
        for (text, expected) in cases {
            let domain = MessageAddress::parse(text).unwrap().mail_domain();
            assert_eq!(domain, expected.map(|domain| MessageAddress::Domain(domain.into())), "{text}");
        }
    }

    #[test]
    fn letters_that_only_look_alike_are_others() {
        let cases = [
            ("ann@example.com", "\u{430}nn@example.com"),
            ("ken@example.com", "\u{212a}en@example.com"),
            ("ann@example.com", "ann@examp\u{217c}e.com"),
            ("ann@example.com", "a\u{200b}nn@example.com"),
            ("ann@example.com", "ann\u{ff20}example.com"),
            ("+491701234567", "+49170123456\u{ff17}"),
        ];
        for (real, false_one) in cases {
            assert_ne!(MessageAddress::parse(real), MessageAddress::parse(false_one), "{false_one}");
        }
        assert_eq!(fold_case("Änne KEN"), fold_case("ÄNNE Ken"));
        assert_ne!(fold_case("Ken"), fold_case("\u{212a}en"));
        assert_ne!(fold_case("Ann"), fold_case("\u{410}nn"));
    }

    #[test]
    fn texts_with_several_addresses_are_taken_apart() {
        let cases: &[(&str, &[&str])] = &[
            ("ann@example.com", &["ann@example.com"]),
            ("a@x.org, b@x.org; c@x.org", &["a@x.org", "b@x.org", "c@x.org"]),
            ("a@x.org\r\nBcc: eve@x.org", &["a@x.org", "Bcc: eve@x.org"]),
            ("\"Ann, A.\" <ann@example.com>, Bob <bob@x.org>", &["ann@example.com", "bob@x.org"]),
            ("\"A \\\" , B\" <ann@example.com>", &["ann@example.com"]),
            ("<ann@example.com>", &["ann@example.com"]),
            ("ann@example.com <eve@x.org>", &["ann@example.com", "eve@x.org"]),
            ("\"eve@x.org\" <ann@example.com>", &["eve@x.org", "ann@example.com"]),
            ("<ann@example.com> eve@x.org", &["<ann@example.com> eve@x.org"]),
            ("a<b> <ann@example.com>", &["a<b> <ann@example.com>"]),
            ("\"Ann, eve@x.org <ann@example.com>", &["\"Ann", "eve@x.org", "ann@example.com"]),
            (" , ; ", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(split_addresses(text).collect::<Vec<_>>(), *expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[a@<>"\\,;+0 #*%\PC]{0,40}"#) {
            for piece in split_addresses(&text) {
                let address = MessageAddress::parse(piece);
                MessageAddress::parse_contact(piece);
                address.map(|address| (address.equivalents(), address.mail_domain()));
            }
            fold_case(&text);
        }

        #[test]
        fn every_mailbox_in_a_text_is_found(before in r#"[a-z<>", ;]{0,12}"#, after in r#"[a-z<>", ;]{0,12}"#) {
            // Wherever a foreign address stands, something that is not the known one is addressed.
            let text = format!("{before} eve@x.org {after}, ann@example.com");
            let known = MessageAddress::parse("ann@example.com");
            prop_assert!(split_addresses(&text).any(|piece| MessageAddress::parse(piece) != known));
        }
    }
}
