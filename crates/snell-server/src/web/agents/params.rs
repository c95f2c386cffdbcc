//! The query parameters of the list of agents: a state, and words to search for.

use maud::{Markup, html};
use snell_store::{AgentActivity, AgentView};

use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::web::filter_form::{FilterForm, FormValues};
use crate::web::format::{AgentName, state_label, state_symbol};
use crate::web::page_url::build_url;

/// The filters of agents, in addresses and in the form.
pub(super) const FILTER_FIELDS: &[&str] = &["q", "state"];

/// The states of agents with a card.
const STATES: &[AgentActivity] =
    &[AgentActivity::AwaitingInput, AgentActivity::Processing, AgentActivity::Background, AgentActivity::Idle];

/// The query parameters of the list of agents.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentsParams {
    values: FormValues,
    /// Each word must occur in the search text of an agent.
    words: Vec<String>,
    state: Option<AgentActivity>,
}

impl AgentsParams {
    pub(super) fn parse(query: &QueryParams<'_>) -> Result<Self, HttpError> {
        let known = |word: &str| {
            let mut all = STATES.iter().copied();
            all.find(|known| [known.as_str(), state_label(*known)].contains(&word))
        };
        let words = query.text("q").unwrap_or_default().split_whitespace();
        Ok(Self {
            values: FormValues::from_query(query, FILTER_FIELDS),
            words: words.map(str::to_lowercase).collect(),
            state: query.choice("state", known, STATES.iter().map(|known| state_label(*known)))?,
        })
    }

    pub(super) fn is_filtered(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether an agent matches.
    pub(super) fn matches_agent(&self, agent: &AgentView) -> bool {
        if self.state.is_some_and(|state| state != agent.activity()) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let known = build_search_text(agent).to_lowercase();
        self.words.iter().all(|word| known.contains(word))
    }

    /// The address of the matching cards.
    pub(super) fn fragment_url(&self) -> String {
        build_url("/fragments/agents", self.values.pairs())
    }

    /// The address of some cards; their numbers are appended.
    pub(super) fn partial_fragment_url(&self) -> String {
        let path = self.fragment_url();
        let joint = if self.is_filtered() { '&' } else { '?' };
        format!("{path}{joint}only=")
    }
}

/// The text of a card that the search covers, and the agent's identifiers.
fn build_search_text(agent: &AgentView) -> String {
    let texts = [
        Some(&agent.project),
        Some(&agent.project_path),
        Some(&agent.why),
        agent.session_id.as_ref(),
        agent.status_text.as_ref(),
        agent.current_tool.as_ref(),
        agent.last_words.as_ref(),
        agent.tmux_session.as_ref(),
        agent.host.as_ref(),
        agent.model.as_ref(),
    ];
    let mut known = AgentName(agent).to_text();
    for text in texts.into_iter().flatten() {
        known.push('\n');
        known.push_str(text);
    }
    known
}

/// The filter form. It works without scripts; with them, it applies at once.
pub(super) fn render_filter_form(form: FilterForm<'_>) -> Markup {
    html! {
        (form.render_error())
        form.filter.fields.search method="get" action="/" role="search" aria-label="Agents" data-narrows="agents" {
            label.wide { "Search " input type="search" name="q" value=(form.escaped_value("q")) maxlength="200" autocomplete="off"
                placeholder="project, role, text …"; }
            label { "State "
                select name="state" aria-invalid=[form.aria_invalid("state")] aria-describedby=[form.aria_describedby("state")] {
                    option value="" { "any" }
                    @for one in STATES {
                        option value=(one) selected[[one.as_str(), state_label(*one)].contains(&form.value("state"))] { (state_symbol(*one)) " " (state_label(*one)) }
                    }
                }
            }
            button { "Filter" }
        }
    }
}
