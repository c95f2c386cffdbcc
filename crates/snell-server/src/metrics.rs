//! Metrics for `GET /metrics`. Labels have few values, and none of them comes from a request.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use snell::EventName;

use crate::reconciler::poll_mode::PollMode;

/// The label `outcome`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MetricOutcome {
    /// An event was stored.
    Stored,
    /// The event was stored before.
    Duplicate,
    /// The request is not a valid event.
    Invalid,
    /// The database can never store the event.
    Refused,
    /// A temporary failure.
    Unavailable,
    /// Success.
    Done,
}

impl EncodeLabelValue for MetricOutcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        let word = match self {
            Self::Stored => "stored",
            Self::Duplicate => "duplicate",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Done => "done",
        };
        EncodeLabelValue::encode(&word, encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    event: &'static str,
    outcome: MetricOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    method: &'static str,
    status: u16,
}

/// The name of a label and its value.
type OneLabel<V> = [(&'static str, V); 1];

/// All metrics.
#[derive(Debug)]
pub(crate) struct ServerMetrics {
    registry: Registry,
    events: Family<EventLabels, Counter>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<OneLabel<&'static str>, Histogram>,
    mode: Family<OneLabel<&'static str>, Gauge>,
    reconciliations: Family<OneLabel<MetricOutcome>, Counter>,
    pub(crate) connections: Gauge,
    pub(crate) stream_clients: Gauge,
    pub(crate) gaps: Counter,
    /// Events in the queue of the writer.
    pub(crate) queued: Gauge,
    pub(crate) batch_events: Histogram,
    pub(crate) commit_seconds: Histogram,
}

impl ServerMetrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("snell"),
            events: Family::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(duration_histogram),
            mode: Family::default(),
            reconciliations: Family::default(),
            connections: Gauge::default(),
            stream_clients: Gauge::default(),
            gaps: Counter::default(),
            queued: Gauge::default(),
            batch_events: Histogram::new(exponential_buckets(1.0, 2.0, 10)),
            commit_seconds: duration_histogram(),
        };
        metrics.register_metrics();
        metrics
    }

    fn register_metrics(&mut self) {
        let to = &mut self.registry;
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        to.register("build", "Version of the server", build);
        to.register("events", "Hook events received over HTTP", self.events.clone());
        to.register("http_requests", "Requests answered", self.requests.clone());
        let took = "Time from the request head to the response head";
        to.register_with_unit("http_request_duration", took, Unit::Seconds, self.request_seconds.clone());
        to.register("http_connections", "Open connections", self.connections.clone());
        to.register("stream_clients", "Clients of the event stream", self.stream_clients.clone());
        to.register("stream_gaps", "Gaps reported to stream clients", self.gaps.clone());
        to.register("queue_depth", "Events waiting to be stored", self.queued.clone());
        to.register("commit_batch_size", "Events stored with one transaction", self.batch_events.clone());
        let took = "Duration of a transaction";
        to.register_with_unit("commit_duration", took, Unit::Seconds, self.commit_seconds.clone());
        to.register("reconciler_runs", "Checks of silent agents", self.reconciliations.clone());
        to.register("mode", "1 for the current mode of the server", self.mode.clone());
    }

    /// Counts an event. All unknown names share one label.
    pub(crate) fn count_event(&self, event: &EventName, outcome: MetricOutcome) {
        let event = match event {
            EventName::Other(_) => "other",
            known => EventName::canonical_names().find(|name| *name == known.as_str()).unwrap_or("other"),
        };
        self.events.get_or_create(&EventLabels { event, outcome }).inc();
    }

    pub(crate) fn count_request(&self, route: &'static str, method: &Method, status: StatusCode, took: Duration) {
        let method = method_label(method);
        let status = status.as_u16();
        let labels = RequestLabels { route, method, status };
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.get_or_create(&[("route", route)]).observe(took.as_secs_f64());
    }

    pub(crate) fn count_reconciliation(&self, outcome: MetricOutcome) {
        self.reconciliations.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn set_mode(&self, now: PollMode) {
        for mode in PollMode::ALL {
            self.mode.get_or_create(&[("mode", mode.as_str())]).set((*mode == now).into());
        }
    }

    /// All metrics in OpenMetrics format.
    pub(crate) fn encode_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The label of a method. Clients can invent methods, so unknown ones share one label.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        _ => "other",
    }
}

fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 4.0, 9))
}

/// Increments a gauge until it is dropped.
#[derive(Debug)]
pub(crate) struct GaugeGuard(Gauge<i64, AtomicI64>);

impl GaugeGuard {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The metrics, shared.
pub(crate) type SharedMetrics = Arc<ServerMetrics>;
