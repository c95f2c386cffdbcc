//! Where examples are played: what lies there, and which of them belong together.

mod props;
mod recordings;

use std::ffi::OsStr;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::Path;

use snell_test_support::skip::find_program;

use super::ConsoleExample;
use crate::support::CliSandbox;

/// What must be so on this machine.
pub enum SceneRequirement {
    Program(&'static str),
    /// Nobody listens where the receiver usually does.
    Silence,
}

impl SceneRequirement {
    /// What is missing, if it is.
    pub fn describe_missing(&self) -> Option<String> {
        match self {
            Self::Program(name) => find_program(name).is_none().then(|| format!("there is no {name} here")),
            Self::Silence => {
                TcpStream::connect("127.0.0.1:7433").ok().map(|_| "somebody listens on port 7433".to_owned())
            }
        }
    }
}

/// Examples that are played one after the other in a project and a home directory of their own.
pub struct ExampleScene {
    pub page: &'static str,
    /// The headings under which its examples stand.
    pub under: &'static [&'static str],
    /// What the project's directory is called on the page.
    project: &'static str,
    pub needs: &'static [SceneRequirement],
    prepare: fn(CliSandbox) -> CliSandbox,
}

pub const SCENES: &[ExampleScene] = &[
    ExampleScene {
        page: "docs/guide/write-hooks.md",
        under: &["Check it", "Run it"],
        project: "/home/me/api",
        needs: &[SceneRequirement::Program("jq")],
        prepare: |sandbox| props::add_first_hook(recordings::freeze_clock_at_noon(sandbox)),
    },
    ExampleScene {
        page: "docs/guide/notices.md",
        under: &["Choose where notices go"],
        project: "/home/me/api",
        needs: &[],
        prepare: props::add_notice_target,
    },
    ExampleScene {
        page: "docs/guide/notices.md",
        under: &["See what was sent"],
        project: "/home/me/api",
        needs: &[],
        prepare: recordings::freeze_clock_at_noon,
    },
    ExampleScene {
        page: "docs/guide/usage.md",
        under: &["See it"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| props::add_transcript(recordings::freeze_clock_at_noon(sandbox)),
    },
    ExampleScene {
        page: "docs/guide/use-agents.md",
        under: &["Install it", "Trust a project", "Check that it works", "Work as before", "Remove it"],
        project: "/home/me/api",
        needs: &[SceneRequirement::Silence],
        prepare: |sandbox| props::add_first_hook(recordings::freeze_clock_at_noon(sandbox)),
    },
    ExampleScene {
        page: "docs/guide/run-a-receiver.md",
        under: &["Start it", "Send events", "Send events from scripts", "Only forward"],
        project: "/home/me/api",
        needs: &[SceneRequirement::Program("jq"), SceneRequirement::Program("curl")],
        prepare: |sandbox| sandbox,
    },
    ExampleScene {
        page: "README.md",
        under: &["Install it"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
    ExampleScene {
        page: "docs/guide/set-up-the-guard.md",
        under: &["Try a command"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell run", "snell list", "snell explain"],
        project: "/home/me/api",
        needs: &[SceneRequirement::Program("jq")],
        prepare: |sandbox| props::copy_repository_examples(recordings::freeze_clock_at_noon(sandbox)),
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell guard check", "snell guard explain"],
        project: "/home/me/api",
        needs: &[],
        prepare: props::add_guard_calls,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell config"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell notify"],
        project: "/home/me/api",
        needs: &[SceneRequirement::Silence],
        prepare: |sandbox| sandbox,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell agents", "snell statusline"],
        project: "/home/me/api",
        needs: &[],
        prepare: recordings::record_three_agents,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell log"],
        project: "/home/me/api",
        needs: &[],
        prepare: recordings::record_morning,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell guard test"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| {
            let entry = "[[guard.deny]]\ncommand = \"git push **\"\nmatch = [\"git push\",\n  \"git pull\"]\n";
            sandbox.file("rules.toml", &format!("{entry}not_match = [\"git fetch\"]\n"))
        },
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell guard replay"],
        project: "/home/me/api",
        needs: &[],
        prepare: recordings::record_judged_calls,
    },
    ExampleScene {
        page: "docs/reference/commands.md",
        under: &["snell status"],
        project: "/home/me/api",
        needs: &[],
        prepare: recordings::record_attention_items,
    },
    ExampleScene {
        page: "docs/reference/agents.md",
        under: &["Doctor"],
        project: "/home/me/api",
        needs: &[SceneRequirement::Silence],
        prepare: recordings::install_snell,
    },
    ExampleScene {
        page: "docs/reference/configuration.md",
        under: &["Errors and warnings"],
        project: "/home/me/api",
        needs: &[],
        prepare: props::add_faulty_files,
    },
    ExampleScene {
        page: "docs/reference/trust.md",
        under: &["snell trust"],
        project: "/home/me/work",
        needs: &[],
        prepare: props::add_two_hooks,
    },
    ExampleScene {
        page: "docs/guide/read-the-page.md",
        under: &["Open it"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
    ExampleScene {
        page: "docs/reference/http.md",
        under: &["Server"],
        project: "/home/me/api",
        needs: &[],
        prepare: |sandbox| sandbox,
    },
];

/// Examples that are not played: the page, how they begin, and why.
pub const NOT_PLAYED: &[(&str, &str, &str)] = &[("docs/reference/http.md", "curl -N", "never ends")];

impl ExampleScene {
    pub fn contains_example(&self, example: &ConsoleExample) -> bool {
        self.page == example.page && self.under.contains(&example.heading.as_str()) && !example.is_excused()
    }

    /// A home directory with `snell` where `cargo install` puts it.
    pub fn create_sandbox(&self) -> CliSandbox {
        let name = self.project.rsplit('/').next().unwrap();
        let sandbox = CliSandbox::with_project_name(OsStr::new(name));
        let programs = sandbox.home().join(".cargo/bin");
        fs::create_dir_all(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_snell"), programs.join("snell")).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        (self.prepare)(sandbox.env("PATH", &path).env("SNELL_SCRIBE", "off"))
    }

    /// Paths as they are on the page, and the port that everybody knows.
    pub fn to_page_text(&self, sandbox: &CliSandbox, port: Option<u16>, text: &str) -> String {
        let mut text = text.to_owned();
        for (real, shown) in self.path_replacements(sandbox) {
            text = text.replace(&real, shown);
        }
        match port {
            Some(port) => text.replace(&format!(":{port}"), ":7433"),
            None => text,
        }
    }

    /// A line as it is typed here.
    pub fn to_real_text(&self, sandbox: &CliSandbox, typed: &str) -> String {
        self.path_replacements(sandbox)
            .into_iter()
            .fold(typed.to_owned(), |typed, (real, shown)| typed.replace(shown, &real))
    }

    /// Places here, and what they are called on the page.
    fn path_replacements(&self, sandbox: &CliSandbox) -> [(String, &'static str); 3] {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        [
            (text(&sandbox.project()), self.project),
            (text(&sandbox.data()), "/home/me/.local/share/snell"),
            (text(&sandbox.home()), "/home/me"),
        ]
    }
}

/// The project of "Write a first hook".
pub fn create_first_hook_project() -> CliSandbox {
    SCENES[0].create_sandbox()
}
