#!/usr/bin/env bash
# What the machine must have.
#
#   tools/setup.sh GOAL...    make sure that what these make goals need is there, and print the compiler to use.
#                             Says nothing when nothing is missing. Otherwise it lists the packages and asks before
#                             it installs them; without a terminal to ask at it installs them. INSTALL=yes or INSTALL=no
#                             in the environment decides beforehand.
#   tools/setup.sh --packages GOAL...    the same, but for Python's: what root can do for others who then use the goals.
#   tools/setup.sh --doctor   report on every tool: found, too old or missing, and the command that mends it.
#
# Only packages change outside the project; Python tools go to build/venv.

set -u
cd "$(dirname "$0")/.." || exit 1

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# The host's gcc counts when it can link a 32-bit division: it always knows -m32, but libgcc.a for it may be absent.
host_gcc_links_m32() {
	have gcc && echo 'unsigned long long a, b; void _start(void) { a /= b; }' |
		gcc -m32 -nostdlib -static -x c -o /dev/null - -lgcc 2>/dev/null
}

compiler() {
	if have i686-elf-gcc; then echo i686-elf-gcc
	elif have i686-linux-gnu-gcc; then echo i686-linux-gnu-gcc
	elif host_gcc_links_m32; then echo 'gcc -m32'
	else return 1; fi
}

# The host tests are 32-bit programs under the sanitizers, with a C library.
host_compiler_links_sanitized() {
	have i686-linux-gnu-gcc && set -- i686-linux-gnu-gcc || set -- gcc -m32
	printf '#include <stdio.h>\nint main(void) { return puts(""); }\n' |
		"$@" -fsanitize=address,undefined -x c -o /dev/null - 2>/dev/null
}

at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }

version_of() {
	case $1 in
	compiler) found=$(compiler) && $found -dumpfullversion ;;
	iso) have grub-mkrescue && have xorriso && have mformat && [ -d /usr/lib/grub/i386-pc ] && echo present ;;
	venv) python3 -c 'import venv, ensurepip' 2>/dev/null && echo present ;;
	sanitizers) host_compiler_links_sanitized && echo present ;;
	hostcc) have cc && echo 'int f(void) { return 0; }' | cc -shared -fPIC -x c -o /dev/null - && echo present ;;
	browser) have chromium || have chromium-browser || have google-chrome && echo present ;;
	gdb) { have gdb && gdb --version || gdb-multiarch --version; } 2>/dev/null ;;
	mke2fs) PATH=$PATH:/usr/sbin:/sbin mke2fs -V 2>&1 ;;
	debootstrap) PATH=$PATH:/usr/sbin:/sbin debootstrap --version ;;
	*) "$1" --version 2>/dev/null ;;
	esac | grep -oE '[0-9]+\.[0-9.]*[0-9]|present' | head -n1
}

# The package with a 32-bit compiler: gcc-multilib and the cross compiler exclude each other, so the one that is there
# wins; what it lacks then is its own 32-bit part.
compiler_package() {
	if dpkg-query -W -f '${Status}' gcc-multilib 2>/dev/null | grep -q 'ok installed'; then echo gcc-multilib
	else echo "gcc-i686-linux-gnu$1"; fi
}

browser_package() { if grep -qs '^ID=ubuntu' /etc/os-release; then echo chromium-browser; else echo chromium; fi; }

# One tool a line: name, least version, what it is for, packages.
table() {
	cat <<-END
	compiler 9 build $(compiler_package '')
	make 4.2 build make
	python3 3.10 build python3
	qemu-system-i386 6.2 run qemu-system-x86
	mke2fs 1.43 disk e2fsprogs
	gdb 10 debug gdb
	iso - iso grub-common grub-pc-bin xorriso mtools
	hostcc - lab gcc libc6-dev
	venv - lab python3-venv
	sanitizers - host $(compiler_package ' libc6-dev-i386-cross')
	bwrap 0.4 grade bubblewrap
	valgrind 3.18 check valgrind
	git 2.20 check git
	browser - check $(browser_package)
	node - page nodejs
	npm - page npm
	clang 11 page clang
	wasm-ld 11 page lld
	ccache 3.7 cache ccache
	debootstrap 1.0.100 hosts debootstrap debian-archive-keyring
	END
}

purposes() {
	for goal; do
		case $goal in
		qemu) echo build run "${DISK:+disk}" ;;
		qemu-gdb | gdb) echo build run debug "${DISK:+disk}" ;;
		iso) echo build iso ;;
		page) echo build lab page ;;
		qemu-iso) echo build run iso "${DISK:+disk}" ;;
		lab) echo build run disk lab ;;
		sim) echo build lab host ;;
		hand-in | quiz) echo build lab ;;
		hosts) echo build hosts ;;
		grade | grade-base | release) echo build run lab host grade ;;
		check | check-base | soak | coverage | qemus) echo build run disk debug iso lab host grade check page ;;
		*) echo build ;;
		esac
	done
}

missing_packages() {
	wanted=" $(purposes "$@" | tr '\n' ' ')"
	table | while read -r tool least purpose packages; do
		case $wanted in *" $purpose "*) ;; *) continue ;; esac
		version=$(version_of "$tool")
		{ [ -n "$version" ] && { [ "$least" = - ] || at_least "$version" "$least"; }; } || echo "$packages"
	done
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

apt_line() { echo "$([ "$(id -u)" = 0 ] || echo 'sudo ')apt-get install -y --no-install-recommends $*"; }

# INSTALL, or the answer at the terminal; without a terminal: yes.
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

# Can we become root, if need be by a password that somebody can type?
may_be_root() {
	[ "$(id -u)" = 0 ] && return 0
	have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }
}

# Nothing here may read what stands on standard input: it may be commands for the guest.
install() {
	say "Tidemark needs packages that are not here (or too old): $*"
	if ! have apt-get; then
		say "This system has no apt-get; please install what these Debian packages hold, with its own package manager."
		return 1
	fi
	say "  $(apt_line "$@")"
	allowed || return 1
	if ! may_be_root; then
		say 'It takes root, and sudo would ask for a password that nobody is here to type. Run that command, then make again.'
		return 1
	fi
	export DEBIAN_FRONTEND=noninteractive
	# Of an installation that was interrupted the rest comes first.
	have dpkg && as_root dpkg --configure -a >&2 </dev/null
	as_root apt-get -o DPkg::Lock::Timeout=600 update >&2 </dev/null ||
		say 'apt-get update failed; going on with the lists that are here'
	as_root apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@" >&2 </dev/null && return
	say 'apt-get could not install them; what it says is above. Is there a network? The next make goes on from here.'
	return 1
}

# What pyproject.toml asks pip for.
requirements() { sed '/^\[tool\.ruff\]/,$d' pyproject.toml && echo "# in $PWD"; }

# Has build/venv this extra, or `test`, which has them all?
up_to_date() { requirements | cmp -s - "build/venv/$1.stamp" || requirements | cmp -s - build/venv/test.stamp; }

# What pip says, shortened to a line for each package; build/venv/unfinished marks the time in which it writes.
pip_progress() {
	while IFS= read -r line; do
		case $line in
		Collecting\ *) line=${line#Collecting }; say "  PIP   ${line%% *}" ;;
		'Installing collected packages'*) : >build/venv/unfinished; say '  PIP   installing them (a minute or less) ...' ;;
		*error* | *ERROR*) say "$line" ;;
		esac
	done
}

# The package of tools/ with an extra: `all` for the lab, or `test`, which holds it and pytest and the linters.
python_tools() {
	up_to_date "$1" && return
	say "Setting up build/venv with the lab's libraries (tidemark[$1] in pyproject.toml) ..."
	# Its scripts name the place where it was made: a tree that was copied or moved needs another.
	[ ! -L build/venv ] || rm build/venv # a link to another tree's, which must not be cleared
	if [ ! -f build/venv/unfinished ] && grep -qsxF "# in $PWD" build/venv/made; then :; else
		python3 -m venv --clear build/venv >&2 && echo "# in $PWD" >build/venv/made || return 1
	fi
	if (set -o pipefail; build/venv/bin/python -m pip install --progress-bar off --disable-pip-version-check \
		-e ".[$1]" 2>&1 </dev/null | pip_progress) && requirements >"build/venv/$1.stamp"; then
		rm -f build/venv/unfinished
		return
	fi
	say 'pip could not install what pyproject.toml lists; what it says is above. Is there a network?' \
		'The next make tries again; what was fetched stays in the cache of pip.'
	return 1
}

doctor() {
	bad=0
	while read -r tool least purpose packages; do
		version=$(version_of "$tool")
		if [ -z "$version" ]; then state='missing'
		elif [ "$least" != - ] && ! at_least "$version" "$least"; then state="too old ($version, needs $least)"
		else
			[ "$tool" = compiler ] && version="$version ($(compiler))"
			printf 'ok    %-18s %s\n' "$tool" "$version"
			continue
		fi
		printf '%-5s %-18s %s; for `make %s`: %s\n' "$(optional "$purpose" && echo note || echo BAD)" "$tool" "$state" \
			"$(goal_of "$purpose")" "$(apt_line $packages)"
		optional "$purpose" || bad=1
	done < <(table)
	if [ -x build/venv/bin/tidemark ]; then printf 'ok    %-18s present\n' build/venv
	else printf 'note  %-18s not made yet; `make lab` makes it\n' build/venv; fi
	return $bad
}

# Without these everything else works.
optional() { [ "$1" = iso ] || [ "$1" = cache ] || [ "$1" = hosts ]; }

goal_of() {
	case $1 in build | cache) echo all ;; run) echo qemu ;; disk) echo 'qemu DISK=' ;; debug) echo gdb ;; iso | lab | page | hosts) echo "$1" ;; host) echo sim ;; grade) echo grade ;; *) echo check ;; esac
}

if [ "${1:-}" = --doctor ]; then
	doctor
	exit
fi
case ${INSTALL:-} in
'' | yes | no) ;;
*) say "INSTALL=$INSTALL: it is yes or no, or not given"; exit 1 ;;
esac

# The extra of pyproject.toml that the goals need, if any.
extra=
case " $* " in
*' check '* | *' check-base '* | *' soak '* | *' coverage '* | *' qemus '*) extra=test ;;
*' lab '* | *' sim '* | *' grade '* | *' grade-base '* | *' hand-in '* | *' quiz '* | *' release '*) extra=all ;;
esac
case " $* " in *' page '*) [ "$extra" ] && extra=test || extra=book ;; esac
[ "${1:-}" != --packages ] || extra=
packages=$(missing_packages "$@" | tr ' ' '\n' | sort -u | tr '\n' ' ')
# The compiler's cache comes with the others: without it everything works, so nobody is asked for it alone.
[ -z "${packages// /}" ] || have ccache || packages+='ccache '
if [ -n "${packages// /}" ] || { [ -n "$extra" ] && ! up_to_date $extra; }; then
	# Under the lock; and then look again, since somebody else may have done it by then.
	[ -n "${TIDEMARK_LOCKED:-}" ] || TIDEMARK_LOCKED=1 exec tools/locked.sh tools/setup.sh "$@"
	[ -z "${packages// /}" ] || install $packages || exit 1
	[ -z "$extra" ] || python_tools $extra || exit 1
fi
compiler || { say 'There is still no 32-bit compiler; make doctor says more.'; exit 1; }
