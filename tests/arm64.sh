#!/bin/bash
# Builds the daemon and the unit tests for arm64 with Debian's cross compiler, and runs the tests under
# qemu's user emulation:
#
#   tests/arm64.sh [TEST...]      build/arm64/tests/unit/base/test_hash, say; all of them without one
#
# Needs gcc-aarch64-linux-gnu and qemu-user-static (make arm64 installs them): see charts/arm64.sh, which builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export TEST_UNDER="qemu-aarch64-static -L $PWD/build/arm64/sysroot"
if [ $# -gt 0 ]; then
    charts/arm64.sh "$@"
    exec tests/run "$@"
fi
charts/arm64.sh build/arm64/evenkeel
exec charts/arm64.sh unit
