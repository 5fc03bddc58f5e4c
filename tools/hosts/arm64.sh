#!/usr/bin/env bash
# tools/hosts/arm64.sh ROOT: builds on a Debian for arm64, and compares 20 exact runs of its QEMU with this machine's.
#
# ROOT has that Debian, made by bare.sh; the kernel of this machine runs its programs with qemu-user (package qemu-user-static).
# Three things must be equal, byte for byte: the image that its cross compiler makes, the telemetry of 20 runs (ten policies on two
# workloads), and the columns of the events that the plugin, compiled there and loaded into QEMU there, records in two of them. (The
# archive around the columns depends on Python's version.) Names each file that differs, or prints the number of files. If
# something fails, the folders of the runs stay: ROOT/srv/runs, and arm64/runs beside ROOT.
#
#   tools/hosts/arm64.sh --there FOLDER    what runs on each side: make lab, and the 20 runs into FOLDER

set -eu
cd "$(dirname "$0")/../.."

policies='2q ws fifo clock lru arc lirs mglru linux59 wsclock'
results='telemetry.ndjson processes.csv samples.csv console.log'

# run NAME POLICY MEMORY SWAP WORKLOAD [OPTION...]
run() {
	local name=$1 vm=$2 mem=$3 swap=$4 workload=$5
	shift 5
	build/venv/bin/tidemark run -q --timeout 3000 --vm "$vm" --mem "$mem" --swap "$swap" "$@" -o "$out/$name" -- $workload >"$out/$name.said"
}

there() {
	out=$1
	mkdir -p "$out"
	echo exit | SHELL=/bin/sh make --no-print-directory lab
	for vm in $policies; do
		echo "$vm"
		run "$vm-thrash" "$vm" 8M sim:hdd 'thrash 3 2048 3 300'
		run "$vm-scan" "$vm" 12M sim:ssd 'seqscan 12288 2 w'
	done
	for vm in 2q ws; do run "$vm-events" "$vm" 8M sim:hdd 'thrash 3 2048 3 300' --events; done
	sha256sum build/tidemark.elf build/initramfs.cpio >"$out/image"
}

if [ "$1" = --there ]; then
	there "$2"
	exit
fi

root=$1
work=${root%/*}/arm64
rm -rf "$work/tidemark" "$work/runs" "$root/srv/tidemark" "$root/srv/runs"
mkdir -p "$work"
[ "$(chroot "$root" uname -m)" = aarch64 ] || {
	echo 'This machine does not run programs for arm64: install qemu-user-static.'
	exit 1
}
git clone -q . "$work/tidemark"
cp -a "$work/tidemark" "$root/srv"
unshare --mount --pid --fork --kill-child tools/hosts/enter.sh "$root" namespaces \
	/srv/tidemark/tools/hosts/arm64.sh --there /srv/runs
"$work/tidemark/tools/hosts/arm64.sh" --there "$work/runs"

# The columns of two archives of numpy.
columns_are_equal() {
	"$work/tidemark/build/venv/bin/python" - "$1" "$2" <<-END
		import sys, numpy
		a, b = (numpy.load(name) for name in sys.argv[1:])
		sys.exit(a.files != b.files or any(a[name].tobytes() != b[name].tobytes() for name in a.files))
	END
}

equal() { case $1 in *.npz) columns_are_equal "$1" "$2" ;; *) cmp -s "$1" "$2" ;; esac }

count=0 bad=0
compare() {
	count=$((count + 1))
	equal "$work/runs/$1" "$root/srv/runs/$1" || { echo "$1 differs"; bad=$((bad + 1)); }
}

compare image
for folder in "$work"/runs/*/; do
	name=$(basename "$folder")
	for file in $results $([[ $name != *-events ]] || echo events.npz); do compare "$name/$file"; done
done
[ $bad = 0 ] || { echo "$bad of $count files differ"; exit 1; }
echo "$(find "$work/runs" -mindepth 1 -maxdepth 1 -type d | wc -l) runs on arm64 gave the same $count files"
rm -rf "$work/tidemark" "$work/runs" "$root/srv/tidemark" "$root/srv/runs"
