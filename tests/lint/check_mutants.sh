#!/bin/bash
# every mutant of tests/mutants still fits the file that it changes
. "$(dirname "$0")/common.sh"
tests/mutants/run --check
