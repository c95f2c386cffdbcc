#!/bin/sh
# Made by `snell install @AGENT@`. To remove it: snell uninstall @AGENT@
exec @COMMAND@
