"""tidemark why: why a page was evicted, what its fault cost, and which page would have been needed later."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemark.commands import options
from tidemark.errors import USAGE, LabError
from tidemark.runs import result_image, results
from tidemark.telemetry.events import SWAP, In
from tidemark.telemetry.live import LiveLine

if TYPE_CHECKING:
    from tidemark.debug.evictions import Eviction
    from tidemark.debug.next_uses import Use
    from tidemark.telemetry.events import Events, Row

SHOWN = 10  # faults that are listed
REASONS = {
    "kswapd": "{by} frees frames in the background",
    "direct": "{by} found no free frame",
    "cap": "{by} needs a frame, and the cap on frames (frames=) is reached",
    "trim": "its process had more pages than its due, says the policy's surplus",
}


def number(text: str) -> int:
    """The number in `33056` or `0x8120`. Raises LabError if it is malformed."""
    try:
        return int(text, 0)
    except ValueError:
        raise LabError(f"--page {text} is not a number; write it as 33056 or 0x8120", USAGE) from None


def ms(ns: float) -> str:
    """A length of time in ms."""
    return f"{ns / 1e6:,.3f} ms"


def policy_at(result: results.Result, ns: int) -> str:
    """The policy at a time of the run."""
    data = result.telemetry(partial=True)
    taken = [event["name"] for event in data.events if event["ev"] == "policy" and event["t_us"] <= ns // 1000]
    return taken[-1] if taken else data.start["policy"]


def recorded(result: results.Result, image: Path, scratch: Path, live: LiveLine) -> Events:
    """The result's events. If it has none, the run is repeated, and the result keeps them if it can be written."""
    from tidemark.debug import next_uses
    from tidemark.telemetry import events

    found = events.read(result.folder)
    if found is None:
        print(f"tidemark: {result.folder} has no events: repeating the run to record them", file=sys.stderr)
        found = next_uses.repeated(result, image, scratch, None, live)
        try:
            events.write(result.folder / events.FILE, found)
        except (LabError, OSError):
            print(f"tidemark: {result.folder} cannot be written and stays without events", file=sys.stderr)
    if not found.whole:
        raise LabError(f"{result.folder}: the event stream was cut short: remove {events.FILE} there, and ask again")
    return found


def later(use: Use) -> float:
    """The time of a use; infinite if there is none."""
    return math.inf if use.ns is None else use.ns


def came(row: Row) -> dict[str, Any]:
    """A page that the policy got: an INSERT."""
    return {"pid": row.pid, "page": row.page, "store": row.store, "ns": row.ns, "ahead": row.how == In.PREFETCH}


def facts(result: results.Result, events: Events, one: Eviction, mine: Use, others: list[Use]) -> dict[str, Any]:
    """All that is known of an eviction. `mine`, `others`: the next uses of the page and of the other resident pages."""
    from tidemark.debug import evictions

    chosen, gone = events.row(one.chosen), events.row(one.gone)
    took, back = evictions.taker(events, one), evictions.return_of(events, one)
    fault, farthest = evictions.fault_after(events, one), max(others, key=later, default=None)
    return {
        "pid": gone.pid,
        "page": gone.page,
        "eviction": one.number,
        "evictions": one.of,
        "policy": policy_at(result, chosen.ns),
        "reason": chosen.why.name.lower(),
        "by": chosen.other,
        "priority": chosen.priority,
        "chosen_ns": chosen.ns,
        "freed_ns": gone.ns,
        "frame": gone.frame,
        "taken": came(took) if took else None,
        "back": came(back) if back else None,
        "fault": asdict(fault) if fault else None,
        "resident": len(others) + 1,
        "next_use_ns": mine.ns,
        "used_later": sum(later(use) > later(mine) for use in others),
        "never_used": sum(use.ns is None for use in others),
        "farthest": {**asdict(farthest.page), "ns": farthest.ns} if farthest else None,
    }


def page_name(page: dict[str, Any], names: dict[int, str]) -> str:
    """A page as text. `names`: of the tasks."""
    if page["store"] > SWAP:
        return f"page {page['page']} of file {page['store']}"
    return f"page {page['page']:#x} of {names.get(page['pid'])} {page['pid']}" if page["pid"] else "a page read ahead"


def of_fault(known: dict[str, Any]) -> str:
    """When the page came back, and what the fault on it cost, in words."""
    from tidemark.debug.evictions import time

    back, fault = known["back"], known["fault"]
    if not back:
        return "It did not come back before the end of the run."
    text = f"It came back at {time(back['ns'])}"
    text += ", read ahead before a program asked for it." if back["ahead"] else "."
    if fault:
        kind, lasted = "major" if fault["major"] else "minor", ms(fault["end_ns"] - fault["begin_ns"])
        waited = f"and waited {ms(fault['wait_ns'])} of {lasted}"
        text += f"\nThe {kind} fault on it began at {time(fault['begin_ns'])} {waited}."
    return text


def of_others(known: dict[str, Any], names: dict[int, str]) -> str:
    """The resident page whose next use was farthest, in words."""
    chosen, mine, farthest = known["chosen_ns"], known["next_use_ns"], known["farthest"]
    own = "was not used again" if mine is None else f"was used again after {ms(mine - chosen)}"
    text = f"Then {known['resident']:,} pages were resident. This one {own}; "
    text += f"{known['used_later']:,} others were used later, or never."
    if known["never_used"]:
        return f"{text}\n{known['never_used']:,} were not used again in this run; one is {page_name(farthest, names)}."
    if known["used_later"]:
        return (
            f"{text}\nThe next use of {page_name(farthest, names)} was farthest: after {ms(farthest['ns'] - chosen)}."
        )
    return f"{text}\nNo other page's next use was farther."


def show(known: dict[str, Any], names: dict[int, str], folder: Path) -> None:
    """Print all that is known of an eviction."""
    from tidemark.debug.evictions import time

    which = f" (eviction {known['eviction']} of {known['evictions']}; --at T asks about another)"
    page = page_name({**known, "store": SWAP}, names)
    print(f"{page[0].upper()}{page[1:]} was chosen by {known['policy']} at {time(known['chosen_ns'])}", end="")
    print(which * (known["evictions"] > 1) + ".")
    reason = REASONS[known["reason"]].format(by=f"{names.get(known['by'])} {known['by']}")
    print(f"Why: {reason} (priority {known['priority']}: 12 is calm, 0 desperate).")
    print(f"Its frame, {known['frame']:#x}, was free after {ms(known['freed_ns'] - known['chosen_ns'])}", end="")
    took = known["taken"]
    ahead = ", read ahead," if took and took["ahead"] else ""
    print(
        f" and got {page_name(took, names)}{ahead} at {time(took['ns'])}." if took else "; no other page came into it."
    )
    print(of_fault(known))
    print(of_others(known, names))
    print(f"`tidemark gdb {folder} --at {known['chosen_ns']}ns` puts gdb at the choice.")


def show_longest(folder: Path, events: Events) -> None:
    """Print the faults on evicted pages that waited longest, each with its question."""
    from tidemark.debug import evictions

    found = evictions.longest(events, SHOWN)
    if not found:
        print("No process had a major fault on a page that was evicted before.")
        return
    print("Longest waits for pages that had been evicted; ask about one:")
    for one in found:
        at = f"--at {one.begin_ns / 1e9:.9f}"
        print(f"{ms(one.wait_ns):>14}  tidemark why {folder} --pid {one.pid} --page {one.page:#x} {at}")


def why(
    folder: Annotated[Path, typer.Argument(metavar="RESULT", help="The folder of an exact run.")],
    pid: Annotated[int | None, typer.Option("--pid", min=1, metavar="P", help="The process.")] = None,
    page: Annotated[
        str, typer.Option("--page", metavar="V", help="The number of the page in its address space: address / 4096.")
    ] = "",
    at: Annotated[
        str, typer.Option("--at", metavar="T", help="The last eviction up to then: 1.5 (s), 350ms (default: the end).")
    ] = "",
    image: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Say why a page was evicted, who took its frame, and what the fault that brought it back waited.

    Example:  tidemark why results/20261121-103000-2q-thrash --pid 5 --page 0x8120 --at 1.5

    Without --pid and --page it lists the faults that waited longest. Beside the page it names the resident page whose
    next use in this run was farthest, which Belady's MIN would evict. For this the run is repeated; if it was recorded
    without --events, it is repeated once more. The run must be exact. It says nothing about how long another run, with
    another choice, would have taken.
    """
    from tidemark.debug import evictions, next_uses, replay

    if (pid is None) != (not page):
        raise LabError("give both --pid and --page, or neither: then the faults that waited longest are listed", USAGE)
    number_of_page, at_ns = number(page) if page else 0, replay.time_of(at) if at else None
    result = results.load(folder)
    made_of = result_image.of(result, options.image_of(result, image.resolve()))
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch, LiveLine(quiet) as live:
        found = recorded(result, made_of, Path(scratch), live)
        if pid is None:
            show_longest(folder, found)
            return
        one = evictions.eviction(found, pid, number_of_page, at_ns)
        again = next_uses.repeated(result, made_of, Path(scratch), one.chosen, live)
        next_uses.check_same(found, again)
    known = facts(result, found, one, *next_uses.after(again, one.chosen))
    if json_:
        print(json.dumps(known, indent=2))
    else:
        show(known, found.names(), folder)
