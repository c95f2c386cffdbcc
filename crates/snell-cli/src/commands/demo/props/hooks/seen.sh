#!/bin/sh
# Whale's contract: no answer means no objection.
exit 0
