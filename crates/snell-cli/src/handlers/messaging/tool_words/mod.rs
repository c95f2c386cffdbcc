//! The words of which names of tools are made.

/// What a verb does, as far as messages are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolVerb {
    /// What it is done with leaves the house.
    Sends,
    /// It makes something, which in a messenger is sent as it is made.
    Creates,
    /// It looks at things, or tidies them up.
    DoesNotSend,
}

const SEND_VERBS: &[&str] = &[
    "send",
    "sends",
    "resend",
    "post",
    "reply",
    "respond",
    "forward",
    "schedule",
    "broadcast",
    "deliver",
    "dispatch",
    "announce",
    "blast",
    "relay",
    "say",
    "transmit",
    "whisper",
];

const CREATE_VERBS: &[&str] = &[
    "add", "compose", "create", "edit", "enqueue", "execute", "make", "new", "notify", "publish", "push", "put",
    "queue", "share", "start", "submit", "trigger", "update", "upload", "write",
];

const NON_SENDING_VERBS: &[&str] = &[
    "analyze",
    "archive",
    "assign",
    "block",
    "cancel",
    "check",
    "close",
    "configure",
    "convert",
    "copy",
    "count",
    "delete",
    "describe",
    "disable",
    "download",
    "enable",
    "export",
    "fetch",
    "find",
    "get",
    "has",
    "import",
    "is",
    "join",
    "label",
    "leave",
    "list",
    "lookup",
    "mark",
    "modify",
    "move",
    "mute",
    "open",
    "pin",
    "preview",
    "query",
    "react",
    "read",
    "recall",
    "remove",
    "resolve",
    "retrieve",
    "search",
    "set",
    "show",
    "star",
    "subscribe",
    "summarize",
    "sync",
    "tag",
    "trash",
    "undo",
    "unpin",
    "unschedule",
    "unsend",
    "unsubscribe",
    "validate",
    "verify",
    "view",
    "wait",
    "watch",
];

/// What may stand before `send_email` without making anything else of it: `list_send_email` does send. These do.
pub(super) const SEND_NEGATING_VERBS: &[&str] =
    &["cancel", "check", "configure", "disable", "enable", "preview", "recall", "undo", "validate", "verify"];

/// Words at the end of a name that asks about something rather than doing it: `send_sms_permission_check`.
pub(super) const QUERY_SUFFIXES: &[&str] = &[
    "check",
    "config",
    "configuration",
    "history",
    "permission",
    "permissions",
    "quota",
    "schema",
    "setting",
    "settings",
    "statistics",
    "stats",
];

/// What is sent to people, wherever it is sent from.
pub(super) const MESSAGE_NOUNS: &[&str] = &[
    "campaign",
    "chat",
    "dm",
    "dms",
    "email",
    "emails",
    "fax",
    "gmail",
    "im",
    "imessage",
    "mail",
    "mails",
    "message",
    "messages",
    "mms",
    "msg",
    "newsletter",
    "pm",
    "sms",
    "whatsapp",
];

/// Those of which programs have some as well.
pub(super) const PROGRAM_MESSAGE_NOUNS: &[&str] = &["campaign", "chat", "im", "message", "messages", "msg", "pm"];

/// What a tool of a messenger does whose name only says this: `slack__dm`.
pub(super) const BARE_MESSAGE_NOUNS: &[&str] = &["dm", "email", "mail", "message", "mms", "msg", "reply", "sms"];

/// What else such a name may say.
pub(super) const MESSAGE_QUALIFIERS: &[&str] =
    &["chat", "direct", "group", "im", "me", "new", "private", "quick", "text"];

/// What is a message as soon as it is made in a messenger.
pub(super) const CREATED_MESSAGE_NOUNS: &[&str] =
    &["dm", "email", "emails", "mail", "message", "messages", "mms", "msg", "reply", "sms"];

/// Other things of a messenger that are seen by people once this is done with them.
pub(super) const VISIBLE_ACTIONS: &[(&str, &str)] = &[
    ("create", "broadcast"),
    ("create", "notification"),
    ("create", "push"),
    ("execute", "webhook"),
    ("push", "link"),
    ("push", "note"),
    ("push", "notification"),
    ("push", "text"),
    ("start", "thread"),
    ("trigger", "notification"),
    ("trigger", "webhook"),
    ("update", "chat"),
    ("write", "text"),
];

/// What people see as soon as it is put into a messenger.
pub(super) const VISIBLE_NOUNS: &[&str] = &["file", "files", "poll", "post"];

/// What a messenger also sends or schedules, and what is no message.
pub(super) const NON_MESSAGE_NOUNS: &[&str] =
    &["appointment", "calendar", "event", "meeting", "presence", "receipt", "task", "typing"];

/// Services whose names mean nothing else.
pub(super) const MESSENGER_NAMES: &[&str] = &[
    "agentmail",
    "apprise",
    "beeper",
    "bluebubbles",
    "brevo",
    "chatwoot",
    "clicksend",
    "conversations",
    "customerio",
    "dingtalk",
    "discord",
    "facebookmessenger",
    "fastmail",
    "feishu",
    "gchat",
    "gmail",
    "googlechat",
    "gotify",
    "helpscout",
    "imessage",
    "infobip",
    "intercom",
    "irc",
    "kakaotalk",
    "keybase",
    "klaviyo",
    "larksuite",
    "mailchimp",
    "mailersend",
    "mailgun",
    "mailjet",
    "mailtrap",
    "mandrill",
    "mattermost",
    "messagebird",
    "nexmo",
    "nodemailer",
    "ntfy",
    "onesignal",
    "outlook",
    "plivo",
    "postmark",
    "protonmail",
    "pushbullet",
    "pushover",
    "rocketchat",
    "sendgrid",
    "sendinblue",
    "sinch",
    "skype",
    "slack",
    "sparkpost",
    "superhuman",
    "telegram",
    "telnyx",
    "textmagic",
    "threema",
    "twilio",
    "viber",
    "vonage",
    "webex",
    "wechat",
    "wecom",
    "whatsapp",
    "xmpp",
    "zalo",
    "zulip",
];

/// What a server is called that sends mail or short messages, whatever else its name says.
pub(super) const MAIL_SERVERS: &[&str] = &["email", "imap", "mail", "mailer", "messenger", "sendmail", "smtp", "sms"];

/// Services whose names are words as well. A server's name is the service's if it says little else.
pub(super) const AMBIGUOUS_MESSENGER_NAMES: &[&str] = &[
    "courier", "element", "front", "knock", "lark", "line", "loops", "matrix", "messages", "resend", "signal", "teams",
    "wire",
];
/// What such a name may say beside it.
pub(super) const SERVER_FILLER_WORDS: &[&str] = &[
    "ai",
    "api",
    "app",
    "apple",
    "bot",
    "bridge",
    "business",
    "chat",
    "claude",
    "cli",
    "client",
    "cloud",
    "connector",
    "desktop",
    "integration",
    "local",
    "mcp",
    "microsoft",
    "ms",
    "my",
    "official",
    "personal",
    "plugin",
    "remote",
    "server",
    "service",
    "tools",
    "web",
    "work",
];

/// Where messages are kept after they came, so that to update one is to mark or to file it.
pub(super) const MAILBOX_NAMES: &[&str] =
    &["email", "emails", "exchange", "fastmail", "gmail", "imap", "mail", "outlook", "protonmail"];

/// Servers that have mail among much else, so that a draft of theirs is one of a message.
pub(super) const OFFICE_SUITES: &[&str] =
    &["365", "exchange", "gsuite", "m365", "ms365", "nylas", "o365", "office365", "workspace"];

/// Servers whose messages are for programs and machines.
pub(super) const PROGRAM_SERVERS: &[&str] = &[
    "agent",
    "agents",
    "a2a",
    "arduino",
    "ble",
    "bluetooth",
    "browser",
    "chrome",
    "dbus",
    "debugger",
    "emacs",
    "grpc",
    "ipc",
    "jupyter",
    "llm",
    "log",
    "logger",
    "logging",
    "logs",
    "midi",
    "minecraft",
    "modbus",
    "neovim",
    "nvim",
    "ollama",
    "openai",
    "osc",
    "playwright",
    "puppeteer",
    "robot",
    "ros",
    "serial",
    "socket",
    "subagent",
    "subagents",
    "tcp",
    "terminal",
    "tmux",
    "udp",
    "unity",
    "usb",
    "vim",
    "websocket",
    "activemq",
    "amqp",
    "eventhub",
    "kafka",
    "kinesis",
    "mqtt",
    "nats",
    "pubsub",
    "pulsar",
    "rabbitmq",
    "redis",
    "servicebus",
    "sqs",
    "zeromq",
];

/// Words in front of somebody who is then addressed: `message_user`.
pub(super) const ADDRESSING_NOUNS: &[&str] = &["dm", "email", "mail", "message", "sms", "text"];
/// Whom they then stand before.
pub(super) const ADDRESSEE_WORDS: &[&str] = &[
    "channel",
    "contact",
    "contacts",
    "customer",
    "customers",
    "everyone",
    "group",
    "lead",
    "member",
    "members",
    "people",
    "person",
    "someone",
    "subscribers",
    "team",
    "user",
    "users",
];

/// What joins two things that a tool does.
pub(super) const CONJUNCTIONS: &[&str] = &["and", "or", "then"];
/// What ends that which is made.
pub(super) const PREPOSITIONS: &[&str] = &["as", "by", "for", "from", "in", "into", "of", "on", "to", "via", "with"];

/// What a word does, if it is a verb that is known.
pub(super) fn classify_verb(word: &str) -> Option<ToolVerb> {
    [(SEND_VERBS, ToolVerb::Sends), (CREATE_VERBS, ToolVerb::Creates), (NON_SENDING_VERBS, ToolVerb::DoesNotSend)]
        .into_iter()
        .find(|(words, _)| words.contains(&word))
        .map(|(_, verb)| verb)
}

/// The words of a name, in lower case: `sendSMSTo`, `send-sms-to` and `SEND_SMS_TO` have the same.
pub(super) fn split_words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(|before| before.is_uppercase())
                    && after.is_some_and(|after| after.is_lowercase())));
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().flat_map(split_glued_verb).collect()
}

/// `sendmail` is two words.
fn split_glued_verb(word: String) -> Vec<String> {
    let glued = ["send", "post"].into_iter().find_map(|verb| {
        let rest = word.strip_prefix(verb)?;
        MESSAGE_NOUNS.contains(&rest).then(|| vec![verb.to_owned(), rest.to_owned()])
    });
    glued.unwrap_or_else(|| vec![word])
}

#[cfg(test)]
mod tests;
