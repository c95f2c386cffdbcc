//! Connections: how many there may be, how long they may take, and how they end.

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

use crate::http::connection_owner::{ConnectionOwner, find_owner};
use crate::http::gate::RequestTransport;
use crate::http::middleware::{MAX_HEAD_BYTES, RequestPipeline};
use crate::http::write_timeout::{StreamingResponse, WriteTimeoutStream};
use crate::settings::{ServeSettings, UnknownSenderPolicy};

/// How long to wait when the system has nothing left to let somebody in with.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// A client that has not taken what was sent to it for so long is gone, or might as well be.
#[cfg(target_os = "linux")]
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(120);

/// How many connections of users who are refused may be open at a time: enough to say why, and too few to be in the way.
const MAX_REFUSED_CONNECTIONS: usize = 64;

/// Told to those who come when the house is full. They are not heard first, for that would need room as well.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 70\r\n\r\n\
    {\"status\":\"error\",\"message\":\"too many connections; try again shortly\"}";

/// How far a server is on its way to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShutdownPhase {
    /// It serves.
    #[default]
    Open,
    /// Nobody is let in; what is under way is finished, and streams end.
    Closing,
    /// Whatever is still under way is given up.
    Closed,
}

/// Waits until the server closes.
pub(crate) async fn wait_for_shutdown(phase: &mut watch::Receiver<ShutdownPhase>) {
    // If nobody can say so any more, it does.
    let _ = phase.wait_for(|phase| *phase > ShutdownPhase::Open).await;
}

/// What every connection needs. When the last copy is gone, so are all connections.
#[derive(Clone)]
pub(crate) struct ConnectionAcceptor {
    pub(crate) pipeline: Arc<RequestPipeline>,
    /// For connections over TCP, through the unix socket, and of users who are refused. One kind cannot take the room of another.
    tcp_permits: Arc<Semaphore>,
    unix_permits: Arc<Semaphore>,
    refused_permits: Arc<Semaphore>,
    head_timeout: Duration,
    write_timeout: Duration,
    owner_check: OwnerCheck,
    phase: watch::Receiver<ShutdownPhase>,
    _presence: mpsc::Sender<Infallible>,
}

impl ConnectionAcceptor {
    /// A house, and what ends when nobody is in it any more.
    pub(crate) fn new(
        pipeline: RequestPipeline,
        settings: &ServeSettings,
        phase: watch::Receiver<ShutdownPhase>,
    ) -> (Self, mpsc::Receiver<Infallible>) {
        let (presence, absence) = mpsc::channel(1);
        let house = Self {
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
            phase,
            _presence: presence,
        };
        (house, absence)
    }

    /// Lets those in who come over the network, until the server closes.
    pub(crate) async fn accept_tcp(mut self, listener: TcpListener) {
        while let Some(accepted) = self.next_connection(listener.accept()).await {
            let Some((stream, peer)) = handle_accept_result(accepted).await else {
                continue;
            };
            let Ok((via, refused)) = prepare_tcp_connection(&stream, peer, self.owner_check) else {
                continue;
            };
            let room = if refused { &self.refused_permits } else { &self.tcp_permits };
            let Some(permit) = acquire_permit(room, || stream.try_write(TOO_MANY_CONNECTIONS)) else {
                continue;
            };
            tokio::spawn(self.clone().serve_connection(stream, via, permit));
        }
    }

    /// Lets those in who come through the socket, until the server closes.
    pub(crate) async fn accept_unix(mut self, listener: UnixListener) {
        let own = rustix::process::geteuid().as_raw();
        while let Some(accepted) = self.next_connection(listener.accept()).await {
            let Some((stream, _)) = handle_accept_result(accepted).await else {
                continue;
            };
            // The file's mode says so already, but not in the moment in which it was made.
            let may = |stream: &UnixStream| stream.peer_cred().is_ok_and(|peer| [own, 0].contains(&peer.uid()));
            if !may(&stream) {
                continue;
            }
            let Some(permit) = acquire_permit(&self.unix_permits, || stream.try_write(TOO_MANY_CONNECTIONS)) else {
                continue;
            };
            tokio::spawn(self.clone().serve_connection(stream, RequestTransport::UnixSocket, permit));
        }
    }

    /// Waits for the next one to come; nobody does once the server closes.
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
        let Self { pipeline, head_timeout, write_timeout, mut phase, _presence, .. } = self;
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
                        tracing::debug!(%error, "a connection ended early");
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

fn acquire_permit(room: &Arc<Semaphore>, refuse: impl FnOnce() -> io::Result<usize>) -> Option<OwnedSemaphorePermit> {
    let permit = room.clone().try_acquire_owned().ok();
    if permit.is_none() {
        // If even that cannot be said, the connection just ends.
        let _ = refuse();
        tracing::warn!("too many connections; one is refused");
    }
    permit
}

/// Whether the kernel is asked for the user of each TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerCheck {
    /// It is; this is done where it does not know.
    AskKernel(UnknownSenderPolicy),
    /// Every request must show the token, so the user does not matter.
    Skip,
}

/// How a connection came, and whether its user is refused.
fn prepare_tcp_connection(
    stream: &TcpStream,
    peer: SocketAddr,
    owner_check: OwnerCheck,
) -> io::Result<(RequestTransport, bool)> {
    // What is written is written whole, and somebody waits for it.
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

/// The one who has come, if anybody could be let in.
async fn handle_accept_result<T>(accepted: io::Result<T>) -> Option<T> {
    match accepted {
        Ok(one) => return Some(one),
        // That one has changed its mind.
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) => {}
        Err(error) => {
            tracing::warn!(%error, "cannot let anybody in for the moment");
            tokio::time::sleep(ACCEPT_BACKOFF).await;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::TOO_MANY_CONNECTIONS;

    #[test]
    fn what_is_told_when_the_house_is_full_is_as_long_as_it_says() {
        let text = std::str::from_utf8(TOO_MANY_CONNECTIONS).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
