//! Changes of an agent's settings in the project. There may be good reasons for them, but they could turn Snell off.
//! The user decides about changes that certainly do not affect Snell; all others are denied.

use crate::tools::words;
use serde_json::Value as Json;

use super::build_file_effect;
use crate::effects::{Effect, EffectKind, PathAction};
use crate::judge::context::{JudgeContext, SelfFile};
use crate::judge::{CallAnalysis, find_whole_text};
use crate::paths::{PathClass, is_within_directory};

/// The rule for a change that the user decides about.
pub(crate) const SETTINGS_RULE: &str = "self.settings";

/// The keys of the old and the new text.
const EDIT_KEYS: &[(&str, &str)] = &[("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText")];

/// Records a change of an agent's settings that does not affect Snell. Returns whether it is one.
pub(super) fn analyze_settings_change(
    path: &str,
    input: &Json,
    context: &JudgeContext,
    analysis: &mut CallAnalysis,
) -> bool {
    let mut effect = build_file_effect(PathAction::Overwrite, path, context);
    let Some(place) = &mut effect.place else {
        return false;
    };
    let own = context.self_paths.iter().find(|own| {
        Some(own.path.as_str()) == place.path.as_deref() && is_within_directory(&own.path, &context.project)
    });
    let harmless = match own.map(|own| own.kind) {
        Some(SelfFile::Settings) => is_harmless_edit(input) || is_harmless_write(input),
        Some(SelfFile::Registration) => is_harmless_edit(input),
        _ => false,
    };
    if harmless {
        place.classes = place.classes.difference([PathClass::Own].into());
        analysis
            .effects
            .push(Effect { kind: EffectKind::Rule(crate::effects::find_rule_index(SETTINGS_RULE)), ..effect.clone() });
        analysis.effects.push(effect);
    }
    harmless
}

/// Whether neither the old nor the new text affects Snell, and the file stays valid.
fn is_harmless_edit(input: &Json) -> bool {
    let inner = input.get("edits").and_then(Json::as_array);
    let pairs: Vec<(&str, &str)> = std::iter::once(input)
        .chain(inner.into_iter().flatten())
        .flat_map(|edit| {
            EDIT_KEYS.iter().filter_map(|(old, new)| Some((edit.get(old)?.as_str()?, edit.get(new)?.as_str()?)))
        })
        .collect();
    let all_read = inner.is_none_or(|edits| edits.len() == pairs.len());
    let harmless = |(old, new): &(&str, &str)| {
        !is_hook_related(old) && !is_hook_related(new) && count_brackets(old) == count_brackets(new)
    };
    !pairs.is_empty() && all_read && input.get("content").is_none() && pairs.iter().all(harmless)
}

/// Whether a whole new file does not affect Snell.
fn is_harmless_write(input: &Json) -> bool {
    let is_settings = |text: &str| serde_json::from_str::<Json>(text).is_ok_and(|json| json.is_object());
    find_whole_text(input).is_some_and(|text| !is_hook_related(text) && is_settings(text))
}

fn is_hook_related(text: &str) -> bool {
    let text = text.to_lowercase();
    words::settings::HOOK_WORDS.iter().any(|word| text.contains(word))
}

/// Counts brackets and quotes: an agent does not load a file that is no longer JSON.
fn count_brackets(text: &str) -> (isize, isize, usize) {
    let mut shape = (0, 0, 0);
    for c in text.chars() {
        match c {
            '{' => shape.0 += 1,
            '}' => shape.0 -= 1,
            '[' => shape.1 += 1,
            ']' => shape.1 -= 1,
            '"' => shape.2 ^= 1,
            _ => {}
        }
    }
    shape
}
