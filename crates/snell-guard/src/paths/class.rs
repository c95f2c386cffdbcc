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

/// All classes with their names in the data files.
pub const CLASSES: &[(&str, PathClass)] = &[
    ("root", PathClass::Root),
    ("root-if-empty", PathClass::RootIfEmpty),
    ("system", PathClass::System),
    ("device", PathClass::Device),
    ("harmless", PathClass::Harmless),
    ("network", PathClass::Network),
    ("home-root", PathClass::HomeRoot),
    ("home", PathClass::Home),
    ("start-up", PathClass::StartUp),
    ("secret", PathClass::Secret),
    ("secret-dir", PathClass::SecretDir),
    ("project-root", PathClass::ProjectRoot),
    ("project-git", PathClass::ProjectGit),
    ("project", PathClass::Project),
    ("temp-root", PathClass::TempRoot),
    ("temp", PathClass::Temp),
    ("own", PathClass::Own),
    ("elsewhere", PathClass::Elsewhere),
    ("unknown", PathClass::Unknown),
    ("holds-own", PathClass::HoldsOwn),
    ("protected", PathClass::Protected),
    ("holds-protected", PathClass::HoldsProtected),
    ("sealed", PathClass::Sealed),
    ("holds-sealed", PathClass::HoldsSealed),
    ("vital", PathClass::Vital),
    ("from-input", PathClass::FromInput),
    ("home-project", PathClass::HomeProject),
    ("cache", PathClass::Cache),
    ("personal", PathClass::Personal),
    ("hook", PathClass::Hook),
    ("own-hooks", PathClass::OwnHooks),
    ("own-program", PathClass::OwnProgram),
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

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        CLASSES.iter().filter(move |(_, class)| self.contains(*class)).map(|(name, _)| *name)
    }
}

impl<const N: usize> From<[PathClass; N]> for PathClasses {
    fn from(classes: [PathClass; N]) -> Self {
        classes.into_iter().fold(Self::default(), Self::with)
    }
}

impl fmt::Debug for PathClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
