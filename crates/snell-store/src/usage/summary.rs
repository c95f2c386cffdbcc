//! Sums with their cost, by day, project, agent, product, model, session or turn.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use snell::Timestamp;

use super::prices::{LongContext, PriceList, compute_cost};
use super::request::TokenCounts;
use crate::db::model::words;
use crate::db::usage::{UsageGrouping, UsageSum};

/// Picodollars per dollar.
const PICODOLLARS: f64 = 1e12;

words! {
    /// The parts of a summary.
    UsageBreakdown {
        /// Days of a time zone.
        Day = "day",
        /// Projects.
        Project = "project",
        /// Agents that Snell knows; others by their product.
        Agent = "agent",
        /// Products.
        Product = "product",
        /// Models.
        Model = "model",
        /// Sessions.
        Session = "session",
        /// Turns: the time from one prompt to the next.
        Turn = "turn",
    }
}

impl UsageBreakdown {
    /// The columns that the database has to tell apart.
    pub fn grouping(self) -> UsageGrouping {
        match self {
            Self::Day => UsageGrouping::Time,
            Self::Project => UsageGrouping::Project,
            Self::Agent => UsageGrouping::Agent,
            Self::Product | Self::Model => UsageGrouping::Model,
            Self::Session => UsageGrouping::Session,
            Self::Turn => UsageGrouping::Turn,
        }
    }

    fn build_key(self, sum: &UsageSum, zone: &TimeZone) -> UsageKey {
        let product = || Some(sum.product.clone());
        let key = UsageKey::default();
        match self {
            Self::Day => UsageKey { day: sum.begins.map(|begins| begins.to_zoned(zone.clone()).date()), ..key },
            Self::Project => UsageKey { project: sum.project.clone(), ..key },
            Self::Agent => UsageKey { agent_id: sum.agent_id, product: product(), ..key },
            Self::Product => UsageKey { product: product(), ..key },
            Self::Model => UsageKey { product: product(), model: Some(sum.model.clone()), ..key },
            Self::Session | Self::Turn => UsageKey {
                session_id: sum.session_id.clone(),
                turn_at: sum.turn_at,
                product: product(),
                project: sum.project.clone(),
                ..key
            },
        }
    }
}

/// The part that a sum belongs to. Fields that the breakdown does not tell apart are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct UsageKey {
    /// The day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// The session's id; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The begin of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_at: Option<Timestamp>,
    /// The agent's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<i64>,
    /// The product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The project's path; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The model; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The cost of requests. It is not known for all of them if a model has no price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageCost {
    picodollars: i128,
    priced: i64,
    unpriced: i64,
}

impl UsageCost {
    /// The cost in US dollars of the requests with a price; `None` if no request has one.
    pub fn usd(&self) -> Option<f64> {
        (self.priced > 0 || self.unpriced == 0).then_some(self.picodollars as f64 / PICODOLLARS)
    }

    /// Whether the cost is only that of a part of the requests.
    pub fn is_partial(&self) -> bool {
        self.priced > 0 && self.unpriced > 0
    }

    fn add(&mut self, other: Self) {
        self.picodollars += other.picodollars;
        self.priced += other.priced;
        self.unpriced += other.unpriced;
    }

    /// The cost of a sum: by the price of its model, else as the agent reports it.
    fn of_sum(sum: &UsageSum, prices: &PriceList) -> Self {
        let is_long = if sum.is_long { LongContext::Yes } else { LongContext::No };
        if let Some(price) = prices.find_price(&sum.model, is_long) {
            return Self { picodollars: compute_cost(price, &sum.tokens), priced: sum.requests, unpriced: 0 };
        }
        let picodollars = (sum.reported_usd * PICODOLLARS) as i128;
        Self { picodollars, priced: sum.costed, unpriced: sum.requests - sum.costed }
    }
}

/// The cost for people: `$1.23`, with a plus if it is only that of a part of the requests.
impl std::fmt::Display for UsageCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.usd() {
            Some(usd) => write!(f, "${usd:.2}{}", if self.is_partial() { "+" } else { "" }),
            None => f.write_str("unknown"),
        }
    }
}

/// The requests of one part.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UsagePart {
    /// The part.
    #[serde(flatten)]
    pub key: UsageKey,
    /// The first request.
    pub first_at: Timestamp,
    /// The last request.
    pub last_at: Timestamp,
    /// How many requests.
    pub requests: i64,
    /// Their tokens.
    #[serde(flatten)]
    pub tokens: TokenCounts,
    /// Their cost.
    #[serde(flatten, serialize_with = "serialize_cost")]
    pub cost: UsageCost,
    /// Their models.
    pub models: BTreeSet<String>,
    /// The models without a price, if no cost was reported either.
    pub unpriced_models: BTreeSet<String>,
}

/// The cost as JSON, exact to a millionth of a dollar.
fn serialize_cost<S: serde::Serializer>(cost: &UsageCost, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeStruct as _;
    let mut fields = serializer.serialize_struct("UsageCost", 2)?;
    fields.serialize_field("cost_usd", &cost.usd().map(|usd| (usd * 1e6).round() / 1e6))?;
    fields.serialize_field("is_partial", &cost.is_partial())?;
    fields.end()
}

/// A summary: its parts, and all of them together.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UsageSummary {
    /// The breakdown.
    pub by: UsageBreakdown,
    /// The parts: days in order, others with the highest cost first.
    pub parts: Vec<UsagePart>,
    /// All together; none without requests.
    pub total: Option<UsagePart>,
    /// The day for which the list of prices is known.
    pub prices_known_on: &'static str,
}

impl UsageSummary {
    /// Adds up sums that the database has grouped by [`UsageBreakdown::grouping`].
    pub fn new(by: UsageBreakdown, sums: &[UsageSum], prices: &PriceList, zone: &TimeZone) -> Self {
        let mut parts: BTreeMap<UsageKey, UsagePart> = BTreeMap::new();
        let mut total: Option<UsagePart> = None;
        for sum in sums {
            let cost = UsageCost::of_sum(sum, prices);
            let key = by.build_key(sum, zone);
            parts.entry(key.clone()).or_insert_with(|| UsagePart::new(key, sum)).add(sum, cost);
            total.get_or_insert_with(|| UsagePart::new(UsageKey::default(), sum)).add(sum, cost);
        }
        let mut parts: Vec<_> = parts.into_values().collect();
        match by {
            UsageBreakdown::Day => {}
            UsageBreakdown::Turn => parts.sort_by_key(|part| part.first_at),
            _ => parts.sort_by_key(|part| std::cmp::Reverse((part.cost.picodollars, part.tokens.total()))),
        }
        Self { by, parts, total, prices_known_on: PriceList::date() }
    }
}

impl UsagePart {
    /// The requests of each agent, from sums that tell agents apart.
    pub fn by_agent(sums: &[UsageSum], prices: &PriceList) -> BTreeMap<i64, Self> {
        let mut agents: BTreeMap<i64, Self> = BTreeMap::new();
        for (agent_id, sum) in sums.iter().filter_map(|sum| Some((sum.agent_id?, sum))) {
            let key = UsageKey { agent_id: Some(agent_id), ..UsageKey::default() };
            let part = agents.entry(agent_id).or_insert_with(|| Self::new(key, sum));
            part.add(sum, UsageCost::of_sum(sum, prices));
        }
        agents
    }

    fn new(key: UsageKey, first: &UsageSum) -> Self {
        Self {
            key,
            first_at: first.first_at,
            last_at: first.last_at,
            requests: 0,
            tokens: TokenCounts::default(),
            cost: UsageCost::default(),
            models: BTreeSet::new(),
            unpriced_models: BTreeSet::new(),
        }
    }

    fn add(&mut self, sum: &UsageSum, cost: UsageCost) {
        self.first_at = self.first_at.min(sum.first_at);
        self.last_at = self.last_at.max(sum.last_at);
        self.requests += sum.requests;
        self.tokens += sum.tokens;
        self.cost.add(cost);
        self.models.insert(sum.model.clone());
        if cost.unpriced > 0 {
            self.unpriced_models.insert(sum.model.clone());
        }
    }
}
