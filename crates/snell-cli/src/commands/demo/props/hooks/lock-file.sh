#!/bin/sh
# Snell's own contract: exit code 2 blocks, and what goes to stderr is the reason.
case "$SNELL_FILE" in
  package-lock.json | */package-lock.json)
    echo "package-lock.json is for npm to write; run npm instead." >&2
    exit 2
    ;;
esac
