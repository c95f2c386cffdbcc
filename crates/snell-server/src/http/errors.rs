//! Errors at startup, and refused requests. Only [`HttpError`] picks status codes.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use snell::UserMessage;
use snell_store::StoreError;

use crate::http::listener::ServerOwner;
use crate::tokens::AccessRole;
pub(crate) use snell_store::format_error_chain;

/// Why a server cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another program uses the address.
    #[error("{address} is already in use")]
    AddressInUse {
        /// The address.
        address: SocketAddr,
    },
    /// Listening on the address failed.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Other machines can reach the address, and there is no token.
    #[error("{address} is reachable from other machines, so a token is required")]
    TokenRequired {
        /// The address.
        address: SocketAddr,
    },
    /// The token that reads is also the one that answers.
    #[error("the token and the answer token are equal")]
    SameTokens,
    /// The certificate or its key cannot be used.
    #[error("cannot use the certificate {} with the key {}: {why}", certificate.display(), key.display())]
    Tls {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of its key.
        key: PathBuf,
        /// Why.
        why: String,
    },
    /// A value of `--allow-host` is not a host name.
    #[error("\"{name}\" is not a host name")]
    NoHost {
        /// The value.
        name: String,
    },
    /// Another server uses the same data directory.
    #[error("another `snell serve` already uses {}{}", directory.display(), format_owner(owner.as_ref()))]
    AlreadyServed {
        /// The data directory.
        directory: PathBuf,
        /// That server, if it is known.
        owner: Option<ServerOwner>,
    },
    /// The unix socket cannot be created.
    #[error("cannot create the socket {}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The database cannot be used.
    #[error("cannot open the database {database}")]
    Store {
        /// The database, without a password.
        database: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The system refused a resource.
    #[error("cannot start {what}")]
    System {
        /// The resource.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl ServeError {
    /// A remedy for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::AddressInUse { .. } => {
                Some("end the program that uses it, such as another `snell serve`, or pass another --addr")
            }
            Self::TokenRequired { .. } => Some(
                "create a token with `snell token create`, or write one to a file and pass it with --token-file, or listen on 127.0.0.1",
            ),
            Self::SameTokens => Some("write another token to the file of --answer-token-file"),
            Self::NoHost { .. } => Some("write a name such as receiver.example.com, with or without a port"),
            Self::Tls { .. } => {
                Some("name PEM files that this user can read: the chain of certificates, and the key of the first")
            }
            Self::AlreadyServed { .. } => Some("end it first"),
            Self::Address { .. } | Self::Socket { .. } | Self::Store { .. } | Self::System { .. } => None,
        }
    }
}

/// The server that uses a directory, for the end of a message.
fn format_owner(owner: Option<&ServerOwner>) -> String {
    owner.map(|ServerOwner { pid, address }| format!(": process {pid} at http://{address}")).unwrap_or_default()
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HttpError {
    /// The request is wrong.
    BadRequest(UserMessage),
    /// The value of one parameter is wrong.
    BadValue { name: String, message: String },
    /// The token is missing or wrong.
    NoToken,
    /// The connection belongs to another user of this machine, and there is no token.
    OtherUser,
    /// The user of the connection is unknown, and there is no token.
    UnknownUser,
    /// The request comes from a page of another site.
    ForeignOrigin,
    /// The client may read, but not answer requests of agents.
    NoAnswerRight,
    /// The role of the client's token does not allow this.
    RoleTooLow { role: AccessRole },
    /// Only a token of the role `administer` may do this.
    NoAdministrator,
    /// A proxy named a person who has no role.
    NoRole { name: String },
    /// The client may not do this in this way.
    Forbidden(UserMessage),
    /// The request of an agent has an answer.
    AlreadyAnswered(UserMessage),
    /// The agent does not get this answer.
    AnswerNotDelivered(UserMessage),
    /// The request of an agent, or the link that answers it, has ended.
    RequestOver(UserMessage),
    /// The item does not exist.
    NotFound(UserMessage),
    /// No route has this path.
    UnknownPath(UserMessage),
    /// The route does not support the method.
    WrongMethod,
    /// The body did not arrive in time.
    BodyTimeout,
    /// The body is too large.
    BodyTooLarge { most: usize },
    /// The server does not read this encoding of a body.
    UnsupportedBody(UserMessage),
    /// The request line and headers are too large.
    HeadTooLarge { most: usize },
    /// The `Host` header does not name this server.
    WrongHost,
    /// The database can never store this event.
    StoreRejected(String),
    /// A temporary failure.
    Busy { why: String, retry_after: Duration },
    /// The server does not accept events.
    IngestDisabled,
}

/// The default value of `Retry-After`.
pub(crate) const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The value of `Retry-After` if the server does not accept events, which only a restart changes.
const DISABLED_RETRY_AFTER: Duration = Duration::from_secs(60);

#[derive(Serialize)]
struct HttpErrorBody<'a> {
    status: &'static str,
    message: &'a str,
}

impl HttpError {
    /// A wrong request.
    pub(crate) fn bad_request(message: impl Into<UserMessage>) -> Self {
        Self::BadRequest(message.into())
    }

    /// A temporary failure.
    pub(crate) fn busy(why: impl Into<String>) -> Self {
        Self::Busy { why: why.into(), retry_after: DEFAULT_RETRY_AFTER }
    }

    pub(crate) fn status_code(&self) -> StatusCode {
        self.describe().0
    }

    /// The message for the client.
    pub(crate) fn message(&self) -> UserMessage {
        self.describe().2
    }

    /// The reason for the log. It contains nothing of the request.
    pub(crate) fn log_reason(&self) -> &str {
        self.describe().1
    }

    /// The status, the reason for the log, and the message for the client.
    #[rustfmt::skip]
    fn describe(&self) -> (StatusCode, &str, UserMessage) {
        match self {
            Self::BadRequest(message) => (StatusCode::BAD_REQUEST, "bad request", message.clone()),
            Self::BadValue { message, .. } => (StatusCode::BAD_REQUEST, "bad request", message.into()),
            Self::NoToken => (StatusCode::UNAUTHORIZED, "missing or wrong token",
                UserMessage::new("a token is required").with_hint("send the header `Authorization: Bearer TOKEN`")),
            Self::OtherUser => (StatusCode::FORBIDDEN, "connection of another user",
                UserMessage::new("this server belongs to another user of this machine and has no token").with_hint(
                    "ask that user to start it with --token-file, then send the header `Authorization: Bearer TOKEN`")),
            Self::UnknownUser => (StatusCode::FORBIDDEN, "connection of an unknown user",
                UserMessage::new("this server has no token, and the user of this connection is unknown").with_hint(
                    "start the server with --token-file and send the header `Authorization: Bearer TOKEN`, or set \
                     unknown_senders = \"accept\" in [server] of snell.toml")),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, "request from another site",
                "requests from pages of other sites are not allowed".into()),
            Self::NoAnswerRight => (StatusCode::FORBIDDEN, "no right to answer",
                UserMessage::new("you may not answer requests of agents").with_hint(
                    "send the answer token; `snell serve --answer-token-file` sets it")),
            Self::RoleTooLow { role } => (StatusCode::FORBIDDEN, "role too low",
                UserMessage::new(format!("the role \"{role}\" does not allow this"))
                    .with_hint("ask for a token of another role; `snell token create` makes one on the server")),
            Self::NoAdministrator => (StatusCode::FORBIDDEN, "not an administrator",
                UserMessage::new("a token of the role \"administer\" is required")
                    .with_hint("run `snell token` on the server, or create such a token there")),
            Self::NoRole { name } => (StatusCode::FORBIDDEN, "person without a role",
                UserMessage::new(format!("\"{name}\" may not use this server"))
                    .with_hint("add the name to [server.roles] in snell.toml on the server")),
            Self::Forbidden(message) => (StatusCode::FORBIDDEN, "not allowed in this way", message.clone()),
            Self::AlreadyAnswered(message) => (StatusCode::CONFLICT, "already answered", message.clone()),
            Self::AnswerNotDelivered(message) => (StatusCode::CONFLICT, "answer not delivered", message.clone()),
            Self::RequestOver(message) => (StatusCode::GONE, "request is over", message.clone()),
            Self::NotFound(message) | Self::UnknownPath(message) => {
                (StatusCode::NOT_FOUND, "not found", message.clone())
            }
            Self::WrongMethod => (StatusCode::METHOD_NOT_ALLOWED, "method not allowed",
                UserMessage::new("this method is not allowed here").with_hint("use a method that the Allow header lists")),
            Self::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "body timeout",
                "the request body did not arrive in time".into()),
            Self::BodyTooLarge { most } => (StatusCode::PAYLOAD_TOO_LARGE, "body too large",
                format!("the request body is larger than {most} bytes").into()),
            Self::UnsupportedBody(message) => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported body", message.clone())
            }
            Self::HeadTooLarge { most } => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "head too large",
                format!("the request head is larger than {most} bytes").into()),
            Self::WrongHost => (StatusCode::MISDIRECTED_REQUEST, "wrong host name",
                UserMessage::new("the Host header does not name this server")
                    .with_hint("start the server with --allow-host NAME to accept another name")),
            // These reasons come from Snell and the database, not from the request.
            Self::StoreRejected(why) => {
                (StatusCode::UNPROCESSABLE_ENTITY, why, format!("cannot store the event: {why}").into())
            }
            Self::Busy { why, .. } => (StatusCode::SERVICE_UNAVAILABLE, why,
                UserMessage::new(why).with_hint("try again in a moment")),
            Self::IngestDisabled => (StatusCode::SERVICE_UNAVAILABLE, "events disabled",
                UserMessage::new("this server does not accept events").with_hint(
                    "set enabled = true in [server] of snell.toml and restart the server")),
        }
    }

    /// The value of `Retry-After`, if trying again may help.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after: again_in, .. } => Some(*again_in),
            Self::IngestDisabled => Some(DISABLED_RETRY_AFTER),
            _ => None,
        }
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(why) => Self::StoreRejected(why),
            StoreError::NoEvent(error) => Self::bad_request(error.to_string()),
            // A full disk, a lock or a missing file may be temporary.
            other => Self::busy(format_error_chain(&other)),
        }
    }
}

/// The error of a response, for the log and the error page. It is an extension of the response.
#[derive(Clone, Debug)]
pub(crate) struct AttachedHttpError(pub(crate) HttpError);

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let message = self.message().to_string();
        let mut answer = json_response(self.status_code(), &HttpErrorBody { status: "error", message: &message });
        answer.extensions_mut().insert(AttachedHttpError(self.clone()));
        let headers = answer.headers_mut();
        if self == Self::NoToken {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(again_in) = self.retry_after() {
            headers.insert(RETRY_AFTER, HeaderValue::from(again_in.as_secs().max(1)));
        }
        answer
    }
}

/// A JSON response.
pub(crate) fn json_response(status: StatusCode, value: &impl Serialize) -> Response {
    // These values have only string keys and finite numbers, so writing cannot fail.
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
