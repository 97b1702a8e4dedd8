#!/bin/bash
# every shell script passes shellcheck
. "$(dirname "$0")/common.sh"
mapfile -t scripts < <(
    find tests docs charts .ci -name '*.sh' 2>/dev/null | sort
    for script in charts/kubectl/kubectl-evenkeel charts/deb/postinst charts/deb/prerm tests/run tests/nightly tests/lint/run tests/mutants/run .ci/run; do
        [ ! -e $script ] || echo $script
    done
)
shellcheck -x -P SCRIPTDIR -f gcc "${scripts[@]}"
