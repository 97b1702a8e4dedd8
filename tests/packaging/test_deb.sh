#!/usr/bin/env bash
# The Debian package: the same bytes twice, what Debian's own checks say, and the hardening of its service.
. "$(dirname "$0")/../integration/lib.sh"

build() { SOURCE_DATE_EPOCH=1000000000 charts/deb/build.sh "$evenkeel" "$work/$1" >/dev/null; }
check "it is built" build deb
check "... twice" build again
package=$(echo "$work"/deb/*.deb)
check "... with the same bytes" cmp "$package" "$work/again/${package##*/}"
# shellcheck disable=SC2016  # dpkg-deb's
is "its name" "$(dpkg-deb --show --showformat='${Package} ${Version} ${Architecture}' "$package")" \
    "evenkeel $("$evenkeel" version -o json | jq -r .version) $(dpkg --print-architecture)"
is "lintian finds no error" "$(lintian --allow-root --tag-display-limit 0 --fail-on error "$package" 2>&1 | grep '^E:' || true)" ''

root=$work/root
dpkg-deb --extract "$package" "$root"
is "the binary runs" "$("$root/usr/bin/evenkeel" version -o json | jq -r .version)" "$("$evenkeel" version -o json | jq -r .version)"
check "its settings pass check config" "$root/usr/bin/evenkeel" check config "$root/etc/evenkeel/evenkeel.yaml"
is "the manual is the binary's" "$(gzip -dc "$root/usr/share/man/man1/evenkeel.1.gz")" "$("$evenkeel" man)"
unit=$root/lib/systemd/system/evenkeel.service
check "the service's exposure is 2.0 at most" systemd-analyze security --offline=true --threshold=20 "$unit"
is "systemd understands every line of it" \
    "$(systemd-analyze verify --man=no "$unit" 2>&1 | grep -F "${unit##*/}:" | grep -v 'is not executable' || true)" ''
check "what runs is there" test -x "$root/$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
finish_tests
