//! TODO claude_os
