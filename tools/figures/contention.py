"""Waiting for the zone's lock on n processors: programs without pressure and under pressure, without and with lists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tidemark.contention.figures import LOOKS, of_cases
from tidemark.contention.record import Sections, record
from tidemark.contention.replay import Waiting, replay
from tidemark.machine import qemu
from tidemark.report.figure import save

from figures.common import table
from figures.entries import Figure

PROCESSORS = (1, 2, 4, 8, 16, 32)
SHOWN = (4, 16)


def recorded(run: str, mem: str, cmdline: str, folder: Path) -> Sections:
    """The sections of one run."""
    return record(replace(qemu.Settings(), run=run, mem=mem, cmdline=cmdline), folder, lambda records: None)


def row(title: str, name: str, sections: Sections, waits: list[Waiting]) -> list[str]:
    """A row of the table: means in instructions, and shares of time spent waiting."""
    shares = [f"{100 * one.share:.1f} %" for one in waits if one.processors in SHOWN]
    means = (f"{mean:,.0f}" for mean in (sections.holds.mean(), sections.thinks.mean()))
    return [f"`{title}`", name, f"{len(sections.holds):,}", *means, *shares]


def make(figure: Figure, work: Path) -> str:
    """Record each program twice, draw all replays, and return the table."""
    cases, rows = {}, []
    for run, mem in figure.settings["programs"]:
        title = f"{run}, {mem}"
        cases[title] = []
        for name, cmdline in zip(LOOKS, ("", "vm.percpu_pagelist_fraction=8")):
            sections = recorded(run, mem, cmdline, work / f"run-{len(rows)}")
            cases[title].append([replay(sections, n) for n in PROCESSORS])
            rows.append(row(title, name, sections, cases[title][-1]))
    save(of_cases(cases), work)
    waits = (f"waiting, n = {n}" for n in SHOWN)
    return table(("program", "", "sections", "mean hold", "mean think", *waits), rows, text_columns=2)
