//! The mode that a launcher gives a session.

/// Whether a user watches a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionMode {
    /// A user watches it. This is the default.
    Interactive,
    /// It works on a mission.
    Mission,
    /// It works in the background.
    Background,
    /// An unknown mode: a user may not watch it.
    Other(String),
}

impl SessionMode {
    pub(crate) fn from_name(name: Option<&str>) -> Self {
        let name = name.map(str::trim).unwrap_or_default().to_lowercase();
        match name.as_str() {
            "" | "interactive" => Self::Interactive,
            "mission" => Self::Mission,
            "background" => Self::Background,
            _ => Self::Other(name),
        }
    }

    /// Its name; nothing for an interactive session.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Interactive => None,
            Self::Mission => Some("mission"),
            Self::Background => Some("background"),
            Self::Other(name) => Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_known_however_it_is_written() {
        let cases = [
            (None, SessionMode::Interactive),
            (Some(""), SessionMode::Interactive),
            (Some(" Interactive "), SessionMode::Interactive),
            (Some("MISSION"), SessionMode::Mission),
            (Some("background"), SessionMode::Background),
            (Some("night"), SessionMode::Other("night".into())),
            (Some("interactive2"), SessionMode::Other("interactive2".into())),
            (Some("ınteractive"), SessionMode::Other("ınteractive".into())),
        ];
        for (told, expected) in cases {
            assert_eq!(SessionMode::from_name(told), expected, "{told:?}");
        }
    }
}
