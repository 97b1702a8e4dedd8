# shellcheck shell=bash
# What the tests of images share. Sourced, not run.
. "$(dirname "$0")/../integration/lib.sh"
crane=build/tools/crane
# shellcheck disable=SC2034  # for the tests
sbom_path=/usr/share/doc/evenkeel/sbom.spdx.json # inside

# A registry on 127.0.0.1:$registry_port.
start_registry() {
    local log=$work/registry.log
    : >"$log"
    "$crane" registry serve --address 127.0.0.1:0 >"$log" 2>&1 &
    children+=($!)
    registry_port=$(timeout "$PATIENCE" tail -n +1 -s 0.1 -f --pid $! "$log" 2>/dev/null |
        sed -nE 's/.*(serving on port|127\.0\.0\.1:)[ ]*([0-9]+).*/\2/p;T;q') || true # tail is cut off
    check "a registry runs" test -n "$registry_port"
}

# The files of an image in a registry, as an engine would lay them out.
unpack_image() { # FOLDER REFERENCE [CRANE-OPTION...]
    mkdir -m 755 "$1"
    "$crane" export --insecure "${@:3}" "$2" - | tar -x -C "$1" --numeric-owner --same-permissions
}

knows_its_files() { # FOLDER SBOM-BESIDE
    local sbom=$1$sbom_path
    is "the list of contents has every file, with its checksum" \
        "$(jq -r '.files[] | .fileName + " " + (.checksums[] | select(.algorithm == "SHA256").checksumValue)' "$sbom" | sort)" \
        "$(cd "$1" && find . -type f ! -name sbom.spdx.json -exec sha256sum {} + | awk '{ print $2, $1 }' | sort)"
    is "the list beside the image is the one inside" "$(sha256sum <"$2")" "$(sha256sum <"$sbom")"
}

# Starts $evenkeel, which is a script that runs it inside of an image, on a state at /state; without it there is no more
# to test.
serves_inside() {
    if start_bare_server --insecure-extender --state /state/state.json; then
        pass "it starts"
    else
        fail "it starts"
        finish_tests
        exit
    fi
    is "it is alive" "$(ops livez)" ok
    check "it gets ready" await ops readyz --fail --output /dev/null
}
