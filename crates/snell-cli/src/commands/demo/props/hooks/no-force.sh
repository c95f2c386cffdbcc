#!/bin/sh
# The flat contract: the tool's input is in INPUT, and any failure blocks if "continueOnFailure" is false.
case "$INPUT" in
  *--force*)
    echo "a force-push rewrites what others have" >&2
    exit 1
    ;;
esac
