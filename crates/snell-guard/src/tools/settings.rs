//! Settings of an agent, in the project: an agent may have good reason to change them, and could switch Snell off with
//! them. What surely does not concern Snell is for the user to decide; everything else is no agent's to change.

use serde_json::Value as Json;

use super::on;
use crate::effects::{Effect, Kind, What};
use crate::judge::Seen;
use crate::paths::{Class, is_within};
use crate::world::{Owned, World};

/// The rule for a change that the user decides about.
pub(crate) const RULE: &str = "self.settings";

/// What stands in the settings where Snell is registered, or could be switched off: in small letters.
const TOUCHY: &[&str] = &[
    "snell",
    "hook",
    "matcher",
    "command",
    "\"type\"",
    "tooluse",
    "prompt",
    "notification",
    "stop",
    "session",
    "compact",
    "permissionrequest",
    "\\u",
];

/// How tools call what is there and what is to be there instead.
const EDITS: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
];

/// Notes a change of an agent's settings that does not concern Snell; whether it is one.
pub(super) fn look(path: &str, input: &Json, world: &World, seen: &mut Seen) -> bool {
    let mut effect = on(Kind::Overwrite, path, world);
    let Some(place) = &mut effect.place else {
        return false;
    };
    let own = world
        .own
        .iter()
        .find(|own| Some(own.path.as_str()) == place.path.as_deref() && is_within(&own.path, &world.project));
    let harmless = match own.map(|own| own.what) {
        Some(Owned::Settings) => edits_harmlessly(input) || writes_harmlessly(input),
        Some(Owned::Registration) => edits_harmlessly(input),
        _ => false,
    };
    if harmless {
        place.classes = place.classes.without([Class::Own].into());
        seen.effects.push(Effect {
            what: What::Rule(crate::effects::number_of(RULE)),
            ..effect.clone()
        });
        seen.effects.push(effect);
    }
    harmless
}

/// Whether all that is replaced, and all that comes instead, has nothing to do with Snell and leaves the file in shape.
fn edits_harmlessly(input: &Json) -> bool {
    let inner = input.get("edits").and_then(Json::as_array);
    let pairs: Vec<(&str, &str)> = std::iter::once(input)
        .chain(inner.into_iter().flatten())
        .flat_map(|edit| {
            EDITS
                .iter()
                .filter_map(|(old, new)| Some((edit.get(old)?.as_str()?, edit.get(new)?.as_str()?)))
        })
        .collect();
    let all_read = inner.is_none_or(|edits| edits.len() == pairs.len());
    let harmless = |(old, new): &(&str, &str)| !is_touchy(old) && !is_touchy(new) && shape(old) == shape(new);
    !pairs.is_empty() && all_read && input.get("content").is_none() && pairs.iter().all(harmless)
}

/// Whether a whole new file has nothing to do with Snell.
fn writes_harmlessly(input: &Json) -> bool {
    let content = input.get("content").and_then(Json::as_str);
    let is_settings = |text: &str| serde_json::from_str::<Json>(text).is_ok_and(|json| json.is_object());
    content.is_some_and(|text| !is_touchy(text) && is_settings(text))
}

fn is_touchy(text: &str) -> bool {
    let text = text.to_lowercase();
    TOUCHY.iter().any(|word| text.contains(word))
}

/// What a text opens and closes: a file that is no longer JSON is no longer read.
fn shape(text: &str) -> (isize, isize, usize) {
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
