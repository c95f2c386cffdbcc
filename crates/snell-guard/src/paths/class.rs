//! What a place is. It may be several things at once, and a pattern may hit several places.

use std::fmt;

/// One thing that a place may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum PathClass {
    /// `/` or everything in it.
    Root = 1,
    /// The root, or a directory of the system, if a variable is empty.
    RootIfEmpty = 1 << 1,
    /// The machine's own.
    System = 1 << 2,
    /// A disk or the memory.
    Device = 1 << 3,
    /// Writing there changes nothing: `/dev/null`.
    Harmless = 1 << 4,
    /// A connection: `/dev/tcp/…`.
    Network = 1 << 5,
    /// Somebody's home as a whole, or everybody's.
    HomeRoot = 1 << 6,
    /// In a home, outside of the project.
    Home = 1 << 7,
    /// Read when somebody logs in or starts a program.
    StartUp = 1 << 8,
    /// Whoever reads it can act as somebody else.
    Secret = 1 << 9,
    /// A directory that holds secrets.
    SecretDir = 1 << 10,
    /// The project as a whole, or a directory that holds it.
    ProjectRoot = 1 << 11,
    /// The project's history.
    ProjectGit = 1 << 12,
    /// In the project.
    Project = 1 << 13,
    /// A temporary directory as a whole.
    TempRoot = 1 << 14,
    /// In a temporary directory.
    Temp = 1 << 15,
    /// Snell's own, or where an agent is told to call it.
    Own = 1 << 16,
    /// None of these.
    Elsewhere = 1 << 17,
    /// Not known, at least in part.
    Unknown = 1 << 18,
    /// A directory that holds something of Snell's own.
    HoldsOwn = 1 << 19,
    /// The user wants it not to be changed.
    Protected = 1 << 20,
    /// A directory that holds such a place.
    HoldsProtected = 1 << 21,
    /// The user wants it not even to be read.
    Sealed = 1 << 22,
    /// A directory outside of the project that holds such a place.
    HoldsSealed = 1 << 23,
    /// In a container that is in use: what it lives from, or what is kept in it.
    Vital = 1 << 24,
    /// Wherever somebody else says: a line of a file, an answer.
    FromInput = 1 << 25,
    /// In the project, which is somebody's home.
    HomeProject = 1 << 26,
    /// In a home, where it fills again by itself when it is gone.
    Cache = 1 << 27,
    /// In a home, where people keep what they have made.
    Personal = 1 << 28,
    /// Git runs it by itself, when something else is meant.
    Hook = 1 << 29,
    /// Says which hooks of Snell run in the project.
    OwnHooks = 1 << 30,
    /// Snell's program.
    OwnProgram = 1 << 31,
}

/// What a place may be in words, gravest first.
pub(crate) const CLASS_PHRASES: &[(PathClass, &str)] = &[
    (PathClass::Root, "everything on this machine"),
    (PathClass::RootIfEmpty, "everything, if a variable is empty"),
    (PathClass::Device, "a disk or the memory"),
    (PathClass::System, "the system's"),
    (PathClass::HomeRoot, "a whole home directory"),
    (PathClass::Own, "Snell's own"),
    (PathClass::HoldsOwn, "holds something of Snell's own"),
    (PathClass::OwnProgram, "Snell's program"),
    (PathClass::OwnHooks, "the project's hooks of Snell"),
    (PathClass::Sealed, "not to be read, says the user"),
    (PathClass::HoldsSealed, "holds what is not to be read, says the user"),
    (PathClass::Protected, "not to be changed, says the user"),
    (PathClass::HoldsProtected, "holds what is not to be changed, says the user"),
    (PathClass::Secret, "holds secrets"),
    (PathClass::SecretDir, "a directory of secrets"),
    (PathClass::StartUp, "read when somebody logs in or starts a program"),
    (PathClass::ProjectRoot, "the project as a whole, or around it"),
    (PathClass::Hook, "run by git itself"),
    (PathClass::ProjectGit, "the project's history"),
    (PathClass::HomeProject, "in the project, which is a home"),
    (PathClass::Project, "in the project"),
    (PathClass::TempRoot, "a temporary directory as a whole"),
    (PathClass::Temp, "in a temporary directory"),
    (PathClass::Cache, "a cache, which fills again"),
    (PathClass::Home, "in a home, outside of the project"),
    (PathClass::Personal, "where somebody keeps their own"),
    (PathClass::Vital, "what a container in use lives from"),
    (PathClass::FromInput, "wherever a file or an answer says"),
    (PathClass::Harmless, "harmless"),
    (PathClass::Network, "a connection"),
    (PathClass::Elsewhere, "elsewhere on this machine"),
    (PathClass::Unknown, "not known, at least in part"),
];

/// A set of classes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct PathClasses(pub(crate) u32);

impl PathClasses {
    /// Whether this is one of them.
    pub fn contains(self, class: PathClass) -> bool {
        self.0 & class as u32 != 0
    }

    /// Whether they have one in common.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// With this one.
    #[must_use]
    pub fn with(self, class: PathClass) -> Self {
        Self(self.0 | class as u32)
    }

    /// Those that are also in the other.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// With all of the other.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without those of the other.
    #[must_use]
    pub fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl<const N: usize> From<[PathClass; N]> for PathClasses {
    fn from(classes: [PathClass; N]) -> Self {
        classes.into_iter().fold(Self::default(), Self::with)
    }
}

impl fmt::Debug for PathClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes = CLASS_PHRASES.iter().map(|(class, _)| class).filter(|class| self.contains(**class));
        f.debug_set().entries(classes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_places_has_words() {
        let all = CLASS_PHRASES.iter().fold(PathClasses::default(), |all, (class, _)| all.with(*class));
        assert_eq!(all.0, u32::MAX, "one class has one bit");
    }
}
