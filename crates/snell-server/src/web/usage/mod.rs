//! The view of tokens and their cost.

mod agent_costs;
mod columns;
mod cost_chart;
mod data;
mod params;
mod table;

use axum::extract::{RawQuery, State};
#[cfg(test)]
use maud::Markup;
use maud::html;
use snell_store::usage::{PriceList, UsagePart};

use super::layout::{NavTab, PageContent, render_page};
use super::{PageResult, html_response, load_with_frame};
use crate::app_state::SharedAppState;

pub(super) use agent_costs::AgentCosts;
use data::UsageOverview;
use params::UsageParams;

/// `GET /usage`
pub(crate) async fn get_usage_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let params = UsageParams::parse(query.as_deref())?;
    let now = app.clock.now();
    let (asked, prices) = (params.clone(), app.settings.prices.clone());
    let (frame, usage) = load_with_frame(&app, move |store| UsageOverview::load(store, &asked, &prices, now)).await?;
    let main = html! {
        h1 { "Usage" }
        (usage.render(&params))
        p.quiet { "Costs are by list prices known on " (PriceList::date()) ". Days begin at midnight UTC." }
    };
    let view = PageContent { tab: Some(NavTab::Usage), title: "Usage", main };
    Ok(render_page(&frame, &view))
}

/// `GET /fragments/usage`
pub(crate) async fn get_usage_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let params = UsageParams::parse(query.as_deref())?;
    let (asked, prices, now) = (params.clone(), app.settings.prices.clone(), app.clock.now());
    let usage = app.store_pool.with_store(move |store| UsageOverview::load(store, &asked, &prices, now)).await?;
    Ok(html_response(usage.render(&params)))
}

/// A number of tokens in few characters: `1.2 M`.
pub(super) fn format_tokens(tokens: i64) -> String {
    const UNITS: [(i64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match UNITS.iter().find(|(size, _)| tokens >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", tokens as f64 / *size as f64),
        None => tokens.to_string(),
    }
}

/// The tokens and the cost of an agent, in one line.
pub(super) fn describe_usage(total: &UsagePart) -> String {
    format!("{} ({} tokens)", total.cost, format_tokens(total.tokens.total()))
}

/// The view with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: snell::Timestamp) -> Vec<(&'static str, Markup)> {
    use jiff::tz::TimeZone;
    use snell_store::UsageSum;
    use snell_store::usage::{TokenCounts, UsageBreakdown, UsageSummary};

    let sum = UsageSum {
        product: text.to_owned(),
        model: text.to_owned(),
        is_long: false,
        begins: Some(now),
        project: Some(text.to_owned()),
        agent_id: None,
        session_id: Some(text.to_owned()),
        turn_at: None,
        first_at: now,
        last_at: now,
        requests: 1,
        tokens: TokenCounts { input: 5, ..TokenCounts::default() },
        reported_usd: 1.0,
        costed: 1,
    };
    let summarize = |by| UsageSummary::new(by, std::slice::from_ref(&sum), &PriceList::default(), &TimeZone::UTC);
    let render = |by: UsageBreakdown| {
        let usage = UsageOverview { days: summarize(UsageBreakdown::Day), parts: summarize(by), now };
        (by.as_str(), usage.render(&UsageParams { by, ..UsageParams::default() }))
    };
    [UsageBreakdown::Project, UsageBreakdown::Model, UsageBreakdown::Session].map(render).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short() {
        let cases = [(0, "0"), (999, "999"), (1000, "1.0 k"), (1_250_000, "1.2 M"), (2_000_000_000, "2.0 G")];
        for (tokens, expected) in cases {
            assert_eq!(format_tokens(tokens), expected);
        }
    }
}
