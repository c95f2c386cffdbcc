//! What the functions of languages do: each like a command of the shell, so that the same tables judge both.

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallAction {
    /// The same as this command. `$1` is the first argument (of a method: what it is called on), `$2+` are the second and
    /// all behind it, `>` opens a file.
    Like(&'static str),
    /// A shell runs the first argument.
    Shell,
    /// A program runs: the arguments are its words, or one is a list of them; a single string goes to a shell.
    Spawn,
    /// A program runs, and the second word is the name that it is told it has.
    Replace,
    /// A file is opened, as the second argument says.
    Open,
    /// The first argument is code of the same language.
    Eval,
    /// Processes are ended: which argument holds the first of them, and which the signal.
    Kill(usize, usize),
    /// The arguments are sent to another machine.
    Send,
    /// The arguments are shown.
    Show,
    /// The first argument is called with the second.
    Apply,
    /// From here on it works in the directory of the first argument.
    Enter,
}

impl CallAction {
    /// Whether its arguments become the words of a program.
    pub(super) fn runs_words(self) -> bool {
        matches!(self, Self::Like(_) | Self::Spawn | Self::Replace | Self::Kill(..))
    }
}

/// What a call, or a name, is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnKind {
    /// Its first argument.
    FirstArgument,
    /// The arguments as one path.
    Path,
    /// The arguments as one string.
    Joined,
    /// The first argument, with the home directory for `~`.
    Expanded,
    /// The home directory.
    Home,
    /// The directory in which it runs.
    CurrentDir,
    /// The names that fit a pattern.
    Glob,
    /// Everything in a directory.
    DirectoryEntries,
    /// Something of a temporary directory.
    Temp,
    /// What another machine says.
    Download,
    /// The file that the first argument names, or what is in it.
    File,
    /// Numbers of processes that were looked up.
    Processes,
    /// The number of the process that started it: the agent's.
    Agent,
    /// All variables of the environment.
    Environment,
    /// One variable.
    Variable,
    /// Decoded.
    Base64,
    /// Decoded.
    Hex,
    /// Decoded as a format says: `pack("H*", …)`.
    Packed,
    /// Characters by their numbers.
    Characters,
    /// The module of this name.
    Module,
    /// A part of the first argument that the second names.
    Attribute,
}

use CallAction::{Apply, Enter, Eval, Kill, Like, Open, Replace, Send, Shell, Show, Spawn};

pub(super) const DELETE: CallAction = Like("rm -- $1+");
pub(super) const DELETE_ALL: CallAction = Like("rm -rf -- $1+");
pub(super) const DELETE_TREE: CallAction = Like("rm -rf -- $1");
pub(super) const WRITE: CallAction = Like("true > $1");
pub(super) const APPEND: CallAction = Like("true >> $1");
pub(super) const READ: CallAction = Like("cat -- $1");
pub(super) const MOVE: CallAction = Like("mv -- $1 $2");
pub(super) const COPY: CallAction = Like("cp -r -- $1 $2");
pub(super) const LINK: CallAction = Like("ln -s -- $1 $2");
pub(super) const COPY_TREE: CallAction = Like("cp -rT -- $1 $2");
pub(super) const PIPE: CallAction = Like("mkfifo -- $1");
/// A method that makes a socket of its argument, or unpacks into it.
pub(super) const BIND: CallAction = Like("mkfifo -- $2");
pub(super) const UNPACK: CallAction = Like("tar -x -f x -C $2");
pub(super) const MODE: CallAction = Like("chmod $2 $1");
pub(super) const OWNER: CallAction = Like("chown $2 $1");
pub(super) const RAISE: CallAction = Like("sudo true");

pub(super) static PYTHON: &[(&str, CallAction)] = &[
    ("shutil.rmtree", DELETE_TREE),
    ("os.remove", DELETE),
    ("os.unlink", DELETE),
    ("os.rmdir", DELETE),
    ("os.removedirs", DELETE),
    (".unlink", Like("rm -- $1")),
    (".rmdir", DELETE),
    (".rmtree", DELETE_TREE),
    ("send2trash.send2trash", DELETE_ALL),
    (".write_text", WRITE),
    (".write_bytes", WRITE),
    (".read_text", READ),
    (".read_bytes", READ),
    (".rename", MOVE),
    (".chmod", MODE),
    ("os.rename", MOVE),
    ("os.renames", MOVE),
    ("os.replace", MOVE),
    ("shutil.move", MOVE),
    ("shutil.copy", COPY),
    ("shutil.copy2", COPY),
    ("shutil.copyfile", COPY),
    ("shutil.copytree", COPY_TREE),
    ("shutil.unpack_archive", UNPACK),
    (".extractall", UNPACK),
    ("os.mkfifo", PIPE),
    ("os.mknod", PIPE),
    (".bind", BIND),
    ("resource.prlimit", Like("prlimit --pid $1 --nofile=0")),
    ("shutil.chown", OWNER),
    ("os.truncate", WRITE),
    ("os.symlink", LINK),
    ("os.link", LINK),
    (".hardlink_to", Like("ln -- $2 $1")),
    (".symlink_to", Like("ln -s -- $2 $1")),
    ("os.chmod", MODE),
    ("os.chown", OWNER),
    ("os.system", Shell),
    ("os.popen", Shell),
    ("commands.getoutput", Shell),
    ("subprocess.run", Spawn),
    ("subprocess.call", Spawn),
    ("subprocess.check_call", Spawn),
    ("subprocess.check_output", Spawn),
    ("subprocess.Popen", Spawn),
    ("subprocess.getoutput", Shell),
    ("subprocess.getstatusoutput", Shell),
    ("asyncio.create_subprocess_shell", Shell),
    ("asyncio.create_subprocess_exec", Spawn),
    ("pty.spawn", Spawn),
    ("os.execl", Replace),
    ("os.execlp", Replace),
    ("os.execv", Replace),
    ("os.execvp", Replace),
    ("os.execve", Replace),
    ("os.execvpe", Replace),
    ("os.posix_spawn", Replace),
    ("os.posix_spawnp", Replace),
    ("os.kill", Kill(0, 1)),
    ("os.killpg", Kill(0, 1)),
    (".kill", Kill(0, 1)),
    (".terminate", Kill(0, 1)),
    ("os.setuid", RAISE),
    ("os.seteuid", RAISE),
    ("os.setreuid", RAISE),
    ("open", Open),
    ("io.open", Open),
    ("codecs.open", Open),
    (".open", Open),
    ("os.open", READ),
    ("dotenv.dotenv_values", READ),
    ("exec", Eval),
    ("eval", Eval),
    ("print", Show),
    ("pprint.pprint", Show),
    ("sys.stdout.write", Show),
    ("requests.post", Send),
    ("requests.put", Send),
    ("requests.get", Send),
    ("httpx.post", Send),
    ("httpx.put", Send),
    ("urllib.request.urlopen", Send),
    ("urllib.request.Request", Send),
    (".sendall", Send),
    (".sendfile", Send),
    ("map", Apply),
    ("os.chdir", Enter),
];

pub(super) static PYTHON_VALUES: &[(&str, ReturnKind)] = &[
    ("os.path.expanduser", ReturnKind::Expanded),
    (".expanduser", ReturnKind::Expanded),
    ("os.path.join", ReturnKind::Path),
    (".joinpath", ReturnKind::Path),
    ("os.path.abspath", ReturnKind::FirstArgument),
    ("os.path.realpath", ReturnKind::FirstArgument),
    ("os.path.normpath", ReturnKind::FirstArgument),
    ("os.fspath", ReturnKind::FirstArgument),
    ("str", ReturnKind::FirstArgument),
    ("list", ReturnKind::FirstArgument),
    ("dict", ReturnKind::FirstArgument),
    ("sorted", ReturnKind::FirstArgument),
    ("pathlib.Path", ReturnKind::Path),
    ("pathlib.PosixPath", ReturnKind::Path),
    ("pathlib.Path.home", ReturnKind::Home),
    ("pathlib.Path.cwd", ReturnKind::CurrentDir),
    ("os.getcwd", ReturnKind::CurrentDir),
    ("glob.glob", ReturnKind::Glob),
    ("glob.iglob", ReturnKind::Glob),
    (".glob", ReturnKind::Glob),
    (".rglob", ReturnKind::Glob),
    (".iterdir", ReturnKind::DirectoryEntries),
    ("os.scandir", ReturnKind::DirectoryEntries),
    ("tempfile.mkdtemp", ReturnKind::Temp),
    ("tempfile.gettempdir", ReturnKind::Temp),
    ("tempfile.TemporaryDirectory", ReturnKind::Temp),
    ("urllib.request.urlopen", ReturnKind::Download),
    ("requests.get", ReturnKind::Download),
    ("httpx.get", ReturnKind::Download),
    ("open", ReturnKind::File),
    ("io.open", ReturnKind::File),
    (".read_text", ReturnKind::File),
    (".read_bytes", ReturnKind::File),
    (".open", ReturnKind::File),
    ("os.getppid", ReturnKind::Agent),
    ("psutil.process_iter", ReturnKind::Processes),
    ("psutil.pids", ReturnKind::Processes),
    ("os.environ", ReturnKind::Environment),
    ("os.environ.get", ReturnKind::Variable),
    ("os.environ.copy", ReturnKind::Environment),
    ("os.getenv", ReturnKind::Variable),
    ("base64.b64decode", ReturnKind::Base64),
    ("bytes.fromhex", ReturnKind::Hex),
    ("bytearray.fromhex", ReturnKind::Hex),
    ("binascii.unhexlify", ReturnKind::Hex),
    ("chr", ReturnKind::Characters),
    ("bytes", ReturnKind::Characters),
    ("__import__", ReturnKind::Module),
    ("importlib.import_module", ReturnKind::Module),
    ("getattr", ReturnKind::Attribute),
    ("compile", ReturnKind::FirstArgument),
];

/// Without `Sync` and `promises`.
pub(super) static NODE: &[(&str, CallAction)] = &[
    ("fs.rm", DELETE_TREE),
    ("fs.rmdir", DELETE_TREE),
    ("fs.unlink", Like("rm -- $1")),
    ("fs.remove", DELETE_TREE),
    ("fs.emptyDir", DELETE_TREE),
    ("rimraf", DELETE_TREE),
    ("rimraf.sync", DELETE_TREE),
    ("rimraf.rimraf", DELETE_TREE),
    ("Deno.remove", DELETE_TREE),
    ("fs.writeFile", WRITE),
    ("fs.outputFile", WRITE),
    ("fs.truncate", WRITE),
    ("fs.createWriteStream", WRITE),
    ("Deno.writeTextFile", WRITE),
    ("Deno.writeFile", WRITE),
    ("Deno.truncate", WRITE),
    ("Bun.write", WRITE),
    ("fs.appendFile", APPEND),
    ("fs.readFile", READ),
    ("fs.createReadStream", READ),
    ("Deno.readTextFile", READ),
    ("Deno.readFile", READ),
    ("Bun.file", READ),
    ("fs.open", Open),
    ("fs.rename", MOVE),
    ("fs.move", MOVE),
    ("Deno.rename", MOVE),
    ("fs.copyFile", COPY),
    ("fs.cp", COPY_TREE),
    ("fs.copy", COPY_TREE),
    (".listen", BIND),
    ("fs.symlink", LINK),
    ("fs.link", LINK),
    ("fs.chmod", MODE),
    ("Deno.chmod", MODE),
    ("fs.chown", OWNER),
    ("child_process.exec", Shell),
    ("child_process.spawn", Spawn),
    ("child_process.execFile", Spawn),
    ("execa", Spawn),
    ("Deno.Command", Spawn),
    ("Deno.run", Spawn),
    ("Bun.spawn", Spawn),
    ("process.kill", Kill(0, 1)),
    ("Deno.kill", Kill(0, 1)),
    ("process.setuid", RAISE),
    ("process.seteuid", RAISE),
    ("eval", Eval),
    ("Function", Eval),
    ("vm.runInThisContext", Eval),
    ("vm.runInNewContext", Eval),
    ("console.log", Show),
    ("console.error", Show),
    ("process.stdout.write", Show),
    ("process.chdir", Enter),
    ("Deno.chdir", Enter),
    ("fetch", Send),
    ("axios.post", Send),
    ("axios.put", Send),
    ("got.post", Send),
    (".end", Send),
];

pub(super) static NODE_VALUES: &[(&str, ReturnKind)] = &[
    ("require", ReturnKind::Module),
    ("import", ReturnKind::Module),
    ("os.homedir", ReturnKind::Home),
    ("Deno.cwd", ReturnKind::CurrentDir),
    ("process.cwd", ReturnKind::CurrentDir),
    ("os.tmpdir", ReturnKind::Temp),
    ("fs.mkdtemp", ReturnKind::Temp),
    ("Deno.makeTempDir", ReturnKind::Temp),
    ("path.join", ReturnKind::Path),
    ("path.resolve", ReturnKind::Path),
    ("path.normalize", ReturnKind::FirstArgument),
    ("String", ReturnKind::FirstArgument),
    ("JSON.stringify", ReturnKind::FirstArgument),
    ("glob.glob", ReturnKind::Glob),
    ("glob", ReturnKind::Glob),
    ("fetch", ReturnKind::Download),
    ("axios.get", ReturnKind::Download),
    ("got", ReturnKind::Download),
    ("fs.readFile", ReturnKind::File),
    ("fs.createReadStream", ReturnKind::File),
    ("Deno.readTextFile", ReturnKind::File),
    ("Bun.file", ReturnKind::File),
    ("process.ppid", ReturnKind::Agent),
    ("Deno.ppid", ReturnKind::Agent),
    ("process.env", ReturnKind::Environment),
    ("Deno.env.toObject", ReturnKind::Environment),
    ("Deno.env.get", ReturnKind::Variable),
    ("Buffer.from", ReturnKind::Base64),
    ("atob", ReturnKind::Base64),
    ("String.fromCharCode", ReturnKind::Characters),
];
