#!/bin/sh
# Checks and installs what the machine must have. Runs in any POSIX shell, also in busybox's.
#
#   tools/setup.sh GOAL...    ensures that everything these make goals need is installed, and prints the compiler to use.
#                             Prints nothing else if nothing is missing. Otherwise it lists the packages and asks before
#                             it installs them; without a terminal it installs them without asking. INSTALL=yes or
#                             INSTALL=no in the environment decides beforehand.
#   tools/setup.sh --packages GOAL...    the same without Python packages: what root can do for other users of the goals.
#   tools/setup.sh --doctor   reports on every tool: found, too old or missing, and the command that installs it.
#
# It installs packages by apt, and prints the command of any other package manager. Where there is no compiler and no apt, or with
# TIDEMARK_CC=zig, it fetches zig (tools/zig) into the folder ZIG, by default in the user's cache. TIDEMARK_CC=clang takes clang.
# Otherwise only packages change outside the project; Python tools go to build/venv.

set -u
cd "$(dirname "$0")/.." || exit 1

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# The host's gcc is usable if it can link a 32-bit division: it always accepts -m32, but its libgcc.a may be absent.
host_gcc_links_m32() {
	have gcc && echo 'unsigned long long a, b; void _start(void) { a /= b; }' |
		gcc -m32 -nostdlib -static -x c -o /dev/null - -lgcc 2>/dev/null
}

# Does this clang link for i386, and does it find the tools of tools/compilers.mk?
clang_links() {
	echo 'void _start(void) { }' |
		$1 --target=i686-linux-gnu -fuse-ld=lld -nostdlib -static -x c -o /dev/null - >/dev/null 2>&1 || return 1
	for tool in nm ar strip; do have "$($1 -print-prog-name=llvm-$tool)" || return 1; done
}

ZIGCC=tools/zig/clang
zig_folder() { echo "${ZIG:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/tidemark/zig-0.17.1}"; }

# The gcc $1. Ubuntu's adds instructions and sections that protect programs of a distribution; the kernel has no use for them, and
# the grader does not know them.
plain() {
	case $($1 -dM -E -x c /dev/null 2>/dev/null) in
	*__CET__* | *__SSP_*) echo "$1 -fcf-protection=none -fno-stack-protector -fno-stack-clash-protection" ;;
	*) echo "$1" ;;
	esac
}

compiler() {
	case ${TIDEMARK_CC:-} in
	zig) echo $ZIGCC; return ;;
	clang | clang-[0-9]*) echo "$TIDEMARK_CC --target=i686-linux-gnu"; return ;;
	*gcc*) plain "$TIDEMARK_CC"; return ;;
	?*) echo "$TIDEMARK_CC"; return ;;
	esac
	if have i686-elf-gcc; then echo i686-elf-gcc
	elif have i686-linux-gnu-gcc; then plain i686-linux-gnu-gcc
	elif host_gcc_links_m32; then plain 'gcc -m32'
	elif have clang && clang_links clang; then echo 'clang --target=i686-linux-gnu'
	elif [ -x "$(zig_folder)/zig" ] || [ "$(manager)" != apt ]; then echo $ZIGCC
	else return 1; fi
}

# zig compiles, or builds the C library where apt cannot fetch it.
needs_zig() {
	[ "$(compiler)" = $ZIGCC ] && return
	musl=usr/lib/i386-linux-musl/libc.a
	case ${MUSL_FROM:-package} in
	zig) [ ! -f build/musl/$musl ] ;;
	*) [ "$(manager)" != apt ] && [ ! -f /$musl ] && [ ! -f build/musl/$musl ] ;;
	esac
}

# Is build/zig there, and is it the folder ZIG if that is given?
zig_ready() { [ -x build/zig/zig ] && { [ -z "${ZIG:-}" ] || [ "$(cd "$ZIG" 2>/dev/null && pwd -P)" = "$(cd build/zig && pwd -P)" ]; }; }

get_zig() {
	if [ ! -x "$(zig_folder)/zig" ]; then
		say "Tidemark needs a compiler for i386 (zig 0.17.1), or its C library: 101 MB, once, into $(zig_folder)."
		allowed || return 1
	fi
	python3 tools/zig/fetch.py "$(zig_folder)" >&2 </dev/null
}

# The host tests are 32-bit programs under the sanitizers, with a C library.
host_compiler_links_sanitized() {
	have i686-linux-gnu-gcc && set -- i686-linux-gnu-gcc || set -- gcc -m32
	printf '#include <stdio.h>\nint main(void) { return puts(""); }\n' |
		"$@" -fsanitize=address,undefined -x c -o /dev/null - 2>/dev/null
}

# at_least 3.11.7 3.10: is the first version the second, or later?
at_least() {
	echo "$1 $2" | awk '{ n = split($1, a, "."); m = split($2, b, "."); for (i = 1; i <= m; i++)
		if ((i <= n ? a[i] : 0) + 0 != b[i] + 0) exit (i <= n ? a[i] : 0) + 0 < b[i] + 0 }'
}

version_of() {
	case $1 in
	compiler) found=$(compiler) && { $found -dumpfullversion || $found -dumpversion; } 2>/dev/null ;;
	iso) have grub-mkrescue && have xorriso && have mformat && [ -d /usr/lib/grub/i386-pc ] && echo present ;;
	venv) python3 -c 'import venv, ensurepip' 2>/dev/null && echo present ;;
	sanitizers) host_compiler_links_sanitized && echo present ;;
	hostcc) have cc && echo 'int f(void) { return 0; }' | cc -shared -fPIC -x c -o /dev/null - && echo present ;;
	keyring) [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] && echo present ;;
	busybox) busybox 2>/dev/null | head -n 1 ;;
	browser) have chromium || have chromium-browser || have google-chrome && echo present ;;
	gdb) { have gdb && gdb --version || gdb-multiarch --version; } 2>/dev/null ;;
	mke2fs) PATH=$PATH:/usr/sbin:/sbin mke2fs -V 2>&1 ;;
	debootstrap) PATH=$PATH:/usr/sbin:/sbin debootstrap --version 2>/dev/null ;;
	*) "$1" --version 2>/dev/null ;;
	esac | grep -oE '[0-9]+\.[0-9.]*[0-9]|present' | head -n1
}

# Which package manager is here?
manager() {
	for found in apt-get:apt dnf:dnf pacman:pacman apk:apk brew:brew nix-shell:nix; do
		have "${found%:*}" && echo "${found#*:}" && return
	done
	echo none
}

# One tool per line: name, least version, purpose, the packages of this package manager. With apt, gcc-multilib and the cross
# compiler exclude each other, so an installed one is kept, and completed with its 32-bit part.
table() {
	change=
	if [ "$(manager)" = apt ]; then
		case $(dpkg-query -W -f '${Status}' gcc-multilib 2>/dev/null) in
		*'ok installed'*) change='s/gcc-i686-linux-gnu.*/gcc-multilib/' ;;
		esac
		! grep -qs '^ID=ubuntu' /etc/os-release || change="$change;s/ chromium$/ chromium-browser/"
	fi
	awk -F ' *[|] *' -v manager="$(manager)" '
		BEGIN { column["dnf"] = 5; column["pacman"] = 6; column["apk"] = 7; column["nix"] = 8; column["brew"] = 9 }
		!/^#/ { print $1, $2, $3, $(manager in column ? column[manager] : 4) }' tools/packages.txt | sed "$change"
}

purposes() {
	for goal; do
		case $goal in
		qemu) echo build run "${DISK:+disk}" ;;
		qemu-gdb | gdb) echo build run debug "${DISK:+disk}" ;;
		iso) echo build iso ;;
		page | wheel) echo build lab page ;;
		book) echo build lab book ;;
		qemu-iso) echo build run iso "${DISK:+disk}" ;;
		lab) echo build run disk lab ;;
		sim) echo build lab host ;;
		image) echo build disk ;;
		image-list) echo build keyring ;;
		hand-in | quiz) echo build lab ;;
		hosts) echo build hosts ;;
		reference) echo build run ;;
		grade | grade-base | release) echo build run lab host grade ;;
		check | test-base | check-base | soak | coverage | qemus | figures) echo build run disk debug iso lab host grade check page book ;;
		*) echo build ;;
		esac
	done
}

missing_packages() {
	wanted=" $(purposes "$@" | tr '\n' ' ')"
	table | while read -r tool least purpose packages; do
		case $wanted in *" $purpose "*) ;; *) continue ;; esac
		case "${IMAGE:-} $tool" in 'reference compiler' | 'reference hostcc') continue ;; esac
		[ "$tool $(compiler)" != "compiler $ZIGCC" ] || continue
		version=$(version_of "$tool")
		{ [ -n "$version" ] && { [ "$least" = - ] || at_least "$version" "$least"; }; } || echo "$packages"
	done
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# The command that installs packages; `-` stands for what this package manager does not have.
install_line() {
	case " $* " in *' - '*) echo "$(manager) has no package of it"; return ;; esac
	case $(manager) in
	apt) set -- apt-get install -y --no-install-recommends "$@" ;;
	dnf) set -- dnf install -y "$@" ;;
	pacman) set -- pacman -S --needed "$@" ;;
	apk) set -- apk add "$@" ;;
	brew) echo "brew install $*"; return ;;
	nix) echo "nix-shell -p $*"; return ;;
	*) echo "install what Debian calls $*; no package manager that Tidemark knows is here"; return ;;
	esac
	[ "$(id -u)" = 0 ] && echo "$*" || echo "sudo $*"
}

# INSTALL, or the answer given at the terminal; without a terminal: yes.
allowed() {
	case ${INSTALL:-} in
	yes) return 0 ;;
	no) say 'INSTALL=no: nothing was changed.'; return 1 ;;
	esac
	[ -t 0 ] || return 0
	printf 'Install them now? [y/N] ' >&2
	read -r answer
	case $answer in y | Y | yes) return 0 ;; *) say 'Nothing was changed.'; return 1 ;; esac
}

# Can this script become root, if necessary with a password typed at the terminal?
may_be_root() {
	[ "$(id -u)" = 0 ] && return 0
	have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }
}

# Nothing here may read standard input: it may hold commands for the guest.
install() {
	say "Tidemark needs packages that are missing (or too old): $*"
	say "  $(install_line "$@")"
	if [ "$(manager)" != apt ]; then
		say 'Tidemark installs packages only by apt-get, so run that command, then make again.'
		return 1
	fi
	allowed || return 1
	if ! may_be_root; then
		say 'It needs root, and sudo would ask for a password, but there is no terminal for it. Run that command, then make again.'
		return 1
	fi
	export DEBIAN_FRONTEND=noninteractive
	# First completes an installation that was interrupted.
	have dpkg && as_root dpkg --configure -a >&2 </dev/null
	as_root apt-get -o DPkg::Lock::Timeout=600 update >&2 </dev/null ||
		say 'apt-get update failed; continuing with the existing lists'
	as_root apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@" >&2 </dev/null && return
	say 'apt-get could not install them; see its output above. Is there a network? The next make continues from here.'
	return 1
}

# After the installation: names a tool that the packages have not brought, or only in an older version, and fails.
still_old() {
	table | while read -r tool least purpose packages; do
		case " $(purposes "$@" | tr '\n' ' ') " in *" $purpose "*) ;; *) continue ;; esac
		[ "$least" != - ] && version=$(version_of "$tool") && [ -n "$version" ] && ! at_least "$version" "$least" || continue
		say "$tool is $version here, and the packages have no newer one; Tidemark needs $least or later, first in PATH."
		exit 1
	done
}

# The requirements in pyproject.toml that pip installs.
requirements() { sed '/^\[tool\.ruff\]/,$d' pyproject.toml && echo "# in $PWD"; }

# Does build/venv have this extra, or `test`, which includes all of them?
up_to_date() { requirements | cmp -s - "build/venv/$1.stamp" || requirements | cmp -s - build/venv/test.stamp; }

# Shortens pip's output to a line for each package; build/venv/unfinished exists while pip writes.
pip_progress() {
	while IFS= read -r line; do
		case $line in
		Collecting\ *) line=${line#Collecting }; say "  PIP   ${line%% *}" ;;
		'Installing collected packages'*) : >build/venv/unfinished; say '  PIP   installing them (a minute or less) ...' ;;
		*ERROR*numba* | *ERROR*llvmlite*) : >build/venv/no_numba; say "$line" ;;
		*error* | *ERROR*) say "$line" ;;
		esac
	done
}

pip_installs() {
	rm -f build/venv/failed build/venv/no_numba
	{ build/venv/bin/python -m pip install --progress-bar off --disable-pip-version-check --only-binary numba,llvmlite \
		-e ".[$1]" 2>&1 </dev/null || : >build/venv/failed; } | pip_progress
	[ ! -f build/venv/failed ]
}

# Installs the package of tools/ with an extra: `all` for the lab, or `test`, which adds pytest and the linters.
python_tools() {
	up_to_date "$1" && return
	say "Setting up build/venv with the lab's libraries (tidemark[$1] in pyproject.toml) ..."
	# The scripts of build/venv contain its path: a tree that was copied or moved needs a new venv.
	[ ! -L build/venv ] || rm build/venv # a link to another tree's, which must not be cleared
	if [ ! -f build/venv/unfinished ] && grep -qsxF "# in $PWD" build/venv/made; then :; else
		python3 -m venv --clear build/venv >&2 && echo "# in $PWD" >build/venv/made || return 1
	fi
	if pip_installs "$1" || { [ -f build/venv/no_numba ] && say 'numba has no file for this machine: the rest is installed without it' &&
		pip_installs most; }; then
		requirements >"build/venv/$1.stamp" && rm -f build/venv/unfinished
		return
	fi
	say 'pip could not install what pyproject.toml lists; see its output above. Is there a network?' \
		'The next make tries again; downloaded packages stay in the cache of pip.'
	return 1
}

doctor() {
	bad=0 list=$(mktemp) || return
	trap 'rm -f "$list"' EXIT
	table >"$list" || return
	while read -r tool least purpose packages; do
		version=$(version_of "$tool")
		if [ "$tool $(compiler)" = "compiler $ZIGCC" ] && [ -z "$version" ]; then
			printf 'note  %-18s none is installed; make fetches zig, 101 MB, into %s\n' "$tool" "$(zig_folder)"
			continue
		elif [ -z "$version" ]; then state='missing'
		elif [ "$least" != - ] && ! at_least "$version" "$least"; then state="too old ($version, needs $least)"
		else
			[ "$tool" = compiler ] && version="$version ($(compiler))"
			printf 'ok    %-18s %s\n' "$tool" "$version"
			continue
		fi
		printf '%-5s %-18s %s; for `make %s`: %s\n' "$(optional "$purpose" && echo note || echo BAD)" "$tool" "$state" \
			"$(goal_of "$purpose")" "$(install_line $packages)"
		optional "$purpose" || bad=1
	done <"$list"
	if [ -x build/venv/bin/tidemark ]; then printf 'ok    %-18s present\n' build/venv
	else printf 'note  %-18s not made yet; `make lab` makes it\n' build/venv; fi
	return $bad
}

# Without these, everything else works.
optional() { [ "$1" = iso ] || [ "$1" = cache ] || [ "$1" = hosts ] || [ "$1" = keyring ]; }

goal_of() {
	case $1 in build | cache) echo all ;; run) echo qemu ;; disk) echo 'qemu DISK=' ;; keyring) echo image-list ;; debug) echo gdb ;; iso | lab | page | book | hosts) echo "$1" ;; host) echo sim ;; grade) echo grade ;; *) echo check ;; esac
}

case $(uname -s) in
Linux | Darwin | *BSD) ;;
*) say "Tidemark does not run on $(uname -s) itself; on Windows use WSL2 (wsl --install), and clone and make inside it."; exit 1 ;;
esac
if [ "${1:-}" = --doctor ]; then
	doctor
	exit
fi
case ${INSTALL:-} in
'' | yes | no) ;;
*) say "INSTALL=$INSTALL: it is yes or no, or not given"; exit 1 ;;
esac

case ${TIDEMARK_CC:-} in
clang | clang-[0-9]*) { have "$TIDEMARK_CC" && clang_links "$TIDEMARK_CC"; } || {
	say "CC=$TIDEMARK_CC: clang, lld, llvm-nm, llvm-ar and llvm-strip must be installed: $(install_line clang lld llvm)"
	exit 1
} ;;
esac

# The extra of pyproject.toml that the goals need, if any.
extra=
case " $* " in
*' check '* | *' test-base '* | *' check-base '* | *' soak '* | *' coverage '* | *' qemus '* | *' figures '*) extra=test ;;
*' lab '* | *' sim '* | *' grade '* | *' grade-base '* | *' hand-in '* | *' quiz '* | *' release '* | *' wheel '*) extra=all ;;
esac
case " $* " in *' page '* | *' book '* | *' wheel '*) [ "$extra" ] && extra=test || extra=book ;; esac
[ "${1:-}" != --packages ] || extra=
packages=$(missing_packages "$@" | tr ' ' '\n' | sort -u | tr '\n' ' ')
# ccache is installed with other missing packages: everything works without it, so it is never requested alone.
packages=${packages# }
[ -z "$packages" ] || have ccache || packages="${packages}ccache "
zig=
[ "${IMAGE:-}" = reference ] || ! needs_zig || zig_ready || zig=yes
if [ -n "$packages$zig" ] || { [ -n "$extra" ] && ! up_to_date $extra; }; then
	# Takes the lock and then checks again, because another make may have installed everything in the meantime.
	[ -n "${TIDEMARK_LOCKED:-}" ] || TIDEMARK_LOCKED=1 exec tools/locked.sh tools/setup.sh "$@"
	[ -z "$packages" ] || install $packages || exit 1
	[ -z "$zig" ] || get_zig || exit 1
	[ -z "$extra" ] || python_tools $extra || exit 1
fi
[ -z "$packages" ] || still_old "$@" || exit 1
[ "${IMAGE:-}" != reference ] || exit 0 # the release's image, which is not compiled
compiler || { say 'There is still no 32-bit compiler; make doctor says more.'; exit 1; }
