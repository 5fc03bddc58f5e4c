"""The gallery: each link shows on the page what its picture shows; each entry's page has its card."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import HALTED, Opened
from soak import soak_but
from tidemark.machine import qemu

HERE = qemu.ROOT / "tools/page/gallery"
PICTURES = qemu.ROOT / "docs/figures/gallery"
ENTRIES = {entry["name"]: entry for entry in json.loads((HERE / "gallery.json").read_text())}
STEPS = [name for name, entry in ENTRIES.items() if entry["link"].startswith("#step=")]
RACES = [name for name in ENTRIES if name not in STEPS]
FAULTS = "[...document.querySelectorAll('#step .step-card .numbers')].map(one => parseInt(one.textContent))"
STOP = "[...document.querySelectorAll('#race button.chief')].find((one) => one.textContent == 'Stop')?.click()"
URL = "https://example.org/tidemark"
Open = Callable[..., Opened]


def pictured(name: str) -> list[int]:
    """The faults of both policies in an entry's picture."""
    return [int(number) for number in re.findall(r">(\d+) faults in", (PICTURES / f"{name}.svg").read_text())]


def test_each_entry_is_on_the_page_and_in_the_guide(folder: Path) -> None:
    chapter, page = (qemu.ROOT / "docs/guide/gallery.md").read_text(), (folder / "index.html").read_text()
    assert len(ENTRIES) == 10 and page.count('<li class="card">') == 10
    for name, entry in ENTRIES.items():
        assert f"<!-- open: {entry['link']} -->" in chapter and f"figures/gallery/{name}.svg" in chapter
        assert entry["question"] in chapter and f'href="gallery/{name}.html"' in page
        assert (folder / f"gallery/{name}.svg").read_bytes() == (PICTURES / f"{name}.svg").read_bytes()


@pytest.mark.parametrize("name", STEPS)
def test_stepper_counts_what_the_picture_shows(name: str, linked: Open) -> None:
    page = linked(ENTRIES[name]["link"])
    at = re.search(r"at=(\d+)", ENTRIES[name]["link"])[1]
    page.until(f'document.querySelector(\'#step [data-at="{at}"], #step[data-at="{at}"]\')', 60)
    left, right = page.value(FAULTS)
    assert [left, right] == pictured(name) and page.texts("#step .note") == page.complaints == []
    assert left < right if name == "belady" else left > right
    known = {"belady": (9, 10), "min": (15, 9), "loop": (20, right)}  # the textbooks'; every reference
    assert (left, right) == known.get(name, (left, right))


@pytest.mark.parametrize("name", soak_but(RACES, "admission"))
def test_race_is_won_by_the_second_machine(name: str, linked: Open) -> None:
    page = linked(ENTRIES[name]["link"])
    page.until(HALTED)
    said = page.texts(".result")[0]
    machine = page.texts(".lane h3")[1]
    share = int(re.search(rf"^{re.escape(machine)} is done .* has done (?:less than )?(\d+) % of the work", said)[1])
    majors = [int(re.search(r"(\d+) of them major", text)[1]) for text in page.texts(".lane > .faint")]
    page.value(STOP)
    assert page.texts("#race .note") == page.complaints == []
    assert majors[0] > 10 * majors[1] if name == "readahead" else share < 60


def made(out: Path, url: str) -> subprocess.CompletedProcess[str]:
    """The gallery, in a folder of its own, as `make page URL=` makes it."""
    out.mkdir()
    policies = json.dumps([path.stem for path in (qemu.ROOT / "kernel/mm/policy").glob("*.c")])
    script = f"import {{ gallery }} from '{HERE}/gallery.mjs'; gallery('{out}', {policies}, '{url}');"
    return subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, timeout=200)


def test_each_page_has_its_card(tmp_path: Path, browser: object) -> None:
    done = made(tmp_path / "page", f"{URL}/")
    assert done.returncode == 0, done.stderr
    for name, entry in ENTRIES.items():
        text = (tmp_path / f"page/gallery/{name}.html").read_text()
        card = dict(re.findall(r'<meta property="og:(\S+)" content="([^"]+)">', text))
        assert card["title"] == entry["title"].replace("&", "&amp;") and card["description"] == entry["question"]
        assert card["url"] == f"{URL}/gallery/{name}.html" and card["image"] == f"{URL}/gallery/{name}.png"
        picture = (tmp_path / f"page/gallery/{name}.png").read_bytes()
        assert picture[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", picture[16:24]) == (1200, 630)
        assert len(picture) > 10_000  # it is not a blank sheet


def test_without_an_address_there_is_no_picture_and_the_build_says_so(tmp_path: Path) -> None:
    done = made(tmp_path / "page", "")
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and "URL=https://" in done.stdout
    text = (tmp_path / "page/gallery/belady.html").read_text()
    assert "og:title" in text and "og:image" not in text


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "https://", "https://a b"])
def test_wrong_address_is_told(url: str, tmp_path: Path) -> None:
    done = made(tmp_path / "page", url)
    assert done.returncode != 0 and f"URL={url}: give the address that the page will have" in done.stderr


def test_entry_leads_to_its_run(opened: Open, folder: Path) -> None:
    page = opened((folder / "gallery/belady.html").as_uri(), viewport={"width": 390, "height": 800})
    assert page.value("document.documentElement.scrollWidth") <= 390
    page.until("document.querySelector('img').naturalWidth > 300")
    page.page.get_by_role("link", name="Run it in the browser").click()
    page.until(f"({FAULTS}).length == 2", 60)
    assert page.value(FAULTS) == [9, 10] and page.complaints == []
