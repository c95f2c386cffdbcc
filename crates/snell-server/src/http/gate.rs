//! Access control. Pages of other sites can make a browser send requests here, but they cannot use this server's host
//! name, its origin or its token.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, Request, Uri};

use crate::answers::{AnswerRight, PersonProof};
use crate::http::connection_owner::ConnectionOwner;
use crate::http::errors::{HttpError, ServeError};
use crate::http::proxy_identity::TrustedHeader;
use crate::http::token::{AccessToken, SessionCookie};
use crate::settings::{ServeSettings, UnknownSenderPolicy};
use crate::tokens::{self, AccessRole, AccessTask, LiveTokens};

/// Host names that always mean this machine.
const LOOPBACK_NAMES: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Set by browsers: the relation of the requesting page to this server.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Headers that browsers send when the user follows a link to a page of its own. Frames, images, scripts and requests
/// of scripts have other values.
const LINK_NAVIGATION_HEADERS: [(&str, &[u8]); 2] = [("sec-fetch-mode", b"navigate"), ("sec-fetch-dest", b"document")];

/// How a request arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestTransport {
    /// Over TCP.
    Tcp {
        /// The local address of the connection.
        own: IpAddr,
        /// The address of the client.
        peer: IpAddr,
        /// The user of the client.
        owner: ConnectionOwner,
    },
    /// Through the unix socket, which only its owner can use.
    UnixSocket,
}

/// Whether the sender of a request is known to be the user who runs the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderIdentity {
    /// The request came through the unix socket, over a connection of this user, or with the token.
    Verified,
    /// The sender has a token of its own, and may be on another machine.
    Named,
    /// The sender may be any user of this machine.
    Unverified,
}

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteAccess {
    /// Everyone who can reach the server.
    Public,
    /// Everyone who can reach the server, but no pages of other sites.
    SameOrigin,
    /// Clients with the token, also through a link on another site, but no other requests of other sites.
    AuthenticatedNavigation,
    /// Clients with the token, but no pages of other sites.
    Authenticated,
    /// As [`Self::Authenticated`], for sending events.
    Sending,
    /// As [`Self::Authenticated`], for senders and readers.
    Probing,
    /// Reading: as [`Self::Authenticated`]. Other methods: clients that may answer requests, also those with a cookie,
    /// whose forms must prove that they are ours. No pages of other sites.
    Answering,
    /// Clients with a token of the role `administer` in a header.
    Administering,
    /// Everyone who can reach the server and has a signed link, also on another site, but no other requests of other
    /// sites.
    SignedLink,
}

impl RouteAccess {
    /// The task of a request, for clients with a role.
    fn task(self, is_reading: bool) -> AccessTask {
        match self {
            Self::Sending => AccessTask::Send,
            Self::Probing => AccessTask::Probe,
            Self::Administering => AccessTask::Administer,
            Self::Answering if !is_reading => AccessTask::Answer,
            Self::Public
            | Self::SameOrigin
            | Self::AuthenticatedNavigation
            | Self::Authenticated
            | Self::Answering
            | Self::SignedLink => AccessTask::Look,
        }
    }
}

/// The sender of a request that is admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AdmittedSender {
    pub(crate) identity: SenderIdentity,
    pub(crate) right: AnswerRight,
    /// The role of a person or a machine with a name.
    role: Option<AccessRole>,
}

impl AdmittedSender {
    const UNKNOWN: Self = Self { identity: SenderIdentity::Unverified, right: AnswerRight::None, role: None };

    const fn verified(right: AnswerRight) -> Self {
        Self { identity: SenderIdentity::Verified, right, role: None }
    }

    fn named(name: &str, role: AccessRole, proof: PersonProof) -> Self {
        let may_answer = role.allows(AccessTask::Answer);
        let person = AnswerRight::Person { name: name.to_owned(), proof };
        let right = if may_answer { person } else { AnswerRight::None };
        Self { identity: SenderIdentity::Named, right, role: Some(role) }
    }
}

/// Headers of proxies. The connection of a proxy says nothing about its client.
const PROXY_HEADERS: &[&str] = &["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/// Checks the host, the origin and the sender of each request.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The address of the listener.
    address: SocketAddr,
    /// Additional host names that the user allows, with or without a port.
    allowed: Vec<(String, Option<u16>)>,
    token: Option<(AccessToken, SessionCookie)>,
    answer_token: Option<(AccessToken, SessionCookie)>,
    named_tokens: Arc<LiveTokens>,
    trusted_header: Option<TrustedHeader>,
    unknown_senders: UnknownSenderPolicy,
}

impl Gate {
    pub(crate) fn new(
        address: SocketAddr,
        settings: &ServeSettings,
        named_tokens: Arc<LiveTokens>,
    ) -> Result<Self, ServeError> {
        let named = |host: &String| match parse_host(host) {
            Some((name, port)) => Ok((name.to_owned(), port)),
            None => Err(ServeError::NoHost { name: host.clone() }),
        };
        Ok(Self {
            address,
            allowed: settings.allow_hosts.iter().map(named).collect::<Result<_, _>>()?,
            token: settings.token.clone().map(with_cookie),
            answer_token: settings.answer_token.clone().map(with_cookie),
            named_tokens,
            trusted_header: settings.trusted_header.clone(),
            unknown_senders: settings.unknown_senders,
        })
    }

    /// Admits a request and returns whether its sender is known to be this user, or returns why the request is refused.
    pub(crate) fn admit<B>(
        &self,
        via: RequestTransport,
        request: &Request<B>,
        access: RouteAccess,
    ) -> Result<AdmittedSender, HttpError> {
        let headers = request.headers();
        let host = self.check_host(via, request.uri(), headers)?;
        match access {
            RouteAccess::Public => Ok(AdmittedSender::UNKNOWN),
            RouteAccess::SameOrigin | RouteAccess::SignedLink => {
                self.refuse_foreign_origin(host, headers, access)?;
                Ok(AdmittedSender::UNKNOWN)
            }
            RouteAccess::AuthenticatedNavigation
            | RouteAccess::Authenticated
            | RouteAccess::Sending
            | RouteAccess::Probing
            | RouteAccess::Administering
            | RouteAccess::Answering => {
                self.refuse_foreign_origin(host, headers, access)?;
                let is_reading = [Method::GET, Method::HEAD].contains(request.method());
                // Browsers send cookies by themselves, so a cookie allows only reading, and forms that prove that they
                // are ours.
                let with_cookies = is_reading && access != RouteAccess::Administering;
                let cookies = (with_cookies || access == RouteAccess::Answering).then_some(headers);
                let sender = self.identify_sender(via, headers, cookies, host)?;
                if access == RouteAccess::Administering && sender.role.is_none() {
                    return Err(HttpError::NoAdministrator);
                }
                if let Some(role) = sender.role.filter(|role| !role.allows(access.task(is_reading))) {
                    return Err(HttpError::RoleTooLow { role });
                }
                if access == RouteAccess::Answering && !is_reading && !sender.right.is_granted() {
                    return Err(HttpError::NoAnswerRight);
                }
                Ok(sender)
            }
        }
    }

    /// The host name in the request. It must be one of ours: another site's name may resolve to this machine (DNS
    /// rebinding).
    fn check_host<'r>(
        &self,
        via: RequestTransport,
        uri: &'r Uri,
        headers: &'r HeaderMap,
    ) -> Result<Option<&'r str>, HttpError> {
        let mut hosts = headers.get_all(HOST).iter();
        let (host, another) = (hosts.next(), hosts.next());
        let host = host.and_then(|host| host.to_str().ok());
        if via == RequestTransport::UnixSocket {
            return Ok(host);
        }
        let is_ours = |host: &str| self.is_own_host(via, host);
        let in_uri = uri.authority().is_none_or(|authority| is_ours(authority.as_str()));
        if another.is_some() || !host.is_some_and(is_ours) || !in_uri {
            return Err(HttpError::WrongHost);
        }
        Ok(host)
    }

    fn is_own_host(&self, via: RequestTransport, host: &str) -> bool {
        let Some((name, port)) = parse_host(host) else {
            return false;
        };
        let own_port = port.is_none_or(|port| port == self.address.port());
        let is = |other: &str| other.eq_ignore_ascii_case(name);
        let own_name = || LOOPBACK_NAMES.iter().any(|other| is(other)) || self.is_own_address(via, name);
        let is_allowed = |(other, with): &(String, Option<u16>)| is(other) && (with.is_none() || *with == port);
        own_port && own_name() || self.allowed.iter().any(is_allowed)
    }

    /// Whether the name is the IP address of the connection. No name service can change that.
    fn is_own_address(&self, via: RequestTransport, name: &str) -> bool {
        let figures = name.trim_start_matches('[').trim_end_matches(']');
        let Ok(named) = figures.parse::<IpAddr>() else {
            return false;
        };
        let called = match via {
            RequestTransport::Tcp { own, .. } => Some(own.to_canonical()),
            RequestTransport::UnixSocket => None,
        };
        named == self.address.ip() || Some(named) == called
    }

    fn refuse_foreign_origin(
        &self,
        host: Option<&str>,
        headers: &HeaderMap,
        access: RouteAccess,
    ) -> Result<(), HttpError> {
        let is_own = |origin: &[u8]| {
            let authority = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
            let same = |authority: &[u8]| host.is_some_and(|host| authority.eq_ignore_ascii_case(host.as_bytes()));
            authority.is_some_and(same)
        };
        let from_here = headers.get_all(ORIGIN).iter().all(|origin| is_own(origin.as_bytes()));
        let is_near = |site: &[u8]| matches!(site, b"same-origin" | b"none");
        let from_near = headers.get_all(SEC_FETCH_SITE).iter().all(|site| is_near(site.as_bytes()));
        let is_linked = matches!(access, RouteAccess::AuthenticatedNavigation | RouteAccess::SignedLink);
        let may_come = from_near || is_linked && is_link_navigation(headers);
        if from_here && may_come { Ok(()) } else { Err(HttpError::ForeignOrigin) }
    }

    /// With a token, every TCP request needs it; without one, the connection must belong to this user. The answer token
    /// reads and answers, where cookies may be used, and nothing else.
    fn identify_sender(
        &self,
        via: RequestTransport,
        headers: &HeaderMap,
        cookies: Option<&HeaderMap>,
        host: Option<&str>,
    ) -> Result<AdmittedSender, HttpError> {
        let is_proxy = self.trusted_header.as_ref().is_some_and(|header| header.trusts(via));
        if let (true, Some(header), Some(headers)) = (is_proxy, &self.trusted_header, cookies)
            && let Some(person) = header.identify(headers)?
        {
            return Ok(AdmittedSender::named(&person.name, person.role, PersonProof::Browser));
        }
        if via == RequestTransport::UnixSocket && !is_proxy {
            return Ok(AdmittedSender::verified(AnswerRight::ThisUser));
        }
        let shown = headers.get(AUTHORIZATION).and_then(|shown| parse_bearer_token(shown.as_bytes()));
        if let Some(sender) = self.identify_by_token(shown, cookies) {
            return Ok(sender);
        }
        let is_named = shown.is_some_and(|shown| shown.starts_with(tokens::TOKEN_PREFIX.as_bytes()));
        match via {
            // A proxy's connection says nothing about its client, and a token that was revoked is no longer valid anywhere.
            RequestTransport::Tcp { owner, .. } if self.token.is_none() && !is_proxy && !is_named => {
                let identity = self.identify_owner(owner)?;
                let is_near = owner == ConnectionOwner::ThisUser && is_direct(host, headers);
                let may_answer = is_near && self.answer_token.is_none();
                let right = if may_answer { AnswerRight::ThisUser } else { AnswerRight::None };
                Ok(AdmittedSender { identity, right, role: None })
            }
            _ => Err(HttpError::NoToken),
        }
    }

    /// The sender by a token, or by the cookie of a login with it.
    fn identify_by_token(&self, shown: Option<&[u8]>, cookies: Option<&HeaderMap>) -> Option<AdmittedSender> {
        let has_token = |(token, _): &&(AccessToken, SessionCookie)| shown.is_some_and(|shown| token.matches(shown));
        let has_cookie =
            |(_, cookie): &&(AccessToken, SessionCookie)| cookies.is_some_and(|headers| cookie.is_in_headers(headers));
        let answers = self.answer_token.as_ref().filter(|_| cookies.is_some());
        if answers.filter(has_token).is_some() {
            return Some(AdmittedSender::verified(AnswerRight::Token));
        }
        if answers.filter(has_cookie).is_some() {
            return Some(AdmittedSender::verified(AnswerRight::Cookie));
        }
        if self.token.as_ref().is_some_and(|token| has_token(&token) || has_cookie(&token)) {
            return Some(AdmittedSender::verified(AnswerRight::None));
        }
        if shown.is_none() && cookies.is_none() {
            return None;
        }
        let named = self.named_tokens.load();
        let by_text = shown.and_then(|shown| tokens::find_by_text(&named, shown));
        if let Some(known) = by_text {
            return Some(AdmittedSender::named(&known.name, known.role, PersonProof::Token));
        }
        let known = cookies.and_then(|headers| tokens::find_by_cookie(&named, headers))?;
        Some(AdmittedSender::named(&known.name, known.role, PersonProof::Browser))
    }

    fn identify_owner(&self, owner: ConnectionOwner) -> Result<SenderIdentity, HttpError> {
        match (owner, self.unknown_senders) {
            (ConnectionOwner::ThisUser, _) => Ok(SenderIdentity::Verified),
            (ConnectionOwner::Unknown, UnknownSenderPolicy::Accept) => Ok(SenderIdentity::Unverified),
            (ConnectionOwner::Unknown, UnknownSenderPolicy::Refuse) => Err(HttpError::UnknownUser),
            (ConnectionOwner::OtherUser, _) => Err(HttpError::OtherUser),
        }
    }
}

fn with_cookie(token: AccessToken) -> (AccessToken, SessionCookie) {
    let cookie = token.session_cookie();
    (token, cookie)
}

/// Whether a request names this machine and did not pass a proxy, whose clients may be anyone.
fn is_direct(host: Option<&str>, headers: &HeaderMap) -> bool {
    let name = host.and_then(parse_host).map_or("", |(name, _)| name);
    let figures = name.trim_start_matches('[').trim_end_matches(']');
    let is_near = name.eq_ignore_ascii_case("localhost") || figures.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    is_near && !PROXY_HEADERS.iter().any(|name| headers.contains_key(*name))
}

/// Whether the user of a browser followed a link, rather than a page having fetched something.
fn is_link_navigation(headers: &HeaderMap) -> bool {
    LINK_NAVIGATION_HEADERS.iter().all(|(name, value)| {
        let mut values = headers.get_all(*name).iter();
        values.next().is_some_and(|found| found.as_bytes() == *value) && values.next().is_none()
    })
}

/// The token of an `Authorization` header.
fn parse_bearer_token(shown: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = shown.split_at_checked(b"Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

/// The name and the port of a host as headers write it; `None` if it is invalid.
pub(crate) fn parse_host(host: &str) -> Option<(&str, Option<u16>)> {
    let end_of_name = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at_checked(end_of_name)?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_host = match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => name.bytes().all(fits) && name.bytes().any(|byte| byte.is_ascii_alphanumeric()),
    };
    if !is_host {
        return None;
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((name, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some((name, Some(port.parse().ok()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_split_into_name_and_port() {
        let cases = [
            ("localhost", Some(("localhost", None))),
            ("localhost:7433", Some(("localhost", Some(7433)))),
            ("[::1]", Some(("[::1]", None))),
            ("[::1]:7433", Some(("[::1]", Some(7433)))),
            ("127.0.0.1:80", Some(("127.0.0.1", Some(80)))),
            ("", None),
            (":80", None),
            ("localhost:", None),
            ("localhost:+80", None),
            ("localhost:99999", None),
            ("localhost:80:80", None),
            ("[::1", None),
            ("[::1]80", None),
            ("[localhost]", None),
            ("[]", None),
            ("local[host]", None),
            ("local host", None),
            ("*", None),
            ("*.example.com", None),
            (".", None),
            ("http://localhost/", None),
            ("user@localhost", None),
            ("localhost/x", None),
            ("löcalhost", None),
        ];
        for (host, expected) in cases {
            assert_eq!(parse_host(host), expected, "{host}");
        }
    }

    #[test]
    fn only_the_bearer_scheme_has_a_token() {
        let cases: [(&str, Option<&str>); 6] = [
            ("Bearer secret", Some("secret")),
            ("bearer  secret ", Some("secret")),
            ("Basic secret", None),
            ("Bearer", None),
            ("secret", None),
            ("", None),
        ];
        for (shown, expected) in cases {
            assert_eq!(parse_bearer_token(shown.as_bytes()), expected.map(str::as_bytes), "{shown}");
        }
    }
}
