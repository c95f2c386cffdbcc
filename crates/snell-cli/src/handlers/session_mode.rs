//! The mode that a session's launcher gave it.

/// Who watches a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionMode {
    /// Somebody sits in front of it. So it is also where nobody says anything.
    Interactive,
    /// It carries out a mission.
    Mission,
    /// It works in the background.
    Background,
    /// Something that Snell does not know: nobody can be counted on to watch it.
    Other(String),
}

impl SessionMode {
    pub(crate) fn from_name(told: Option<&str>) -> Self {
        let told = told.map(str::trim).unwrap_or_default().to_lowercase();
        match told.as_str() {
            "" | "interactive" => Self::Interactive,
            "mission" => Self::Mission,
            "background" => Self::Background,
            _ => Self::Other(told),
        }
    }

    /// How it is written; nothing if somebody sits in front of it.
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
