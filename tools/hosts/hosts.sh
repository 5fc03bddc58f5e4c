#!/usr/bin/env bash
# tools/hosts/hosts.sh [NAME...]: runs README's two commands on fresh machines, and collects the points of all solutions there.
#
# First comes this machine with busybox's tools (busybox.sh), from a new clone to the prompt with zig and with clang; with a wheel in
# an empty virtual environment (wheel.sh); with the programs of a Debian for arm64 (arm64.sh); and with each compiler (compilers.sh).
#
# Each machine of the table below is a Debian or Ubuntu in a folder (bare.sh), entered like a disk of its own (enter.sh). The last
# commit is cloned there, and visit.sh does the rest. Debian's rows cover every pair of values of any two of the five properties,
# so six suffice instead of 32. At the end the points are compared: they do not depend on the machine. NAMEs select machines.
#
# build/hosts keeps the bare systems and, for each machine, its log, its points, its duration and the commit that it passed.
# After Ctrl-C or a failure the same command continues with the remaining machines; FRESH=1 begins anew.

set -u
cd "$(dirname "$0")/../.." || exit 1
hosts=$PWD/build/hosts
root=$hosts/root
SPACE_GIB=10
GUESS_S=1800 # per machine, until one has been measured

# Name, release, user, source of musl, namespaces available (for bwrap), mode of the folder that contains the clone.
table() {
	cat <<-END
	trixie-user trixie student package namespaces 755
	trixie-user-plain trixie student package none 700
	trixie-root trixie root source namespaces 755
	bookworm-user bookworm student source namespaces 700
	bookworm-root-plain bookworm root package none 755
	bookworm-root-closed bookworm root source none 700
	noble-user noble student package namespaces 755
	END
}

fail() { printf '%s\n' "$*" >&2; exit 1; }
passed() { [ "$(cat "$hosts/$1/passed" 2>/dev/null)" = "$commit" ]; }

check_this_machine() {
	[ "$(uname)" = Linux ] || fail 'make hosts needs Linux: it sets up machines in folders.'
	[ "$(id -u)" = 0 ] || fail 'make hosts sets up machines in folders, which only root may do: sudo make hosts'
	commit=$(git rev-parse HEAD) || fail 'make hosts tests the last commit, and this is not a clone.'
	mkdir -p "$hosts" && exec 9>"$hosts/.lock" || exit 1
	flock -n 9 || fail 'Another make hosts is running in this tree.'
	[ -z "${FRESH:-}" ] || rm -f "$hosts"/*/passed
	rm -rf --one-file-system "$root"
	local free=$(($(df --output=avail -k "$hosts" | tail -n 1) >> 20))
	[ "$free" -ge $SPACE_GIB ] || fail "make hosts needs $SPACE_GIB GiB in build/hosts, and $free GiB are free there."
	[ -z "$(git status --porcelain)" ] || echo 'Uncommitted changes are not tested.'
}

# Estimates the remaining minutes: for each machine its last duration, or the longest duration of any machine.
estimate() {
	local name rest seconds known=$GUESS_S total=0
	known=$(cat "$hosts"/*/seconds 2>/dev/null | sort -n | tail -n 1)
	while read -r name rest; do
		passed "$name" && continue
		seconds=$(cat "$hosts/$name/seconds" 2>/dev/null || echo "${known:-$GUESS_S}")
		total=$((total + seconds))
	done < <(table)
	echo $(((total + 59) / 60))
}

# Environment variables that package clients need.
carried() {
	env -0 | grep -zE '^([^=]*(proxy|PROXY|CERT|CA_BUNDLE|CAINFO)[^=]*|(PIP|NPM_CONFIG|npm_config)_[^=]*)='
}

bare() {
	local place=$hosts/bare-$1${2:+-$2}
	[ ! -f "$place.made" ] || return 0
	echo "  debootstrap $* ..."
	rm -rf --one-file-system "$place"
	tools/hosts/bare.sh "$1" "$place" ${2:+"$2"} >"$place.log" 2>&1 || fail "  a bare $1 could not be made: $place.log says why"
	touch "$place.made"
}

# Prepares the machine's disk, with a clone.
lay() {
	local release=$1 user=$2 mode=$3 folder=$root/srv/clone
	bare "$release" || return
	rm -rf --one-file-system "$root"
	cp -a "$hosts/bare-$release" "$root" && mkdir -p -m "$mode" "$folder" &&
		git clone -q --no-hardlinks . "$folder/tidemark" && chroot "$root" chown -R "$user:" /srv/clone || return
	# Reuses packages that an earlier machine has fetched.
	cp -l "$hosts/debs-$release"/*.deb "$root/var/cache/apt/archives/" 2>/dev/null
	mkdir -p "$hosts/debs-$release"
}

visit() {
	local user=$1 musl=$2 namespaces=$3 words
	mapfile -d '' -t words < <(carried)
	words=(env -i --default-signal=INT LANG=C.UTF-8 PATH="$PATH" "${words[@]}" tools/hosts/enter.sh "$root" "$namespaces"
		/srv/clone/tidemark/tools/hosts/visit.sh "$user" "$musl")
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --ipc --uts "${words[@]}" 3>&1 >"$log" 2>&1 </dev/null 9>&- &
	wait $!
}

machine() {
	local name=$1 release=$2 user=$3 musl=$4 namespaces=$5 mode=$6 started=$SECONDS log=$hosts/$1/log status=0
	mkdir -p "$hosts/$name" && rm -f "$hosts/$name/passed"
	echo "$name: $release, $user, musl from $musl, $([ "$namespaces" = none ] && echo "no namespaces" || echo namespaces)," \
		"a folder of mode $mode"
	lay "$release" "$user" "$mode" && visit "$user" "$musl" "$namespaces" || status=1
	cp -nl "$root"/var/cache/apt/archives/*.deb "$hosts/debs-$release" 2>/dev/null
	if [ $status = 0 ]; then
		cp "$root/points" "$hosts/$name/points" && echo $((SECONDS - started)) >"$hosts/$name/seconds" &&
			echo "$commit" >"$hosts/$name/passed" || status=1
	fi
	[ $status = 0 ] || echo "  failed: $log says more"
	rm -rf --one-file-system "$root"
	return $status
}

# Lists each solution whose points differ between machines.
compare() {
	local names
	names=$(table | cut -d ' ' -f 1)
	for name in $names; do sed "s/$/ on $name/" "$hosts/$name/points"; done | sort | awk '
		{ what = $1 " " $2; seen[what] = seen[what] "\n  " $3 " " $4 " " $5; if (what in points && points[what] != $3) differ[what] = 1
		  points[what] = $3; nr[what]++ }
		END { for (what in points) { all++; if (differ[what] || nr[what] != '"$(table | wc -l)"') { bad++; print what ":" seen[what] } }
		  if (!bad) print all " solutions and starters get the same points on all machines."; exit bad > 0 }'
}

# This machine in another way: plain NAME WHAT COMMAND..., whose last line says what came of it.
plain() {
	local name=$1 what=$2 started=$SECONDS
	shift 2
	[ "$chosen" = '  ' ] || [[ $chosen == *" $name "* ]] || return 0
	passed "$name" && echo "$name has passed with this commit" && return
	mkdir -p "$hosts/$name" && rm -f "$hosts/$name/passed"
	echo "$name: this machine, $what"
	if "$@" >"$hosts/$name/log" 2>&1; then
		echo "  $(tail -n 1 "$hosts/$name/log"), $((SECONDS - started)) s" && echo "$commit" >"$hosts/$name/passed"
	else
		echo "  failed: $hosts/$name/log says more"
		failed=$((failed + 1))
	fi
}

arm64() { bare bookworm arm64 && tools/hosts/arm64.sh "$hosts/bare-bookworm-arm64"; }

check_this_machine
trap 'kill -KILL ${!-} 2>/dev/null; wait ${!-} 2>/dev/null; rm -rf --one-file-system "$root"; echo; echo "Stopped; the same command continues."; exit 130' INT TERM HUP
failed=0 number=0 count=$(table | wc -l) chosen=" $* "
plain busybox-zig "with busybox's tools and zig, neither apt nor bash" tools/hosts/busybox.sh zig
plain busybox-clang "with busybox's tools and clang, neither apt nor bash" tools/hosts/busybox.sh clang
plain wheel 'with a wheel, no tree and no network' tools/hosts/wheel.sh
plain arm64 'with the programs of a Debian 12 for arm64' arm64
plain compilers 'with gcc, clang and zig' tools/hosts/compilers.sh
while read -r -u 4 name properties; do
	number=$((number + 1))
	[ "$chosen" = '  ' ] || [[ $chosen == *" $name "* ]] || continue
	if passed "$name"; then
		echo "$number of $count: $name has passed with this commit"
		continue
	fi
	printf '%d of %d, about %d min to go: ' $number "$count" "$(estimate)"
	machine "$name" $properties || failed=$((failed + 1))
done 4< <(table)
[ $failed = 0 ] || fail "$failed of $((count + 5)) machines failed; the same command tries those again."
[ "$chosen" != '  ' ] || compare
