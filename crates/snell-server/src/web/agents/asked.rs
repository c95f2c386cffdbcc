//! Which agents are asked for: those that do something, or of whom a text tells.

use maud::{Markup, html};
use snell_store::{AgentView, State};

use crate::error::Refusal;
use crate::query::Query;
use crate::web::address::address;
use crate::web::form::{Form, Told};
use crate::web::words::{Name, mark, state};

/// By what agents can be chosen, as it stands in addresses and in the form.
pub(super) const FILTERS: &[&str] = &["q", "state"];

/// What agents can be doing that are shown as cards.
const STATES: &[State] = &[State::AwaitingInput, State::Processing, State::Idle];

/// Which agents are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    told: Told,
    /// Each of these must be found in what is known of an agent.
    words: Vec<String>,
    state: Option<State>,
}

impl Asked {
    pub(super) fn read(query: &Query<'_>) -> Result<Self, Refusal> {
        let known = |word: &str| {
            let mut all = STATES.iter().copied();
            all.find(|known| [known.as_str(), state(*known)].contains(&word))
        };
        let words = query.text("q").unwrap_or_default().split_whitespace();
        Ok(Self {
            told: Told::read(query, FILTERS),
            words: words.map(str::to_lowercase).collect(),
            state: query.word("state", known, STATES.iter().map(|known| state(*known)))?,
        })
    }

    pub(super) fn is_narrowed(&self) -> bool {
        !self.told.is_empty()
    }

    /// Whether an agent is among them.
    pub(super) fn is_about(&self, agent: &AgentView) -> bool {
        if self.state.is_some_and(|state| state != agent.state) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let known = known_of(agent).to_lowercase();
        self.words.iter().all(|word| known.contains(word))
    }

    /// The address of all that are asked for.
    pub(super) fn path(&self) -> String {
        address("/fragments/agents", self.told.pairs())
    }

    /// The address of some of these, up to their numbers.
    pub(super) fn path_of_some(&self) -> String {
        let path = self.path();
        let joint = if self.is_narrowed() { '&' } else { '?' };
        format!("{path}{joint}only=")
    }
}

/// All that a card shows of an agent, and by what it can be told from others.
fn known_of(agent: &AgentView) -> String {
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
    let mut known = Name(agent).text();
    for text in texts.into_iter().flatten() {
        known.push('\n');
        known.push_str(text);
    }
    known
}

/// The choice of agents: a form that needs no script. With one, cards follow what is typed.
pub(super) fn form(asked: Form<'_>) -> Markup {
    html! {
        (asked.message())
        form.filter.fields.search method="get" action="/" role="search" aria-label="Agents" data-narrows="agents" {
            label.wide { "Find " input type="search" name="q" value=(asked.typed("q")) maxlength="200" autocomplete="off"
                placeholder="project, role, words …"; }
            label { "State "
                select name="state" aria-invalid=[asked.wrong("state")] aria-describedby=[asked.why("state")] {
                    option value="" { "any" }
                    @for one in STATES {
                        option value=(one) selected[[one.as_str(), state(*one)].contains(&asked.of("state"))] { (mark(*one)) " " (state(*one)) }
                    }
                }
            }
            button { "Show" }
        }
    }
}
