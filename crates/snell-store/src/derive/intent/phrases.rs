//! The phrases of `data/intent.toml`, one constant per table.

include!(concat!(env!("OUT_DIR"), "/intent_phrases.rs"));
