#!/bin/sh
# Exit code 2 blocks; what goes to stderr is the reason that the model reads.
case "$SNELL_COMMAND" in
  *"git push"*--force*|*"git push"*" -f"*)
    echo "Force-pushing is not allowed here. Push to a new branch instead." >&2
    exit 2
    ;;
esac
