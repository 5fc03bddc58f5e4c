"""Registers the tm- commands; init.gdb sources it. Sourcing it again reloads the files."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
for name in [name for name in sys.modules if name == "tm" or name.startswith("tm.")]:
    del sys.modules[name]

from tm.back import Arrive, Back, Go  # noqa: E402
from tm.break_fault import BreakFault  # noqa: E402
from tm.buddy import Buddy  # noqa: E402
from tm.command import Overview  # noqa: E402
from tm.lists import Lists  # noqa: E402
from tm.page import Page  # noqa: E402
from tm.past import History, When  # noqa: E402
from tm.ps import Ps  # noqa: E402
from tm.pt import PageTable  # noqa: E402
from tm.rq import RunQueue  # noqa: E402
from tm.slab import Slab  # noqa: E402
from tm.vma import Vma  # noqa: E402
from tm.why import Why  # noqa: E402
from tm.zones import Zones  # noqa: E402

for command in (
    Ps,
    Vma,
    PageTable,
    Page,
    Why,
    Zones,
    Buddy,
    Slab,
    Lists,
    RunQueue,
    BreakFault,
    Back,
    When,
    History,
    Go,
    Arrive,
    Overview,
):
    command()
