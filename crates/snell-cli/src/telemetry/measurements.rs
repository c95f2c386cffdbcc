//! Counts and durations, and the metrics in the JSON form of OTLP.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use snell::Timestamp;
use snell_store::{AgentState, TelemetrySeries};

use super::attributes::AttributeList;
use super::span::format_nanos;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// The bounds of the buckets of all histograms, in seconds.
const BOUNDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0];

/// The form of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MetricForm {
    Counter,
    Histogram,
}

/// A metric that is counted while events are read.
#[derive(Debug)]
pub(super) struct CountedMetric {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    form: MetricForm,
}

macro_rules! counted_metrics {
    ($($constant:ident = $form:ident $name:literal $unit:literal $description:literal;)+) => {
        $(pub(super) const $constant: &CountedMetric = &CountedMetric {
            name: $name, unit: $unit, description: $description, form: MetricForm::$form,
        };)+
        const COUNTED_METRICS: &[&CountedMetric] = &[$($constant),+];
    };
}

counted_metrics! {
    EVENTS = Counter "snell.events" "{event}" "Events of agents.";
    TOOL_CALLS = Counter "snell.tool.calls" "{call}" "Tool calls that have ended, by outcome.";
    GUARD_VERDICTS = Counter "snell.guard.verdicts" "{verdict}" "Verdicts of the guard, by rule and decision.";
    TURN_DURATION = Histogram "snell.turn.duration" "s" "Duration of turns.";
    HOOK_DURATION = Histogram "snell.hook.duration" "s" "Duration of hook runs.";
    WAIT_DURATION = Histogram "snell.wait.duration" "s" "Time for which agents waited for their user.";
}

/// Counts and durations of a batch.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    series: BTreeMap<(&'static str, String), TelemetrySeries>,
}

impl Measurements {
    /// Counts one.
    pub(super) fn count(&mut self, metric: &'static CountedMetric, attributes: &AttributeList) {
        self.add(metric, attributes, 1.0);
    }

    /// Counts a duration.
    pub(super) fn record(&mut self, metric: &'static CountedMetric, attributes: &AttributeList, seconds: f64) {
        self.add(metric, attributes, seconds.max(0.0));
    }

    fn add(&mut self, metric: &'static CountedMetric, attributes: &AttributeList, value: f64) {
        let attributes = attributes.to_json().to_string();
        let key = (metric.name, attributes.clone());
        let series = self.series.entry(key).or_insert_with(|| TelemetrySeries {
            metric: metric.name.to_owned(),
            attributes,
            count: 0,
            total: 0.0,
            buckets: if metric.form == MetricForm::Histogram { vec![0; BOUNDS.len() + 1] } else { Vec::new() },
        });
        series.count += 1;
        series.total += value;
        let bucket = BOUNDS.iter().position(|bound| value <= *bound).unwrap_or(BOUNDS.len());
        if let Some(bucket) = series.buckets.get_mut(bucket) {
            *bucket += 1;
        }
    }

    /// The additions to the stored series.
    pub(super) fn into_series(self) -> Vec<TelemetrySeries> {
        self.series.into_values().collect()
    }
}

/// The time range of cumulative metrics.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricPeriod {
    pub(super) began: Timestamp,
    pub(super) now: Timestamp,
}

/// All metrics in OTLP.
pub(super) fn build_metrics(
    series: &[TelemetrySeries],
    agents: &[(Option<String>, AgentState, i64)],
    period: MetricPeriod,
) -> Vec<Value> {
    let mut metrics = Vec::new();
    for metric in COUNTED_METRICS {
        let points: Vec<_> = series.iter().filter(|one| one.metric == metric.name).collect();
        if points.is_empty() {
            continue;
        }
        let points: Vec<_> = points.iter().map(|one| build_point(metric.form, one, period)).collect();
        let mut data = json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE});
        let form = match metric.form {
            MetricForm::Counter => {
                data["isMonotonic"] = Value::from(true);
                "sum"
            }
            MetricForm::Histogram => "histogram",
        };
        let (name, unit, description) = (metric.name, metric.unit, metric.description);
        metrics.push(json!({"name": name, "unit": unit, "description": description, form: data}));
    }
    metrics.push(build_agent_gauge(agents, period));
    metrics
}

fn build_point(form: MetricForm, series: &TelemetrySeries, period: MetricPeriod) -> Value {
    let attributes: Value = serde_json::from_str(&series.attributes).unwrap_or_else(|_| json!([]));
    let mut point = json!({
        "attributes": attributes,
        "startTimeUnixNano": format_nanos(period.began),
        "timeUnixNano": format_nanos(period.now),
    });
    match form {
        MetricForm::Counter => point["asInt"] = Value::from(series.count.to_string()),
        MetricForm::Histogram => {
            let counts: Vec<_> = series.buckets.iter().map(i64::to_string).collect();
            point["count"] = Value::from(series.count.to_string());
            point["sum"] = Value::from(series.total);
            point["bucketCounts"] = Value::from(counts);
            point["explicitBounds"] = Value::from(BOUNDS);
        }
    }
    point
}

/// The number of agents by product and state. States without agents have 0, so that they do not stay as they were.
fn build_agent_gauge(agents: &[(Option<String>, AgentState, i64)], period: MetricPeriod) -> Value {
    let mut products: Vec<_> = agents.iter().map(|(product, ..)| product.as_deref()).collect();
    products.sort_unstable();
    products.dedup();
    let mut points = Vec::new();
    for product in products {
        for state in [AgentState::Idle, AgentState::Processing, AgentState::AwaitingInput] {
            let is_same = |one: &&(Option<String>, AgentState, i64)| one.0.as_deref() == product && one.1 == state;
            let count = agents.iter().find(is_same).map_or(0, |(_, _, count)| *count);
            let mut attributes = AttributeList::default();
            attributes.text("gen_ai.agent.name", product).text("snell.agent.state", state.as_str());
            points.push(json!({
                "attributes": attributes.to_json(),
                "timeUnixNano": format_nanos(period.now),
                "asInt": count.to_string(),
            }));
        }
    }
    json!({
        "name": "snell.agents", "unit": "{agent}", "description": "Agents that have not ended, by state.",
        "gauge": {"dataPoints": points},
    })
}
