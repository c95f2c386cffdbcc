#!/bin/sh
# Sends an event to a receiver: `notify-headspace.sh EVENT`, with the agent's JSON on standard input.
# Made by `snell install claude --notify`; `snell uninstall claude` removes it, and another install rewrites it.
#
# It never delays the agent: two seconds at most, nothing on standard output, and always exit code 0.

snell=@SNELL@
curl=@CURL@
url=@URL@
event=${1-}

exec >/dev/null

# The payload, as far as it arrives within a second: some agents do not close the pipe.
payload() {
    exec 2>/dev/null
    cat <&3 &
    reader=$!
    (
        # KILL, because a process that is starting could miss another signal.
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

# A member for the payload with a comma; nothing if the payload has it, or if the value is empty or too long.
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

# Sends the event with curl, if the program cannot be run.
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
    # Only a complete object is sent.
    case $payload in '{'*'}') ;; *) return 0 ;; esac

    members=$(
        member tmux_pane "${TMUX_PANE-}"
        member tmux_session "${CLAUDE_HEADSPACE_TMUX_SESSION-}"
        member headspace_session_id "${CLAUDE_HEADSPACE_SESSION_ID-}"
        # Other agents read these settings too, but do not set this variable.
        member platform "${CLAUDECODE:+claude}"
    )
    inside=${payload#?}
    blank=${inside%%[![:space:]]*}
    case ${inside#"$blank"} in
        # An empty object has no comma.
        '}'*) members=${members%,} ;;
    esac
    printf '{%s%s' "$members" "$inside" | "$curl" -q --silent --max-time 1 --output /dev/null \
        --noproxy localhost,127.0.0.1,::1 --header 'Content-Type: application/json' --header 'Expect:' --data-binary @- \
        "${url:-${SNELL_URL:-http://127.0.0.1:7433}}/hook/$event" 2>/dev/null
}

# If the program does not exist or cannot be run, this shell reaches its end.
trap 'without_the_program; exit 0' EXIT

if [ -f "$snell" ] && [ -x "$snell" ]; then
    # Bash would exit if the program cannot be run.
    # shellcheck disable=SC3044
    [ -z "${BASH_VERSION-}" ] || shopt -s execfail
    # Replaces this shell, so that the agent is still the parent process.
    # shellcheck disable=SC2093
    exec "$snell" notify "$event" ${url:+--url "$url"}
fi
exit 0
