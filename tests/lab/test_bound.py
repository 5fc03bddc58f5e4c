"""The least time of a batch, compared with cases computed by hand."""

from __future__ import annotations

import pytest
from tidemark.errors import LabError
from tidemark.runs.bound import Batch, Disk, disk_of, least

pytestmark = pytest.mark.unbuilt

DISK = Disk(page_s=0.001, move_s=0.01)


def test_what_does_not_fit_goes_out_and_in_once() -> None:
    """3 sets of 100 pages in 200 frames: 100 pages out, 0.1 s, which is longer than filling all, 0.03 s; then 100 pages
    in and a move, 0.11 s, while the processor works for 0.6 s."""
    found = least(Batch(jobs=3, pages=100, fill_s=0.01, work_s=0.2), 200, DISK)
    assert found.together_s == pytest.approx(0.1 + 0.6)
    assert found.by_turns_s == pytest.approx(0.1 + 0.11 + 0.03 + 0.6)


def test_disk_counts_where_it_takes_longer() -> None:
    """The batch of the test above with a tenth of the work, 0.06 s."""
    assert least(Batch(3, 100, 0.01, 0.02), 200, DISK).together_s == pytest.approx(0.1 + 0.11)


def test_what_fits_takes_the_processor_alone() -> None:
    batch = Batch(2, 100, 0.01, 0.2)
    found = least(batch, 200, DISK)
    assert found.together_s == found.by_turns_s == pytest.approx(batch.alone_s) == pytest.approx(0.42)


def test_disk_is_the_one_on_the_console() -> None:
    console = "policy: 2q\nswap: sim:hdd, 135040 KiB; seek 8000, rotation 4170, transfer 100, latency 0 us\n"
    assert disk_of(console) == Disk(page_s=0.0001, move_s=pytest.approx(0.01217))
    console = "swap: sim:ssd, 135040 KiB; seek 0, rotation 0, transfer 10, latency 90 us\n"
    assert disk_of(console) == Disk(page_s=0.00001, move_s=0, latency_s=pytest.approx(0.00009))
    with pytest.raises(LabError):
        disk_of("swap: hda, 32768 KiB; QEMU HARDDISK")
