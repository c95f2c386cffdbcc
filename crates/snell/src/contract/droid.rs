//! Factory droid: Claude Code's groups and answers. A changed input only has the keys that change.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    ExitMeaning, FileLayout, InputChange, MatcherGrammar, PayloadTable, PayloadValue, TextMeaning, ToolNameForm,
    answer_row,
};
use super::{BaseDirectory, Contract, ContractReader, DedupPolicy, ExecutionMode, HookFileLocation, is_preventable};
use crate::config::{MAX_TIMEOUT, TimeoutField};
use crate::event::EventName;
use crate::matcher::NameListCharset;
use crate::verdict::Decision;

pub(super) static DROID: Contract = Contract {
    name: "droid",
    lane: "droid",
    locations: &[
        HookFileLocation::file(BaseDirectory::Home, ".factory/hooks.json"),
        HookFileLocation::file(BaseDirectory::Home, ".factory/settings.json"),
        HookFileLocation::file(BaseDirectory::Project, ".factory/hooks.json"),
        HookFileLocation::file(BaseDirectory::Project, ".factory/settings.json"),
    ],
    execution_mode: |_| ExecutionMode::Together { budget: None },
    dedup: DedupPolicy::RunOnce,
    project_variable: Some("FACTORY_PROJECT_DIR"),
    can_block: is_preventable,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "droid",
    layout: FileLayout::RootGroups,
    entry: EntryRules {
        keys: &["type", "command", "timeout"],
        timeout: |_| TimeoutField::seconds(Duration::from_secs(60), MAX_TIMEOUT),
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::NamesOrExpression(NameListCharset::Wide),
    tool_names: |_| ToolNameForm::NativeAndCanonical,
    payload: PayloadTable { has_claude_fields: |_| true, fields: &[] },
    variables: &[("FACTORY_PROJECT_DIR", PayloadValue::Project)],
    answer: AnswerTable {
        exit_code: |_, code| if code == 2 { ExitMeaning::Deny } else { ExitMeaning::Failure },
        text: |event| match event {
            EventName::SessionStart | EventName::UserPromptSubmit => TextMeaning::Context,
            _ => TextMeaning::Nothing,
        },
        rows: &[
            answer_row(
                &["PreToolUse"],
                "hookSpecificOutput.permissionDecision",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)],
                    reasons: &["hookSpecificOutput.permissionDecisionReason"],
                },
            ),
            answer_row(
                &[],
                "decision",
                AnswerMeaning::Decision {
                    words: &[
                        ("block", Decision::Deny),
                        ("deny", Decision::Deny),
                        ("approve", Decision::None),
                        ("allow", Decision::None),
                    ],
                    reasons: &["reason"],
                },
            ),
            answer_row(&["PreToolUse"], "hookSpecificOutput.updatedInput", AnswerMeaning::Input(InputChange::Merge)),
            answer_row(
                &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
                "hookSpecificOutput.additionalContext",
                AnswerMeaning::Context,
            ),
            answer_row(&[], "systemMessage", AnswerMeaning::Message),
            answer_row(&[], "continue", AnswerMeaning::Continue { reason: "stopReason" }),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
