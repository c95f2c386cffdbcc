//! What the functions of Julia and Elixir do.

use crate::interpreters::calls::CallAction::{self, Enter, Eval, Shell, Show, Spawn};
use crate::interpreters::calls::{COPY, DELETE, DELETE_TREE, LINK, MODE, MOVE, READ, ReturnKind, WRITE};

pub(crate) static JULIA: &[(&str, CallAction)] = &[
    ("rm", DELETE_TREE),
    ("mv", MOVE),
    ("cp", COPY),
    ("symlink", LINK),
    ("chmod", MODE),
    ("write", WRITE),
    ("read", READ),
    ("readlines", READ),
    ("eachline", READ),
    ("readstring", READ),
    ("cd", Enter),
    ("include_string", Eval),
    ("print", Show),
    ("println", Show),
];

pub(crate) static JULIA_VALUES: &[(&str, ReturnKind)] = &[
    ("homedir", ReturnKind::Home),
    ("joinpath", ReturnKind::Path),
    ("string", ReturnKind::Joined),
    ("expanduser", ReturnKind::Expanded),
    ("tempdir", ReturnKind::Temp),
    ("mktempdir", ReturnKind::Temp),
    ("pwd", ReturnKind::CurrentDir),
    ("ENV", ReturnKind::Environment),
    ("base64decode", ReturnKind::Base64),
];

pub(crate) static ELIXIR: &[(&str, CallAction)] = &[
    ("File.rm_rf", DELETE_TREE),
    ("File.rm", DELETE),
    ("File.rmdir", DELETE),
    ("File.write", WRITE),
    ("File.read", READ),
    ("File.stream", READ),
    ("File.cp", COPY),
    ("File.cp_r", COPY),
    ("File.rename", MOVE),
    ("File.ln_s", LINK),
    ("File.chmod", MODE),
    ("File.cd", Enter),
    ("System.cmd", Spawn),
    ("System.shell", Shell),
    (":os.cmd", Shell),
    ("os.cmd", Shell),
    ("Code.eval_string", Eval),
    ("IO.puts", Show),
    ("IO.inspect", Show),
];

pub(crate) static ELIXIR_VALUES: &[(&str, ReturnKind)] = &[
    ("System.user_home", ReturnKind::Home),
    ("System.tmp_dir", ReturnKind::Temp),
    ("System.get_env", ReturnKind::Variable),
    ("System.fetch_env", ReturnKind::Variable),
    ("Path.join", ReturnKind::Path),
    ("Path.expand", ReturnKind::Expanded),
    ("Path.wildcard", ReturnKind::Glob),
    ("Base.decode64", ReturnKind::Base64),
];
