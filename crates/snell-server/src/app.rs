//! What the routes share.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::clock::Clock;
use crate::connections::Phase;
use crate::hybrid::Hybrid;
use crate::metrics::SharedMetrics;
use crate::pulse::Pulse;
use crate::readers::Readers;
use crate::settings::Settings;
use crate::stream::Hub;
use crate::writer::Writer;

/// What the routes share.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) writer: Writer,
    pub(crate) readers: Arc<Readers>,
    /// For bodies of requests, in bytes.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) hybrid: Arc<Hybrid>,
    pub(crate) metrics: SharedMetrics,
    pub(crate) phase: watch::Receiver<Phase>,
}

/// The same, as every route gets it.
pub(crate) type Shared = Arc<App>;
