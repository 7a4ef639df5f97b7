//! Server-sent events: a body whose lines a task sends, and the limit on their number.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::body::Frame;
use hyper::header::CONTENT_TYPE;
use plimsoll_language::say;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::WebRefusal;

const MAX_STREAMS: usize = 24;
/// Events that a client may be behind; the sender waits or drops further ones.
const QUEUE: usize = 16;

#[derive(Clone, Debug)]
pub struct Streams(Arc<Semaphore>);

/// Sends events to a client.
#[derive(Debug)]
pub struct EventSender(Sender<Bytes>);

struct EventBody {
    events: Receiver<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl Default for Streams {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_STREAMS)))
    }
}

impl Streams {
    /// A response and the sender of its events; refused if there are too many.
    pub fn open(&self) -> Result<(Response, EventSender), WebRefusal> {
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_| {
            WebRefusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                say!("more than {MAX_STREAMS} pages are open: close some of them"),
            )
        })?;
        let (sender, events) = channel(QUEUE);
        let body = Body::new(EventBody { events, _permit: permit });
        let response = ([(CONTENT_TYPE, "text/event-stream")], body).into_response();
        Ok((response, EventSender(sender)))
    }
}

impl EventSender {
    /// Sends an event; waits while the client is behind. False when the client is gone.
    pub async fn send(&self, name: &str, json: &str) -> bool {
        self.0.send(event(name, json)).await.is_ok()
    }

    /// Sends an event unless the client is behind. False when the client is gone.
    pub fn offer(&self, name: &str, json: &str) -> bool {
        if self.0.capacity() == 0 {
            return !self.0.is_closed();
        }
        !matches!(self.0.try_send(event(name, json)), Err(tokio::sync::mpsc::error::TrySendError::Closed(_)))
    }

    /// Waits until the client is gone.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// An event: JSON has no line breaks.
fn event(name: &str, json: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
