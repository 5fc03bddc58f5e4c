"""Debian's programs for 10^11 nanoseconds of an exact run, in which an instruction takes one, with little memory.

Rounds of six jobs run at the same time, and every job prints answers that are known: the host computes them with other
programs. One damaged page of a program, a library or a file would change an answer, or end a program.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from ext2 import tool
from guest import boot
from tidemark.machine import qemu

BUILT = qemu.ROOT / "build/image.ext2"
SECONDS, EVICTIONS, EXITS = 100, 1_000_000, 1000

PRIMES = """#include <stdio.h>
#include <string.h>
static char composite[1 << 20];
int main(void)
{
	long long sum = 0;
	for (int i = 2; i < 1 << 20; i++) {
		if (composite[i])
			continue;
		sum += i;
		for (int j = 2 * i; j < 1 << 20; j += i)
			composite[j] = 1;
	}
	printf("%lld\\n", sum);
}
"""
PYTHON = """names = {str(i * i): i for i in range(40000)}
print(len(names), sum(names.values()), sum(map(len, names)))
print(*sorted(names, reverse=True)[::9999])
"""
SQL = """create table t(a integer primary key, b text);
insert into t
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
select i, printf('%08d', i * 7919 % 100003) from n;
create index u on t(b);
select count(*), sum(a), min(b), max(b), sum(length(b)) from t;
select a from t where b between '00007000' and '00007100' order by b desc;
pragma integrity_check;
"""
LUA = """local t = {}
for i = 1, 60000 do t[i] = tostring(i * 31 % 65537) end
table.sort(t)
print(#t .. " " .. t[1] .. " " .. t[#t] .. " " .. #table.concat(t))
"""
GIT = """rm -rf repository; mkdir repository; cd repository; git init -q
for i in $(seq 40); do seq $i $((i * 100)) > $i; done
git add . && git -c user.name=a -c user.email=a@example.org commit -q -m first
git repack -a -d -q; git fsck --full --strict; git rev-parse 'HEAD^{tree}'
"""
JOBS = {
    "gcc": "rm -f primes; gcc -O2 -o primes primes.c && ./primes",
    "python": "python3 job.py",
    "sqlite": "rm -f job.db; sqlite3 job.db <job.sql",
    "lua": "lua job.lua",
    "git": GIT,
    "sort": "seq 40000 | sort -S 1M -r | tee sorted | sort -S 1M -n | sha256sum; sha256sum <sorted",
}
# The conditions are checked between rounds, and a wrong answer ends them. The last process id is the number of
# processes that there were.
ROUNDS = f"""export LC_ALL=C
rounds=0 wrong=0 evicted=0
while [ $wrong = 0 ] && {{ [ $SECONDS -lt {SECONDS} ] || [ $evicted -lt {EVICTIONS} ]; }}; do
	for job in {" ".join(JOBS)}; do
		{{ bash $job.sh; echo status $?; }} >$job.out 2>&1 &
	done
	wait
	for job in {" ".join(JOBS)}; do
		[ "$(<$job.out)" = "$(<$job.known)" ] || {{ wrong=$((wrong + 1)); echo "wrong: $job"; cat $job.out; }}
	done
	while read -r name value; do
		[ $name = pgevict ] && evicted=$value
	done </proc/vmstat
	rounds=$((rounds + 1))
	echo "round $rounds: $SECONDS s, $evicted evictions"
done
bash -c 'echo "processes: $$"'
echo "end: $rounds rounds, $wrong wrong, $SECONDS s, $evicted evictions"
cat /proc/vm/check
"""


def digest(lines: list[str]) -> str:
    """The hash of these lines, as sha256sum prints it."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() + "  -"


def sum_of_primes(end: int) -> int:
    prime = bytearray([1]) * end
    prime[0:2] = b"\0\0"
    for i in range(2, int(end**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = bytes(len(range(i * i, end, i)))
    return sum(i for i in range(end) if prime[i])


def tree_of_git() -> str:
    """The hash of the tree that GIT commits: of the names and the hashes of its files."""

    def hashed(kind: str, content: bytes) -> bytes:
        return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).digest()

    files = {str(i): "".join(f"{n}\n" for n in range(i, i * 100 + 1)).encode() for i in range(1, 41)}
    entries = (f"100644 {name}\0".encode() + hashed("blob", files[name]) for name in sorted(files))
    return hashed("tree", b"".join(entries)).hex()


def known() -> dict[str, str]:
    """What each job prints."""
    python, base = io.StringIO(), sqlite3.connect(":memory:")
    with contextlib.redirect_stdout(python):
        exec(PYTHON, {})
    rows = [row for statement in SQL.split(";") for row in base.execute(statement)]
    words = sorted(str(i * 31 % 65537) for i in range(1, 60001))
    numbers = [str(i) for i in range(1, 40001)]
    answers = {
        "gcc": str(sum_of_primes(1 << 20)),
        "python": python.getvalue().rstrip(),
        "sqlite": "\n".join("|".join(map(str, row)) for row in rows),
        "lua": f"{len(words)} {words[0]} {words[-1]} {len(''.join(words))}",
        "git": tree_of_git(),
        "sort": f"{digest(numbers)}\n{digest(sorted(numbers, reverse=True))}",
    }
    return {name: f"{answer}\nstatus 0\n" for name, answer in answers.items()}


def image_with_jobs(folder: Path) -> Path:
    """A copy of the image with the jobs and their answers in /root/soak."""
    content = {"primes.c": PRIMES, "job.py": PYTHON, "job.sql": SQL, "job.lua": LUA, "rounds": ROUNDS}
    content |= {f"{name}.sh": line for name, line in JOBS.items()}
    content |= {f"{name}.known": text for name, text in known().items()}
    disk, requests = folder / "disk", ["mkdir /root/soak", "cd /root/soak"]
    shutil.copyfile(BUILT, disk)
    for name, text in content.items():
        (folder / name).write_text(text)
        requests.append(f"write {folder / name} {name}")
    tool("debugfs", "-w", "-f", "-", disk, text="\n".join(requests) + "\n")
    return disk


@pytest.mark.soak
@pytest.mark.skipif(not BUILT.exists(), reason="build/image.ext2 is not made: `make image`, which needs a network")
def test_real_programs_under_pressure(tmp_path: Path) -> None:
    disk = image_with_jobs(tmp_path)
    result = boot(
        "cd /root/soak; bash rounds",
        mem="16M",
        swap="sim:ssd",
        disk=disk,
        disk_kind="sim:ssd",
        cmdline="root=sda",
        timeout=4 * 3600,
    )
    result.check_exit().check_lines([r"^processes: \d+$", "^end: .* 0 wrong, ", "^ok$"])
    processes = re.search(r"^processes: (\d+)$", result.console, re.M)
    assert processes and int(processes[1]) > EXITS, result.tail()
    assert "policy violation" not in result.console and " 0 killed for memory" in result.console, result.tail()
    tool("e2fsck", "-fn", disk)
