#!/bin/sh
# Claude Code's contract: the event comes as JSON on stdin, and the answer may be JSON on stdout.
if grep -q 'git push[^"]* main'; then
  cat <<'JSON'
{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
  "permissionDecisionReason": "main is protected; open a pull request."}}
JSON
fi
