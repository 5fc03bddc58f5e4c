"""The page of `tidemark report` in a browser: it works offline, and executes nothing from a file."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import pytest
from pages import Opened
from PIL import Image
from soak import soak_but
from tidemark.report import charts, folder, page, plots, sources
from tidemark.report.cells import Cell
from tidemark.runs import results, summary
from tidemark.runs.plan import IDEAL

HOSTILE = "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">&amp;"
PROCESSES, SAMPLES = 2, 3010


def stream(policy: str, comm: str) -> str:
    """Telemetry of an invented run with many samples; member names and texts are as hostile as possible."""
    start = {"ev": "start", "schema": 2, "policy": policy, "t_us": 5000, "page_size": 4096}
    zones = [{"name": comm, "managed": 4000, "min": 50, "low": 60, "high": 70}]
    records = [start | {"zones": zones}]
    vm = ("pgfault", "pgmajfault", "workingset_refault", "pswpin", "pswpout", "allocstall")
    vm += ("admission_wait", "oom_kill", "policy_violation")
    for at in range(1, SAMPLES + 1):
        sizes = {"mad": 900, "rss": 500 + at % 97, "nap": at % 41, "wss": at % 53, "swap": at % 7}
        procs = [{"pid": pid, "comm": comm, "state": 0, **sizes} for pid in range(1, PROCESSES + 2)]
        disk = {"queue": at % 9, "reads": at, "writes": at, "busy_us": at, "wait_us": 30 * at}
        levels = {"running": at % 5, "held": 0, "free": [at % 200], "owned": [3000], "priority": 12}
        counters = {"idle_us": 70_000 * at, "policy_us": 9 * at, "vm": dict.fromkeys(vm, 2 * at)}
        psi = {"some_us": 60_000 * at, "full_us": 30_000 * at}
        shown = {"lists": {comm: at % 1000, "small": at % 3}, "psi": psi, "disk": disk, "procs": procs}
        records.append({"ev": "sample", "t_us": 5000 + 100_000 * at, **counters, **levels, **shown})
        waited = {"idle_us": 70_000 * at, "full_us": 30_000 * at, "read": 2 * at, "evicted": 0, "evicting_us": 0}
        wanted = {"demand": 900 * PROCESSES, "wanting": PROCESSES, "held": 0, "oom_kill": 0}
        records.append({"ev": "pressure", "t_us": 5000 + 100_000 * at, **waited, **wanted})
    records.append({"ev": "oom", "t_us": 9_000_000, "pid": 9, "comm": comm})
    zero = dict.fromkeys(("status", "minflt", "majflt", "mean_rss", "max_rss", "c_b", "c_d", "delta", "fault_rss"), 0)
    accounts = {"us": [1] * 6, "page_ms": [10] * 6, "housekeeping": 0, "delta_terms": dict.fromkeys(summary.TERMS, 0)}
    ended = {"ev": "exit", "t_us": 5000 + 100_000 * SAMPLES, "turnaround_us": 100_000 * SAMPLES}
    records += [{**ended, "pid": pid, "comm": comm, **zero, **accounts} for pid in range(2, PROCESSES + 2)]
    records.append({"ev": "end", "t_us": 6000 + 100_000 * SAMPLES, "status": 0})
    return "".join(json.dumps({"seq": seq} | record) + "\n" for seq, record in enumerate(records))


def made_up(parent: Path, policy: str, comm: str) -> Path:
    """A result folder with that telemetry."""
    place = parent / policy
    place.mkdir(parents=True)
    settings = {"vm": policy, "mem": "16M", "run": comm, "cmdline": "", "swap": "sim:hdd"}
    meta = {"schema": 1, "kind": "run", "state": "interrupted", "exit": None, "reason": comm, "settings": settings}
    (place / results.META).write_text(json.dumps(meta))
    (place / results.TELEMETRY).write_text(stream(policy, comm))
    return place


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two runs with thousands of samples and hostile names, alone in its folder."""
    parent = tmp_path_factory.mktemp("page")
    runs = [made_up(parent, policy, HOSTILE + "\x01") for policy in ("2q", "ws")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folder.write(sources.gather(runs), parent / "out", pictures=True)
    return Path(shutil.copy(parent / "out/report.html", tmp_path_factory.mktemp("alone")))


def opened(browser: object, report: Path, **context: object) -> Opened:
    """The page in a tab of its own."""
    found = Opened(browser.new_context(**context).new_page())
    found.page.on("console", lambda message: found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(report.as_uri(), wait_until="load")
    return found


@pytest.fixture(scope="module")
def shown(browser: object, report: Path) -> Opened:
    """The page with all charts drawn, as before it is printed."""
    found = opened(browser, report)
    found.value("dispatchEvent(new Event('beforeprint'))")
    return found


def test_page_opens_without_complaint_and_asks_nothing_of_a_network(shown: Opened, report: Path) -> None:
    assert shown.complaints == []
    assert [url for url in shown.requests if not url.startswith("data:")] == [report.as_uri()]


def test_every_timeline_is_drawn(shown: Opened) -> None:
    boxes = shown.value("document.querySelectorAll('[data-chart]').length")
    sizes = shown.value(
        "[...document.querySelectorAll('[data-chart] canvas')].map(c => [c.clientWidth, c.clientHeight])"
    )
    assert boxes == sum(len(charts.titles(plot)) for plot in plots.PLOTS) + 2 * 6
    assert len(sizes) == boxes and all(width > 200 and height > 100 for width, height in sizes)
    drawn = """[...document.querySelectorAll('[data-chart] canvas')].every(c => {
        const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3]) seen.add(pixels.slice(at, at + 3).join());
        return seen.size > 2;
    })"""
    assert shown.value(drawn)


def test_tables_and_figures_are_there(shown: Opened) -> None:
    rows = shown.value("[...document.querySelectorAll('main table:not(.u-legend) tbody')].map(t => t.rows.length)")
    assert rows[:2] == [PROCESSES, PROCESSES] and rows[2] > 10
    images = shown.value("[...document.querySelectorAll('figure img')].map(i => i.complete && i.naturalWidth)")
    assert len(images) in (2, 3) and all(width > 300 for width in images)  # pictures that no chart of the page shows


def test_every_picture_is_once_on_the_page_and_one_click_away(shown: Opened) -> None:
    titles = shown.value("[...document.querySelectorAll('section')].map(s => "
                         "[...s.querySelectorAll('[data-chart]')].map(c => c.getAttribute('aria-label')))")  # fmt: skip
    assert all(len(set(some)) == len(some) for some in titles) and sum(map(len, titles)) > 15
    links = shown.value("[...document.querySelectorAll('.files a')].map(a => a.getAttribute('href'))")
    assert len(set(links)) == len(links) and {"figures/overview-2q.svg", "figures/faults.csv"} <= set(links)


def test_page_begins_with_what_happened(shown: Opened) -> None:
    stories = shown.value("[...document.querySelectorAll('.story')].map(s => s.textContent)")
    assert stories[0].startswith("ws") and all("two processes wanted 7.0 MiB" in one for one in stories[1:])
    first = "document.querySelectorAll('section')[1].querySelector('.story + .block, .story + p + .block').textContent"
    assert "The processor works" in shown.value(first)


def test_page_can_be_read_and_used_without_eyes_or_mouse(shown: Opened) -> None:
    assert (
        shown.value("[...document.querySelectorAll('[data-chart]')].filter(c => !c.getAttribute('aria-label'))") == []
    )
    assert "least" in shown.value("document.querySelector('.said').textContent")
    assert shown.value("[...document.querySelectorAll('img')].every(i => i.alt.length > 40)")
    legend = "document.querySelector('[data-chart] .u-legend').textContent"
    assert "–" not in shown.value(legend), "without a cursor it shows the last values"
    place = shown.page.locator("[data-chart] [tabindex='0']").first
    place.focus()
    for key in ("ArrowRight", "ArrowRight", "+", "Escape"):
        place.press(key)
    assert "–" not in shown.value(legend)
    assert shown.complaints == []


def test_map_of_memory_is_read_by_keys(browser: object, tmp_path: Path) -> None:
    """From the middle: two steps to the right and one down, half a frame per step."""
    Image.new("RGB", (4, 50), "#0072b2").save(tmp_path / "map.png")
    about = {"owners": [{"name": "x 5", "colour": "#0072b2"}], "frames": 50, "from": 0.0, "to": 10.0}
    block = page.Block("Whose?", "A frame is a row.", image=((tmp_path / "map.png").read_bytes(), about))
    (tmp_path / "map.html").write_text(page.page("t", "", [], [page.Section("s", blocks=[block])]))
    found = opened(browser, tmp_path / "map.html")
    found.page.locator("[data-owners]").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        found.page.keyboard.press(key)
    assert found.page.locator("output").inner_text() == "frame 24 at 5.200 s: x 5"
    assert found.page.locator("[data-owners] > i").is_visible() and found.complaints == []


def test_paper_has_whole_charts(browser: object, report: Path) -> None:
    """A box has become narrower, and the chart does not know yet."""
    found = opened(browser, report)
    found.page.emulate_media(media="print")
    found.page.wait_for_function("document.querySelector('[data-chart] canvas')")
    narrow = """() => {
        const canvas = document.querySelector('[data-chart] canvas');
        canvas.closest('[data-chart]').style.width = '300px';
        return canvas.getBoundingClientRect().width;
    }"""
    assert found.value(narrow) < 300


def test_names_from_files_are_only_text(shown: Opened) -> None:
    assert shown.value("document.title").startswith("Tidemark: </script><script>")
    assert shown.value("document.scripts.length") == 1 + len(page.SCRIPTS)
    assert shown.value("document.querySelectorAll('img[src=x]').length") == 0
    assert shown.value("document.querySelector('.note').textContent").count("<script>")
    assert shown.value("document.querySelector('select').options[0].text") == HOSTILE + "? 2"


def test_menu_shows_another_process(shown: Opened) -> None:
    shown.value("dispatchEvent(new Event('beforeprint'))")
    shown.page.select_option("select", index=1)
    assert shown.value("document.querySelector('select').selectedIndex") == 1
    assert shown.complaints == []


def test_interrupted_runs_are_marked(shown: Opened) -> None:
    notes = shown.value("[...document.querySelectorAll('.note')].map(n => n.textContent)")
    [note] = [note for note in notes if "interrupted" in note]
    assert note.split(": ")[0].count(";") == 1, "both, with one reason"


def test_page_says_what_was_thinned(shown: Opened) -> None:
    assert f"has {SAMPLES:,} samples" in shown.value("document.body.textContent")
    longest = shown.value("Math.max(...JSON.parse(document.getElementById('charts').textContent)"
                          ".flatMap(c => c.blocks || []).map(b => b[0].length))")  # fmt: skip
    assert longest <= charts.POINTS + 2


def test_page_without_script_has_tables_and_figures(browser: object, report: Path) -> None:
    found = opened(browser, report, java_script_enabled=False)
    assert found.page.locator("main table").count() == 3
    assert found.page.locator("main img").count() >= 10
    assert "need JavaScript" in found.page.locator("noscript").first.inner_text()


@pytest.mark.parametrize("width", soak_but([390, 2560], 390))
def test_page_fits_the_screen(browser: object, report: Path, width: int) -> None:
    """At first, and when the window changes: charts are as wide as their boxes."""
    found = opened(browser, report, viewport={"width": 900, "height": 800})
    found.page.set_viewport_size({"width": width, "height": 800})
    found.page.wait_for_function("document.querySelector('[data-chart] canvas').clientWidth < innerWidth")
    assert found.value("document.documentElement.scrollWidth") <= width and found.complaints == []


@pytest.mark.soak
def test_dark_page_is_dark(browser: object, report: Path) -> None:
    found = opened(browser, report, color_scheme="dark")
    ground, ink = (found.value(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
    assert max(channels(ground)) < 60 and min(channels(ink)) > 180 and found.complaints == []


def channels(colour: str) -> list[int]:
    """The numbers of rgb(r, g, b)."""
    return [int(part) for part in colour[4:-1].split(",")]


def test_json_cannot_end_its_element() -> None:
    text = page.json_for_html([HOSTILE, "<!--"])
    assert "<" not in text and ">" not in text and json.loads(text) == [HOSTILE, "<!--"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an invented arena of four policies and nine commands; one cell failed."""
    cells = []
    for nr, run in enumerate(f"{word} 24576 4096 10" for word in ("scan", "phase", HOSTILE, *"abcdef")):
        cells.append(Cell("i", {"run": run, "vm": "2q", "mem": "99M", IDEAL: "yes"}, {"turnaround_s": 1}))
        for at, vm in enumerate(("2q", "ws", "clockpro", "linux24")):
            factors = {"run": run, "workload": run, "vm": vm, "mem": "16M"}
            numbers = {"time_over_ideal": 1e3 * (at + 1) + nr, "faults_over_min": 1 + at / 4, "hooks_percent": 9.0 * at}
            failed = (nr, at) == (2, 3)
            cells.append(Cell("c", factors, {} if failed else numbers, "panic" * failed, f"tidemark run {run}"))
    out = tmp_path_factory.mktemp("arena")
    folder.write(sources.Sources([], cells), out)
    return out / "report.html"


@pytest.mark.parametrize("width", soak_but([1280, 390], 1280))
def test_maps_of_the_arena_fit_the_screen(browser: object, arena: Path, width: int) -> None:
    shown = opened(browser, arena, viewport={"width": width, "height": 800})
    assert shown.complaints == [] and shown.value("document.title") != "hit"
    assert shown.value("document.documentElement.scrollWidth") <= width
    measured = "m => [m.getBoundingClientRect().top, m.scrollWidth - m.clientWidth]"
    boxes = shown.value(f"[...document.querySelectorAll('.map')].map({measured})")
    assert len(boxes) == 3 and all(hidden <= 0 for _, hidden in boxes)
    assert (boxes[0][0] == boxes[1][0]) == (width > 1000)  # faults and time are side by side if there is room


def test_number_of_the_arena_leads_to_its_command(browser: object, arena: Path) -> None:
    shown = opened(browser, arena)
    shown.page.locator(".map").nth(1).locator("tbody tr").nth(1).locator("a").first.click()
    line = shown.value("document.querySelector('tr:target').textContent")
    assert "tidemark run scan" in line and "ws" in line and "2.0k" in line
    colours = "[...document.querySelectorAll('.map td[class]')].map(d => getComputedStyle(d).backgroundColor)"
    assert len(set(shown.value(colours))) >= 4


# --- linked charts


def times_in_legends(shown: Opened) -> list[str]:
    return shown.value(
        "[...document.querySelectorAll('[data-chart] .u-legend')].map(one => one.textContent.match(/[0-9.]+ s/)[0])"
    )


@pytest.fixture
def linked(browser: object, report: Path) -> Opened:
    """The page in a window so high that the charts of the overview and of the first plots are drawn."""
    shown = opened(browser, report, viewport={"width": 1280, "height": 2000})
    shown.page.locator("[data-chart] .u-legend").nth(3).wait_for(state="attached")
    return shown


def hover(shown: Opened, nr: int, x: float) -> None:
    """Move the mouse to this share of the width of a chart."""
    box = shown.page.locator("[data-chart] .u-over").nth(nr).bounding_box()
    shown.page.mouse.move(box["x"] + x * box["width"], box["y"] + box["height"] / 2)


def test_legends_have_the_last_values_before_a_mouse_comes(linked: Opened) -> None:
    texts = linked.value("[...document.querySelectorAll('[data-chart] .u-legend')].map(one => one.textContent)")
    assert texts and not [text for text in texts if "–" in text]
    assert set(times_in_legends(linked)) == {f"{0.005 + 0.1 * SAMPLES:.3f} s"}


def test_all_charts_show_the_same_instant(linked: Opened) -> None:
    hover(linked, 0, 0.25)
    times = times_in_legends(linked)
    assert len(times) > 3 and 60 < float(times[0][:-2]) < 90
    assert max(abs(float(one[:-2]) - float(times[0][:-2])) for one in times) < 1, times


def test_all_charts_zoom_together_also_those_drawn_later(linked: Opened) -> None:
    before = len(times_in_legends(linked))
    hover(linked, 1, 0.5)
    linked.page.mouse.down()
    hover(linked, 1, 0.6)
    linked.page.mouse.up()
    linked.value("dispatchEvent(new Event('beforeprint'))")
    after = len(times_in_legends(linked))
    assert after > before
    for nr in (0, before - 1, after - 1):
        linked.page.locator("[data-chart] .u-over").nth(nr).scroll_into_view_if_needed()
        hover(linked, nr, 0.02)
        at = float(times_in_legends(linked)[nr][:-2])
        assert 145 < at < 160, (nr, at)
    assert linked.complaints == []
