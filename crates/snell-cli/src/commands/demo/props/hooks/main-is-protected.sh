#!/bin/sh
# Claude Code's contract: the event is one line of JSON, and the answer may be JSON as well.
IFS= read -r event
case "$event" in
  *'git push'*' main'*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",'
    echo '  "permissionDecisionReason": "main is protected; open a pull request."}}'
    ;;
esac
