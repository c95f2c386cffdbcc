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
trap 'exit 0' EXIT

if [ -f "$snell" ] && [ -x "$snell" ]; then
    # A program that cannot be run is no reason to end differently. Only bash has to be told so.
    # shellcheck disable=SC3044
    [ -z "${BASH_VERSION-}" ] || shopt -s execfail
    # In place of this shell, so that the agent is still the one who calls.
    # shellcheck disable=SC2093
    exec "$snell" notify "$event" ${url:+--url "$url"}
    exit 0
fi

# The program is gone. What it does at its simplest can be done without it.
[ -x "$curl" ] || curl=$(command -v curl) || exit 0
case $event in '' | *[!a-z-]*) exit 0 ;; esac
LC_ALL=C
export LC_ALL

# A member of a JSON object, with a comma behind it; nothing if its value is empty, or too long to be a name.
member() {
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

members=$(
    member tmux_pane "${TMUX_PANE-}"
    member tmux_session "${CLAUDE_HEADSPACE_TMUX_SESSION-}"
    member headspace_session_id "${CLAUDE_HEADSPACE_SESSION_ID-}"
)

payload=$(cat)
inside=${payload#*\{}
blank=${inside%%[![:space:]]*}
case ${inside#"$blank"} in
    # An object without members has no comma in it.
    '}'*) members=${members%,} ;;
esac

printf '{%s%s' "$members" "$inside" | "$curl" -q --silent --max-time 2 --output /dev/null \
    --noproxy localhost,127.0.0.1,::1 --header 'Content-Type: application/json' --header 'Expect:' --data-binary @- \
    "${url:-${SNELL_URL:-http://127.0.0.1:7433}}/hook/$event" 2>/dev/null
