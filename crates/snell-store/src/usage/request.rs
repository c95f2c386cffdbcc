//! One request to a model, with its tokens.

use serde::{Deserialize, Deserializer, Serialize};
use snell::Timestamp;

/// More tokens are not one request: the number is invalid.
const MAX_TOKENS: u64 = 10_000_000_000;

/// The tokens of a request, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Input that was not read from a cache or written to it.
    pub input: i64,
    /// Output, with reasoning.
    pub output: i64,
    /// Input that was read from a cache.
    pub cache_read: i64,
    /// Input that was written to a cache.
    pub cache_write: i64,
    /// The part of `cache_write` that the cache keeps for an hour, not five minutes.
    pub cache_write_1h: i64,
}

impl TokenCounts {
    /// All tokens.
    pub fn total(&self) -> i64 {
        self.context().saturating_add(self.output)
    }

    /// The size of the context: all input.
    pub fn context(&self) -> i64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// The growth since earlier totals; what is less counts as 0.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let grown = |now: i64, then: i64| now.saturating_sub(then).max(0);
        Self {
            input: grown(self.input, earlier.input),
            output: grown(self.output, earlier.output),
            cache_read: grown(self.cache_read, earlier.cache_read),
            cache_write: grown(self.cache_write, earlier.cache_write),
            cache_write_1h: grown(self.cache_write_1h, earlier.cache_write_1h),
        }
    }
}

impl std::ops::AddAssign for TokenCounts {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
    }
}

/// How well a row's requests are known. Of one session, only the best known rows count, so that no request counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UsageSourceRank {
    /// A request with an id of its own.
    #[default]
    Identified,
    /// A request that an agent exported without an id.
    Unidentified,
    /// Tokens of any number of requests.
    Totals,
}

impl UsageSourceRank {
    pub(crate) fn as_number(self) -> i64 {
        match self {
            Self::Identified => 0,
            Self::Unidentified => 1,
            Self::Totals => 2,
        }
    }
}

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UsageRequest {
    /// The same for the same request in every file.
    pub(crate) key: String,
    /// The API's own id.
    pub(crate) request_id: Option<String>,
    pub(crate) product: String,
    pub(crate) session_id: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) model: String,
    /// The agent's directory; later the root of its project.
    pub(crate) project: String,
    pub(crate) rank: UsageSourceRank,
    pub(crate) requests: i64,
    pub(crate) tokens: TokenCounts,
    /// The cost in US dollars, as the agent reports it.
    pub(crate) cost_usd: Option<f64>,
}

/// The begin of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageTurn {
    pub(crate) session_id: String,
    pub(crate) key: String,
    pub(crate) at: Timestamp,
}

/// A number of tokens in a file. Anything else than a whole number in range makes it invalid, and then its line does not
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WireCount(u64);

impl WireCount {
    pub(super) fn get(self) -> i64 {
        self.0.cast_signed()
    }

    /// The number that a text has.
    pub(super) fn parse(text: &str) -> Option<i64> {
        let count = text.parse::<u64>().ok().filter(|count| *count <= MAX_TOKENS);
        count.map(u64::cast_signed)
    }
}

impl<'de> Deserialize<'de> for WireCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = Option::<u64>::deserialize(deserializer)?.unwrap_or_default();
        if count > MAX_TOKENS {
            return Err(serde::de::Error::custom("too many tokens"));
        }
        Ok(Self(count))
    }
}
