//! Requests that agents export with OpenTelemetry, as OTLP/JSON.
//!
//! A log record is one request. With the API's own id it is the same request as in a transcript. Without one, a session's records
//! count only if no file has the session. Metrics are the last resort: they are totals.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use snell::Timestamp;

use super::formats::{check_reported_cost, limit_text};
use super::request::{TokenCounts, UsageRequest, UsageSourceRank, WireCount};

/// The prefix of all keys. Keys of requests in files have the product's name there.
pub(crate) const EXPORTED_PREFIX: &str = "otlp ";

/// How a product names its events, metrics and attributes. Names with several spellings are tried in order.
struct OtlpDialect {
    product: &'static str,
    /// The event of a request, and attributes that it has.
    event: &'static str,
    marks: &'static [(&'static str, &'static str)],
    metrics: OtlpMetrics,
    session: &'static str,
    counts: OtlpCounts,
}

/// Selects one of the counts.
type CountField = fn(&mut TokenCounts) -> &mut i64;

/// The metrics of a product.
struct OtlpMetrics {
    tokens: &'static str,
    cost: &'static str,
    /// The attribute `type`, and the count that it adds to.
    types: &'static [(&'static str, CountField)],
}

/// The attributes of a request with its counts.
struct OtlpCounts {
    input: &'static str,
    /// Several, if reasoning is apart.
    output: &'static [&'static str],
    cache_read: &'static str,
    cache_write: &'static str,
    /// Whether input includes what a cache had.
    input_has_cached: bool,
}

const GOOGLE_COUNTS: OtlpCounts = OtlpCounts {
    input: "input_token_count",
    output: &["output_token_count", "thoughts_token_count"],
    cache_read: "cached_content_token_count",
    cache_write: "",
    input_has_cached: true,
};

const GOOGLE_TYPES: &[(&str, CountField)] = &[
    ("input", |counts| &mut counts.input),
    ("tool", |counts| &mut counts.input),
    ("output", |counts| &mut counts.output),
    ("thought", |counts| &mut counts.output),
    ("cache", |counts| &mut counts.cache_read),
];

static DIALECTS: &[OtlpDialect] = &[
    OtlpDialect {
        product: "claude",
        event: "claude_code.api_request",
        marks: &[],
        metrics: OtlpMetrics {
            tokens: "claude_code.token.usage",
            cost: "claude_code.cost.usage",
            types: &[
                ("input", |counts| &mut counts.input),
                ("output", |counts| &mut counts.output),
                ("cacheRead", |counts| &mut counts.cache_read),
                ("cacheCreation", |counts| &mut counts.cache_write),
            ],
        },
        session: "session.id",
        counts: OtlpCounts {
            input: "input_tokens",
            output: &["output_tokens"],
            cache_read: "cache_read_tokens",
            cache_write: "cache_creation_tokens",
            input_has_cached: false,
        },
    },
    OtlpDialect {
        product: "codex",
        event: "codex.sse_event",
        marks: &[("event.kind", "response.completed")],
        metrics: OtlpMetrics { tokens: "", cost: "", types: &[] },
        session: "conversation.id",
        counts: OtlpCounts {
            input: "input_token_count",
            output: &["output_token_count"],
            cache_read: "cached_token_count",
            cache_write: "",
            input_has_cached: true,
        },
    },
    OtlpDialect {
        product: "gemini",
        event: "gemini_cli.api_response",
        marks: &[],
        metrics: OtlpMetrics { tokens: "gemini_cli.token.usage", cost: "", types: GOOGLE_TYPES },
        session: "session.id",
        counts: GOOGLE_COUNTS,
    },
    OtlpDialect {
        product: "qwen",
        event: "qwen-code.api_response",
        marks: &[],
        metrics: OtlpMetrics { tokens: "qwen-code.token.usage", cost: "", types: GOOGLE_TYPES },
        session: "session.id",
        counts: GOOGLE_COUNTS,
    },
];

/// Requests that an agent exported.
#[derive(Debug, Default)]
pub struct ExportedUsage {
    pub(crate) requests: Vec<UsageRequest>,
}

impl ExportedUsage {
    /// Reads the body of `POST /v1/logs`. Records that are no requests are ignored.
    ///
    /// # Errors
    ///
    /// When it is not OTLP/JSON.
    pub fn from_logs(body: &[u8]) -> serde_json::Result<Self> {
        let logs: OtlpLogsWire = serde_json::from_slice(body)?;
        let mut requests = Vec::new();
        for group in logs.resource_logs {
            let resource = group.resource.unwrap_or_default().attributes;
            for record in group.scope_logs.into_iter().flat_map(|scope| scope.log_records) {
                requests.extend(record.read_request(&resource));
            }
        }
        Ok(Self { requests })
    }

    /// Reads the body of `POST /v1/metrics`. Other metrics are ignored.
    ///
    /// # Errors
    ///
    /// When it is not OTLP/JSON.
    pub fn from_metrics(body: &[u8]) -> serde_json::Result<Self> {
        let metrics: OtlpMetricsWire = serde_json::from_slice(body)?;
        let mut totals: BTreeMap<String, UsageRequest> = BTreeMap::new();
        for group in metrics.resource_metrics {
            let resource = group.resource.unwrap_or_default().attributes;
            for metric in group.scope_metrics.into_iter().flat_map(|scope| scope.metrics) {
                metric.add_totals(&resource, &mut totals);
            }
        }
        let mut requests: Vec<_> = totals.into_values().collect();
        for request in &mut requests {
            let dialect = DIALECTS.iter().find(|dialect| dialect.product == request.product);
            if dialect.is_some_and(|dialect| dialect.counts.input_has_cached) {
                request.tokens.input = (request.tokens.input - request.tokens.cache_read).max(0);
            }
        }
        Ok(Self { requests })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpLogsWire {
    resource_logs: Vec<OtlpResourceLogsWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpResourceLogsWire {
    resource: Option<OtlpResourceWire>,
    #[serde(default)]
    scope_logs: Vec<OtlpScopeLogsWire>,
}

#[derive(Default, Deserialize)]
struct OtlpResourceWire {
    #[serde(default)]
    attributes: OtlpAttributes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpScopeLogsWire {
    #[serde(default)]
    log_records: Vec<OtlpLogRecordWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpLogRecordWire {
    #[serde(default)]
    time_unix_nano: OtlpNumber,
    #[serde(default)]
    observed_time_unix_nano: OtlpNumber,
    event_name: Option<String>,
    body: Option<OtlpValueWire>,
    #[serde(default)]
    attributes: OtlpAttributes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpMetricsWire {
    resource_metrics: Vec<OtlpResourceMetricsWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpResourceMetricsWire {
    resource: Option<OtlpResourceWire>,
    #[serde(default)]
    scope_metrics: Vec<OtlpScopeMetricsWire>,
}

#[derive(Deserialize)]
struct OtlpScopeMetricsWire {
    #[serde(default)]
    metrics: Vec<OtlpMetricWire>,
}

#[derive(Deserialize)]
struct OtlpMetricWire {
    #[serde(default)]
    name: String,
    sum: Option<OtlpSumWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSumWire {
    #[serde(default)]
    data_points: Vec<OtlpDataPointWire>,
    aggregation_temporality: Option<OtlpNumber>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpDataPointWire {
    #[serde(default)]
    attributes: OtlpAttributes,
    #[serde(default)]
    start_time_unix_nano: OtlpNumber,
    #[serde(default)]
    time_unix_nano: OtlpNumber,
    as_int: Option<OtlpNumber>,
    as_double: Option<f64>,
}

/// OtlpAttributes by their keys.
#[derive(Debug, Default, Deserialize)]
struct OtlpAttributes(Vec<OtlpAttributeWire>);

#[derive(Debug, Deserialize)]
struct OtlpAttributeWire {
    key: String,
    value: Option<OtlpValueWire>,
}

/// A value. Lists and maps are ignored.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtlpValueWire {
    string_value: Option<String>,
    int_value: Option<OtlpNumber>,
    double_value: Option<f64>,
}

/// A 64-bit integer, which JSON has as text or as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OtlpNumber(i64);

impl<'de> Deserialize<'de> for OtlpNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OtlpNumberWire {
            Number(i64),
            Text(String),
        }
        match OtlpNumberWire::deserialize(deserializer)? {
            OtlpNumberWire::Number(number) => Ok(Self(number)),
            OtlpNumberWire::Text(text) => text.parse().map(Self).map_err(serde::de::Error::custom),
        }
    }
}

impl OtlpNumber {
    fn to_time(self) -> Option<Timestamp> {
        Timestamp::from_nanosecond(i128::from(self.0)).ok().filter(|_| self.0 > 0)
    }
}

impl OtlpValueWire {
    /// The text of any kind of value.
    fn to_text(&self) -> Option<String> {
        let number = || self.int_value.map(|number| number.0.to_string());
        self.string_value.clone().or_else(number).or_else(|| self.double_value.map(|number| number.to_string()))
    }
}

impl OtlpAttributes {
    fn text(&self, key: &str) -> Option<String> {
        let found = self.0.iter().find(|attribute| attribute.key == key && !key.is_empty())?;
        found.value.as_ref()?.to_text().filter(|text| !text.is_empty())
    }

    /// A number of tokens: 0 if there is none, nothing if it is invalid. Some agents write numbers as texts.
    fn count(&self, key: &str) -> Option<i64> {
        self.text(key).map_or(Some(0), |text| WireCount::parse(&text))
    }
}

impl OtlpLogRecordWire {
    fn read_request(&self, resource: &OtlpAttributes) -> Option<UsageRequest> {
        let body = self.body.as_ref().and_then(|body| body.string_value.clone());
        let named = self.attributes.text("event.name");
        let names = [self.event_name.clone(), body, named];
        let is_named = |dialect: &&OtlpDialect| {
            let short = dialect.event.split_once('.').map_or("", |(_, short)| short);
            let is_service = |resource: &OtlpAttributes| {
                let service = resource.text("service.name").unwrap_or_default().replace('_', "-");
                service.contains(dialect.product)
            };
            names.iter().flatten().any(|name| name == dialect.event || (name == short && is_service(resource)))
        };
        let dialect = DIALECTS.iter().find(is_named)?;
        if dialect.marks.iter().any(|(key, value)| self.attributes.text(key).as_deref() != Some(value)) {
            return None;
        }
        let attribute = |key: &str| self.attributes.text(key).or_else(|| resource.text(key));
        let time = self.time_unix_nano.to_time().or_else(|| self.observed_time_unix_nano.to_time());
        let at = attribute("event.timestamp").and_then(|text| text.parse().ok()).or(time)?;
        let session_id = limit_text(attribute(dialect.session).unwrap_or_default());
        let request_id = attribute("request_id").or_else(|| attribute("response_id")).map(limit_text);
        let identity = request_id.clone().unwrap_or_else(|| {
            let number = attribute("event.sequence").unwrap_or_default();
            format!("{session_id} {} {}", at.as_nanosecond(), limit_text(number))
        });
        let product = dialect.product;
        Some(UsageRequest {
            key: format!("{EXPORTED_PREFIX}{product} {identity}"),
            rank: if request_id.is_some() { UsageSourceRank::Identified } else { UsageSourceRank::Unidentified },
            request_id,
            product: product.into(),
            session_id,
            at: Some(at),
            model: limit_text(attribute("model").unwrap_or_default()),
            requests: 1,
            tokens: dialect.counts.read(&self.attributes)?,
            cost_usd: attribute("cost_usd").and_then(|text| text.parse().ok()).and_then(check_reported_cost),
            project: String::new(),
        })
    }
}

impl OtlpCounts {
    fn read(&self, attributes: &OtlpAttributes) -> Option<TokenCounts> {
        let (input, cache_read) = (attributes.count(self.input)?, attributes.count(self.cache_read)?);
        let output: Option<i64> = self.output.iter().map(|key| attributes.count(key)).sum();
        let cached = if self.input_has_cached { cache_read } else { 0 };
        Some(TokenCounts {
            input: (input - cached).max(0),
            output: output?,
            cache_read,
            cache_write: attributes.count(self.cache_write)?,
            cache_write_1h: 0,
        })
    }
}

/// `AGGREGATION_TEMPORALITY_DELTA`: a point has what was added since the last one.
const DELTA: OtlpNumber = OtlpNumber(1);

impl OtlpMetricWire {
    fn add_totals(&self, resource: &OtlpAttributes, totals: &mut BTreeMap<String, UsageRequest>) {
        let is_named = |name: &str| !name.is_empty() && name == self.name;
        let Some(sum) = &self.sum else { return };
        for dialect in DIALECTS {
            let is_cost = is_named(dialect.metrics.cost);
            if !is_cost && !is_named(dialect.metrics.tokens) {
                continue;
            }
            for point in &sum.data_points {
                let Some(row) = point.build_totals(dialect, sum, resource) else { continue };
                let row = totals.entry(row.key.clone()).or_insert(row);
                if is_cost {
                    row.cost_usd = point.as_double.and_then(check_reported_cost).or(row.cost_usd);
                } else {
                    point.add_tokens(dialect, &mut row.tokens);
                }
            }
        }
    }
}

impl OtlpDataPointWire {
    /// The row of a point, without its value. Points of one series, and of one time if they are differences, share a row.
    fn build_totals(
        &self,
        dialect: &OtlpDialect,
        sum: &OtlpSumWire,
        resource: &OtlpAttributes,
    ) -> Option<UsageRequest> {
        let attribute = |key: &str| self.attributes.text(key).or_else(|| resource.text(key));
        let (session_id, model) = (attribute(dialect.session)?, attribute("model").unwrap_or_default());
        let (session_id, model) = (limit_text(session_id), limit_text(model));
        let (start, time) = (self.start_time_unix_nano.0, self.time_unix_nano);
        let until = if sum.aggregation_temporality == Some(DELTA) { time.0 } else { 0 };
        let product = dialect.product;
        Some(UsageRequest {
            key: format!("{EXPORTED_PREFIX}{product} {session_id} {model} {start} {until}"),
            product: product.into(),
            session_id,
            at: Some(time.to_time()?),
            model,
            rank: UsageSourceRank::Totals,
            requests: 1,
            ..UsageRequest::default()
        })
    }

    fn add_tokens(&self, dialect: &OtlpDialect, tokens: &mut TokenCounts) {
        let kind = self.attributes.text("type").unwrap_or_default();
        let number = self.as_int.map(|number| number.0.to_string()).or(self.as_double.map(|number| number.to_string()));
        let count = number.and_then(|number| WireCount::parse(&number));
        if let Some((_, field)) = dialect.metrics.types.iter().find(|(name, _)| *name == kind)
            && let Some(count) = count
        {
            *field(tokens) += count;
        }
    }
}
