//! The words of `data/words.toml`, one constant per list.

include!(concat!(env!("OUT_DIR"), "/words.rs"));
