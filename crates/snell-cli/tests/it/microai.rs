//! TODO microai
