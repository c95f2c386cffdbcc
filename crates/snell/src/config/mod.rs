//! Configuration: which files there are, what they say, and what is wrong with them.

mod load;
mod node;
mod reading;
mod source;

pub use load::ConfigFile;
pub(crate) use load::{Loaded, Stamp, Surroundings, Which, load};
pub(crate) use node::{Member, Node, NodeValue};
pub(crate) use reading::{Fields, LONGEST_TIMEOUT, Reading, Unit, Vocabulary, show_duration};
