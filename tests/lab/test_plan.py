"""Plans and the estimate: valid plans, the order of their cells, and how long they will take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tidemark.errors import BAD_INPUT, LabError
from tidemark.machine import qemu
from tidemark.runs import claims, estimate, plan, replicates

pytestmark = pytest.mark.unbuilt

# --- plans

BAD_PLANS = {
    'vm = "2q"': "no workload",
    'workload = "true"\npolicy = "2q"': "unknown key policy; there are: workload, processes, vm",
    'workload = "true"\nvm = []': "product is empty",
    'workload = "true"\nvm = 2': "it must be text, in quotes",
    'workload = "true"\nmem = "24X"': "24X is not a size",
    'workload = "true"\nmem = 24': "it must be text",
    'workload = "true"\nswap = "sim:hdd,size=x"': "SWAP size=x is not a size",
    'workload = "true"\nswap = "hda"': "would share that disk",
    'workload = "true"\nvm = "2q x"': "may not contain blanks",
    'workload = "true"\nseed = [1, 1]': "seed has 1 twice",
    'workload = "true"\nseed = -1': "whole number, 0 or more",
    'workload = "true"\nseed = true': "whole number",
    'workload = "true"\nframes = 2': "whole number, 3 or more",
    'workload = "true"\njitter = -1': "whole number, 0 or more",
    'workload = "true"\njitters = 0': "whole number, 1 or more",
    'workload = "true"\njitters = [1, 2]': "whole number, 1 or more",
    'workload = "true"\njitters = 2\njitter = 1': "both jitter and jitters",
    'workload = "true"\njitters = 2\ncmdline = "jitter=1"': "gives jitter already",
    'workload = "true"\nreplicates = 0': "whole number, 1 or more",
    'workload = "true"\nreplicate = 0': "whole number, 1 or more",
    'workload = "true"\nreplicates = 2\nreplicate = 1': "both replicate and replicates",
    'workload = "true"\nreplicates = 2\njitters = 2': "replicates and jitter, which each replicate draws",
    'workload = "true"\nreplicates = 2\njitter = 1\nseed = 1': "replicates and jitter and seed, which each",
    'workload = "true"\nreplicates = 2\n[parameters]\nlayout = 1': "replicates and layout, which each replicate draws",
    'workload = "true"\nreplicates = 2\ncmdline = "layout=1"': "gives layout already",
    'workload = "a {size}"': "{size} cannot be replaced, only {processes}, {seed}, names of your own, and {size:N}",
    'workload = "a {size:4K}"': "{size:4K} cannot be replaced",
    'workload = "true"\nparameters = 5': "parameters must be a table",
    'workload = "true"\n[parameters]\nmem = "9M"': "mem under [parameters]",
    'workload = "true"\n[parameters]\nrun = "true"': "run under [parameters]",
    'workload = "true"\n[parameters]\nguard = "a b"': "text without blanks",
    'workload = "true"\n[parameters]\n"ws.tau_ms" = 1.5': "a kernel parameter or an argument must be a whole number",
    'workload = "true"\ncmdline = "a=1"\n[parameters]\na = 2': "gives a already",
    'workload = "true"\ntimeout = [1, 2]': "one positive number",
    'workload = "true"\ntimeout = inf': "one positive number",
    'workload = " "': "it is empty",
    'workload = "a\\nb"': "one line of printable text",
    "workload = 'echo \"a\"'": "double quote",
    'workload = "true"\nprocesses = [1, 2]': "has no {processes}",
    'workload = "thrash {processes} 1 1"': "no processes = [...]",
    'workload = "thrash {procs} 1 1"': "no procs = [...]",
    'workload = "true"\nkb = [1, 2]': "unknown key kb; there are: ",
    'workload = "a {mem}"': "{mem} cannot be replaced",
    'workload = ["a {kb}", "b"]\nkb = [1, 2]': "workload 'b' has no {kb}, which the plan lists",
    'workload = "a {kb}"\nkb = [1, 1]': "kb has 1 twice",
    'workload = "a {kb}"\nkb = "b c"': "text without blanks",
    'workload = "a {kb}"\nkb = 1\n[parameters]\nkb = 1': "kb is an argument of a workload",
    'workload = "true"\nprocesess = [1, 2]': "did you mean processes?",
    f'workload = "true"\nseed = {list(range(1000))}\nframes = {list(range(100, 1100))}': "are 1,000,000 cells",
    'workload = "true"\npart = 5': "a part must be an entry of a list of tables",
    'workload = "true"\npart = []': "a part must be an entry of a list of tables",
    'workload = "true"\n[[part]]\ntimeout = 5': "unknown key timeout",
    'workload = "true"\n[[part]]\nvm = 2': "it must be text, in quotes",
    'workload = "true"\nideal = 256': "it must be text, in quotes",
    'workload = "true"\ndisk = "no such"': "no such: it is not a folder",
    'workload = "true"\ndisk = "9M"\ndisk_kind = "ide"': "which cannot use an emulated disk",
    'workload = "true"\ndisk = "8G"': "8416 MiB of memory, 3072 at most",
}


def test_any_argument_can_be_an_axis() -> None:
    text = 'workload = "thrash {n} {kb} 1"\nn = [2, 3]\nkb = [1024, 2048]\nvm = "ws"\nmem = "8M"\nideal = "64M"\n'
    found = plan.parse(text)
    runs = [(one.settings.run, one.settings.mem) for one in found.cells]
    works = ["thrash 2 1024 1", "thrash 2 2048 1", "thrash 3 1024 1", "thrash 3 2048 1"]
    assert runs == [*((one, "8M") for one in works), *((one, "64M") for one in works)]
    assert found.cells[1].variables["kb"] == 2048 and "kb" not in found.cells[1].settings.cmdline
    assert len(found.probes()) == 1 and found.probes()[0].run == "true"
    of_words = plan.parse('workload = "pattern {law} 4096 100"\nlaw = ["zipf", "scan"]\n')
    assert [one.settings.run for one in of_words.cells] == ["pattern zipf 4096 100", "pattern scan 4096 100"]
    chosen = plan.parse(text, axes={"kb": plan.axis("kb", ["512"])})
    assert {one.settings.run for one in chosen.cells} == {"thrash 2 512 1", "thrash 3 512 1"}


def test_a_name_that_is_not_a_file_lists_the_plans_of_the_tree(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"nosuch cannot be read: .*; plans of this tree: arena, efficiency, "):
        plan.read(plan.place(Path("nosuch")))
    with pytest.raises(LabError) as caught:
        plan.read(tmp_path / "nosuch")
    assert "plans of this tree" not in str(caught.value)


@pytest.mark.parametrize("text", BAD_PLANS, ids=list(BAD_PLANS.values()))
def test_bad_plan_is_refused_with_what_is_wrong(text: str) -> None:
    with pytest.raises((LabError, qemu.BadSetting)) as caught:
        plan.parse(text)
    assert BAD_PLANS[text] in str(caught.value)


@pytest.mark.parametrize("data", [b"workload = [", b"\xff\xfe", None], ids=["no TOML", "no text", "no file"])
def test_file_that_is_no_plan_is_refused_by_name(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "plan.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(LabError) as caught:
        plan.read(path)
    assert str(path) in str(caught.value)
    assert caught.value.code == BAD_INPUT


def test_cells_are_the_product_in_the_order_of_the_file() -> None:
    cells = plan.parse(
        'seed = [1, 2]\nvm = ["ws", "2q"]\nworkload = "thrash {processes} 4 1 --seed {seed}"\nprocesses = 3'
    ).cells
    assert [(one.settings.seed, one.settings.vm) for one in cells] == [
        ("1", "ws"),
        ("1", "2q"),
        ("2", "ws"),
        ("2", "2q"),
    ]
    assert cells[2].settings.run == "thrash 3 4 1 --seed 2"
    assert cells[0].variables["mem"] == qemu.Settings().mem


def test_cell_keeps_its_name_when_only_others_or_the_timeout_change() -> None:
    few = plan.parse('workload = "true"\nseed = 7\nvm = "ws"').cells[0].id
    many = {one.id for one in plan.parse('workload = "true"\nvm = ["2q", "ws"]\nseed = [6, 7]\ntimeout = 5').cells}
    assert few in many and len(many) == 4
    assert plan.parse('workload = "true"\nseed = 7\nvm = "ws"\ncmdline = "sample_ms=50"').cells[0].id != few


def test_probes_hold_every_value_of_every_kernel_parameter() -> None:
    probes = plan.parse('workload = "x"\nvm = ["a", "b"]\nmem = ["8M", "9M", "10M"]\nseed = [1, 2, 3, 4]').probes()
    assert {one.vm for one in probes} == {"a", "b"} and {one.mem for one in probes} == {"8M", "9M", "10M"}
    assert not any(one.seed for one in probes) and len(probes) == 3 and {one.run for one in probes} == {"true"}


@pytest.mark.parametrize("name, commands, cells", [("thrashing", 10, 200), ("memory", 1, 160), ("tau", 1, 90)])
def test_plans_in_the_tree_have_ten_replicates(name: str, commands: int, cells: int) -> None:
    """Each of another size."""
    found = plan.read(plan.place(Path(name))).cells
    assert len(found) == cells and len({one.settings.run for one in found}) == 10 * commands
    assert {one.variables["replicate"] for one in found} == set(range(1, 11))


def test_bare_word_is_a_plan_of_the_tree_also_beside_a_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("arena").mkdir()
    assert plan.place(Path("arena")) == plan.SHIPPED / "arena.toml" != plan.place(Path("nope"))
    Path("tau").write_text("")
    assert plan.place(Path("tau")) == Path("tau")


@pytest.fixture
def with_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Works in a folder with an empty file where `make image` writes its image, which the plan `programs` names."""
    (tmp_path / "build").mkdir()
    with (tmp_path / "build/image.ext2").open("wb") as file:
        file.truncate(1 << 20)
    monkeypatch.chdir(tmp_path)


def test_programs_without_an_image_names_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LabError, match="there is no such image: `make image` makes it"):
        plan.read(plan.SHIPPED / "programs.toml")


@pytest.mark.usefixtures("with_image")
def test_every_plan_in_the_tree_repeats_its_runs() -> None:
    for path in plan.SHIPPED.glob("*.toml"):
        cells = [one for one in plan.read(path).cells if plan.IDEAL not in one.variables]
        assert len({one.variables["replicate"] for one in cells}) >= 10, path
        assert plan.read(path).remark == "", path


def test_arena_has_enough_replicates_for_all_its_contestants() -> None:
    """And for three of your own."""
    cells = [one for one in plan.read(plan.place(Path("arena"))).cells if plan.IDEAL not in one.variables]
    policies, replicates = ({one.variables[name] for one in cells} for name in ("vm", "replicate"))
    assert claims.needed_of_best(len(policies) + 3) <= len(replicates)


@pytest.mark.usefixtures("with_image")
def test_arena_has_every_policy_and_every_guard_and_programs_every_policy() -> None:
    reference = (qemu.ROOT / "docs/reference/parameters.md").read_text()
    policies, guards = (
        set(re.search(rf"^{name}=\w+\t(\S+)\t", reference, re.MULTILINE)[1].split("|")) for name in ("vm", "guard")
    )
    cells, programs = (plan.read(plan.SHIPPED / f"{name}.toml").cells for name in ("arena", "programs"))
    for some in (cells, programs):
        assert {one.settings.vm for one in some} == policies - {"min", "vmin"}  # these two need a recorded future
    assert {one.variables.get("guard", "none") for one in cells} == guards


PARTS = """
workload = ["a 1", "b {seed}"]
seed = [1, 2]
vm = "2q"
jitters = 2
ideal = "99M"
[parameters]
"ws.tau_ms" = 7
[[part]]
vm = ["2q", "ws"]
[[part]]
[part.parameters]
guard = ["none", "token"]
"""


def test_parts_are_products_of_their_own_with_what_is_common() -> None:
    text = PARTS.replace('["a 1", "b {seed}"]', '"b {seed}"')
    cells = [one for one in plan.parse(text).cells if plan.IDEAL not in one.variables]
    found = {(one.settings.vm, one.variables.get("guard"), one.settings.cmdline) for one in cells}
    assert len(cells) == 16 and found == {
        *((vm, None, f"jitter={nr} ws.tau_ms=7") for vm in ("2q", "ws") for nr in (0, 1)),
        *(("2q", guard, f"jitter={nr} ws.tau_ms=7 guard={guard}") for guard in ("none", "token") for nr in (0, 1)),
    }


def test_cell_of_two_parts_runs_once() -> None:
    text = 'workload = "a"\n[[part]]\nvm = ["2q", "ws"]\n[[part]]\nvm = ["ws", "clock"]'
    assert [one.settings.vm for one in plan.parse(text).cells] == ["2q", "ws", "clock"]


def test_each_command_has_one_ideal_cell_in_the_memory_that_the_plan_names() -> None:
    cells = [one for one in plan.parse(PARTS).cells if plan.IDEAL in one.variables]
    assert {one.settings.run for one in cells} == {"a 1", "b 1", "b 2"}
    assert all(one.settings.mem == "99M" and one.settings.vm == "2q" and not one.settings.cmdline for one in cells)


@pytest.mark.parametrize(
    ("axes", "policies", "runs", "guards"),
    [
        ({"vm": ["mine"]}, {"mine"}, {"a 1", "b 1", "b 2"}, {None}),
        ({"guard": ["mine"]}, {"2q"}, {"a 1", "b 1", "b 2"}, {"mine"}),
        ({"workload": ["c"]}, {"2q", "ws"}, {"c"}, {None, "none", "token"}),
        ({"workload": ["c"], "vm": ["mine"]}, {"mine"}, {"c"}, {None}),
    ],
)
def test_axis_from_outside_keeps_the_parts_that_name_it(axes: dict, policies: set, runs: set, guards: set) -> None:
    parsed = plan.parse(PARTS, axes=axes)
    cells = [one for one in parsed.cells if plan.IDEAL not in one.variables]
    assert {one.settings.vm for one in cells} == policies and {one.settings.run for one in cells} == runs
    assert {one.variables.get("guard") for one in cells} == guards
    assert plan.parse(parsed.text).text == parsed.text  # the copy in the sweep's folder is a valid plan


@pytest.mark.parametrize(
    ("name", "texts", "values"),
    [
        ("vm", ["2q,ws"], ["2q", "ws"]),
        ("ws.tau_ms", ["10,100"], [10, 100]),
        ("swap", ["sim:hdd,seek=1", "sim:ssd"], ["sim:hdd,seek=1", "sim:ssd"]),
        ("workload", ["true 1,2"], ["true 1,2"]),
        ("jitter", ["0", "1,2"], [0, 1, 2]),
    ],
)
def test_axis_in_words(name: str, texts: list[str], values: list) -> None:
    assert plan.axis(name, texts) == values


@pytest.mark.parametrize(("name", "text"), [("jitter", "x"), ("run", "a"), ("vm", "a,a"), ("timeout", "5")])
def test_bad_axis_is_refused(name: str, text: str) -> None:
    with pytest.raises(LabError):
        plan.axis(name, [text])


def test_jitters_are_cells_of_their_own_on_the_kernels_command_line() -> None:
    cells = plan.parse('workload = "true"\njitters = 3\ncmdline = "sample_ms=9"').cells
    assert [one.settings.cmdline for one in cells] == [f"sample_ms=9 jitter={nr}" for nr in range(3)]
    assert [one.variables["jitter"] for one in cells] == [0, 1, 2] and "-j2-" in cells[2].id
    assert plan.parse('workload = "true"\njitter = [2]\ncmdline = "sample_ms=9"').cells[0].id == cells[2].id


REPLICATED = 'workload = "thrash {size:4096} 10 {seed}"\nvm = ["2q", "ws"]\n'


def test_draw_follows_from_the_number_alone() -> None:
    """Written down here, since stored results depend on it. The numbers are those of sha256("replicate 1")."""
    assert replicates.draw(1) == replicates.Draw(241606, 635593, 773932, pytest.approx(0.0222257, abs=1e-7))
    assert replicates.size(4096, replicates.draw(1).place) == 4057
    assert len({replicates.draw(number) for number in range(1, 1001)}) == 1000


def test_sizes_are_uniform_within_1_percent() -> None:
    drawn = [replicates.size(4096, replicates.draw(number).place) for number in range(1, 4001)]
    assert set(drawn) == set(range(4056, 4137))
    assert min(map(drawn.count, set(drawn))) > 3.9e3 / 81 / 2 and max(map(drawn.count, set(drawn))) < 2 * 4e3 / 81
    assert {replicates.size(99, place) for place in (0, 0.5, 0.999)} == {99}
    assert [replicates.size(100, place) for place in (0, 0.5, 0.999)] == [99, 100, 101]


def test_replicate_draws_jitter_seed_layout_and_size() -> None:
    [two, ws] = plan.parse(REPLICATED + "replicate = 3").cells
    one = replicates.draw(3)
    assert two.settings.run == f"thrash {replicates.size(4096, one.place)} 10 {one.seed}" == ws.settings.run
    assert two.settings.cmdline == f"jitter={one.jitter} layout={one.layout}" == ws.settings.cmdline
    assert two.settings.seed == str(one.seed) and two.settings.mem == qemu.Settings().mem
    assert two.variables["workload"] == "thrash {size:4096} 10 {seed}" and "-r3-" in two.id


def test_every_size_of_a_command_moves_together() -> None:
    [one] = plan.parse('workload = "thrash {size:1000} & thrash {size:1000}; seqscan 1000"\nreplicate = 7').cells
    assert one.settings.run == "thrash 1010 & thrash 1010; seqscan 1000"


def test_size_without_replicates_is_the_number() -> None:
    marked, plain = (plan.parse(f'workload = "thrash {text} 10"').cells[0] for text in ("{size:4096}", "4096"))
    assert marked.settings == plain.settings and marked.id == plain.id


def test_cells_keep_their_names_if_the_number_of_replicates_grows() -> None:
    few, many = ([one.id for one in plan.parse(REPLICATED + f"replicates = {count}").cells] for count in (2, 5))
    assert len(few) == 4 and len(many) == 10 and set(few) < set(many)
    one = plan.parse(REPLICATED + "replicates = 5", axes={"replicate": [2]}).cells
    assert {cell.id for cell in one} == {name for name in many if "-r2-" in name}


def test_ideal_cell_of_a_replicate_has_its_draw() -> None:
    cells = plan.parse(REPLICATED + 'replicates = 2\nideal = "99M"').cells
    ideals = {one.settings.run: one for one in cells if plan.IDEAL in one.variables}
    others = [one for one in cells if plan.IDEAL not in one.variables]
    assert len(ideals) == 2 and len(others) == 4
    assert all(ideals[one.settings.run].settings.cmdline == one.settings.cmdline for one in others)


def test_probe_has_a_draw_of_one_replicate() -> None:
    probes = plan.parse(REPLICATED + "replicates = 9").probes()
    assert len(probes) == 2 and all("layout=" in one.cmdline for one in probes)


def test_workload_whose_size_does_not_vary_is_told() -> None:
    told = plan.parse('workload = ["a", "b {size:99}", "c {size:100}"]\nreplicates = 2').remark
    assert told == "replicates do not vary the size of 'a' and 1 more: {size:N} with an N of 100 or more would"
    assert plan.parse('workload = "a"').remark == plan.parse('workload = "a {size:4096}"\nreplicates = 2').remark == ""


def test_disk_makes_a_cell_of_its_own_that_keeps_nothing() -> None:
    cells = plan.parse('workload = "true"\ndisk = ["8M", "16M"]').cells
    assert [one.settings.disk for one in cells] == ["8M", "16M"] and cells[0].id != cells[1].id
    assert not any(one.settings.disk_kept for one in cells)
    assert "disk=sim:hdd,at=" in qemu.command_line(cells[1].settings)


def test_any_parameter_is_an_axis() -> None:
    text = 'workload = "true"\nvm = ["2q", "ws"]\n[parameters]\n"ws.tau_ms" = [10, 50]\nguard = "token"\n'
    cells = plan.parse(text).cells
    assert [(one.settings.vm, one.settings.cmdline) for one in cells] == [
        (vm, f"ws.tau_ms={tau} guard=token") for vm in ("2q", "ws") for tau in (10, 50)
    ]
    assert cells[1].variables["ws.tau_ms"] == 50
    assert [one.id for one in plan.parse(text.replace('"ws.tau_ms"', "ws.tau_ms")).cells] == [one.id for one in cells]


# --- the estimate


def test_longest_cells_come_first() -> None:
    cells = [{"processes": 1, "mem": "16M"}, {"processes": 8, "mem": "16M"}, {"processes": 8, "mem": "8192K"}]
    assert sorted(cells, key=estimate.weight) == cells[::-1]


def test_a_cell_is_expected_to_take_the_median_of_its_like() -> None:
    done = [({"vm": "2q", "jitter": nr}, seconds) for nr, seconds in enumerate([1.0, 9.0, 2.0])]
    done.append(({"vm": "ws", "jitter": 0}, 30.0))
    asked = [{"vm": "2q", "jitter": 7}, {"vm": "ws", "jitter": 7}, {"vm": "clock", "jitter": 7}]
    assert estimate.predict(done, asked) == [2.0, 30.0, 5.5]


def test_makespan_gives_each_cell_to_the_first_free_slot() -> None:
    assert estimate.makespan([5, 3, 3, 1], 2) == 6
    assert estimate.makespan([5, 3], 0) == 8
    assert estimate.makespan([], 2) == 0
