//! Files that a command line downloads or copies from elsewhere, under all names that it gives to them.

use std::borrow::Cow;

use crate::effects::classify_output;
use crate::invocation::{FileOpenMode, Invocation, StdinSource, SymbolicText, UnknownKind, base_name};
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, PathClasses, locate_path, matches_glob};
use crate::programs::argv::ParsedArgs;
use crate::programs::words::downloads as words;
use crate::programs::{self, ProgramHandler, ProgramSpec};

/// How many files are tracked.
const MAX_FILES: usize = 128;

/// Where a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOrigin {
    /// From an address.
    Downloaded,
    /// From another machine, a container, a bucket or an archive of unknown contents.
    Copied,
    /// From a repository.
    Cloned,
}

#[derive(Debug)]
struct FetchedFile {
    /// It may have stars.
    path: String,
    /// Whether everything below it is fetched too.
    is_directory: bool,
    origin: FileOrigin,
}

/// The fetched files so far.
#[derive(Debug, Default)]
pub(crate) struct FetchedFiles(Vec<FetchedFile>);

impl FetchedFiles {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the file with this path comes from.
    pub(super) fn find_origin(&self, path: &str) -> Option<FileOrigin> {
        let is_it = |file: &&FetchedFile| {
            let below = || path.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with('/'));
            let fits = || file.path.contains('*') && matches_glob(path, &file.path);
            file.path == path || (file.is_directory && below()) || fits()
        };
        self.0.iter().find(is_it).map(|file| file.origin)
    }

    /// The downloaded files in a directory.
    pub(super) fn iter_beside(&self, directory: Option<&str>) -> impl Iterator<Item = &str> {
        let is_beside = move |path: &&str| path.rsplit_once('/').is_some_and(|(parent, _)| Some(parent) == directory);
        let downloaded = self.0.iter().filter(|file| file.origin == FileOrigin::Downloaded);
        downloaded.map(|file| file.path.as_str()).filter(is_beside)
    }

    /// The origin of a program without a directory, if a fetched file with its name is in a directory of programs.
    pub(super) fn find_program_origin(&self, name: &str) -> Option<FileOrigin> {
        let is_it = |file: &&FetchedFile| {
            file.path.rsplit_once('/').is_some_and(|(directory, base)| base == name && directory.ends_with("bin"))
        };
        self.0.iter().find(is_it).map(|file| file.origin)
    }

    /// Whether a file's name marks it as an installer.
    pub(super) fn is_installer(path: &str) -> bool {
        words::INSTALLER_NAMES.iter().any(|pattern| matches_glob(base_name(path), pattern))
    }

    /// The files that one program fetches.
    pub(crate) fn from_invocation(invocation: &Invocation, context: &JudgeContext) -> Self {
        let mut files = Self::default();
        files.add_fetched(invocation, invocation.name().and_then(programs::find_program), context);
        files
    }

    /// The paths without stars, and whether everything below them is fetched too.
    pub(crate) fn into_paths(self) -> impl Iterator<Item = (String, bool)> {
        let known = self.0.into_iter().filter(|file| !file.path.contains('*'));
        known.map(|file| (file.path, file.is_directory))
    }

    /// Adds the files that an invocation fetches, and the new names that it gives to fetched ones.
    pub(super) fn add_from_invocation(&mut self, invocation: &Invocation, context: &JudgeContext) {
        if self.0.len() >= MAX_FILES {
            return;
        }
        let called = invocation.name().and_then(programs::find_program);
        self.add_unpacked(invocation, called, context);
        if !self.is_empty() || !invocation.stdin.pipeline().is_empty() {
            self.add_copies(invocation, called, context);
        }
        if !invocation.elsewhere {
            self.add_fetched(invocation, called, context);
        }
    }

    fn add(&mut self, value: &SymbolicText, cwd: Option<&str>, origin: FileOrigin, context: &JudgeContext) {
        if let Some(path) = resolve_file_path(value, cwd, context) {
            self.0.push(FetchedFile { path, is_directory: false, origin });
        }
    }

    fn add_fetched(
        &mut self,
        invocation: &Invocation,
        called: Option<(&str, &'static ProgramSpec)>,
        context: &JudgeContext,
    ) {
        let cwd = invocation.cwd.as_deref();
        let name = called.map_or(invocation.base_name(), |(name, _)| name);
        if let (Some((_, flags)), Some((_, program))) =
            (words::FETCHERS.iter().find(|(fetcher, _)| *fetcher == name), called)
        {
            self.add_downloads(invocation, program, flags, context);
        }
        if let Some((forms, operands)) = find_copier(name, invocation) {
            let is_elsewhere = |word: &SymbolicText| forms.iter().any(|form| matches_glob(&word.to_string(), form));
            if let [sources @ .., target] = operands.as_slice()
                && sources.iter().any(|source| is_elsewhere(source))
                && !is_elsewhere(target)
            {
                let origin = FileOrigin::Copied;
                self.add_target(sources, target, cwd, origin, context);
            } else if let ([source], "sftp" | "s3cmd") = (operands.as_slice(), name) {
                self.add_target(&[source], &SymbolicText::from_text("."), cwd, FileOrigin::Copied, context);
            }
        }
        for (fetcher, rest) in words::RELEASE_FETCHERS.iter().filter(|(fetcher, _)| *fetcher == name) {
            let [before, flags @ ..] = rest else { continue };
            if starts_with_words(invocation.arguments(), before) && !fetcher.is_empty() {
                let files = list_flag_values(invocation.arguments(), flags);
                let paths = files.iter().filter_map(|file| resolve_file_path(file, cwd, context));
                let origin = FileOrigin::Copied;
                self.0.extend(paths.map(|path| FetchedFile { path, is_directory: true, origin }));
            }
        }
        if words::CLONERS.iter().any(|cloner| runs_words(invocation, cloner)) {
            self.add_clone(invocation, context);
        }
        if called.is_some_and(|(_, program)| program.handler == Some(ProgramHandler::Interpreter)) {
            self.add_code_downloads(invocation, context);
        }
    }

    fn add_downloads(
        &mut self,
        invocation: &Invocation,
        program: &'static ProgramSpec,
        flags: &[&str],
        context: &JudgeContext,
    ) {
        let line = ParsedArgs::parse(program, invocation.arguments());
        let mut cwd = invocation.cwd.clone();
        let named: Vec<SymbolicText> = line.flag_values(flags).map(|value| value.into_owned()).collect();
        // `curl -d` sends data.
        let is_curl = invocation.base_name() == "curl";
        let directories = words::DIRECTORY_FLAGS.iter().filter(|flag| !is_curl || flag.starts_with("--")).copied();
        let directories: Vec<&str> = directories.collect();
        if let Some(directory) = line.flag_values(&directories).last() {
            cwd = locate_path(&directory, cwd.as_deref(), context).path;
        }
        let many = line.operands.is_empty() || line.has_any_flag(&["-r", "--recursive", "-m", "--mirror"]);
        if many && named.is_empty() {
            // A list of addresses, or all that an address leads to.
            let place = cwd.as_deref().map(|cwd| locate_path(&SymbolicText::from_text(cwd), None, context));
            let path = place.filter(|place| !is_shared_directory(place.classes)).and_then(|place| place.path);
            let directory = path.map(|path| FetchedFile { path, is_directory: true, origin: FileOrigin::Downloaded });
            self.0.extend(directory);
        }
        let to_stdout = words::STDOUT_FETCHERS.iter().find(|(fetcher, _)| *fetcher == invocation.base_name());
        let keeps = to_stdout.is_none_or(|(_, flags)| line.has_any_flag(flags));
        let from_url = |url: &&SymbolicText| parse_url_file_name(url).filter(|_| keeps);
        let written = invocation.files.iter().filter(|file| !keeps && file.mode != FileOpenMode::Read);
        written.for_each(|file| self.add(&file.path, cwd.as_deref(), FileOrigin::Downloaded, context));
        let files = if named.is_empty() { line.operands.iter().filter_map(from_url).collect() } else { named };
        for file in &files {
            self.add(file, cwd.as_deref(), FileOrigin::Downloaded, context);
        }
    }

    /// The copy under its own name, or in a directory.
    fn add_target(
        &mut self,
        sources: &[&SymbolicText],
        target: &SymbolicText,
        cwd: Option<&str>,
        origin: FileOrigin,
        context: &JudgeContext,
    ) {
        let place = locate_path(target, cwd, context);
        for source in sources {
            let text = source.to_string();
            let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
            if let Some(directory) = place.path.as_ref().filter(|_| !matches!(name, "" | "." | "..")) {
                self.0.push(FetchedFile { path: format!("{directory}/{name}"), is_directory: true, origin });
            }
        }
        if let Some(path) = place.path
            && !is_shared_directory(place.classes)
        {
            self.0.push(FetchedFile { path, is_directory: true, origin });
        }
    }

    /// The directory of a new clone.
    fn add_clone(&mut self, invocation: &Invocation, context: &JudgeContext) {
        let mut words = invocation.arguments().iter();
        let is_url = |word: &&SymbolicText| !word.leading_text().starts_with('-') && is_address(&word.to_string());
        let Some(url) = words.find(is_url) else { return };
        let name = url.to_string();
        let name = name.trim_end_matches('/').trim_end_matches(".git").rsplit(['/', ':']).next().unwrap_or_default();
        let next = words.next().filter(|word| !word.leading_text().starts_with('-'));
        let directory = next.cloned().unwrap_or_else(|| SymbolicText::from_text(name));
        let place = locate_path(&directory, invocation.cwd.as_deref(), context);
        if let Some(path) = place.path {
            self.0.push(FetchedFile { path, is_directory: true, origin: FileOrigin::Cloned });
        }
    }

    /// The files in code that downloads: its texts that are no addresses.
    fn add_code_downloads(&mut self, invocation: &Invocation, context: &JudgeContext) {
        let is_download = |text: &str| words::DOWNLOAD_CALLS.iter().any(|call| text.contains(call));
        for code in invocation.arguments().iter().filter_map(SymbolicText::as_text).filter(|text| is_download(text)) {
            // Every second part is between quotes.
            for literal in code.split(['"', '\'', '`']).skip(1).step_by(2).filter(|part| !part.is_empty()) {
                if !literal.contains("://") && !literal.contains(' ') && self.0.len() < MAX_FILES {
                    let file = SymbolicText::from_text(literal);
                    self.add(&file, invocation.cwd.as_deref(), FileOrigin::Downloaded, context);
                }
            }
        }
    }

    /// The first fetched file that an invocation reads, and its origin.
    pub(super) fn find_input(
        &self,
        invocation: &Invocation,
        context: &JudgeContext,
    ) -> Option<(SymbolicText, FileOrigin)> {
        let opened = invocation.files.iter().filter(|file| file.mode == FileOpenMode::Read).map(|file| &file.path);
        let named = invocation.arguments().iter().filter(|word| !word.leading_text().starts_with('-'));
        let keyed = invocation.arguments().iter().filter_map(|word| {
            let at = word.leading_text().find('=')?;
            Some(word.skip_leading_bytes(at + 1))
        });
        let direct = opened.chain(named).cloned().chain(keyed).find_map(|word| {
            let path = resolve_file_path(&word, invocation.cwd.as_deref(), context)?;
            Some((word, self.find_origin(&path)?))
        });
        direct.or_else(|| invocation.stdin.pipeline().iter().find_map(|left| self.find_input(left, context)))
    }

    /// The new names of fetched files: copies, output of programs that read them.
    fn add_copies(
        &mut self,
        invocation: &Invocation,
        called: Option<(&str, &'static ProgramSpec)>,
        context: &JudgeContext,
    ) {
        let Some((input, origin)) =
            self.find_input(invocation, context).or_else(|| find_piped_input(invocation, context))
        else {
            return;
        };
        let cwd = invocation.cwd.as_deref();
        let name = called.map_or(invocation.base_name(), |(name, _)| name);
        for opened in invocation.files.iter().filter(|file| file.mode != FileOpenMode::Read) {
            self.add(&opened.path, cwd, origin, context);
        }
        let arguments = invocation.arguments();
        let operands: Vec<&SymbolicText> =
            arguments.iter().filter(|word| !word.leading_text().starts_with('-')).collect();
        match name {
            "tee" | "sponge" => operands.iter().for_each(|file| self.add(file, cwd, origin, context)),
            "dd" => {
                for target in operands.iter().filter(|word| word.leading_text().starts_with("of=")) {
                    self.add(&target.skip_leading_bytes(3), cwd, origin, context);
                }
            }
            name if words::FILE_COPIERS.contains(&name) => {
                let directory = list_flag_values(arguments, &["-t", "--target-directory"]).into_iter().last();
                match (directory, operands.split_last()) {
                    (Some(directory), _) => self.add_target(&operands, &directory, cwd, origin, context),
                    (None, Some((target, sources))) => self.add_target(sources, target, cwd, origin, context),
                    (None, None) => {}
                }
            }
            name if words::DECOMPRESSORS.contains(&name) => {
                let text = input.to_string();
                if let Some((stem, _)) = text.rsplit_once('.') {
                    self.add(&SymbolicText::from_text(stem), cwd, origin, context);
                }
            }
            _ => {}
        }
        for file in list_flag_values(arguments, words::OUTPUT_FLAGS) {
            self.add(&file, cwd, origin, context);
        }
    }

    /// The directory into which a program unpacks a download. A project, a home or the root holds other programs too: there,
    /// only what has the name of the archive counts.
    fn add_unpacked(
        &mut self,
        invocation: &Invocation,
        called: Option<(&str, &'static ProgramSpec)>,
        context: &JudgeContext,
    ) {
        let Some((known, program)) = called else { return };
        let Some((_, into)) = words::UNPACKERS.iter().find(|(unpacker, _)| *unpacker == known) else { return };
        let line = ParsedArgs::parse(program, invocation.arguments());
        let cwd = invocation.cwd.as_deref();
        let archives: Vec<Cow<'_, SymbolicText>> = line
            .flag_values(words::ARCHIVE_FLAGS)
            .chain(line.operands.iter().map(|value| Cow::Borrowed(*value)))
            .collect();
        let is_fetched = |value: &&Cow<'_, SymbolicText>| {
            locate_path(value, cwd, context).path.is_some_and(|path| self.find_origin(&path).is_some())
        };
        let named = archives.iter().find(is_fetched).map(|archive| archive.to_string());
        let piped = match &invocation.stdin {
            StdinSource::Pipe(left) if classify_output(left, context) == UnknownKind::Unseen => {
                let words = left.iter().flat_map(|left| left.arguments());
                Some(words.map(ToString::to_string).find(|word| is_address(word)).unwrap_or_default())
            }
            StdinSource::Text(text) if text.contains_unknown(UnknownKind::Unseen) => Some(String::new()),
            _ => None,
        };
        let Some(archive) = named.or(piped) else { return };
        let directory = line.flag_values(into).last();
        let place = directory.map(|directory| locate_path(&directory, cwd, context));
        if let Some(place) = place.filter(|place| !is_shared_directory(place.classes)) {
            let path = place.path.into_iter();
            self.0.extend(path.map(|path| FetchedFile { path, is_directory: true, origin: FileOrigin::Downloaded }));
        } else if let (Some(cwd), Some(stem)) = (cwd, parse_archive_stem(&archive)) {
            let path = format!("{cwd}/{stem}*");
            self.0.push(FetchedFile { path, is_directory: true, origin: FileOrigin::Copied });
        }
    }
}

/// The path of a file. One with an unknown part is the same file if it is written in the same way.
pub(super) fn resolve_file_path(value: &SymbolicText, cwd: Option<&str>, context: &JudgeContext) -> Option<String> {
    const MIN_KNOWN: usize = 5;
    let written = || (value.leading_text().len() >= MIN_KNOWN).then(|| value.to_string());
    locate_path(value, cwd, context).path.or_else(written)
}

/// A download that a pipe brings to a program that writes files.
fn find_piped_input(invocation: &Invocation, context: &JudgeContext) -> Option<(SymbolicText, FileOrigin)> {
    let writes = !invocation.files.is_empty() || words::STREAM_WRITERS.contains(&invocation.base_name());
    let left = Some(invocation.stdin.pipeline()).filter(|left| writes && !left.is_empty())?;
    let is_unseen = classify_output(left, context) == UnknownKind::Unseen;
    is_unseen.then(|| (SymbolicText::default(), FileOrigin::Downloaded))
}

/// Whether a directory holds much else.
fn is_shared_directory(classes: PathClasses) -> bool {
    classes.intersects([PathClass::ProjectRoot, PathClass::HomeRoot, PathClass::Root].into())
}

/// The forms of an operand elsewhere, and the operands, if the program copies.
fn find_copier<'a>(name: &str, invocation: &'a Invocation) -> Option<(&'static [&'static str], Vec<&'a SymbolicText>)> {
    words::COPIERS.iter().filter(|(copier, _)| *copier == name).find_map(|(_, rest)| {
        let (before, forms) = rest.split_first()?;
        let operands: Vec<&SymbolicText> =
            invocation.arguments().iter().filter(|word| !word.leading_text().starts_with('-')).collect();
        let skipped = before.split_whitespace().count();
        starts_with_words(invocation.arguments(), before).then(|| (forms, operands.into_iter().skip(skipped).collect()))
    })
}

/// Whether the first operands are these words: `s3 cp|mv`.
fn starts_with_words(arguments: &[SymbolicText], before: &str) -> bool {
    let mut operands = arguments.iter().filter(|word| !word.leading_text().starts_with('-'));
    before.split_whitespace().all(|wanted| {
        operands.next().and_then(SymbolicText::as_text).is_some_and(|word| wanted.split('|').any(|one| one == word))
    })
}

/// Whether an invocation is this program with these words: `git clone`.
fn runs_words(invocation: &Invocation, command: &str) -> bool {
    let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
    invocation.base_name() == program && starts_with_words(invocation.arguments(), rest)
}

/// The values of flags, as next words or attached to long ones.
fn list_flag_values(arguments: &[SymbolicText], flags: &[&str]) -> Vec<SymbolicText> {
    let mut values = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.leading_text();
        if flags.contains(&text) {
            values.extend(arguments.get(at + 1).cloned());
        } else if let Some((name, _)) = text.split_once('=').filter(|(name, _)| flags.contains(name)) {
            values.push(word.skip_leading_bytes(name.len() + 1));
        }
    }
    values
}

/// Whether a word is an address: a URL, or `host:path`.
fn is_address(word: &str) -> bool {
    word.contains("://")
        || (word.contains('@') && word.contains(':'))
        || matches_glob(word, "*.*/*/*")
        || matches_glob(word, "?*/?*") && !word.starts_with(['.', '/', '~'])
}

/// The start of the name of the directory in an archive: `tool` of `tool-1.2.tgz`.
fn parse_archive_stem(archive: &str) -> Option<&str> {
    let name = archive.split(['?', '#']).next()?.rsplit('/').next()?;
    let stem = name.split(['.', '-', '_']).next()?;
    (!stem.is_empty()).then_some(stem)
}

fn parse_url_file_name(url: &SymbolicText) -> Option<SymbolicText> {
    let text = url.as_text()?;
    let path = text.split(['?', '#']).next()?;
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(SymbolicText::from_text)
}
