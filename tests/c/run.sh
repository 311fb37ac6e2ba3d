#!/bin/sh
# Compiles primal.c against dwell.h and the library, and runs it: run.sh LIBRARY DIRECTORY
set -eu
library=$1
directory=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory"
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -pedantic -I"$here/../../native/jni/include" -o "$directory/primal" "$here/primal.c" "$library" -lm
# The name that the library was linked under is its path, so it is found without a search path.
"$directory/primal"
