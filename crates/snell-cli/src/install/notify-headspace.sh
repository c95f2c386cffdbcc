#!/bin/sh
# Tells a receiver what an agent does: `notify-headspace.sh EVENT`, with the agent's JSON on standard input.
# Made by `snell install claude --notify`; `snell uninstall claude` removes it, and another install writes it anew.
#
# It never holds the agent up: two seconds at most, nothing on standard output, and always exit code 0.

snell=@SNELL@
curl=@CURL@
url=@URL@
event=${1-}

exec >/dev/null

# What the agent says, as far as it comes within a second: one that does not close its pipe has said everything.
payload() {
    exec 2>/dev/null
    cat <&3 &
    reader=$!
    (
        # Not a signal that it could miss while it is being started.
        trap 'kill -KILL $!; exit 0' TERM
        sleep 1 &
        wait $!
        kill "$reader"
    ) >/dev/null 3<&- &
    watcher=$!
    wait "$reader"
    kill "$watcher"
    wait "$watcher"
}

# A member of the payload, with a comma behind it; nothing if it has one, or if the value is empty or too long for a name.
member() {
    case $payload in *"\"$1\""*) return 0 ;; esac
    [ -n "$2" ] && [ "${#2}" -le 1024 ] || return 0
    left=$2
    value=
    while [ -n "$left" ]; do
        rest=${left#?}
        character=${left%"$rest"}
        left=$rest
        case $character in
            [\"\\]) character=\\$character ;;
            [[:cntrl:]]) character=$(printf '\\u%04x' "'$character") ;;
        esac
        value=$value$character
    done
    printf '"%s":"%s",' "$1" "$value"
}

# What the program does at its simplest can be done without it.
without_the_program() {
    [ -x "$curl" ] || curl=$(command -v curl) || return 0
    case $event in '' | *[!a-z-]*) return 0 ;; esac
    LC_ALL=C
    export LC_ALL

    payload=$(payload 3<&0)
    blank=${payload%%[![:space:]]*}
    payload=${payload#"$blank"}
    blank=${payload##*[![:space:]]}
    payload=${payload%"$blank"}
    # What is no object, or only the beginning of one, is nothing to tell.
    case $payload in '{'*'}') ;; *) return 0 ;; esac

    members=$(
        member tmux_pane "${TMUX_PANE-}"
        member tmux_session "${CLAUDE_HEADSPACE_TMUX_SESSION-}"
        member headspace_session_id "${CLAUDE_HEADSPACE_SESSION_ID-}"
    )
    inside=${payload#?}
    blank=${inside%%[![:space:]]*}
    case ${inside#"$blank"} in
        # An object without members has no comma in it.
        '}'*) members=${members%,} ;;
    esac
    printf '{%s%s' "$members" "$inside" | "$curl" -q --silent --max-time 1 --output /dev/null \
        --noproxy localhost,127.0.0.1,::1 --header 'Content-Type: application/json' --header 'Expect:' --data-binary @- \
        "${url:-${SNELL_URL:-http://127.0.0.1:7433}}/hook/$event" 2>/dev/null
}

# Where the program is gone or cannot be run, this shell gets to its end.
trap 'without_the_program; exit 0' EXIT

if [ -f "$snell" ] && [ -x "$snell" ]; then
    # Only bash has to be told that a program which cannot be run is no reason to end differently.
    # shellcheck disable=SC3044
    [ -z "${BASH_VERSION-}" ] || shopt -s execfail
    # In place of this shell, so that the agent is still the one who calls.
    # shellcheck disable=SC2093
    exec "$snell" notify "$event" ${url:+--url "$url"}
fi
exit 0
