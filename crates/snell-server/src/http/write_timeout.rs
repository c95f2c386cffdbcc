//! A connection with a write timeout: a client that sends requests and does not read the responses would keep them in
//! memory.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Marks a response without an end, which has other limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamingResponse;

/// A connection that ends if the client reads nothing for a while.
#[derive(Debug)]
pub(crate) struct WriteTimeoutStream<S> {
    stream: S,
    timeout: Duration,
    /// Whether the current response is a [`StreamingResponse`].
    is_streaming: Arc<AtomicBool>,
    /// Set while the client reads nothing.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> WriteTimeoutStream<S> {
    pub(crate) fn new(stream: S, timeout: Duration, is_streaming: Arc<AtomicBool>) -> Self {
        Self { stream, timeout, is_streaming, deadline: None }
    }

    /// Writes, or fails after the timeout.
    fn write_or_time_out(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let written = write(Pin::new(&mut self.stream), cx);
        if written.is_ready() || self.is_streaming.load(Ordering::Relaxed) {
            self.deadline = None;
            return written;
        }
        let within = self.timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.write_or_time_out(cx, |stream, cx| stream.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write_or_time_out(cx, |stream, cx| stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
