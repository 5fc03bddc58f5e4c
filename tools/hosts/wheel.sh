#!/bin/sh
# tools/hosts/wheel.sh [FOLDER]: the wheel of this tree in an empty virtual environment, with no network and nothing of a tree.
#
# Makes the wheel in a new clone, installs it with pip in FOLDER or a temporary folder, and runs `tidemark demo` there: with another
# home, without a network (namespaces need root), and with python3 and QEMU as the only tools. What the demonstration prints of the
# two runs must stand in README. The last line names how long it took.

set -eu
cd "$(dirname "$0")/../.."
folder=${1:-}
[ -n "$folder" ] || { folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT; }
git clone -q . "$folder/tree"
make -C "$folder/tree" --no-print-directory wheel >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check "$folder"/tree/build/wheel/*.whl
mv "$folder/tree/README.md" "$folder" && rm -rf "$folder/tree"

mkdir "$folder/path" "$folder/home"
ln -s "$(command -v qemu-system-i386)" "$folder/path/qemu-system-i386"
begin=$(date +%s)
(cd "$folder/home" && unshare -n env -i HOME="$folder/home" PATH="$folder/venv/bin:$folder/path" tidemark demo -q) >"$folder/said"
grep -E '^(system|faults|reclaim):' "$folder/said" >"$folder/lines"
[ "$(wc -l <"$folder/lines")" = 6 ]
while IFS= read -r line; do
	grep -qxF "$line" "$folder/README.md" || { echo "README does not have: $line" >&2; exit 1; }
done <"$folder/lines"
echo "tidemark demo: $(grep -c . "$folder/lines") lines as in README, $(($(date +%s) - begin)) s"
