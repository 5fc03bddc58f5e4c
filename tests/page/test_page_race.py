"""The race in the page: real machines, the same run from the same link, compared with QEMU."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote_plus

import guest
import marionette
import pytest
from pages import GO_ON, HALTED, Opened, link, raced
from tidemark.machine import qemu
from tidemark.telemetry import stream

STOP = "[...document.querySelectorAll('#race button.chief')].find((one) => one.textContent == 'Stop')?.click()"
RUN, MEMORY = "thrash 3 2048 1", "8M"
ONE = "seqscan 8192 2 w"  # several processes would meet at other times in the page than in QEMU
COUNTS = ("pgfault", "pgmajfault", "workingset_refault", "pswpin", "pswpout")
Open = Callable[..., Opened]


def saved(page: Opened, nth: int, to: Path) -> bytes:
    """The telemetry of the nth machine, as saved by its button."""
    with page.page.expect_download() as download:
        page.page.locator(".lane").nth(nth).get_by_role("button", name="Save the telemetry").click()
    download.value.save_as(to)
    return to.read_bytes()


def counted(records: list[dict]) -> dict[str, int]:
    """The counters of the last sample, and the time of the end."""
    last = [one for one in records if one["ev"] == "sample"][-1]["vm"]
    return {name: last[name] for name in COUNTS} | {"t_us": records[-1]["t_us"]}


def in_qemu(policy: str, run: str = RUN, memory: str = MEMORY) -> guest.Result:
    """The run of the page, with the same command line."""
    parameters = "sample_ms=20 ws.tau_ms=200 wsclock.tau_ms=200"
    done = guest.boot(run, vm=policy, mem=memory, swap="sim:hdd,size=64M", seed=1, cmdline=parameters, telemetry=True)
    assert done.exit == qemu.OK
    return done


def winner(verdicts: list[str]) -> int:
    """The index of the machine that finished first."""
    assert all(re.fullmatch(r"[0-9.]+ s, finished( first)?", one) for one in verdicts), verdicts
    return [one.endswith("first") for one in verdicts].index(True)


def test_race_counts_as_qemu_does_and_repeats_to_the_byte(
    linked: Open, opened: Open, site: str, tmp_path: Path
) -> None:
    from_file = linked(link("2q,ws", ONE))
    first, times = winner(raced(from_file)), []
    for nth, policy in enumerate(("2q", "ws")):
        text = saved(from_file, nth, tmp_path / policy).decode()
        records, true = stream.parse(text), in_qemu(policy, ONE).telemetry
        assert records[0]["cmdline"] == true[0]["cmdline"] and records[0]["managed"] == true[0]["managed"]
        assert counted(records) == pytest.approx(counted(true), rel=0.005, abs=10)  # of 40 faults, one is a lot
        times.append(true[-1]["t_us"])
    assert first == times.index(min(times))
    served = opened(site + link("ws", ONE))
    raced(served, 1)
    assert served.texts(".fingerprint") == from_file.texts(".fingerprint")[1:]
    assert from_file.complaints == served.complaints == []
    for page, home in ((from_file, (qemu.ROOT / "build/page").as_uri()), (served, site)):
        assert all(url.startswith((home, "blob:", "data:")) for url in page.requests), page.requests


def test_race_runs_at_a_first_visit_and_draws_memory(opened: Open) -> None:
    page = opened()
    page.until("document.querySelectorAll('.pages li').length >= 8")
    drawn = """[...document.querySelectorAll('canvas.frames')].map(c =>
        new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)"""
    assert all(colours >= 4 for colours in page.value(drawn)), "a colour for each process, and none"
    assert all(re.search(r"\d+ faults", text) or text == "boots" for text in page.texts(".lane .faint"))
    page.page.get_by_role("button", name="Stop").click()
    page.until("[...document.querySelectorAll('.verdict')].every(one => one.textContent == 'stopped')")
    sets_a_link(page)


def sets_a_link(page: Opened) -> None:
    """The sliders and the menu change the link, and a page opened with the link shows the same settings."""
    page.page.get_by_role("combobox", name="Policy", exact=True).select_option("clock")
    page.page.get_by_role("slider", name="Processes").fill("7")
    page.page.get_by_role("slider", name="Memory").fill("24")
    page.page.get_by_role("button", name="Link").click()
    page.until("location.hash.startsWith('#vm=')")
    build = page.texts("[data-build]")[0]
    run = "thrash+3+3584+8+1000+%26+sleep+0.06%3B+thrash+7+3584+8+1000%3B+wait"
    expected = f"#vm=clock,ws&mem=24M&run={run}&seed=1&tau=200&build={build}"
    assert page.value("location.hash") == expected
    page.value("location.hash = '#vm=ws'")
    page.until("document.querySelectorAll('.lane').length == 1")
    page.value(f"location.hash = {expected!r}")
    page.until("document.querySelectorAll('.lane').length == 2")
    assert page.value("document.querySelector('#race input[type=text]').value") == unquote_plus(run)
    assert page.texts(".note") == [] and page.complaints == []


RESULT = "document.querySelector('.result').textContent"
UTILISATION = "document.querySelector('.legend')?.textContent ?? ''"
CLIFF_S = 0.25  # of the machines' time: 20 s of the page's if a machine executes 13 million instructions a second


def test_first_visit_shows_the_cliff_and_stops_at_the_first_finish(opened: Open) -> None:
    page = opened()
    page.until(f"({UTILISATION}).startsWith('2q 100%')")
    page.until(f"/^2q [0-9]%/.test({UTILISATION})")
    assert float(page.texts(".verdict")[0].split()[0]) < CLIFF_S
    page.until(f"/^2q [0-9]%ws 100%/.test({UTILISATION})")
    page.until(HALTED)
    done, share = re.match(
        r"ws is done after ([\d.]+) s; 2q has done (\d+) % of the work\.", page.value(RESULT)
    ).groups()
    assert page.texts(".verdict")[1] == f"{done} s, finished first" and 0 < int(share) < 60
    page.value(STOP)
    assert page.complaints == []


def work(records: list[dict], until_us: float) -> int:
    """The user time of all processes up to the last sample before a time, and of those that ended before it."""
    sample = [one for one in records if one["ev"] == "sample" and one["t_us"] <= until_us][-1]
    ended = [one["us"][0] for one in records if one["ev"] == "exit" and one["seq"] < sample["seq"]]
    return sum(ended) + sum(one["user_us"] for one in sample["procs"] if one["pid"] != 1 and one["state"] != 3)


def test_race_stops_at_the_first_finish_and_goes_on(linked: Open, tmp_path: Path) -> None:
    page = linked(link("2q,ws", "thrash 4 2048 1 2000"))
    page.until(HALTED)
    said, before = page.value(RESULT), page.texts(".verdict")
    page.page.wait_for_timeout(600)
    assert page.texts(".verdict") == before and before[0].endswith("runs") and before[1].endswith("first")
    page.value(GO_ON)
    slow, fast = (float(one.split()[0]) for one in raced(page))
    ratio = slow / fast
    shown = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
    assert page.value(RESULT).endswith(f"2q took {shown} times as long.") and not page.value(HALTED)
    other, winner = (stream.parse(saved(page, nth, tmp_path / str(nth)).decode()) for nth in (0, 1))
    whole = work(winner, float("inf"))
    assert work(other, float("inf")) == pytest.approx(whole, rel=0.02)  # both have done the same work
    share = 100 * work(other, winner[-1]["t_us"]) / whole
    assert f"2q has done {share:.0f} % of the work" in said and page.complaints == []


def test_one_machine_may_have_parameters_of_its_own(linked: Open, tmp_path: Path) -> None:
    page = linked(link("clock,clock", "thrash 2 1024 1", more="&second=guard%3Dtoken+vm.page_cluster%3D0"))
    raced(page)
    assert policies_seen(page) == ["clock", "clock guard=token vm.page_cluster=0"]
    starts = [stream.parse(saved(page, nth, tmp_path / str(nth)).decode())[0] for nth in (0, 1)]
    assert [one["guard"] for one in starts] == ["none", "token"] and page.texts("#race .note") == []
    page.page.locator("#race").get_by_role("button", name="Link to this run").click()
    page.until("location.hash.includes('second=guard%3Dtoken+vm.page_cluster%3D0')")
    assert "first=" not in page.value("location.hash")


def policies_seen(page: Opened) -> list[str]:
    """The policies of the machines on the screen."""
    return page.value("[...document.querySelectorAll('.lane h3')].map(one => one.textContent)")


@pytest.mark.parametrize("begun", ["", link("2q,ws", RUN), "#step=clock"])
def test_address_follows_what_is_started(opened: Open, begun: str) -> None:
    """After a link, too, a reload shows the run that was on the screen, not the link's."""
    page = opened(begun)
    page.until("document.querySelector('#race form')")
    page.page.get_by_role("button", name="Link to this run").click()
    before = page.value("location.hash")
    for policy in ("clock", "fifo"):
        page.value(STOP)
        page.page.locator("#race").get_by_role("combobox", name="Policy", exact=True).select_option(policy)
        assert page.value("location.hash") == before, "the run on the screen is still that of the address"
        page.page.locator("#race").get_by_role("button", name="Start").click()
        before = page.value("location.hash")
        assert before.startswith(f"#vm={policy},ws&")
    page.page.reload(wait_until="load")
    page.until("document.querySelectorAll('.lane').length == 2")
    assert page.page.locator("#race").get_by_role("combobox", name="Policy", exact=True).input_value() == "fifo"
    assert page.value("location.hash") == before and page.texts("#race .note") == page.complaints == []


def test_run_that_cannot_start_does_not_change_the_address(opened: Open) -> None:
    page = opened(link("ws", RUN))
    page.until("document.querySelectorAll('.lane').length == 1")
    before = page.value("location.hash")
    page.value(STOP)
    page.page.get_by_role("textbox", name="Command in both machines").fill("thrash 8 65536 1")
    page.page.locator("#race").get_by_role("button", name="Start").click()
    page.until("document.querySelectorAll('#race .note').length == 1")
    assert page.value("location.hash") == before


@pytest.mark.soak
def test_link_of_a_chapter_leads_to_the_page(opened: Open, folder: Path, book: Path) -> None:
    """A chapter's race begins with the chapter's settings, whatever the address is."""
    page = opened((book / "guide/04-policy.html").as_uri())
    page.until("document.querySelector('[data-tidemark=race] form')")
    here = page.value("location.href")
    page.page.get_by_role("button", name="Link to this run").click()
    said = "[...document.querySelectorAll('[data-tidemark=race] [role=status]')].map(one => one.textContent).join('')"
    page.until(f"{said} != ''")
    assert page.value("location.href") == here
    address = page.value(said).rpartition(" ")[2]
    assert address.startswith((folder / "index.html").as_uri() + "#vm=2q,ws&mem=16M&run=thrash+6+4096+2&")


WRONG = {
    link("2q,nosuch", 'echo "hi"', "9000M", "&colour=blue&build=0123456789ab"): (
        "there is no policy nosuch in this build. The page takes vm=2q,ws instead.",
        "mem=9000M: it is a whole number from 8 to 64, in MiB, as 16M.",
        "no double quote",
        "a word that this page does not know: colour.",
        "another build of Tidemark (0123456789ab)",
    ),
    link("ws", RUN, more="&second=guard%3Dtoken"): ("there is no second machine",),
    link("2q,ws", RUN, more="&first=run%3Dhi&second=%24x"): ("run=hi is not a kernel", "$x is not a kernel parameter"),
    link("2q,ws", "thrash 8 65536 1"): ("needs 512 MiB, but memory and swap area have 72 in total",),
}


def test_wrong_links_are_told_in_a_sentence(linked: Open) -> None:
    for wrong, sentences in WRONG.items():
        page = linked(wrong)
        page.until(f"document.querySelectorAll('#race .note').length == {len(sentences)}")
        for note, sentence in zip(page.texts("#race .note"), sentences, strict=True):
            assert sentence in note
    page = linked(link("ws", "nothing"))
    raced(page, 1)
    assert "ended with an error" in page.texts(".verdict")[0] and "nothing: not found" in page.texts(".output")[0]
    assert page.complaints == []


@pytest.mark.soak
@pytest.mark.parametrize("policies", ["2q,ws", "fifo,linux22"])
def test_winner_by_much_is_the_one_in_qemu(opened: Open, policies: str) -> None:
    run, memory = "thrash 6 4096 2", "16M"
    times = [in_qemu(policy, run, memory).telemetry[-1]["t_us"] for policy in policies.split(",")]
    assert winner(raced(opened(link(policies, run, memory)))) == times.index(min(times))


@pytest.mark.soak
def test_firefox_shows_the_same_run_to_the_byte(opened: Open, folder: Path) -> None:
    program = marionette.installed()
    if not program:
        pytest.skip("Firefox is not installed: apt-get install firefox-esr")
    chromium = opened(link("2q,ws", RUN))
    raced(chromium)
    with marionette.firefox(program) as firefox:
        firefox.open((folder / "index.html").as_uri() + link("2q,ws", RUN))
        firefox.until(f"({GO_ON}, document.querySelectorAll('.fingerprint').length == 2)")
        found = firefox.value("[...document.querySelectorAll('.fingerprint')].map(one => one.textContent)")
    assert found == chromium.texts(".fingerprint")
