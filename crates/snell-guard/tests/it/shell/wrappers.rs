//! Programs that run programs.

use snell_guard::interpret::CodeLanguage;
use snell_guard::invocation::StdinSource;

use super::{check_coverage, check_invocations, find_invocations, render_invocation, render_value};

#[test]
fn what_stands_behind_a_wrapper_is_found() {
    check_invocations(&[
        ("sudo rm x", "rm x"),
        ("sudo -u bob -E A=b rm x", "rm x"),
        ("sudo -v", "sudo -v"),
        ("echo 'rm x' | sudo su; echo 'rm y' | sudo -s", "echo 'rm x' ; rm x ; echo 'rm y' ; rm y"),
        ("doas -u root rm x", "rm x"),
        ("su -c 'rm x'", "rm x"),
        ("su - bob -c 'rm x'", "rm x"),
        ("env A=b -i rm x", "-i rm x"),
        ("env -i A=b rm x", "rm x"),
        ("env -u A -C /tmp rm x", "rm x"),
        ("env -S 'rm -r x' y", "rm -r x y"),
        ("env '-Srm x'", "rm x"),
        ("env", "env"),
        ("nice -n 5 rm x; nice -5 rm x; nice rm x", "rm x ; rm x ; rm x"),
        ("timeout -k 5 10s rm x; timeout --signal=9 1 rm x", "rm x ; rm x"),
        ("nohup setsid stdbuf -oL rm x", "rm x"),
        ("setsid -f rm x; setsid --wait rm y", "rm x ; rm y"),
        ("time -p rm x", "rm x"),
        ("command env nice sudo rm x", "rm x"),
        ("flock /tmp/l rm x; flock /tmp/l -c 'rm x'", "flock /tmp/l rm x ; rm x ; flock /tmp/l -c 'rm x' ; rm x"),
        ("taskset -c 0 rm x; chrt -f 1 rm x", "rm x ; rm x"),
        ("watch -n 1 'rm x'; watch rm x", "rm x ; rm x"),
        ("busybox rm x; busybox sh -c 'rm x'", "rm x ; rm x"),
        ("strace -f rm x; valgrind rm x", "rm x ; rm x"),
        ("script -qc 'rm x' /dev/null", "script -qc 'rm x' /dev/null ; rm x"),
        ("systemd-run --user rm x", "systemd-run --user rm x ; rm x"),
        (
            "uv run rm -rf x; npx -y rimraf x; poetry run rm x",
            "uv run rm -rf x ; rm -rf x ; npx -y rimraf x ; rimraf x ; rm x",
        ),
        ("conda run -n e rm x; direnv exec . rm x", "rm x ; rm x"),
        ("nix-shell -p a --run 'rm x'", "nix-shell -p a --run 'rm x' ; rm x"),
        ("/usr/bin/env /bin/rm x", "/bin/rm x"),
        ("PAGER='rm x' git log; export EDITOR='rm y'", "rm x ; git log ; rm y"),
        ("hyperfine 'rm x' 'rm y'", "rm x ; rm y"),
    ]);
}

#[test]
fn shells_are_followed() {
    check_invocations(&[
        ("sh -c 'rm x'", "rm x"),
        ("bash -xec 'rm x'; bash -o pipefail -c 'rm x'; bash -lc -- 'rm x'", "rm x ; rm x ; rm x"),
        ("bash --norc -c 'rm $1' _ x", "rm x"),
        ("bash -c \"bash -c 'rm x'\"", "rm x"),
        ("sh <<< 'rm x'", "rm x"),
        ("bash <<E\nrm x\nE", "rm x"),
        ("echo 'rm x' | sh", "echo 'rm x' ; rm x"),
        ("echo 'rm x' | sudo bash -s", "echo 'rm x' ; rm x"),
        ("echo cm0geA== | base64 -d | sh", "echo cm0geA== ; base64 -d ; rm x"),
        ("echo 'x mr' | rev | bash", "echo 'x mr' ; rev ; rm x"),
        ("bash <(echo rm x)", "echo rm x ; bash /dev/fd/63 ; rm x"),
        ("curl u | sh", "curl u ; sh"),
        ("echo 'rm x' > >(sh)", "sh ; echo 'rm x' ; rm x"),
        ("echo 'rm x' | tee >(sh)", "echo 'rm x' ; rm x ; tee /dev/fd/64"),
        ("bash s.sh", "bash s.sh"),
        ("exec 9<<< 'rm x'; bash /dev/fd/9", "bash /dev/fd/9 ; rm x"),
        ("bash /proc/self/fd/3 3<<< 'rm x'", "bash /proc/self/fd/3 ; rm x"),
        ("cat > s.sh <<E\nrm \\$1\nE\nbash s.sh x", "cat ; bash s.sh x ; rm x"),
        ("echo 'rm x' > s.sh; chmod +x s.sh; ./s.sh", "echo 'rm x' ; chmod +x s.sh ; ./s.sh ; rm x"),
        ("echo 'rm x' | tee s.sh; sh s.sh", "echo 'rm x' ; tee s.sh ; sh s.sh ; rm x"),
        ("x=rm; sh -c '$x y'", "‹?› y ; y"),
        ("export x=rm; sh -c '$x y'", "rm y"),
        ("x=rm sh -c '$x y'", "rm y"),
        ("f() { rm x; }; sh -c f", "f"),
        ("rm() { :; }; sh -c 'rm x'", "rm x"),
        ("bash -c \"$X\"", "bash -c ‹?› ; ‹?›"),
        ("printf 'rm x\\n' | bash /dev/stdin", "printf 'rm x\\n' ; rm x"),
    ]);
    check_coverage(&[("curl u | sh", false), ("bash s.sh", true), ("sh -c 'rm x'", true)]);
    let found = find_invocations("curl u | sh");
    assert!(matches!(&found.invocations[1].stdin, StdinSource::Pipe(left) if render_invocation(&left[0]) == "curl u"));
}

#[test]
fn a_shell_that_only_reads_runs_nothing() {
    check_invocations(&[
        ("bash -n <<< 'rm x'", ""),
        ("sh -n s.sh && a", "a"),
        ("echo 'rm x' | zsh -n", "echo 'rm x'"),
        ("bash -nc 'rm x'; bash -o noexec -c 'rm x'; fish --no-execute -c 'rm x'", ""),
        ("bash -n -c \"$(rm x)\"", "rm x"),
        ("bash -n +n -c 'rm x'; bash -n +o noexec -c 'rm x'", "rm x ; rm x"),
        ("bash -nic 'rm x'", "rm x"),
        ("nu -n -c 'rm x'", "rm x"),
    ]);
    let opened = find_invocations("bash -n s.sh > f");
    assert_eq!(render_value(&opened.invocations[0].files[0].path), "f");
}

#[test]
fn each_of_many_is_followed() {
    check_invocations(&[
        ("echo a b | xargs rm", "echo a b ; rm a b"),
        ("echo a b | xargs -n1 rm", "echo a b ; rm a ; rm b"),
        ("echo /etc | xargs -I{} rm -r {}/x", "echo /etc ; rm -r /etc/x"),
        ("printf 'a\\0b' | xargs -0 rm", "printf a\\0b ; rm a b"),
        ("find /x -name '*.o' | xargs rm", "find /x -name *.o ; rm /x/*.o"),
        ("find /x -type f -print0 | xargs -0 rm", "find /x -type f -print0 ; rm /x/*"),
        ("ls /x | xargs rm", "ls /x ; rm /x/*"),
        ("lsof -ti:80 | xargs kill", "lsof -ti:80 ; kill ‹?›"),
        ("echo x | xargs sh -c 'rm $0'", "echo x ; rm x"),
        ("find /x -exec rm {} +", "find /x -exec rm {} + ; rm /x/*"),
        ("find . -name a -exec sh -c 'rm $1' _ {} \\;", "find . -name a -exec sh -c 'rm $1' _ {} ; ; rm ./a"),
        ("parallel rm ::: a b", "rm a ; rm b"),
        ("echo a | parallel 'rm {}'", "echo a ; rm a"),
        ("parallel --will-cite {} ::: 'rm -r x' 'rm y'", "rm -r x ; rm y"),
        ("parallel ::: 'rm x'; parallel -I% rm %/x ::: a", "rm x ; rm a/x"),
        ("parallel rm -r {1} ::: 'a b'; parallel p {2} ::: a ::: b", "rm -r 'a b' ; p a ; p b"),
        ("echo a > l; parallel rm :::: l; parallel -a l rm", "echo a ; rm a ; rm a"),
        ("xargs -a <(echo a b) rm", "echo a b ; rm a b"),
        ("printf 'a\\nb' > l; xargs -a l -n1 rm", "printf a\\nb ; rm a ; rm b"),
        ("xargs -a l rm", " ; rm ‹?›"),
        ("sem -j2 rm x", "rm x"),
        ("mapfile -C 'rm x #' -c 1 <<< a", "rm x"),
        ("fd -e tmp . /x -x rm", "fd -e tmp . /x -x rm ; rm /x/‹?›"),
    ]);
}

#[test]
fn options_and_texts_that_run_something_are_followed() {
    check_invocations(&[
        (
            "tar cf a b --checkpoint=1 --checkpoint-action=exec='rm x'",
            "tar cf a b --checkpoint=1 '--checkpoint-action=exec=rm x' ; rm x",
        ),
        ("tar -I 'rm x' -cf a b", "tar -I 'rm x' -cf a b ; rm x"),
        ("git -c alias.x='!rm y' x z", "git -c 'alias.x=!rm y' x z ; rm y z"),
        ("git -c core.pager='rm y' log", "git -c 'core.pager=rm y' log ; rm y"),
        ("git bisect run rm x", "git bisect run rm x ; rm x"),
        ("git submodule foreach --recursive 'rm x'", "git submodule foreach --recursive 'rm x' ; rm x"),
        ("git rebase -x 'rm x' main", "git rebase -x 'rm x' main ; rm x"),
        ("git commit -m 'rm x'", "git commit -m 'rm x'"),
        ("rsync -e 'rm x' a b", "rsync -e 'rm x' a b ; rm x"),
        ("ssh -o ProxyCommand='rm x' h", "ssh -o 'ProxyCommand=rm x' h ; rm x"),
        (
            "vim -c '!rm x' f; vim -c 'wq!' f; vim +'!rm x'",
            "vim -c '!rm x' f ; rm x ; vim -c wq! f ; vim '+!rm x' ; rm x",
        ),
        (
            "vim -es -c '!rm x' -c q; ex f -c '%!rm y'; vim -es -c 'call system(\"rm z\")'",
            "vim -es -c '!rm x' -c q ; rm x ; ex f -c '%!rm y' ; rm y ; vim -es -c 'call system(\"rm z\")' ; rm z",
        ),
        (
            "ed -s f <<< '!rm x'; ed f <<< $'r !rm y\\nq'; vim -c 'sil! !rm z'",
            "ed -s f ; rm x ; ed f ; rm y ; vim -c 'sil! !rm z' ; rm z",
        ),
        ("echo '!rm x' | less; echo '!rm x' | vim -", "echo '!rm x' ; less ; echo '!rm x' ; vim -"),
        (
            "sqlite3 :memory: '.shell rm x'; sqlite3 d <<< '.sys rm y'; sqlite3 d '.import \"|rm z\" t'",
            "sqlite3 :memory: '.shell rm x' ; rm x ; sqlite3 d ; rm y ; sqlite3 d '.import \"|rm z\" t' ; rm z",
        ),
        ("sqlite3 d 'select \".shell rm x\"'", "sqlite3 d 'select \".shell rm x\"'"),
        (
            "psql -c '\\! rm x'; mysql <<< 'system rm y'; lftp -c '!rm z'",
            "psql -c '\\! rm x' ; rm x ; mysql ; rm y ; lftp -c '!rm z' ; rm z",
        ),
        ("psql -c 'select 1'; dc -e '2 2 + p'", "psql -c 'select 1' ; dc -e '2 2 + p'"),
        (
            "ex -sc '!rm x' -cq; nvim --headless '+lua os.execute(\"rm y\")'",
            "ex -sc '!rm x' -cq ; rm x ; nvim --headless '+lua os.execute(\"rm y\")' ; rm y",
        ),
        ("ssh -t h -- rm x", "ssh -t h -- rm x ; rm x"),
        ("ssh h -t -p 22 rm -r x", "ssh h -t -p 22 rm -r x ; rm -r x"),
        ("awk 'BEGIN{system(\"rm x\")}'", "awk 'BEGIN{system(\"rm x\")}' ; rm x"),
        ("awk '{ print | \"rm x\" }' f", "awk '{ print | \"rm x\" }' f ; rm x"),
        ("awk 'BEGIN { \"rm x\" | getline y }'", "awk 'BEGIN { \"rm x\" | getline y }' ; rm x"),
        ("awk '{print \"rm x\"}'", "awk '{print \"rm x\"}'"),
        ("sed '1e rm x' f", "sed '1e rm x' f ; rm x"),
        ("sed 's/.*/rm x/e' f", "sed 's/.*/rm x/e' f ; rm x"),
        ("sed -e 's/a/b/g;s/e/f/' f", "sed -e s/a/b/g;s/e/f/ f"),
        ("make --eval='$(shell rm x)'", "make '--eval=$(shell rm x)' ; rm x"),
        ("tmux send-keys -t 0 'rm x' Enter; tmux new -d 'rm y'", "rm x ; rm y"),
        ("echo 'rm x' | at now", "echo 'rm x' ; at now ; rm x"),
        ("echo '* * * * * rm x' | crontab -", "echo '* * * * * rm x' ; crontab - ; rm x"),
        ("less '+!rm x' f; man -P 'rm x' ls", "less '+!rm x' f ; rm x ; man -P 'rm x' ls ; rm x"),
        ("zip a b -T -TT 'rm x'", "zip a b -T -TT 'rm x' ; rm x"),
    ]);
    for (text, expected) in [
        ("sed -n 'w /etc/x' f", "/etc/x"),
        ("awk '{print > \"/etc/x\"}' f", "/etc/x"),
        ("awk 'BEGIN{while ((getline l < \"/etc/x\") > 0) print l}'", "/etc/x"),
        ("awk '$1 > \"/etc/x\" {print}' f", ""),
        ("vim -es '+w! /etc/x' +q f", "/etc/x"),
        ("ed f <<< 'w /etc/x'", "/etc/x"),
        ("vim -c 'w !a' f", ""),
    ] {
        let found = find_invocations(text);
        let files = found.invocations[0].files.first();
        let path = files.map(|file| render_value(&file.path)).unwrap_or_default();
        assert_eq!(path, expected, "{text}");
    }
}

#[test]
fn directory_user_and_machine_are_reported() {
    for (text, privileged, elsewhere, cwd) in [
        ("sudo rm x", true, false, Some("/home/ann/work/app")),
        ("ssh h rm x", false, true, None),
        ("ssh h 'cd /a && rm x'", false, true, Some("/a")),
        ("docker exec -w /app c rm x", false, true, Some("/app")),
        ("docker exec -it c rm x", false, true, None),
        ("docker run --rm -v /:/host alpine rm x", false, true, None),
        ("kubectl exec -it p -- rm x", false, true, None),
        ("docker compose exec web rm x", false, true, None),
        ("env -C /tmp rm x", false, false, Some("/tmp")),
        ("sudo sh -c 'cd /; rm x'", true, false, Some("/")),
    ] {
        let found = find_invocations(text);
        let last = found.invocations.last().unwrap();
        assert_eq!(render_invocation(last), "rm x", "{text}");
        assert_eq!((last.privileged, last.elsewhere), (privileged, elsewhere), "{text}");
        assert_eq!(last.cwd.as_deref(), cwd, "{text}");
    }
    let nested = find_invocations("sudo env A=b bash -c 'nice rm x'");
    assert_eq!(nested.invocations[0].via, ["sudo", "env", "bash -c", "nice"]);
}

#[test]
fn opened_files_belong_to_the_reported_program() {
    for (text, expected) in [
        ("sh -c 'a' > f", "f"),
        ("watch 'a' > f", "f"),
        ("eval a > f", "f"),
        ("{ a; b; } > f", "f"),
        ("g() { a; }; g > f", "f"),
        ("nice a > f", "f"),
        ("ssh h a > f", "f"),
        ("exec > f; a", "f"),
        ("> f", "f"),
        ("read x < f", "f"),
        ("exec 3> f; a >&3", "f"),
    ] {
        let found = find_invocations(text);
        let files: Vec<String> =
            found.invocations.iter().flat_map(|own| &own.files).map(|file| render_value(&file.path)).collect();
        assert_eq!(files.first().map(String::as_str), Some(expected), "{text}");
        assert!(found.invocations.iter().all(|own| !own.elsewhere || own.files.is_empty()), "{text}");
    }
}

#[test]
fn code_of_other_languages_is_handed_on() {
    for (text, code, expected) in [
        ("python3 -c 'import os'", CodeLanguage::Python, "'import os'"),
        ("python - <<E\nx\nE", CodeLanguage::Python, "'x\\n'"),
        ("python3.12 -Ic y", CodeLanguage::Python, "y"),
        ("node -e x", CodeLanguage::Node, "x"),
        ("deno eval x", CodeLanguage::Node, "x"),
        ("perl -ne x", CodeLanguage::Perl, "x"),
        ("perl -i.bak -pe x f", CodeLanguage::Perl, "x"),
        ("ruby -e x", CodeLanguage::Ruby, "x"),
        ("php -r x", CodeLanguage::Php, "x"),
        ("echo x > f.py; python f.py", CodeLanguage::Python, "'x\\n'"),
        ("sudo env python -c x", CodeLanguage::Python, "x"),
        ("echo x | perl", CodeLanguage::Perl, "'x\\n'"),
    ] {
        let found = find_invocations(text);
        assert_eq!(found.inline.len(), 1, "{text}");
        assert_eq!(
            (found.inline[0].language, render_value(&found.inline[0].text).as_str()),
            (code, expected),
            "{text}"
        );
    }
    assert_eq!(find_invocations("python manage.py").inline, []);
}
