//! What the functions of Julia and Elixir do.

use super::calls::Act::{self, Enter, Eval, Shell, Show, Spawn};
use super::calls::{COPY, DELETE, DELETE_TREE, Gives, LINK, MODE, MOVE, READ, WRITE};

pub(super) static JULIA: &[(&str, Act)] = &[
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

pub(super) static JULIA_VALUES: &[(&str, Gives)] = &[
    ("homedir", Gives::Home),
    ("joinpath", Gives::Path),
    ("string", Gives::Joined),
    ("expanduser", Gives::Expanded),
    ("tempdir", Gives::Temp),
    ("mktempdir", Gives::Temp),
    ("pwd", Gives::Here),
    ("ENV", Gives::Environment),
    ("base64decode", Gives::Base64),
];

pub(super) static ELIXIR: &[(&str, Act)] = &[
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

pub(super) static ELIXIR_VALUES: &[(&str, Gives)] = &[
    ("System.user_home", Gives::Home),
    ("System.tmp_dir", Gives::Temp),
    ("System.get_env", Gives::Variable),
    ("System.fetch_env", Gives::Variable),
    ("Path.join", Gives::Path),
    ("Path.expand", Gives::Expanded),
    ("Path.wildcard", Gives::Glob),
    ("Base.decode64", Gives::Base64),
];
