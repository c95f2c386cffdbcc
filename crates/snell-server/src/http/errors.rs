//! Why a server cannot start, and why a request is refused. The second is the only place that picks status codes.

use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use snell_store::StoreError;
pub(crate) use snell_store::format_error_chain;

/// Why a server cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Somebody else has the address.
    #[error(
        "{address} is in use, perhaps by another `snell serve`; end that one, or listen elsewhere: --addr 127.0.0.1:0"
    )]
    AddressInUse {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others could reach the server, and nothing says who may.
    #[error(
        "{address} can be reached by others, so a token is required: write one to a file that only you can read, and name \
         it with --token-file; or listen on 127.0.0.1"
    )]
    TokenRequired {
        /// The address.
        address: SocketAddr,
    },
    /// What is allowed as a host is none.
    #[error(
        "\"{name}\" names no host; write a name such as receiver.example.com, perhaps with a port, and nothing else"
    )]
    NoHost {
        /// What was written.
        name: String,
    },
    /// Another server serves the same directory.
    #[error("another `snell serve` is running for {}; end it first", directory.display())]
    AlreadyServed {
        /// Where both keep what they record.
        directory: PathBuf,
    },
    /// The unix socket cannot be made.
    #[error("cannot make the socket {}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The database cannot be used.
    #[error("cannot use the database {}", path.display())]
    Store {
        /// The database.
        path: PathBuf,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// Something that the system did not give.
    #[error("cannot start {what}")]
    System {
        /// What.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HttpError {
    /// What was sent is wrong; the text says what, and what to send instead.
    BadRequest(String),
    /// The value of one parameter is wrong.
    BadValue { name: String, message: String },
    /// It does not show the token.
    NoToken,
    /// The connection belongs to another user of this machine, and there is no token.
    OtherUser,
    /// The user of the connection is not known, and there is no token.
    UnknownUser,
    /// It comes from somebody else's page.
    ForeignOrigin,
    /// There is no such thing.
    NotFound(String),
    /// Nothing ever stands at this address.
    UnknownPath(String),
    /// There is, but it cannot be done to it.
    WrongMethod,
    /// The body did not come in time.
    BodyTimeout,
    /// The body is too large.
    BodyTooLarge { most: usize },
    /// The head is too large.
    HeadTooLarge { most: usize },
    /// It calls the server by a name that is not its own.
    WrongHost,
    /// The database does not take it, and will not.
    StoreRejected(String),
    /// It cannot be done now.
    Busy { why: String, retry_after: Duration },
    /// It is switched off.
    IngestDisabled,
}

/// How long somebody should wait before coming again, when nothing better is known.
pub(crate) const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);

/// When to come again to a server that takes no events: somebody has to start it anew for that.
const DISABLED_RETRY_AFTER: Duration = Duration::from_secs(60);

#[derive(Serialize)]
struct HttpErrorBody<'a> {
    status: &'static str,
    message: &'a str,
}

impl HttpError {
    /// Something that is wrong with what was sent.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::BadRequest(message.into())
    }

    /// Something that cannot be done now.
    pub(crate) fn busy(why: impl Into<String>) -> Self {
        Self::Busy { why: why.into(), retry_after: DEFAULT_RETRY_AFTER }
    }

    pub(crate) fn status_code(&self) -> StatusCode {
        self.describe().0
    }

    /// What whoever sent the request is told.
    pub(crate) fn message(&self) -> String {
        self.describe().2.into_owned()
    }

    /// What the log says of it. What was sent is not in it.
    pub(crate) fn log_reason(&self) -> &str {
        self.describe().1
    }

    /// The status, the reason for the log, and the message for whoever sent the request.
    #[rustfmt::skip]
    fn describe(&self) -> (StatusCode, &str, Cow<'_, str>) {
        match self {
            Self::BadRequest(message) | Self::BadValue { message, .. } => {
                (StatusCode::BAD_REQUEST, "what was sent is wrong", message.into())
            }
            Self::NoToken => (StatusCode::UNAUTHORIZED, "the token is missing or wrong",
                "a token is required; send it as: Authorization: Bearer TOKEN".into()),
            Self::OtherUser => (StatusCode::FORBIDDEN, "the connection belongs to another user",
                "this server belongs to another user of this machine, and has no token; ask its owner to start it with \
                 --token-file, then send the token as: Authorization: Bearer TOKEN".into()),
            Self::UnknownUser => (StatusCode::FORBIDDEN, "the user of the connection is not known",
                "the user of this connection is not known, and this server has no token; start it with --token-file and \
                 send the token as: Authorization: Bearer TOKEN, or set unknown_senders = \"accept\" in [server] of \
                 snell.toml".into()),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, "it comes from another page",
                "requests of other pages are refused".into()),
            Self::NotFound(message) | Self::UnknownPath(message) => {
                (StatusCode::NOT_FOUND, "there is no such thing", message.into())
            }
            Self::WrongMethod => (StatusCode::METHOD_NOT_ALLOWED, "the method is not allowed there",
                "the method is not allowed here; the header Allow names those that are".into()),
            Self::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "the body did not come in time",
                "the body did not come in time".into()),
            Self::BodyTooLarge { most } => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large",
                format!("the body is larger than {most} bytes").into()),
            Self::HeadTooLarge { most } => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too large",
                format!("the head of the request is larger than {most} bytes").into()),
            Self::WrongHost => (StatusCode::MISDIRECTED_REQUEST, "it calls the server by another name",
                "the header Host does not name this server; start it with --allow-host NAME to serve other names".into()),
            // These reasons are words of our own and of the database.
            Self::StoreRejected(why) => {
                (StatusCode::UNPROCESSABLE_ENTITY, why, format!("the event cannot be stored: {why}").into())
            }
            Self::Busy { why, .. } => (StatusCode::SERVICE_UNAVAILABLE, why, format!("{why}; try again shortly").into()),
            Self::IngestDisabled => (StatusCode::SERVICE_UNAVAILABLE, "taking hook events is switched off",
                "taking hook events is switched off (enabled = false in [server])".into()),
        }
    }

    /// When to come again, if that may help.
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
            StoreError::NoEvent(error) => Self::BadRequest(error.to_string()),
            // A full disk, a lock, a file that is gone: all of that may pass.
            other => Self::busy(format_error_chain(&other)),
        }
    }
}

/// Why a request was refused, for the log and for those who look at a page. It travels with the answer.
#[derive(Clone, Debug)]
pub(crate) struct AttachedHttpError(pub(crate) HttpError);

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let message = self.message();
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

/// An answer in JSON.
pub(crate) fn json_response(status: StatusCode, value: &impl Serialize) -> Response {
    // What we answer with are maps with names as keys and numbers that are numbers: they can be written.
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
