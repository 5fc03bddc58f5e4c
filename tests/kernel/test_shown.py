"""The output of policies and guards about themselves: each row is described in docs/reference/shown.md, the lists add
up to the pages that the policy owns, and counters count."""

import re

import pytest
from guest import boot
from soak import soak_but
from tidemark.machine import qemu

DOC = (qemu.ROOT / "docs/reference/shown.md").read_text()
LOAD = "thrash 3 500 9& seqscan 1500 3 w"
WITH_HITS = "pattern zipf 2400 20000 & seqscan 1500 3 w & wait"  # on pages that the policy still remembers
AT_ONCE = 4  # guards
RARE = {  # rows that this load does not make nonzero
    "arc": {"b1", "b2"},  # ghosts of processes that have ended
    "car": {"b1", "b2"},
    "halflife": {"expired"},  # the load is over before a page is that old
    "linux59": {
        "cost_file",
        "deactivated",
        "refaults_activated",
        "refaults_restored",
    },  # files, and a larger working set
    "locallru": {"looked_at"},  # no process runs for 10 ms
    "lruk": {"ghosts"},  # of processes that have ended
    "mglru": {"protected"},  # files
    "nru": {"ticks"},
    "nt": {"rescued"},  # no page is needed so soon after it was replaced
    "pff": {"late_faults", "left"},
    "random": {"drawn_in_vain"},  # by chance
    "seq": {"passed_used"},  # most victims are of sequences
    "useonce": {"deactivated"},
    "vms": {"asked_of_sets"},
    "ws": {"nobodys", "shared", "waiting"},
    "wsclock": {"old", "laundered"},
    "wsrandom": {"drawn_used", "drawn_in_vain"},  # by chance
}


def described(part: str) -> dict[str, dict[str, bool]]:
    """The rows of each policy or guard; true for those that are lists of pages."""
    found: dict[str, dict[str, bool]] = {}
    text = DOC.partition(f"## {part}\n")[2].partition("\n## ")[0]
    for names, rows, more in re.findall(r"(?m)^\| (`.*?) \| (`.*?) \| (.*)$", text):
        for name in re.findall(r"`(\w+)`", names):
            for row in re.findall(r"`(\w+)`", rows):
                of_zones = {row.replace("zoneN", f"zone{zone}") for zone in range(3)}
                found.setdefault(name, {}).update(dict.fromkeys(of_zones, more.startswith("+")))
    return found


def shown(console: str, name: str) -> dict[str, int]:
    """The numbers of this policy or guard that are not parameters."""
    parameters = re.findall(rf"(?m)^(?:{name})\.(\w+)", console)
    rows = re.findall(r"(?m)^(\w+): (\d+)$", console)
    return {row: int(value) for row, value in rows if row not in parameters}


CHOSEN = [name for name in described("Policies") if name not in ("min", "vmin")]  # these need a future


def test_every_policy_is_described() -> None:
    said = re.search(r"(?m)^.*\[2q\].*$", boot("cat /proc/sys/vm/policy").console)
    assert said and set(re.findall(r"\w+", said[0])) == set(described("Policies"))


@pytest.mark.parametrize("first", range(0, len(CHOSEN), AT_ONCE))
def test_rows_of_policies(first: int) -> None:
    names = CHOSEN[first : first + AT_ONCE]
    loads = [WITH_HITS if name in ("arc", "car") else LOAD for name in names]
    each = "; ".join(
        f"echo {name} >/proc/sys/vm/policy; {load}; cat /proc/vm/policy; wait"
        for name, load in zip(names, loads, strict=True)
    )
    done = boot(f"cat /proc/params; {each}", mem="16M", swap="sim:ssd", frames=300)
    parameters, *parts = re.split(r"\npolicy: (?=\w+\n)", done.check_exit().console)
    for name, part in zip(names, parts, strict=True):
        rows, expected = shown(f"{parameters}{part}", name), described("Policies")[name]
        owned, isolated = rows.pop("owned"), rows.pop("isolated")
        assert rows.pop("violations") == 0
        assert set(rows) == set(expected), name
        of_lists = sum(rows[row] for row in rows if expected[row])
        assert of_lists == owned or name == "ws", (name, rows, isolated)
        never = {row for row in rows if not rows[row] and not expected[row]}
        assert never <= RARE.get(name, set()), name


@pytest.mark.parametrize(("pages", "share"), [(400, (0.9, 1.0)), (700, (0.0, 0.1))])
def test_refault_is_of_a_page_that_a_memory_of_twice_the_size_had_kept(pages: int, share: tuple[float, float]) -> None:
    """In a loop, the number of evictions before a page returns is the number of pages that do not fit: below the 300
    frames, or above."""
    done = boot(f"seqscan {pages * 4} 4 w", vm="fifo", mem="16M", swap="sim:ssd", frames=300).check_exit()
    counted = re.search(r"(\d+) of them major, (\d+) refaults", done.console)
    assert counted
    major, refaults = map(int, counted.groups())
    assert major > 1000 or pages < 600
    assert share[0] <= refaults / major <= share[1], (major, refaults)


@pytest.mark.parametrize("first", range(0, len(described("Guards")), AT_ONCE))
def test_rows_of_guards(first: int) -> None:
    guards = dict(list(described("Guards").items())[first : first + AT_ONCE])
    done = boot("cat /proc/params /proc/vm/guard", cmdline=f"guard={','.join(guards)}").check_exit()
    assert set(shown(done.console, "|".join(guards))) == {row for rows in guards.values() for row in rows}


def test_who_is_suspended_comes_back() -> None:
    command = "thrash 6 4096 4 3000; cat /proc/vm/guard"
    done = boot(command, vm="2q", mem="16M", cmdline="guard=loadctl", telemetry=True).check_exit()
    rows = shown(done.console, "")
    assert rows["out"] == 0 and rows["suspended"] == rows["resumed"] > 0
    assert [record for record in done.telemetry if record["ev"] == "sample"][-1]["vm"]["admission_wait"] > 0


def test_who_is_killed_while_suspended_is_not_out() -> None:
    everybody = " ".join(map(str, range(7, 13)))
    command = f"thrash 6 4096 400 3000 & sleep 1; cat /proc/vm/guard; kill -KILL {everybody}; wait; cat /proc/vm/guard"
    done = boot(command, vm="2q", mem="16M", cmdline="guard=loadctl").check_exit()
    before, after = re.findall(r"(?m)^out: (\d+)$", done.console)
    assert int(before) > 0 == int(after)


@pytest.mark.parametrize("guard", soak_but(["mc62", "mc63", "mc64", "mc72", "mc73", "mc74", "mc741", "mc75"], "mc64"))
def test_what_the_reports_guards_do_is_counted(guard: str) -> None:
    command = "thrash 6 4096 4 3000; cat /proc/vm/guard"
    done = boot(command, vm="2q", mem="16M", cmdline=f"guard={guard}").check_exit()
    rows = shown(done.console, "kind|below|pagegrab")
    assert all(rows[row] for row in described("Guards")[guard] if row not in ("lowest", "calm", "alone", "written")), (
        rows
    )
    assert max(rows.values()) < 1 << 31, rows
    if guard == "mc64":  # of mc64.pagegrab pages per call
        assert 0 < rows["looked"] <= 4096 * rows["calls"]
