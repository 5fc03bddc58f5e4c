"""Two suites of Debian's source archive in the guest and on the host's Linux: BusyBox's tests of its programs, and the
Open POSIX Test Suite's tests of the calls in INTERFACES.

    PYTHONPATH=tools build/venv/bin/python -m debian.suites

The image has Debian's static BusyBox, gcc and the suites. gcc of the image compiles the POSIX tests on the host: bwrap
runs it with the image's content as /. The same files then run on the host in that way, and in the guest. The command
prints how many results of each kind there are, and every test with different results. BusyBox's tests of the network
stay out, and those of bc and dc, which mainly compute.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu

from debian import apt, fetch, image, packages, tree

ROOTS = "bash bzip2 coreutils diffutils findutils gcc grep gzip make mawk sed tar"
SUITES = Path(__file__).with_name("suites.txt")
INTERFACES = (
    "fork kill killpg mmap munmap mlock mlockall munlock munlockall nanosleep clock_getres clock_gettime "
    "clock_nanosleep raise sem_close sem_open sem_post sem_timedwait sem_unlink sem_wait shm_open shm_unlink "
    "sigaltstack sigpending sigprocmask sigqueue sigsuspend sigtimedwait sigwait sigwaitinfo timer_create "
    "timer_delete timer_getoverrun timer_gettime timer_settime sched_yield pthread_create pthread_join pthread_kill "
    "pthread_cond_wait pthread_cond_timedwait pthread_mutex_lock"
)
MAKEFILE = """TESTS := $(patsubst %.c,%.test,$(wildcard conformance/interfaces/*/*-*.c))
all: $(TESTS)
%.test: %.c
\tgcc -w -std=gnu99 -D_XOPEN_SOURCE=600 -Iinclude -o $@ $< -lpthread -lrt
"""
RUN = """cd /root/posix/conformance/interfaces
for test in */*.test; do
	timeout -k 1 30 ./$test </dev/null >/dev/null 2>&1
	echo "status $?: $test"
done >/root/results
cd /root/busybox/testsuite
for name in *; do
	case $name in bc*|dc*|wget|*_*|*.testroot|*.sh|[A-Z]*|runtest) ;; *) echo ${name%.tests} ;; esac
done | sort -u >names
bindir=/root/busybox sh ./runtest $(cat names) </dev/null >>/root/results 2>&1 || true
"""
HOST = ("bwrap", "--unshare-all", "--clearenv", "--dev", "/dev", "--proc", "/proc", "--setenv", "PATH", "/bin")


def on_host(folder: Path, *words: str) -> None:
    """Run a command with the folder as /."""
    subprocess.run([*HOST[:3], "--bind", str(folder), "/", *HOST[3:], *words], stdout=subprocess.DEVNULL)


def add_suites(folder: Path, busybox: Path, config: Path, posix: Path) -> None:
    """Unpack the suites into /root, and compile the POSIX tests."""
    root, tar = folder / "root", ["tar", "--no-same-owner", "--strip-components=1", "-xf"]
    (root / "busybox").mkdir()
    (root / "posix").mkdir()
    suite = ["busybox-1.35.0/testsuite", "busybox-1.35.0/scripts/echo.c"]
    chosen = [f"posixtestsuite/conformance/interfaces/{name}" for name in INTERFACES.split()]
    subprocess.run([*tar, busybox, "-C", root / "busybox", *suite], check=True)
    subprocess.run([*tar, posix, "-C", root / "posix", "posixtestsuite/include", *chosen], check=True)
    static = subprocess.run(["tar", "-xOf", config, "debian/config/pkg/static"], check=True, capture_output=True)
    (root / "busybox/.config").write_bytes(static.stdout)
    shutil.copy(folder / "usr/bin/busybox", root / "busybox/busybox")
    (root / "posix/Makefile").write_text(MAKEFILE)
    (root / "run").write_text(RUN)
    on_host(folder, "make", "-k", "-j2", "-C", "/root/posix")


def results(text: str) -> dict[str, str]:
    """The result of each test, by name."""
    lines = re.findall(r"^(PASS|FAIL|SKIPPED|UNTESTED|status \d+): (.*)$", text, re.M)
    return {name: result for result, name in lines}


def in_guest(disk: Path) -> dict[str, str]:
    """The results in the guest."""
    s = qemu.Settings(
        disk=str(disk), disk_kind="sim:ssd", swap="sim:ssd", cmdline="root=sda", run="bash /root/run", timeout=3600
    )
    with (disk.parent / "suites.console").open("wb") as console:
        code, _ = qemu.run_command(s, console)
    if code != qemu.OK:
        raise LabError(f"the guest's run ended with {code}: see {console.name}", FAILED)
    words = [image.tool("debugfs"), "-R", "cat /root/results", str(disk)]
    return results(subprocess.run(words, check=True, capture_output=True).stdout.decode(errors="replace"))


def main() -> None:
    """Fetch, compile, run twice and compare."""
    listing, folder, disk = packages.read(), apt.CACHE / "suites", apt.CACHE / "suites.ext2"
    where = fetch.places(listing)
    archives = fetch.fetch(packages.needed(listing, ROOTS.split()), where)
    sources = fetch.fetch(list(packages.read(SUITES).packages.values()), where)
    tree.make([*archives, sources[0]], qemu.ROOT / qemu.INITRD, folder)
    add_suites(folder, *sources[1:])
    image.make(folder, disk, "")
    on_host(folder, "bash", "/root/run")
    host = results((folder / "root/results").read_text(errors="replace"))
    guest = in_guest(disk)
    print(f"host: {dict(Counter(host.values()))}\nguest: {dict(Counter(guest.values()))}")
    for name in sorted(host | guest):
        if host.get(name) != guest.get(name):
            print(f"{name}: {host.get(name)} on the host, {guest.get(name)} in the guest")
    shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
