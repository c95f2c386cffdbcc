#!/bin/sh
# Whale's contract: with "allowModify" the answer may change the input of a tool.
IFS= read -r event
case "$event" in
  *'"command":"npm install"'*)
    echo '{"allow": true, "modified_input": {"command": "npm ci", "description": "Install what the lock file says"}}'
    ;;
esac
