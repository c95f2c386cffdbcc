//! The question that an agent asks at its prompt, as opposed to a dialog.

use snell::AgentProduct;

use super::intent::{self, TurnIntent};
use super::question_text;
use super::transition::QUESTION_REASON;
use crate::db::model::{AgentRow, AgentState};

/// The question of an agent that waits for an answer at its prompt; nothing if it does not wait, or shows a dialog. A dialog
/// is about a tool, or has another reason.
pub(crate) fn find_prompt_question(agent: &AgentRow) -> Option<&str> {
    let last_words = agent.last_words.as_deref()?;
    let is_question = intent::classify_last_words(last_words) == TurnIntent::Question;
    let waits_at_prompt = agent.state == AgentState::AwaitingInput && agent.current_tool.is_none() && is_question;
    agent.why.strip_prefix(QUESTION_REASON)?.strip_prefix(": ").filter(|_| waits_at_prompt)
}

/// Whether an agent that waits shows a question with choices, and not a permission.
pub(crate) fn shows_choices(agent: &AgentRow) -> bool {
    let product = AgentProduct::for_recorded_name(agent.product.as_deref());
    agent.current_tool.as_deref().is_some_and(|tool| question_text::find_question_tool(product, tool).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::model::StateSource;
    use crate::derive::transition::explain_question;
    use snell::Timestamp;

    #[test]
    fn only_a_question_at_the_prompt_is_found() {
        let words = "Two ways. Shall I push it?";
        let asks = explain_question(Some(words));
        let cases = [
            (AgentState::AwaitingInput, asks.as_str(), Some(words), None, Some("Shall I push it?")),
            (AgentState::Processing, &asks, Some(words), None, None),
            (AgentState::AwaitingInput, &asks, Some(words), Some("Bash"), None),
            (AgentState::AwaitingInput, &asks, Some("I pushed it."), None, None),
            (AgentState::AwaitingInput, &asks, None, None, None),
            (AgentState::AwaitingInput, "it asks for permission to use Bash", Some(words), None, None),
            (AgentState::AwaitingInput, "github asks the user: Shall I push it?", Some(words), None, None),
        ];
        for (state, why, last_words, tool, expected) in cases {
            let mut agent = AgentRow::new(1, Timestamp::UNIX_EPOCH);
            agent.set_state(state, StateSource::Hook, why, Timestamp::UNIX_EPOCH);
            (agent.last_words, agent.current_tool) = (last_words.map(str::to_owned), tool.map(str::to_owned));
            assert_eq!(find_prompt_question(&agent), expected, "{state} {why} {last_words:?} {tool:?}");
        }
    }
}
