#!/bin/sh
# Wave's contract: the event comes as JSON of several lines on standard input.
while IFS= read -r line; do
  case "$line" in
    *'"file_path"'*) echo "formatted:$line" ;;
  esac
done
