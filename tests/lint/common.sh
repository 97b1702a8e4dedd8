# shellcheck shell=bash
# Sourced by every check: settles where we are and which files are looked at.
#
# A check prints file:line: and a sentence for each finding, and ends with status 1 if there was
# any. Its second line says what it checks.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# C files below the given folders, or all of ours.
c_files() { # pattern [folder...]
    local pattern=$1
    shift
    [ $# -gt 0 ] || set -- src handlers certs tests
    find "$@" -name "$pattern" | sort
}

jobs=${JOBS:-$(nproc)}
export jobs
