//! Where examples are played: what lies there, and which of them belong together.

mod props;
mod recorded;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};

use super::Example;
use crate::support::Sandbox;

/// What must be so on this machine.
pub enum Need {
    Program(&'static str),
    /// Nobody listens where the receiver usually does.
    Silence,
}

impl Need {
    /// What is missing, if it is.
    pub fn missing(&self) -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        match self {
            Self::Program(name) => {
                let is_there = std::env::split_paths(&path).any(|directory| directory.join(name).is_file());
                (!is_there).then(|| format!("there is no {name} here"))
            }
            Self::Silence => TcpStream::connect("127.0.0.1:7433")
                .ok()
                .map(|_| "somebody listens on port 7433".to_owned()),
        }
    }
}

/// Examples that are played one after the other in a project and a home directory of their own.
pub struct Scene {
    pub page: &'static str,
    /// The headings under which its examples stand.
    pub under: &'static [&'static str],
    /// What the project's directory is called on the page.
    project: &'static str,
    pub needs: &'static [Need],
    prepare: fn(Sandbox) -> Sandbox,
}

pub const SCENES: &[Scene] = &[
    Scene {
        page: "docs/getting-started.md",
        under: &["Your first hook", "Guest: inside Claude Code"],
        project: "/home/me/api",
        needs: &[Need::Program("jq"), Need::Silence],
        prepare: |sandbox| props::first_hook(recorded::noon(sandbox)),
    },
    Scene {
        page: "docs/getting-started.md",
        under: &["Receive: events over HTTP", "From another machine"],
        project: "/home/me/api",
        needs: &[Need::Program("jq"), Need::Program("curl")],
        prepare: |sandbox| sandbox,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell run", "snell list", "snell lint", "snell explain", "snell docs"],
        project: "/home/me/api",
        needs: &[Need::Program("jq")],
        prepare: |sandbox| {
            props::repository(recorded::noon(sandbox))
                .file("snell.toml", "[[hook]]\nevent = \"PreToolUze\"\nrun = \"true\"\n")
        },
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell guard check", "snell guard explain", "snell guard rules"],
        project: "/home/me/api",
        needs: &[],
        prepare: props::calls,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell install"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox.home_file(".claude/settings.json", "{\"model\": \"opus\"}\n"),
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell notify"],
        project: "/home/me/api",
        needs: &[Need::Silence],
        prepare: |sandbox| sandbox,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell agents", "snell statusline"],
        project: "/home/me/api",
        needs: &[],
        prepare: recorded::three_agents,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell log"],
        project: "/home/me/api",
        needs: &[],
        prepare: recorded::a_morning,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell guard replay"],
        project: "/home/me/api",
        needs: &[],
        prepare: recorded::judged_calls,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell status"],
        project: "/home/me/api",
        needs: &[],
        prepare: recorded::something_to_look_at,
    },
    Scene {
        page: "docs/commands.md",
        under: &["snell session"],
        project: "/home/me/api",
        needs: &[],
        prepare: recorded::two_sessions,
    },
    Scene {
        page: "docs/install.md",
        under: &["snell doctor"],
        project: "/home/me/api",
        needs: &[Need::Silence],
        prepare: recorded::installed,
    },
    Scene {
        page: "docs/configuration.md",
        under: &["When something is written wrong"],
        project: "/home/me/api",
        needs: &[],
        prepare: props::faults,
    },
    Scene {
        page: "docs/trust.md",
        under: &["snell trust"],
        project: "/home/me/work",
        needs: &[],
        prepare: props::two_hooks,
    },
    Scene {
        page: "docs/page.md",
        under: &["The page"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
    Scene {
        page: "docs/server.md",
        under: &["Running it"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
];

/// Examples that are not played: the page, how they begin, and why.
pub const NOT_PLAYED: &[(&str, &str, &str)] = &[
    ("docs/commands.md", "snell wake", "needs an agent in tmux"),
    ("docs/commands.md", "snell log --prune", "needs the record of months"),
    ("docs/server.md", "curl -N", "never ends"),
];

impl Scene {
    pub fn has(&self, example: &Example) -> bool {
        self.page == example.page && self.under.contains(&example.heading.as_str()) && !example.is_excused()
    }

    /// A home directory with `snell` where `cargo install` puts it.
    pub fn sandbox(&self) -> Sandbox {
        let name = self.project.rsplit('/').next().unwrap();
        let sandbox = Sandbox::named(OsStr::new(name));
        let programs = sandbox.home().join(".cargo/bin");
        fs::create_dir_all(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_snell"), programs.join("snell")).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        (self.prepare)(sandbox.env("PATH", &path).env("SNELL_SCRIBE", "off"))
    }

    /// Paths as they are on the page, and the port that everybody knows.
    pub fn shown(&self, sandbox: &Sandbox, port: Option<u16>, text: &str) -> String {
        let mut text = text.to_owned();
        for (real, shown) in self.places(sandbox) {
            text = text.replace(&real, shown);
        }
        match port {
            Some(port) => text.replace(&format!(":{port}"), ":7433"),
            None => text,
        }
    }

    /// A line as it is typed here.
    pub fn real(&self, sandbox: &Sandbox, typed: &str) -> String {
        self.places(sandbox)
            .into_iter()
            .fold(typed.to_owned(), |typed, (real, shown)| typed.replace(shown, &real))
    }

    /// Places here, and what they are called on the page.
    fn places(&self, sandbox: &Sandbox) -> [(String, &'static str); 3] {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        [
            (text(&sandbox.project()), self.project),
            (text(&sandbox.data()), "/home/me/.local/share/snell"),
            (text(&sandbox.home()), "/home/me"),
        ]
    }
}

/// The receiver, on a free port.
pub struct Served {
    process: Child,
    pub port: u16,
}

impl Served {
    /// The receiver, and the line that it prints.
    pub fn start(sandbox: &Sandbox) -> (Self, String) {
        let mut command = sandbox.command(&["serve", "--addr", "127.0.0.1:0", "--log", "off"]);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let line = line.trim_end().to_owned();
        let port = line.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap();
        (Self { process, port }, line)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The project of "Your first hook".
pub fn first_hook_project() -> Sandbox {
    SCENES[0].sandbox()
}
