#!/bin/bash
# Makes a Debian package of the binary, the same bytes from the same commit:
#
#   charts/deb/build.sh BINARY FOLDER     writes FOLDER/evenkeel_VERSION_ARCHITECTURE.deb
#
# Needs what build-essential brings (dpkg-dev, binutils), and no network. SOURCE_DATE_EPOCH is the date of the
# files; not set, the date of the commit.
. "$(dirname "$0")/../common.sh"
arguments 2 'BINARY FOLDER' $#
binary=$(realpath "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd)
architecture=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-Evenkeel <evenkeel@example.com>}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

put() { # MODE FILE TARGET
    install -D -m "$1" "$2" "$root/$3"
}
put 755 "$binary" usr/bin/evenkeel
strip --strip-all --remove-section=.comment --remove-section=.note "$root/usr/bin/evenkeel"
"$binary" man >"$work/evenkeel.1"
"$binary" completion bash >"$work/bash"
"$binary" completion zsh >"$work/zsh"
gzip -n -9 "$work/evenkeel.1"
put 644 "$work/evenkeel.1.gz" usr/share/man/man1/evenkeel.1.gz
put 644 "$work/bash" usr/share/bash-completion/completions/evenkeel
put 644 "$work/zsh" usr/share/zsh/vendor-completions/_evenkeel
put 644 "$top/charts/deb/evenkeel.service" lib/systemd/system/evenkeel.service
put 644 "$top/charts/deb/evenkeel.sysusers" usr/lib/sysusers.d/evenkeel.conf
put 644 "$top/charts/deb/evenkeel.yaml" etc/evenkeel/evenkeel.yaml
put 644 "$top/docs/examples/kubernetes/rbac.yaml" usr/share/doc/evenkeel/examples/rbac.yaml
put 644 "$top/docs/examples/kubernetes/rbac-hub.yaml" usr/share/doc/evenkeel/examples/rbac-hub.yaml
put 644 "$top/docs/examples/kubernetes/rbac-ocm.yaml" usr/share/doc/evenkeel/examples/rbac-ocm.yaml
put 644 "$top/docs/examples/kubernetes/rbac-member.yaml" usr/share/doc/evenkeel/examples/rbac-member.yaml
put 755 "$top/charts/deb/postinst" DEBIAN/postinst
put 755 "$top/charts/deb/prerm" DEBIAN/prerm
echo /etc/evenkeel/evenkeel.yaml >"$root/DEBIAN/conffiles"

cat >"$work/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: evenkeel

Files: *
Copyright: 2026 The Evenkeel authors
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
put 644 "$work/copyright" usr/share/doc/evenkeel/copyright
printf 'evenkeel (%s) stable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -n -9 >"$work/changelog.gz"
put 644 "$work/changelog.gz" usr/share/doc/evenkeel/changelog.gz

# Which packages have the libraries, by dpkg's own list of symbols.
mkdir "$work/source" "$work/source/debian"
printf 'Source: evenkeel\n\nPackage: evenkeel\nArchitecture: any\n' >"$work/source/debian/control"
depends=$(cd "$work/source" && dpkg-shlibdeps -O "$root/usr/bin/evenkeel" 2>"$work/log") || {
    cat "$work/log" >&2
    exit 1
}
cat >"$root/DEBIAN/control" <<END
Package: evenkeel
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size --exclude DEBIAN "$root" | cut -f 1)
Depends: ${depends#shlibs:Depends=}, systemd
Section: admin
Priority: optional
Description: keeps Kubernetes workloads even across failure domains
 A scheduler extender and mutating webhook for Kubernetes. It knows nodes,
 zones, regions and any other label, and how many pods of every group run
 where; it spreads pods over them, and says why a pod is where it is.
END
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) >"$work/md5sums"
put 644 "$work/md5sums" DEBIAN/md5sums

package=$out/evenkeel_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
say_made "$package"
