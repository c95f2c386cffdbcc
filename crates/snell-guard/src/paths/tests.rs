use proptest::prelude::*;

use super::*;
use crate::invocation::UnknownKind;
use crate::judge::context::{SelfFile, SelfPath};

fn test_context() -> JudgeContext {
    JudgeContext {
        cwd: "/home/ann/work/app".into(),
        home: "/home/ann".into(),
        user: "ann".into(),
        project: "/home/ann/work/app".into(),
        temp: vec!["/tmp".into(), "/var/tmp".into(), "/scratch".into()],
        self_paths: vec![
            SelfPath::new("/home/ann/.snell", SelfFile::Data),
            SelfPath::new("/home/ann/.claude/settings.json", SelfFile::Registration),
        ],
        links: Vec::new(),
        current_push: None,
        ignores_case: false,
        agent_pid: None,
        variables: Vec::new(),
    }
}

/// `*`, `?` and `[…]` are patterns, `$x` is anything, `$!x` is not empty, `$#x` is a name.
fn parse_test_value(written: &str) -> SymbolicText {
    let mut value = SymbolicText::default();
    let mut rest = written;
    while let Some(first) = rest.chars().next() {
        let (part, length) = match first {
            '$' if rest.starts_with("$!x") => (SymbolicPart::Unknown(UnknownKind::Something), 3),
            '$' if rest.starts_with("$#x") => (SymbolicPart::Unknown(UnknownKind::Name), 3),
            '$' => (SymbolicPart::Unknown(UnknownKind::Anything), 2),
            '*' | '?' => (SymbolicPart::Pattern(first.to_string()), 1),
            '[' => {
                let end = rest.find(']').unwrap() + 1;
                (SymbolicPart::Pattern(rest[..end].to_owned()), end)
            }
            _ => {
                let end = rest.find(['$', '*', '?', '[']).unwrap_or(rest.len());
                (SymbolicPart::Text(rest[..end].to_owned()), end)
            }
        };
        value.parts.push(part);
        rest = &rest[length..];
    }
    value
}

fn classify_written(written: &str) -> PathClasses {
    locate_path(&parse_test_value(written), Some("/home/ann/work/app"), &test_context()).classes
}

/// Home directories below temporary directories, and a temporary directory below a home.
#[test]
fn a_home_below_a_temporary_directory_is_a_home() {
    use PathClass::{Cache, Home, HomeRoot, Personal, Project, ProjectRoot, SecretDir, Temp};
    let locations = |home: &str, temp: &str| JudgeContext {
        home: home.into(),
        project: "/tmp/x/home/app".into(),
        temp: vec!["/tmp".into(), temp.into()],
        self_paths: Vec::new(),
        ..test_context()
    };
    for (home, temp, path, expected) in [
        ("/tmp/x/home", "/scratch", "/tmp/x/home/.ssh", PathClasses::from([Home, SecretDir])),
        ("/tmp/x/home", "/scratch", "/tmp/x/home/notes", [Home, Personal].into()),
        ("/tmp/x/home", "/scratch", "/tmp/x/home/.cache/a", [Cache].into()),
        ("/tmp/x/home", "/scratch", "/tmp/x/home/*", [HomeRoot, SecretDir, ProjectRoot].into()),
        ("/tmp/x/home", "/tmp/x/home/tmp", "/tmp/x/home/tmp/a", [Temp].into()),
        ("/tmp/x/home", "/scratch", "/tmp/x/home/app/a", [Project].into()),
        ("/tmp/x/home", "/scratch", "/tmp/x/other", [Temp].into()),
        ("/tmp/x/home", "/scratch", "/tmp/x/homer/.bin", [Temp].into()),
        ("/scratch/me", "/scratch", "/scratch/me/notes", [Home, Personal].into()),
        // Programs write temporary files there.
        ("/tmp", "/scratch", "/tmp/a", [Temp].into()),
    ] {
        let context = locations(home, temp);
        let found = locate_path(&parse_test_value(path), Some("/"), &context).classes;
        assert_eq!(found, expected, "{path} with home {home} and temporary directory {temp}");
    }
}

#[test]
fn every_place_has_its_classes() {
    let mut faults = Vec::new();
    for (written, expected) in [
        ("/", "root holds-own"),
        ("//", "root holds-own"),
        ("/.", "root holds-own"),
        ("/..", "root holds-own"),
        ("/tmp/../", "root holds-own"),
        ("/*", "root holds-own"),
        ("/.*", "root"),
        ("/etc", "system"),
        ("/etc/", "system"),
        ("/usr/local/bin/x", "system"),
        ("/tmp/../etc/hosts", "system"),
        ("../../../../etc/hosts", "system"),
        ("/e*c", "system"),
        ("/[e]tc", "system"),
        ("/???", "system"),
        ("/var/log/x", "system"),
        ("/etc/shadow", "system secret"),
        ("/etc/s*", "system secret secret-dir"),
        ("/dev/sda", "device"),
        ("/dev/sd?", "device"),
        ("/dev/nvme0n1p2", "device"),
        ("/dev/null", "harmless"),
        ("/dev/fd/2", "harmless"),
        ("/dev/tcp/h/80", "network"),
        ("/dev/shm/x", "temp"),
        ("/home", "home-root project-root holds-own"),
        ("/home/ann", "home-root project-root holds-own"),
        ("/home/*", "home-root project-root holds-own"),
        ("/home/bob", "home-root"),
        ("/root", "home-root"),
        ("/home/ann/*", "home-root project-root secret-dir"),
        ("/home/ann/.*", "home-root start-up secret secret-dir own holds-own"),
        ("/home/ann/notes", "home personal"),
        ("/home/bob/notes", "home personal"),
        ("/home/ann/work", "home project-root personal"),
        ("..", "home project-root personal"),
        ("../other", "home personal"),
        ("/home/ann/.bashrc", "home start-up"),
        ("/home/ann/.ssh", "home secret-dir"),
        ("/home/ann/.ssh/id_ed25519", "home secret"),
        ("/home/ann/.ssh/id_ed25519.pub", "home"),
        ("/home/ann/.ssh/config", "home start-up"),
        ("/home/ann/.ssh/*", "home start-up secret"),
        ("/home/ann/.ssh/$x", "home start-up secret unknown"),
        ("/home/ann/.aws/credentials", "home secret"),
        (".", "project-root"),
        ("./", "project-root"),
        ("*", "project-root"),
        ("./*", "project-root"),
        ("src/..", "project-root"),
        ("/home/ann/work/app", "project-root"),
        (".git", "project-git"),
        (".g*", "project-git secret secret-dir"),
        (".git/objects/ab", "project-git"),
        (".git/index.lock", "project"),
        ("vendor/x/.git", "project"),
        ("*.log", "project"),
        ("src/*", "project"),
        ("*.json", "project"),
        ("src/s*", "project"),
        ("certs/*.pem", "project secret"),
        ("certs/*.p?m", "project secret"),
        (".?nv", "project secret"),
        ("*/.env", "project secret"),
        ("build", "project"),
        (".env", "project secret"),
        ("api/.env.local", "project secret"),
        (".env.example", "project"),
        (".e*", "project secret"),
        ("src/$x", "project unknown"),
        ("src/$#x", "project"),
        ("certs/server.key", "project secret"),
        ("certs/ca.pem", "project"),
        ("/tmp", "temp-root"),
        ("/tmp/x", "temp"),
        ("/tmp/*", "temp-root"),
        ("/tmp/x/*", "temp"),
        ("/tmp/x-$x", "temp unknown"),
        ("/tmp/x-$#x", "temp"),
        ("/scratch/y", "temp"),
        ("/scratch", "temp-root"),
        ("/home/ann/.snell/snell.db", "home own"),
        ("/home/ann/.claude/settings.json", "home own"),
        ("/home/ann/.claude/settings.*", "home own"),
        ("/data/x", "elsewhere"),
        ("/home/ann/.cache/pip", "cache"),
        ("/home/ann/.cache/../notes", "home personal"),
        ("/home/ann/.cargo/registry/src", "cache"),
        ("/home/ann/.cargo", "home"),
        ("/home/ann/.app/run/daemon.sock", "cache"),
        ("/home/ann/.app/*.sock", "home"),
        ("/home/ann/.c*/pip", "home"),
        ("/home/ann/Downloads/x", "home"),
        ("/home/ann/.config/x", "home"),
        (".git/hooks/pre-commit", "project hook"),
        ("tests/fixtures/id_rsa", "project"),
        ("tests/id_rsa", "project secret"),
        ("$x", "unknown"),
        ("$x/", "root-if-empty unknown"),
        ("$x/*", "root-if-empty unknown"),
        ("$x/etc", "root-if-empty unknown"),
        ("$x/lib", "system-if-empty unknown"),
        ("$x/lib/*", "system-if-empty unknown"),
        ("$x/build", "unknown"),
        ("$!x/", "unknown"),
        ("$!x/*", "unknown"),
        ("$#x/*", "project"),
        ("/$x", "root-if-empty elsewhere unknown"),
        ("$x/.ssh/id_rsa", "secret unknown"),
        ("", "unknown"),
    ] {
        let classes = classify_written(written);
        let has = CLASS_PHRASES.iter().filter(|(class, _)| classes.contains(*class));
        let mut found: Vec<String> = has.map(|(class, _)| kebab_case(&format!("{class:?}"))).collect();
        found.sort_unstable();
        let mut expected: Vec<&str> = expected.split(' ').collect();
        expected.sort_unstable();
        if found != expected {
            faults.push(format!("{written}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_relative_path_leads_nowhere_without_a_directory() {
    let place = locate_path(&parse_test_value("build"), None, &test_context());
    assert_eq!(place.classes, PathClasses::from([PathClass::Unknown]));
    assert_eq!(place.path, None);
    assert!(locate_path(&parse_test_value(".env"), None, &test_context()).classes.contains(PathClass::Secret));
}

#[test]
fn a_known_path_is_shown_as_it_is() {
    let place = locate_path(&parse_test_value("../x/./y//z"), Some("/home/ann/work/app"), &test_context());
    assert_eq!(place.display_path(), "/home/ann/work/x/y/z");
    assert_eq!(locate_path(&parse_test_value("a/*$x"), Some("/srv"), &test_context()).display_path(), "a/*…");
}

#[test]
fn a_path_that_no_kernel_takes_is_unknown() {
    let long = "/a".repeat(3000);
    assert_eq!(classify_written(&long), PathClasses::from([PathClass::Unknown]));
}

proptest! {
    #[test]
    fn no_value_is_too_odd_to_be_located(written in "([a-z./*?#!~\\x01-\\x03 ]|[$]x){0,40}") {
        let _ = classify_written(&written);
    }

    #[test]
    fn what_lies_below_the_system_belongs_to_the_system(
        top in prop::sample::select(vec!["/etc", "/usr", "/boot", "/bin", "/var/lib"]),
        below in "(/[a-z]{1,6}){0,5}",
    ) {
        let path = format!("{top}{below}");
        prop_assert!(classify_written(&path).contains(PathClass::System), "{}", path);
    }

    #[test]
    fn detours_change_nothing(path in "(/(etc|tmp|home|ann|work|app|x)){1,6}") {
        let detour = path.replace('/', "/./y/..//");
        prop_assert_eq!(classify_written(&path), classify_written(&detour));
    }

    #[test]
    fn a_pattern_is_never_less_protected_than_what_it_may_hit(
        path in prop::sample::select(vec!["/etc/passwd", "/home/ann/.ssh/id_rsa", "/dev/sda", "/home/ann/.bashrc", "/usr/bin"]),
        at in 0usize..40,
    ) {
        let grave = PathClasses::from([PathClass::System, PathClass::Secret, PathClass::Device, PathClass::StartUp, PathClass::Root, PathClass::HomeRoot]);
        let at = at % path.len();
        prop_assume!(!matches!(path.as_bytes()[at], b'/' | b'.'));
        let pattern = format!("{}?{}", &path[..at], &path[at + 1..]);
        let (exact, wide) = (classify_written(path).intersection(grave), classify_written(&pattern));
        prop_assert!(wide.intersects(exact), "{pattern}: {wide:?} misses {exact:?}");
    }
}

/// `HomeRoot` as `home-root`.
fn kebab_case(name: &str) -> String {
    let dashes = |c: char| if c.is_uppercase() { format!("-{}", c.to_lowercase()) } else { c.to_string() };
    name.chars().map(dashes).collect::<String>().trim_start_matches('-').to_owned()
}
