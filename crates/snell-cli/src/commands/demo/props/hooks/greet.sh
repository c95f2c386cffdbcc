#!/bin/sh
# A script that is named by its path alone. What it prints at the start is context for the model.
echo "Reviews end with a question: may this be merged?"
