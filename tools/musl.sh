#!/bin/sh
# tools/musl.sh DIR package|source|zig COMPILER...: installs musl for i386 into DIR, as
# DIR/usr/lib/i386-linux-musl and DIR/usr/include/i386-linux-musl.
#
# `package` takes the distribution's binary package musl-dev for i386, and its source package if there is no such
# binary (Ubuntu). `source` takes the source package at once and builds libc.a with COMPILER. Neither needs root:
# apt runs with its own directories inside DIR and the system's list of sources, so that dpkg's configuration (its
# architectures, for example) is not changed. `zig` lets zig (build/zig) build the musl that it contains, as does a system
# without apt.

set -eu
cd "$(dirname "$0")/.."
dir=$1 from=$2
shift 2
compiler=$*
lib=usr/lib/i386-linux-musl
include=usr/include/i386-linux-musl

say() { printf '  MUSL  %s\n' "$*"; }
fail() {
	printf '%s\n' "musl for i386 could not be installed: $1" \
		"With a network, run make again. Without one, put musl's libc.a and crt*.o for i386 into" \
		"  $dir/$lib" "and its headers into" "  $dir/$include" \
		"or, on Debian: dpkg --add-architecture i386; apt-get update; apt-get install musl-dev:i386" >&2
	exit 1
}

command -v apt-get >/dev/null || from=zig
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/sources"
apt=$PWD/$dir/apt
: >"$apt/status"

# Copies the system's sources of Debian or Ubuntu itself; other sources may lack i386 or source packages.
copy_sources() {
	types=$1
	rm -f "$apt"/sources/*
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] && grep -qE '(debian|ubuntu)' "$file" || continue
		case $file in
		*.sources) awk -v types="$types" '/^[[:space:]]*Types:/ { print "Types: " types; next }
			!/^Architectures:/' "$file" ;;
		*) sed -E "s/^deb(-src)?[[:space:]]+(\[([^]]*)arch=[^] ]*([^]]*)\][[:space:]]+)?/$types \2/; s/arch=[^] ]*//" \
			"$file" ;;
		esac >"$apt/sources/$(basename "$file")"
	done
}

# apt reads these after the system's settings (which keeps a proxy, for example) and before the command line.
write_settings() {
	cat >"$apt/apt.conf" <<-END
	Dir::State "$apt";
	Dir::State::status "$apt/status";
	Dir::State::lists "$apt/lists";
	Dir::Cache "$apt/cache";
	Dir::Etc::sourcelist "/dev/null";
	Dir::Etc::sourceparts "$apt/sources";
	#clear APT::Architectures;
	APT::Architecture "i386";
	APT::Architectures { "i386"; };
	APT::Sandbox::User "";
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	#clear Acquire::IndexTargets::deb::DEP-11;
	END
}

private_apt() {
	write_settings
	apt-get -qq -c "$apt/apt.conf" "$@"
}

# A list that cannot be fetched matters only if the package is not found afterwards.
update_lists() { private_apt update 2>"$apt/update.log" || true; }

from_package() {
	say 'unpacking the package musl-dev for i386 ...'
	copy_sources deb
	update_lists
	(cd "$apt" && private_apt download musl-dev) || return 1
	dpkg -x "$apt"/musl-dev_*_i386.deb "$dir/new" && install_tree "$dir/new"
}

from_source() {
	say "building it from the distribution's source package (a minute) ..."
	copy_sources deb-src
	update_lists
	(cd "$apt" && private_apt source --download-only musl) || return 1
	rm -rf "$apt/src" && mkdir "$apt/src"
	tar -xf "$apt"/musl_*.orig.tar.[gx]z -C "$apt/src" --strip-components=1 || return 1
	build_source >"$apt/build.log" 2>&1 || { tail -n 5 "$apt/build.log" >&2; return 1; }
	# The package's licence file, at the same place as in the binary package: the page shows it.
	install -D -m 644 "$apt/src/COPYRIGHT" "$apt/new/usr/share/doc/musl-dev/copyright" || return 1
	install_tree "$apt/new"
}

# make splits folder names at blanks, so musl is installed with a relative name.
build_source() (
	unset MAKEFLAGS MAKELEVEL
	cd "$apt/src" &&
		AR=$($compiler -print-prog-name=ar) RANLIB=$($compiler -print-prog-name=ranlib) CC=$compiler \
			CFLAGS='-O2 -march=i686 -fno-pie' ./configure --target=i386 --disable-shared \
			--prefix=/usr --libdir=/$lib --includedir=/$include &&
		make -j"$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)" && make install-libs install-headers DESTDIR=../new
)

# zig builds its C library when a program needs it, in three archives; headers that all machines share come first.
from_zig() {
	say 'building it from the sources in zig (a minute) ...'
	zig=$PWD/build/zig lib_dir=$apt/new/$lib include_dir=$apt/new/$include
	mkdir -p "$lib_dir" "$include_dir" "$apt/new/usr/share/doc/musl-dev" || return 1
	echo 'int main(void) { return 0; }' >"$apt/main.c"
	ZIG_GLOBAL_CACHE_DIR=$apt/zig ZIG_LOCAL_CACHE_DIR=$apt/zig "$zig/zig" cc -target x86-linux-musl -mcpu=i686 -O2 -s -static \
		-o "$apt/main" "$apt/main.c" || return 1
	for file in libc.a libzigc.a libcompiler_rt.a crt1.o; do
		find "$apt/zig" -name $file -exec cp {} "$lib_dir/$file" \;
	done
	(cd "$lib_dir" && printf '%s\n' 'CREATE all.a' 'ADDLIB libc.a' 'ADDLIB libzigc.a' 'ADDLIB libcompiler_rt.a' SAVE END |
		"$zig/zig" ar -M && mv all.a libc.a && rm libzigc.a libcompiler_rt.a) || return 1
	for file in crti crtn; do $compiler -c -x assembler -o "$lib_dir/$file.o" /dev/null || return 1; done
	for part in any-linux-any x86-linux-any generic-musl x86-linux-musl; do
		cp -R "$zig/lib/libc/include/$part/." "$include_dir" || return 1
	done
	cp "$zig/lib/libc/musl/COPYRIGHT" "$apt/new/usr/share/doc/musl-dev/copyright" && install_tree "$apt/new"
}

install_tree() {
	rm -rf "$dir/usr"
	mv "$1/usr" "$dir/usr"
}

case $from in
package) from_package || from_source || fail "neither the package nor its source could be fetched and used; $apt/update.log says more";;
source) from_source || fail "its source could not be fetched and built; $apt/update.log says more";;
zig) from_zig || fail "zig could not build it, see above" ;;
*) fail "MUSL_FROM=$from: it is package, source or zig" ;;
esac
rm -rf "$apt" "$dir/new"
touch "$dir/$lib/libc.a"
say "ready in $dir"
