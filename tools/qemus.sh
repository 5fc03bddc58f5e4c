#!/bin/sh
# tools/qemus.sh [SUITE...]: fetches the QEMU of other Debian releases, without installing anything.
#
# Each is unpacked, with the libraries that it needs and its loader, into build/qemus/SUITE; bin/qemu-system-i386 there
# starts it. apt and dpkg work in a folder of their own, so that neither root nor a change to this machine is needed. About
# 30 MB are downloaded for each.

set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- trixie forky

for suite; do
	place=$PWD/build/qemus/$suite
	[ ! -x "$place/bin/qemu-system-i386" ] || continue
	echo "fetching QEMU of Debian $suite"
	apt=$place/apt
	mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/none"
	: >"$apt/status"
	echo "deb ${MIRROR:-http://deb.debian.org/debian} $suite main" >"$apt/sources.list"
	set -- -qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts="$apt/none" -o Dir::State::Lists="$apt/lists" \
		-o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o Dir::Etc::Parts="$apt/none" -o Debug::NoLocking=1 \
		-o APT::Sandbox::User=root -o APT::Install-Recommends=0
	apt-get "$@" update
	apt-get "$@" --download-only --yes install qemu-system-x86
	for deb in "$apt"/archives/*.deb; do
		dpkg -x "$deb" "$place"
	done
	rm -rf "$apt"
	libraries=$place/usr/lib/$(uname -m)-linux-gnu
	mkdir -p "$place/bin"
	cat >"$place/bin/qemu-system-i386" <<-END
		#!/bin/sh
		export QEMU_MODULE_DIR='$libraries/qemu'
		exec "\$(ls '$libraries'/ld-linux-*)" --library-path '$libraries' '$place/usr/bin/qemu-system-i386' \\
			-L '$place/usr/share/qemu' -L '$place/usr/share/seabios' "\$@"
	END
	chmod +x "$place/bin/qemu-system-i386"
	"$place/bin/qemu-system-i386" --version | head -1
done
