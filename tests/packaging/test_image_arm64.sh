#!/usr/bin/env bash
# The image for two architectures: one index, the same bytes whenever it is made; this machine's image in it is the
# one that is made alone, and the one for arm64 starts and serves under qemu's user emulation, from its own root:
# no library of another place can help it out.
. "$(dirname "$0")/image.sh"
arm64=build/arm64
image=$work/image
index=application/vnd.oci.image.index.v1+json

# ---- twice the same ----

build() { charts/image/build.sh "$evenkeel" "$1" $arm64/evenkeel $arm64/sysroot; }
build_elsewhere() (
    umask 077
    export TZ=Asia/Tokyo
    build "$1"
)
check "images for two architectures are made" build "$image"
check "and made again, with another umask and time zone" build_elsewhere "$work/again"
is "they are the same bytes" "$(sha256sum <"$work/again/image.tar")" "$(sha256sum <"$image/image.tar")"
is "the symbols are, too, of each binary" "$(cd "$work/again" && find symbols -type f -exec sha256sum {} + | sort)" \
    "$(cd "$image" && find symbols -type f -exec sha256sum {} + | sort)"
is "each has its own" "$(find "$image/symbols" -type f | wc -l)" 2
is "the binary holds no path of this machine" "$(grep -acF -- "$PWD/" $arm64/evenkeel || true)" 0
alone=$work/alone
check "this machine's is made alone" charts/image/build.sh "$evenkeel" "$alone"

# ---- what is refused ----

refused() { # NAME PATTERN ARGUMENT...
    local said
    if said=$(charts/image/build.sh "$evenkeel" "$work/refused" "${@:3}" 2>&1); then
        fail "$1" "it was made"
    else
        like "$1" "$said" "$2"
    fi
}
refused "two binaries for one architecture" "two binaries for" "$evenkeel" /
commit=$("$evenkeel" version -o json | jq -r .commit)
LC_ALL=C sed "s/$commit/$(tr '[:alnum:]' x <<<"$commit")/" $arm64/evenkeel >"$work/other"
refused "a binary of another commit" "is not of the commit of" "$work/other" $arm64/sysroot
refused "a library that is nowhere" "library of .* is not on this machine: libm" $arm64/evenkeel "$work"
refused "a root without its binary" "usage" $arm64/evenkeel

# ---- what a registry makes of it ----

start_registry
name=localhost:$registry_port/evenkeel
check "it takes the index" "$crane" push --insecure "$image/oci" "$name:test"
check "and finds it valid" "$crane" validate --insecure --remote "$name:test"
is "by the digest that was said" "$("$crane" digest --insecure "$name:test")" "$(cat "$image/digest")"
"$crane" manifest --insecure "$name:test" >"$work/index.json"
is "it is an index" "$(jq -r .mediaType "$work/index.json")" $index
is "of two platforms" "$(jq -r '.manifests[].platform | .os + "/" + .architecture' "$work/index.json" | sort | paste -sd' ')" \
    "linux/amd64 linux/arm64"
digest_for() { jq -r --arg a "$1" '.manifests[] | select(.platform.architecture == $a).digest' "$work/index.json"; }
own=$(dpkg --print-architecture)
is "this machine's is the one that is made alone" "$(digest_for "$own")" "$(cat "$alone/digest")"
check "what Docker would load is valid" "$crane" validate --tarball "$image/image.tar"
check "and can be pushed" "$crane" push --insecure "$image/image.tar" "$name:tar"
is "it is this machine's" "$("$crane" config --insecure "$name:tar")" "$("$crane" config --insecure "$name@$(digest_for "$own")")"
for architecture in amd64 arm64; do
    at_most "that for $architecture is small: 10 MB" \
        "$("$crane" manifest --insecure "$name@$(digest_for $architecture)" | jq '.config.size + ([.layers[].size] | add)')" 10000000
    is "and says that it is for it" "$("$crane" config --insecure --platform linux/$architecture "$name:test" | jq -r '.architecture')" $architecture
done

# ---- what is inside ----

root=$work/root
unpack_image "$root" "$name:test" --platform linux/arm64
knows_its_files "$root" "$image/sbom-arm64.spdx.json"
sbom=$root$sbom_path
is "packages of Debian are for arm64, or for all" \
    "$(jq -r '.packages[].externalRefs // [] | .[].referenceLocator | capture("arch=(?<a>[a-z0-9]+)").a' "$sbom" | sort -u | grep -vx all)" arm64
is "with the versions that were unpacked" "$(jq -r '.packages[] | select(.name != "evenkeel") | .name + " " + .versionInfo' "$sbom" | sort)" \
    "$(jq -r '.packages[].name | select(. != "evenkeel")' "$sbom" | while read -r package; do
        awk -v package="$package" '/^Package:/ { mine = $2 == package } mine && /^Version:/ { print package, $2 }' $arm64/sysroot/var/lib/dpkg/status
    done | sort)"
without_licence() {
    jq -r '.packages[].name | select(. != "evenkeel" and . != "base-files")' "$sbom" |
        while read -r package; do [ -s "$root/usr/share/doc/$package/copyright" ] || echo "$package"; done
}
is "each of them has its licence inside" "$(without_licence)" ''
elsewhere() {
    find "$root/usr/bin" "$root/usr/lib" -type f -exec readelf -h {} + | sed -nE 's/^ *Machine: *//p' | sort -u
}
is "every program and library is for arm64" "$(elsewhere)" AArch64
build_id=$(readelf -n "$root/usr/bin/evenkeel" | awk '/Build ID/ { print $3 }')
check "its symbols are found by its build ID" test -s "$image/symbols/.build-id/${build_id:0:2}/${build_id:2}.debug"
is "and not in it" "$(readelf -S "$root/usr/bin/evenkeel" | grep -c -E '\.(symtab|debug_info)' || true)" 0

# ---- and it runs ----

# Everything that it opens is below its own root, with qemu beside it.
cp "$(command -v qemu-aarch64-static)" "$root/qemu"
cp -r "$example" "$root/state"
chmod -R a+rX "$root/state"
cat >"$work/as-container" <<'SCRIPT'
#!/bin/sh
exec env -i PATH=/usr/bin "$(command -v setpriv)" --no-new-privs "$(command -v chroot)" --userspec=65532:65532 --groups= "$ROOT" \
    /qemu /usr/bin/evenkeel "$@"
SCRIPT
sed -i "s|\$ROOT|$root|" "$work/as-container"
chmod +x "$work/as-container"
own=$evenkeel
evenkeel=$work/as-container
# Versions of libraries are those of the packages, which may be newer than what is installed here.
is "it is the version that was built" "$("$evenkeel" --version | head -n 2)" "$("$own" --version | head -n 2)"
is "it has the same help" "$("$evenkeel" --help)" "$("$own" --help)"
serves_inside
asked=$(filter_request "$example/pod.json" "$example/state.json")
answer() { curl -fsS --max-time "$PATIENCE" --header 'Content-Type: application/json' --data-binary "$asked" "http://$extender/extender/v1/filter"; }
emulated=$(answer)
stop_server TERM
is "and it ends as asked" "$exit_code" 0
evenkeel=$own
start_bare_server --insecure-extender --state "$example/state.json"
is "it has answered as this machine's does" "$emulated" "$(answer)"

finish_tests
