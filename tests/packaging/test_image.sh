#!/usr/bin/env bash
# The container image: the same bytes whenever it is made, everything in it is known, and what is inside
# runs as a pod would run it: as user 65532, from a read-only root, without capabilities.
. "$(dirname "$0")/image.sh"
image=$work/image

# ---- twice the same ----

check "an image is made" charts/image/build.sh "$evenkeel" "$image"
made_elsewhere() (
    umask 077
    cp --no-preserve=all -r --parents charts LICENSE src/support/base/version.h "$work/copy/"
    cp "$evenkeel" "$work/copy/evenkeel"
    chmod +x "$work/copy/evenkeel" "$work/copy/charts/image/build.sh"
    epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
    cd "$work/copy"
    SOURCE_DATE_EPOCH=$epoch TZ=Asia/Tokyo charts/image/build.sh ./evenkeel ./image
)
mkdir "$work/copy"
check "and another one from other files, with another umask and time zone" made_elsewhere
is "they are the same bytes" "$(sha256sum <"$work/copy/image/image.tar")" "$(sha256sum <"$image/image.tar")"
is "the symbols are, too" "$(cd "$work/copy/image" && find symbols -type f -exec sha256sum {} +)" \
    "$(cd "$image" && find symbols -type f -exec sha256sum {} +)"
is "the binary holds no path of this machine" "$(grep -acF -- "$PWD/" "$evenkeel" || true)" 0

# ---- where it is written ----

mkdir "$work/theirs"
echo precious >"$work/theirs/file"
unwritten() { # NAME FOLDER
    if charts/image/build.sh "$evenkeel" "$2" >"$work/said" 2>&1; then
        fail "$1" "it was written"
    else
        like "$1" "$(cat "$work/said")" "$2 (holds no image|is no folder)"
    fi
}
unwritten "a folder that is somebody else's is refused" "$work/theirs"
is "and left alone" "$(cat "$work/theirs/file")" precious
unwritten "so is a file" "$work/theirs/file"
echo ours >"$image/beside"
echo "of an older image" >"$image/values.yaml"
rm "$image/digest"
check "an older image is replaced" charts/image/build.sh "$evenkeel" "$image"
is "by the same" "$(sha256sum <"$work/copy/image/image.tar")" "$(sha256sum <"$image/image.tar")"
is "and what lies beside it stays" "$(cat "$image/beside")" ours
is "but what the chart was told of the older one" "$(ls "$image/values.yaml" 2>/dev/null || true)" ''

# ---- what a registry makes of it ----

at_most "it is small: 10 MB" "$(stat -c %s "$image/image.tar")" 10000000
start_registry
name=localhost:$registry_port/evenkeel
check "it takes the image" "$crane" push --insecure "$image/oci" "$name:test"
check "and finds it valid" "$crane" validate --insecure --remote "$name:test"
digest=$(cat "$image/digest")
pushed() { # IMAGE: what is said, if it was not pushed, and what the chart is told
    charts/image/push.sh "$image" "$1" >"$work/said" 2>&1 || cat "$work/said"
    cat "$image/values.yaml" 2>/dev/null || echo nothing
}
told() { printf 'image:\n  repository: %s\n  tag: "%s"\n  digest: %s\n' "$name" "$1" "$(cat "$image/digest")"; }
digests() { "$crane" digest --insecure "$name:$1"; }
version=$("$evenkeel" version -o json | jq -r .version)
is "the chart is told of a tag of one's own" "$(pushed "$name:mine")" "$(told mine)"
is "or of that of the version" "$(pushed "$name")" "$(told "$version")"
is "both are this image" "$(digests mine) $(digests "$version")" "$(cat "$image/digest") $(cat "$image/digest")"
like "where no registry takes it, it is told nothing" "$(pushed localhost:1/evenkeel)" "was not pushed.*nothing"
like "what names no registry is not pushed" "$(pushed evenkeel)" "names no registry.*nothing"
like "nor what has a digest" "$(pushed "$name@sha256:0")" "is not REGISTRY/NAME.*nothing"
check "it has the digest that was said" "$crane" pull --insecure "$name@$digest" "$work/pulled.tar"
check "what Docker would load is valid" "$crane" validate --tarball "$image/image.tar"
check "and can be pushed" "$crane" push --insecure "$image/image.tar" "$name:tar"
is "it is the same image" "$("$crane" config --insecure "$name:tar")" "$("$crane" config --insecure "$name@$digest")"
is "its configuration names the user" "$("$crane" config --insecure "$name@$digest" | jq -r .config.User)" 65532:65532

# ---- what is inside ----

root=$work/root
unpack_image "$root" "$name@$digest"
# What tar made of the root folder itself: engines take its mode from the first layer.
is "the root folder is for everybody" "$(stat -c %a "$root")" 755
is "nobody but the owner may write anything" "$(cd "$root" && find . ! -type l -perm /022)" ''
is "nothing has a set-user-ID or set-group-ID bit" "$(cd "$root" && find . -perm /6000)" ''
is "there is no shell" "$(cd "$root" && find . -name '*sh' -type f -perm /111)" ''
sbom=$root$sbom_path
knows_its_files "$root" "$image/sbom-$(dpkg --print-architecture).spdx.json"
is "no two of its elements have one identifier" \
    "$(jq -r '(.packages + .files)[].SPDXID' "$sbom" | sort | uniq -d)" ''
is "each file is of one package" \
    "$(jq -r '[.relationships[] | select(.relationshipType == "CONTAINS").relatedSpdxElement] | sort == unique' "$sbom")" true
# shellcheck disable=SC2016  # dpkg-query's own fields
is "each package that a file is of is listed, with the version that is installed here" \
    "$(jq -r '.packages[] | select(.name != "evenkeel") | .name + " " + .versionInfo' "$sbom" | sort)" \
    "$(jq -r '.packages[].name | select(. != "evenkeel")' "$sbom" | xargs dpkg-query -W -f='${Package} ${Version}\n' | sort -u)"
# SPDX 2.3, 7.8 and 7.9.
codes_of_sbom() { jq -r '.packages[] | .name + " " + .packageVerificationCode.packageVerificationCodeValue' "$sbom" | sort; }
codes_of_files() {
    jq -r '[.files[] | {key: .SPDXID, value: .fileName}] as $files | ($files | from_entries) as $names
           | (.packages | map({key: .SPDXID, value: .name}) | from_entries) as $packages
           | .relationships[] | select(.relationshipType == "CONTAINS")
           | $packages[.spdxElementId] + " " + $names[.relatedSpdxElement]' "$sbom" | sort >"$work/contained"
    cut -d ' ' -f 1 "$work/contained" | sort -u | while read -r package; do
        printf '%s %s\n' "$package" "$(awk -v package="$package" '$1 == package { print $2 }' "$work/contained" |
            (cd "$root" && xargs sha1sum) | cut -d ' ' -f 1 | sort | tr -d '\n' | sha1sum | cut -d ' ' -f 1)"
    done
}
is "a package that files are listed of says so" \
    "$(jq -r '(.relationships | map(select(.relationshipType == "CONTAINS").spdxElementId) | unique) as $with
              | .packages[] | select((.SPDXID | IN($with[])) != .filesAnalyzed).name' "$sbom")" ''
is "and has the verification code of these files" "$(codes_of_sbom)" "$(codes_of_files)"
is "of which the list itself is none" \
    "$(jq -r '.packages[].packageVerificationCode.packageVerificationCodeExcludedFiles // [] | .[]' "$sbom")" "./${sbom#"$root/"}"
links_left_out() {
    (cd "$root" && find . -type l -printf '/%P -> %l\n') | while read -r link; do
        jq -e --arg link "$link" '.comment | contains($link)' "$sbom" >/dev/null || echo "$link"
    done
}
is "symbolic links are told of" "$(links_left_out)" ''
# shellcheck source=/dev/null
is "packages are those of the distribution that is here" \
    "$(jq -r '.packages[].externalRefs // [] | .[].referenceLocator' "$sbom" | sed -E 's/^(pkg:deb[/][^/]*).*distro=(.*)/\1 \2/' | sort -u)" \
    "$(. /etc/os-release && echo "pkg:deb/$ID $ID-${VERSION_ID:-$VERSION_CODENAME}")"
without_licence() {
    jq -r '.packages[].name | select(. != "evenkeel" and . != "base-files")' "$sbom" |
        while read -r package; do [ -s "$root/usr/share/doc/$package/copyright" ] || echo "$package"; done
}
is "each of them has its licence inside" "$(without_licence)" ''
build_id=$(readelf -n "$root/usr/bin/evenkeel" | awk '/Build ID/ { print $3 }')
check "its symbols are found by its build ID" test -s "$image/symbols/.build-id/${build_id:0:2}/${build_id:2}.debug"
is "and not in it" "$(readelf -S "$root/usr/bin/evenkeel" | grep -c -E '\.(symtab|debug_info)' || true)" 0

# ---- and it runs ----

# As a container engine would start it. The root is mounted read-only in a mount namespace that goes with
# the process.
cat >"$work/as-container" <<'SCRIPT'
#!/bin/sh
exec setpriv --no-new-privs unshare --mount --propagation private sh -c '
    set -e
    root=$1
    shift
    mount --bind "$root" "$root"
    mount --bind "$STATE" "$root/state"
    mount -o remount,bind,ro "$root"
    mount -o remount,bind,ro "$root/state"
    exec env -i PATH=/usr/bin "$(command -v chroot)" --userspec=65532:65532 --groups= "$root" /usr/bin/evenkeel "$@"' sh "$ROOT" "$@"
SCRIPT
chmod +x "$work/as-container"
mkdir "$root/state" # the mount point, which an engine would make
export ROOT=$root STATE=$example
evenkeel=$work/as-container
is "it is the version that was built" "$("$work/as-container" version)" "$("${EVENKEEL:-build/evenkeel}" version)"
serves_inside
status() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$server/status"; }
is "as user 65532" "$(status Uid)" 65532
is "without capabilities" "$(status CapEff)$(status CapPrm)$(status CapAmb)" 000000000000000000000000000000000000000000000000
is "and with no way to get any" "$(status NoNewPrivs)" 1
is "in a read-only root" "$(awk '$5 == "/" { print substr($6, 1, 2) }' "/proc/$server/mountinfo" | tail -n 1)" ro
stop_server TERM
is "and it ends as asked" "$exit_code" 0

finish_tests
