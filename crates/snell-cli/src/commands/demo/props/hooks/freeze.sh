#!/bin/sh
# Wave's contract: what is printed with a prompt is context for the model.
echo "main is frozen until the release; work on a branch."
