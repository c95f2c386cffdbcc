//! The classes of paths. A path may have several, and a pattern may match several paths.

use std::fmt;

/// One class of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
pub enum PathClass {
    /// `/` or everything in it.
    Root = 1,
    /// The root, or a system directory, if a variable is empty.
    RootIfEmpty = 1 << 1,
    /// Belongs to the system.
    System = 1 << 2,
    /// A disk or the memory.
    Device = 1 << 3,
    /// Writing to it changes nothing: `/dev/null`.
    Harmless = 1 << 4,
    /// A connection: `/dev/tcp/…`.
    Network = 1 << 5,
    /// A whole home directory, or all of them.
    HomeRoot = 1 << 6,
    /// In a home directory, outside the project.
    Home = 1 << 7,
    /// Runs when a user logs in or starts a program.
    StartUp = 1 << 8,
    /// Holds a secret: it lets its reader act as another user.
    Secret = 1 << 9,
    /// A directory that holds secrets.
    SecretDir = 1 << 10,
    /// The whole project, or a directory that contains it.
    ProjectRoot = 1 << 11,
    /// The project's history.
    ProjectGit = 1 << 12,
    /// In the project.
    Project = 1 << 13,
    /// A whole temporary directory.
    TempRoot = 1 << 14,
    /// In a temporary directory.
    Temp = 1 << 15,
    /// Snell's own, or a file that makes an agent call Snell.
    Own = 1 << 16,
    /// None of these.
    Elsewhere = 1 << 17,
    /// Unknown, at least in part.
    Unknown = 1 << 18,
    /// A directory that contains something of Snell's own.
    HoldsOwn = 1 << 19,
    /// The user's settings forbid changes.
    Protected = 1 << 20,
    /// A directory that contains such a path.
    HoldsProtected = 1 << 21,
    /// The user's settings forbid reading.
    Sealed = 1 << 22,
    /// A directory outside the project that contains such a path.
    HoldsSealed = 1 << 23,
    /// In a running container: files that it needs, or its data.
    Vital = 1 << 24,
    /// Named by input: a line of a file, an answer.
    FromInput = 1 << 25,
    /// In a project that is a home directory.
    HomeProject = 1 << 26,
    /// In a home directory, in a cache that refills by itself.
    Cache = 1 << 27,
    /// In a home directory, where people keep their own files.
    Personal = 1 << 28,
    /// Git or an agent runs it by itself.
    Hook = 1 << 29,
    /// Defines hooks of Snell in the project.
    OwnHooks = 1 << 30,
    /// Snell's program.
    OwnProgram = 1 << 31,
    /// A directory of the system whose name programs of the user have too, if a variable is empty.
    SystemIfEmpty = 1 << 32,
}

/// The descriptions of classes, gravest first.
pub(crate) const CLASS_PHRASES: &[(PathClass, &str)] = &[
    (PathClass::Root, "everything on this machine"),
    (PathClass::RootIfEmpty, "everything, if a variable is empty"),
    (PathClass::SystemIfEmpty, "a system directory, if a variable is empty"),
    (PathClass::Device, "a disk or memory device"),
    (PathClass::System, "system"),
    (PathClass::HomeRoot, "a whole home directory"),
    (PathClass::Own, "belongs to Snell"),
    (PathClass::HoldsOwn, "contains files of Snell"),
    (PathClass::OwnProgram, "Snell's program"),
    (PathClass::OwnHooks, "defines the project's hooks"),
    (PathClass::Sealed, "must not be read"),
    (PathClass::HoldsSealed, "contains paths that must not be read"),
    (PathClass::Protected, "must not be changed"),
    (PathClass::HoldsProtected, "contains paths that must not be changed"),
    (PathClass::Secret, "holds secrets"),
    (PathClass::SecretDir, "directory with secrets"),
    (PathClass::StartUp, "runs at login or when a program starts"),
    (PathClass::ProjectRoot, "the whole project, or a directory that contains it"),
    (PathClass::Hook, "run by git or an agent"),
    (PathClass::ProjectGit, "the project's history"),
    (PathClass::HomeProject, "in the project, which is a home directory"),
    (PathClass::Project, "in the project"),
    (PathClass::TempRoot, "a whole temporary directory"),
    (PathClass::Temp, "in a temporary directory"),
    (PathClass::Cache, "a cache"),
    (PathClass::Home, "in a home directory, outside the project"),
    (PathClass::Personal, "personal files"),
    (PathClass::Vital, "needed by a running container"),
    (PathClass::FromInput, "named by a file or by input"),
    (PathClass::Harmless, "harmless"),
    (PathClass::Network, "network connection"),
    (PathClass::Elsewhere, "elsewhere on this machine"),
    (PathClass::Unknown, "partly unknown"),
];

/// A set of classes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct PathClasses(pub(crate) u64);

impl PathClasses {
    /// Whether the set contains this class.
    pub fn contains(self, class: PathClass) -> bool {
        self.0 & class as u64 != 0
    }

    /// Whether the sets have a class in common.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set with this class.
    #[must_use]
    pub fn with(self, class: PathClass) -> Self {
        Self(self.0 | class as u64)
    }

    /// The intersection.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The union.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The difference.
    #[must_use]
    pub fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set is empty.
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
        assert_eq!(all.0.count_ones(), u32::try_from(CLASS_PHRASES.len()).unwrap(), "one class has one bit");
        assert!(all.0.trailing_ones() == all.0.count_ones(), "no bit is left out");
    }
}
