"""VS Code's files and the container's: what they name exists, and gdb accepts their commands."""

from __future__ import annotations

import json
import re

import pytest
from debugger import free_port, line_of, session
from tidemark.machine import qemu


def with_comments(path: str) -> dict:
    """A JSON file in which lines may be comments."""
    text = (qemu.ROOT / path).read_text()
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def everything_in(value: object) -> list[str]:
    """Every string in a JSON value, at any depth."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in everything_in(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in everything_in(inner)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", [".vscode/launch.json", ".vscode/tasks.json"])
def test_what_vscode_names_is_there(name: str) -> None:
    """Files of the tree, inputs, and the tasks that other tasks start."""
    settings = with_comments(name)
    texts = "\n".join(everything_in(settings))
    for path in re.findall(r"\$\{workspaceFolder\}/(\S+)", texts) + re.findall(r"(tools/\S+)", texts):
        assert (qemu.ROOT / path).exists(), path
    assert set(re.findall(r"\$\{input:(\w+)\}", texts)) == {given["id"] for given in settings["inputs"]}
    labels = {task["label"] for task in with_comments(".vscode/tasks.json")["tasks"]}
    for one in settings.get("configurations", []) + settings.get("tasks", []):
        assert {one.get("preLaunchTask"), one.get("dependsOn")} - {None} <= labels


def test_tasks_of_vscode_are_targets_with_variables_of_make() -> None:
    makefile = (qemu.ROOT / "Makefile").read_text()
    for task in with_comments(".vscode/tasks.json")["tasks"]:
        make, *words = [*task["command"].split(), *task.get("args", [])]
        targets = [word for word in words if "=" not in word]
        assert make == "make" and all(
            re.search(rf"^[^:]*\b{target}\b[^:]*:", makefile, re.MULTILINE) for target in targets
        )
        assert all(word.split("=")[0] in qemu.DEFAULTS for word in words if "=" in word)


def test_vscode_waits_for_the_line_that_qemu_says() -> None:
    tasks = {task["label"]: task for task in with_comments(".vscode/tasks.json")["tasks"]}
    ready = tasks["qemu-gdb"]["problemMatcher"]["background"]["endsPattern"]
    assert re.search(ready, qemu.greeting(qemu.Settings(), gdb=True))
    assert re.search(ready, "tidemark: VM=a b may not contain blanks")
    assert not re.search(ready, "  CC    kernel/main.c")
    ports = {one["miDebuggerServerAddress"] for one in with_comments(".vscode/launch.json")["configurations"]}
    assert ports == {f"localhost:{qemu.Settings().gdb_port}"}


def test_launch_with_a_program_in_the_order_of_vscode() -> None:
    """What the extension sends to gdb's machine interface: setup, the kernel's file, connect, the program."""
    (launch,) = [c for c in with_comments(".vscode/launch.json")["configurations"] if "postRemoteConnectCommands" in c]
    port = str(free_port())

    def console(command: str) -> str:
        here = command.replace("${workspaceFolder}", str(qemu.ROOT)).replace("${input:program}", "thrash")
        return f'-interpreter-exec console "{here}"'

    place = f"user/workloads/thrash.c:{line_of('user/workloads/thrash.c', 'open_channels(&ch);')}"
    # Programs lie at the same addresses: a condition, as entered in the editor, selects the program.
    condition = '$_streq(current_task->comm, \\"thrash\\")'
    steps = [console(command["text"]) for command in launch["setupCommands"]]
    steps += [f"-file-exec-and-symbols {qemu.KERNEL}", f"-target-select remote localhost:{port}"]
    steps += [console(command["text"]) for command in launch["postRemoteConnectCommands"]]
    steps += [f'-break-insert -c "{condition}" {place}', "-exec-continue", console("tm-ps"), console("kill")]
    made = session(
        "thrash 2 512 2",
        "thrash",
        *steps,
        debugger=[launch["miDebuggerPath"].replace("${workspaceFolder}", str(qemu.ROOT)), "--interpreter=mi"],
        GDBPORT=port,
    )
    assert '*stopped,reason="breakpoint-hit"' in made.output and 'file="user/workloads/thrash.c"' in made.output
    assert re.search(r'~">.*user.* thrash\\n"', made.output), made.output[-2000:]


def test_container_takes_its_packages_from_setup() -> None:
    settings = with_comments(".devcontainer/devcontainer.json")
    folder = qemu.ROOT / ".devcontainer"
    dockerfile = (folder / settings["build"]["dockerfile"]).read_text()
    context = (folder / settings["build"]["context"]).resolve()
    ((sources, target),) = re.findall(r"^COPY (.+) (\S+)$", dockerfile, re.MULTILINE)
    assert all((context / source).is_file() for source in sources.split())
    assert f"INSTALL=yes {target}setup.sh $goals" in dockerfile
    assert settings["postCreateCommand"] == "INSTALL=yes tools/setup.sh lab grade"
    listed = (qemu.ROOT / "tools/setup.sh").read_text()
    for goal in ("gdb", "iso", "lab"):
        assert re.search(rf"^\t\t(.* \| )?{goal}( \| .*)?\) echo", listed, re.MULTILINE), goal
