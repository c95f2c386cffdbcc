//! Configuration: which files there are, what they say, and what is wrong with them.

mod arrange;
mod document;
mod judged;
mod left_out;
mod load;
mod node;
mod places;
mod reading;
mod settings;
mod source;

pub use document::{Document, Part};
pub(crate) use judged::{Pins, Scope, Unpinned};
pub(crate) use left_out::LeftOut;
pub(crate) use load::{Loaded, Request, load};
pub(crate) use node::{Member, Node, NodeValue};
pub use places::ConfigFile;
pub(crate) use places::{Surroundings, Which};
pub(crate) use reading::{Fields, LONGEST_TIMEOUT, Reading, Unit, Vocabulary, show_duration};
pub use settings::{
    AllowedCommand, CommsSettings, ContextSettings, CoreFile, GuardAuthor, GuardChoice, GuardPreset, GuardSettings,
    Handler, Handlers, Keep, Message, MessageUse, Messages, ProtectedPath, RemindSettings, RuleChoice, ServerFault,
    ServerSettings, Settings, UnreadFile, is_postgres, receiver_url,
};
pub(crate) use settings::{CORE_FILES, HANDLERS, SETTING_KEYS, borrowable, read as read_settings};
