//! Connections: their number, their time limits, and how they end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_rustls::TlsAcceptor;

use crate::http::connection_owner::{ConnectionOwner, find_owner};
use crate::http::gate::RequestTransport;
use crate::http::middleware::{MAX_HEAD_BYTES, RequestPipeline};
use crate::http::tls::TlsCertificate;
use crate::http::write_timeout::{StreamingResponse, WriteTimeoutStream};
use crate::settings::{ServeSettings, UnknownSenderPolicy};
use crate::tokens::LiveTokens;

/// How long to wait after a failed accept, for instance without free file descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// The kernel drops a connection whose client acknowledges no data for this long.
#[cfg(target_os = "linux")]
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum number of connections of refused users: enough to send the reason, too few to use up resources.
const MAX_REFUSED_CONNECTIONS: usize = 64;

/// The response if there are too many connections. It is sent without reading the request, which would take memory.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 81\r\n\r\n\
    {\"status\":\"error\",\"message\":\"too many connections (hint: try again in a moment)\"}";

/// The phases of a shutdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShutdownPhase {
    /// It serves requests.
    #[default]
    Open,
    /// No new connections; running requests finish, and streams end.
    Closing,
    /// Running requests are dropped.
    Closed,
}

/// Waits until the server closes.
pub(crate) async fn wait_for_shutdown(phase: &mut watch::Receiver<ShutdownPhase>) {
    // If the sender is gone, the server is closing too.
    let _ = phase.wait_for(|phase| *phase > ShutdownPhase::Open).await;
}

/// The state of every connection. When the last copy is dropped, all connections are closed.
#[derive(Clone)]
pub(crate) struct ConnectionAcceptor {
    pub(crate) pipeline: Arc<RequestPipeline>,
    /// For TCP, the unix socket, and refused users. Each kind has its own limit, so none can exhaust another.
    tcp_permits: Arc<Semaphore>,
    unix_permits: Arc<Semaphore>,
    refused_permits: Arc<Semaphore>,
    head_timeout: Duration,
    write_timeout: Duration,
    owner_check: OwnerCheck,
    named_tokens: Arc<LiveTokens>,
    has_proxies: bool,
    phase: watch::Receiver<ShutdownPhase>,
    _open_connection: mpsc::Sender<Infallible>,
}

impl ConnectionAcceptor {
    /// The acceptor, and a receiver that ends when all connections are closed.
    pub(crate) fn new(
        pipeline: RequestPipeline,
        settings: &ServeSettings,
        named_tokens: Arc<LiveTokens>,
        phase: watch::Receiver<ShutdownPhase>,
    ) -> (Self, mpsc::Receiver<Infallible>) {
        let (open_connection, connections_closed) = mpsc::channel(1);
        let acceptor = Self {
            pipeline: Arc::new(pipeline),
            tcp_permits: Arc::new(Semaphore::new(settings.max_connections)),
            unix_permits: Arc::new(Semaphore::new(settings.max_connections)),
            refused_permits: Arc::new(Semaphore::new(MAX_REFUSED_CONNECTIONS.min(settings.max_connections))),
            head_timeout: settings.head_timeout,
            write_timeout: settings.write_timeout,
            owner_check: match settings.token {
                Some(_) => OwnerCheck::Skip,
                None => OwnerCheck::AskKernel(settings.unknown_senders),
            },
            named_tokens,
            has_proxies: settings.trusted_header.is_some(),
            phase,
            _open_connection: open_connection,
        };
        (acceptor, connections_closed)
    }

    /// Accepts TCP connections until the server closes.
    pub(crate) async fn accept_tcp(mut self, listener: TcpListener, tls: Option<TlsCertificate>) {
        while let Some(accepted) = self.next_connection(listener.accept()).await {
            let Some((stream, peer)) = handle_accept_result(accepted).await else {
                continue;
            };
            let Ok((via, refused)) = prepare_tcp_connection(&stream, peer, self.owner_check) else {
                continue;
            };
            // With a token of its own, or through a proxy, a connection of any user may be admitted.
            let is_hopeless = refused && !self.has_proxies && self.named_tokens.is_empty();
            let permits = if is_hopeless { &self.refused_permits } else { &self.tcp_permits };
            let is_encrypted = tls.is_some();
            let refuse = || if is_encrypted { Ok(0) } else { stream.try_write(TOO_MANY_CONNECTIONS) };
            let Some(permit) = acquire_permit(permits, refuse) else {
                continue;
            };
            let acceptor = self.clone();
            match &tls {
                None => drop(tokio::spawn(acceptor.serve_connection(stream, via, permit))),
                Some(tls) => drop(tokio::spawn(acceptor.serve_encrypted(tls.acceptor(), stream, via, permit))),
            }
        }
    }

    /// Serves a connection after its handshake, which may take as long as the head of a request.
    async fn serve_encrypted(
        self,
        tls: TlsAcceptor,
        stream: TcpStream,
        via: RequestTransport,
        permit: OwnedSemaphorePermit,
    ) {
        match tokio::time::timeout(self.head_timeout, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.serve_connection(stream, via, permit).await,
            Ok(Err(error)) => tracing::debug!(%error, "no TLS handshake"),
            Err(_) => tracing::debug!("the TLS handshake took too long"),
        }
    }

    /// Accepts connections of the unix socket until the server closes.
    pub(crate) async fn accept_unix(mut self, listener: UnixListener) {
        let own = rustix::process::geteuid().as_raw();
        while let Some(accepted) = self.next_connection(listener.accept()).await {
            let Some((stream, _)) = handle_accept_result(accepted).await else {
                continue;
            };
            // The file's mode enforces this too, but not at the moment when the file is created.
            let is_allowed = |stream: &UnixStream| stream.peer_cred().is_ok_and(|peer| [own, 0].contains(&peer.uid()));
            if !is_allowed(&stream) {
                continue;
            }
            let Some(permit) = acquire_permit(&self.unix_permits, || stream.try_write(TOO_MANY_CONNECTIONS)) else {
                continue;
            };
            tokio::spawn(self.clone().serve_connection(stream, RequestTransport::UnixSocket, permit));
        }
    }

    /// Waits for the next connection; `None` once the server closes.
    async fn next_connection<T>(&mut self, accept: impl Future<Output = io::Result<T>>) -> Option<io::Result<T>> {
        tokio::select! {
            biased;
            () = wait_for_shutdown(&mut self.phase) => None,
            accepted = accept => Some(accepted),
        }
    }

    async fn serve_connection(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        via: RequestTransport,
        _permit: OwnedSemaphorePermit,
    ) {
        let Self { pipeline, head_timeout, write_timeout, mut phase, _open_connection, .. } = self;
        let _counted = pipeline.count_connection();
        let endless = Arc::new(AtomicBool::new(false));
        let stream = WriteTimeoutStream::new(stream, write_timeout, endless.clone());
        let service = service_fn(|request| {
            let (pipeline, endless) = (pipeline.clone(), endless.clone());
            async move {
                let answer = pipeline.handle_request(via, request).await;
                endless.store(answer.extensions().get::<StreamingResponse>().is_some(), Ordering::Relaxed);
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_timeout)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "connection ended early");
                    }
                    return;
                }
                Ok(()) = phase.changed() => {
                    let reached = *phase.borrow_and_update();
                    match reached {
                        ShutdownPhase::Open => {}
                        ShutdownPhase::Closing => connection.as_mut().graceful_shutdown(),
                        ShutdownPhase::Closed => return,
                    }
                }
            }
        }
    }
}

fn acquire_permit(
    permits: &Arc<Semaphore>,
    refuse: impl FnOnce() -> io::Result<usize>,
) -> Option<OwnedSemaphorePermit> {
    let permit = permits.clone().try_acquire_owned().ok();
    if permit.is_none() {
        // If this fails, the connection just ends.
        let _ = refuse();
        tracing::warn!("refused a connection: too many are open");
    }
    permit
}

/// Whether to ask the kernel for the user of each TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerCheck {
    /// Ask; the policy applies if the kernel does not know the user.
    AskKernel(UnknownSenderPolicy),
    /// Every request needs the token, so the user does not matter.
    Skip,
}

/// The transport of a connection, and whether its user is refused.
fn prepare_tcp_connection(
    stream: &TcpStream,
    peer: SocketAddr,
    owner_check: OwnerCheck,
) -> io::Result<(RequestTransport, bool)> {
    // Responses are written whole and clients wait for them, so small packets must not be delayed.
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    {
        let most = u32::try_from(TCP_USER_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
        rustix::net::sockopt::set_tcp_user_timeout(stream, most)?;
    }
    let (owner, refused) = match owner_check {
        OwnerCheck::AskKernel(unknown_senders) => {
            let owner = find_owner(stream);
            (owner, unknown_senders.refuses_owner(owner))
        }
        OwnerCheck::Skip => (ConnectionOwner::Unknown, false),
    };
    let via = RequestTransport::Tcp { own: stream.local_addr()?.ip(), peer: peer.ip(), owner };
    Ok((via, refused))
}

/// The accepted connection, or `None` after an error.
async fn handle_accept_result<T>(accepted: io::Result<T>) -> Option<T> {
    match accepted {
        Ok(one) => return Some(one),
        // The client closed the connection already.
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) => {}
        Err(error) => {
            tracing::warn!(%error, "cannot accept connections now");
            tokio::time::sleep(ACCEPT_BACKOFF).await;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::TOO_MANY_CONNECTIONS;

    #[test]
    fn the_refusal_of_a_connection_has_the_right_content_length() {
        let text = std::str::from_utf8(TOO_MANY_CONNECTIONS).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
