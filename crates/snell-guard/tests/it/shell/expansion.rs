//! The expansion of words.

use super::check_invocations;

#[test]
fn variables_are_filled_in() {
    check_invocations(&[
        ("x=rm; $x -rf /etc", "rm -rf /etc"),
        ("x='rm -rf'; $x /", "rm -rf /"),
        ("x='a b'; p \"$x\" $x", "p 'a b' a b"),
        ("p $UNSET_HERE", "p ‹?›"),
        ("p \"$HOME\" ~ ~ann ~bob ~root", "p /home/ann /home/ann /home/ann /home/bob /root"),
        ("x=; p $x \"$x\"", "p ''"),
        ("unset x; p ${x:-a b} \"${x-c d}\"", "p a b 'c d'"),
        ("p ${X:-a}", "p ‹?› ; p a"),
        ("p ${X:+a}", "p a ; p"),
        ("x=1; p ${x:+a} ${x+b}", "p a b"),
        ("p ${X:=a}; p $X", "p ‹?› ; p a ; p ‹?› ; p a"),
        ("x=a.tar.gz; p ${x%.*} ${x%%.*} ${x#*.} ${x##*.}", "p a.tar a tar.gz gz"),
        ("x=banana; p ${x/a/o} ${x//a/o} ${x/#b/m} ${x/%a/o} ${x//an}", "p bonana bonono manana banano ba"),
        ("x=abcdef; p ${x:2} ${x:1:2} ${x: -2} ${x:1:-1} ${#x}", "p cdef bc ef bcde 6"),
        ("x=abc; p ${x^} ${x^^}; y=ABC; p ${y,} ${y,,}", "p Abc ABC ; p aBC abc"),
        ("x=y; y=z; p ${!x}", "p z"),
        ("p ${PATH:0:1} ${HOME:0:1}", "p / /"),
        ("rm$IFS-rf$IFS/", "rm -rf /"),
        ("rm${IFS}-rf${IFS}/", "rm -rf /"),
        ("IFS=,; x=a,b; p $x", "p a b"),
        ("x=a; x+=b; p $x", "p ab"),
        ("x=*; p $x \"$x\"", "p * *"),
        ("p $((1+2*3)) $((x=5)) $((x+1)) $((7/2)) $((1<<4)) $((0x10))", "p 7 5 6 3 16 16"),
        ("p $((Y+1))", "p ‹?›"),
        ("p $$ $RANDOM $!", "p ‹?› ‹?› ‹?›"),
    ]);
}

#[test]
fn arrays_and_positional_parameters_are_filled_in() {
    check_invocations(&[
        ("a=(rm -rf /); \"${a[@]}\"", "rm -rf /"),
        ("a=(x 'y z'); p \"${a[@]}\" ${a[1]} ${#a[@]} ${a[-1]}", "p x 'y z' y z 2 y z"),
        ("a=(x y); a+=(z); a[1]=w; p ${a[*]} \"${a[*]}\"", "p x w z 'x w z'"),
        ("a=([2]=/x [1]=-r [0]=rm); \"${a[@]}\"", "rm -r /x"),
        ("a=([10]=c [9]=b [1]=a d); p ${a[@]} ${a[2]}", "p a d b c d"),
        ("declare -n r=t; t=/etc; p $r; r=x; p $t", "p /etc ; p x"),
        ("t=(a b); declare -n r=t; p ${r[1]} ${!r}; r[1]=c; p ${t[1]}", "p b t ; p c"),
        ("declare -n r; r=t; t=x; p $r; unset -n r; p $t \"$r\"", "p x ; p x ‹?›"),
        ("f() { local -n r=$1; r=x; }; f t; r=y; p $t $r", "p x y"),
        ("declare -n r=s s=r; p $r", "p"),
        ("t=a; export -n t=b; p $t", "p b"),
        ("declare -A m=([k]=v [l]=w); p ${m[k]} ${m[l]}", "p v w"),
        ("declare -a a=(1 2); p ${a[@]:1}", "p 2"),
        ("set -- a 'b c'; p \"$@\" $# $1 \"$2\" \"$*\"", "p a 'b c' 2 a 'b c' 'a b c'"),
        ("set -- a b c; shift; p $1 ${@:2}", "p b c"),
        ("sh -c 'p $0 $1' x y", "p x y"),
        ("f() { p \"$@\" $#; }; f a 'b c'", "p a 'b c' 2"),
        ("printf -v x '%s%s' r m; $x /", "rm /"),
        ("a=(x y); p ${!a[@]}", "p 0 1"),
        ("read a b <<< 'x y z'; p $a \"$b\"", "p x 'y z'"),
        ("mapfile -t l <<< $'a\\nb'; p ${l[1]}", "p b"),
        ("IFS=: read -r a b <<< x:y; p $a $b", "p x y"),
    ]);
}

#[test]
fn braces_are_written_out_and_patterns_kept() {
    check_invocations(&[
        ("p {a,b}{1,2} {1..3} {a..c} {01..3}", "p a1 a2 b1 b2 1 2 3 a b c 01 02 03"),
        ("{rm,-rf,/}", "rm -rf /"),
        ("p *.txt [ab]c ?", "p *.txt [ab]c ?"),
        ("p '*' \\*", "p * *"),
        ("x=a; p $x{b,c}", "p ab ac"),
    ]);
}

#[test]
fn substitutions_of_constant_commands_are_known() {
    check_invocations(&[
        ("$(echo rm) -rf /", "echo rm ; rm -rf /"),
        ("p `echo a`", "echo a ; p a"),
        ("p $(printf '%s-' a b)", "printf %s- a b ; p a-b-"),
        ("p \"$(printf '\\x72\\x6d')\"", "printf \\x72\\x6d ; p rm"),
        ("p $(basename /a/b.c .c) $(dirname /a/b)", "basename /a/b.c .c ; dirname /a/b ; p b /a"),
        ("p $(echo abc | rev | tr a-c x-z)", "echo abc ; rev ; tr a-c x-z ; p zyx"),
        ("p $(echo cm0= | base64 -d)", "echo cm0= ; base64 -d ; p rm"),
        ("p $(cat <<E\na\nb\nE\n)", "cat ; p a b"),
        ("p $(which rm) $(command -v rm)", "which rm ; command -v rm ; p rm rm"),
        ("p $(pwd) $(whoami)", "pwd ; whoami ; p /home/ann/work/app ann"),
        ("p $(git rev-parse --show-toplevel)", "git rev-parse --show-toplevel ; p /home/ann/work/app"),
        ("p \"$(mktemp -d)/x\"", "mktemp -d ; p /tmp/tmp.XXXXXX1/x"),
        ("p $(seq 3)", "seq 3 ; p 1 2 3"),
        (
            "p $(perl -e 'print \"a\\cb\"')$(perl -e 'print \"a$b\"')",
            "perl -e 'print \"a\\cb\"' ; perl -e 'print \"a$b\"' ; p ‹?›‹?›",
        ),
        (
            "p $(perl -e 'print \"rm\"') $(awk 'BEGIN { print \"x\" }')",
            "perl -e 'print \"rm\"' ; awk 'BEGIN { print \"x\" }' ; p rm x",
        ),
        ("p $(python3 -c \"print('a' + b)\")", "python3 -c 'print('a' + b)' ; p ‹?›"),
        ("p $(python3 -c 'print(\"\\x72m\")')", "python3 -c print(\"\\x72m\") ; p rm"),
        ("p $(ls)", "ls ; p *"),
        ("p $(ls -d /a/*)", "ls -d /a/* ; p /a/*"),
        ("p $(ls /a)", "ls /a ; p ‹?›"),
        ("p $(echo a; ls; echo b)", "echo a ; ls ; echo b ; p a ‹?›b"),
        ("x=$(echo a)$(echo b); p $x", "echo a ; echo b ; p ab"),
        ("p $(f() { echo a; }; f)", "echo a ; p a"),
    ]);
}
