#!/bin/sh
# Compiles the programs here against dwell.h and the library, and runs them: run.sh LIBRARY DIRECTORY
set -eu
library=$1
directory=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory"
status=0
for program in primal dual; do
  # The name that the library was linked under is its path, so it is found without a search path.
  "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -pedantic -I"$here/../../native/jni/include" -o "$directory/$program" "$here/$program.c" "$library" -lm
  "$directory/$program" || status=1
done
exit $status
