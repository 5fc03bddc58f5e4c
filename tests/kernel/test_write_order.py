"""Pages are written to the swap area in the order of their slots, although several processes evict at once."""

from __future__ import annotations

import re

import pytest
from guest import boot

SECTORS = 8  # of a page


def backwards(console: str) -> int:
    """Writes to slots that were never written before, but lie before a slot that was: the disk's head moved back."""
    written, end, found = set[int](), 0, 0
    for words in re.findall(r"WRITE block (\d+) on sim \((\d+) sectors", console):
        first, count = map(int, words)
        found += first not in written and first < end
        written.update(range(first, first + count, SECTORS))
        end = max(end, first + count)
    assert len(written) > 1000
    return found


@pytest.mark.parametrize("jitter", [0, 6, 7])
def test_pages_are_first_written_in_the_order_of_slots(jitter: int) -> None:
    """When a process that waited for a request held its pages back meanwhile, up to 156 writes were out of order."""
    settings = {"mem": "48M", "swap": "sim:hdd", "vm": "ws", "cmdline": f"vm.block_dump=1 sample_ms=0 jitter={jitter}"}
    assert not backwards(boot("thrash 24 4096 1 1", **settings).check_exit().console)
