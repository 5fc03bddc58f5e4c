"""The page in Chromium: the same runs as in QEMU, and the times until its parts are visible.

Both need `make page`, and take minutes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from figures.common import host, least_median_most, measure, table
from figures.entries import ROOT, Figure

PAGE = (ROOT / "build/page/index.html").as_uri()
SWAP = "sim:hdd,size=64M"
PARAMETERS = "sample_ms=20 ws.tau_ms=200 wsclock.tau_ms=200"
RUNS = [
    ("thrash 2 1024 1", "8M", ["2q", "ws"]),
    ("seqscan 12288 2", "8M", ["2q", "ws", "fifo"]),
    ("thrash 3 2048 1", "8M", ["2q", "ws", "clock", "fifo", "linux22", "mglru", "lru"]),
    ("thrash 6 4096 2", "16M", ["2q", "ws", "fifo", "linux22"]),
]
LOADS = 5
LIMIT_MS = 900_000
COLOURS = "new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
# What is measured, its place, and the condition for being visible.
SEEN = [
    (
        "the race, its memory in colours",
        "",
        f"[...document.querySelectorAll('canvas.frames')].some((c) => {COLOURS} > 2)",
    ),
    (
        "the prompt, the race beside it",
        "#prompt",
        "document.querySelector('.xterm-accessibility-tree').innerText.includes('tidemark$')",
    ),
    ("the stepper", "#step=clock", "document.querySelector('.step-card')"),
]
WATCH = "setInterval(() => { try { if (!globalThis.seen && (%s)) globalThis.seen = performance.now(); } catch {} }, 20)"


@contextmanager
def page() -> Iterator[Page]:
    """Opens a page in its own browser."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


def in_page(run: str, memory: str, policy: str) -> list[dict[str, Any]]:
    """The telemetry of a machine that the page runs to its end."""
    with page() as shown:
        shown.goto(f"{PAGE}#vm={policy}&mem={memory}&run={quote(run)}&seed=1&tau=200")
        shown.wait_for_selector(".fingerprint", timeout=LIMIT_MS)
        with shown.expect_download() as download:
            shown.get_by_role("button", name="Save the telemetry").click()
        return [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]


def counted(records: list[dict[str, Any]]) -> tuple[int, int, float]:
    """Faults, major faults, and seconds of the machine's time."""
    last = [one for one in records if one["ev"] == "sample"][-1]["vm"]
    return last["pgfault"], last["pgmajfault"], records[-1]["t_us"] / 1e6


def compared(run: str, memory: str, policy: str) -> list[str]:
    """A row of the table: each number in QEMU and in the page."""
    done = measure(run, telemetry=True, vm=policy, mem=memory, swap=SWAP, seed="1", cmdline=PARAMETERS)
    true = counted(done.every_record)
    cells = [
        (f"{a:,}", f"{b:,}") if isinstance(a, int) else (f"{a:.4f}", f"{b:.4f}")
        for a, b in zip(true, counted(in_page(run, memory, policy)))
    ]
    return [f"`{run}`", memory, f"`{policy}`", *(cell for pair in cells for cell in pair)]


def qemu(figure: Figure, work: Path) -> str:
    """The comparison with QEMU."""
    rows = [compared(run, memory, policy) for run, memory, policies in RUNS for policy in policies]
    titles = ["command", "memory", "policy", "faults, QEMU", "page", "major, QEMU", "page", "seconds, QEMU", "page"]
    return f"`make qemu` as the page says it, and the page; {host()}\n\n{table(titles, rows, 3)}"


def processor_s() -> float:
    """Processor seconds of this process and its living descendants."""
    ticks, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(stat.parent.name)], ticks[int(stat.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])

    def ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and ours(parents[pid]))

    return sum(ticks[pid] for pid in ticks if ours(pid)) / os.sysconf("SC_CLK_TCK")


def load(link: str, there: str) -> tuple[float, float, float]:
    """Seconds until the first paint, until the part is visible, and processor seconds until then."""
    with page() as shown:
        shown.add_init_script(WATCH % there)
        before = processor_s()
        shown.goto(PAGE + link)
        shown.wait_for_function("globalThis.seen", timeout=LIMIT_MS, polling=50)
        used = processor_s() - before
        paint = shown.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return paint / 1000, shown.evaluate("globalThis.seen") / 1000, used


def row(name: str, link: str, there: str) -> list[str]:
    """A row of the table: least, median and most of each time."""
    columns = zip(*(load(link, there) for _ in range(LOADS)))
    return [name, *(" / ".join(least_median_most(one)) for one in columns)]


def times(figure: Figure, work: Path) -> str:
    """Measures when the parts are visible."""
    titles = ["what", "first paint, s", "it is there, s", "processor time until then, s"]
    before = os.getloadavg()[0]
    rows = [row(*one) for one in SEEN]
    version = re.sub(r"\s+built.*", "", os.popen("chromium --version 2>/dev/null").read().strip())
    about = f"From the opening of the file, {LOADS} times each: least / median / most"
    where = f"{version}, {host()}, a load of {before:.0f} from other work"
    return f"{about}; {where}\n\n{table(titles, rows)}"
