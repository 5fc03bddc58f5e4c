"""Do the labs' tests notice mistakes? Makes small random changes to the solutions, and grades each as a submission.

    build/venv/bin/python tests/mutation/labs.py                     # 20 changes for each lab that has code
    build/venv/bin/python tests/mutation/labs.py clock --nr 5        # of this lab only

A seed determines the changes: a line of what students write, between the marks `lab: ...` and `lab: end` of the
solution's files, then one of its changes (tidemark.grade.judge.broken.changes). A change that does not compile, or that
compiles to the same code, is drawn again. build/mutation/labs/LAB/handed-in has a submission for each change, and
grades/ its grade.json, by `tidemark grade-class`, which continues after Ctrl-C. A change that gets full points is
explained if labs.toml has a row for it, and open otherwise.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from tidemark.grade.judge.broken import changes  # noqa: E402

PLACE, EXPLAINED = ROOT / "build/mutation/labs", Path(__file__).with_name("labs.toml")
TREE = PLACE / "tree"
COPIED = ("kernel", "tools", "boot", "user", "linker.ld")
MARK, END = "/* lab: ", "/* lab: end */"
NAMED = ("file", "in", "line", "change")  # what a row of labs.toml says of a change
PLAIN = "solution"  # the submission without a change


def of_toml(lab: str) -> dict:
    """What lab.toml says of a lab."""
    return tomllib.loads((ROOT / f"labs/{lab}/lab.toml").read_text())


def labs() -> list[str]:
    """The labs in which students write code, in their order."""
    found = {path.parent.name: of_toml(path.parent.name) for path in ROOT.glob("labs/*/lab.toml")}
    with_code = [lab for lab, one in found.items() if any(name.endswith(".c") for name in one["files"])]
    return sorted(with_code, key=lambda lab: found[lab]["number"])


def places(lab: str) -> list[tuple[str, int]]:
    """(file, line) of what students write and what can be changed."""
    found = []
    for file in of_toml(lab)["files"]:
        inside = False
        for number, line in enumerate((ROOT / file).read_text().splitlines() if file.endswith(".c") else [], 1):
            inside = (inside or line.startswith(MARK)) and line.strip() != END
            if inside and any(changes.of(line)):
                found.append((file, number))
    return found


def function_of(lines: list[str], number: int) -> str:
    """The function that line `number`, from 1 on, is in: equal lines of two functions are different changes."""
    heads = (re.match(r"\w.*?\b(\w+)\(", line) for line in reversed(lines[:number]))
    return next((head[1] for head in heads if head), "")


def code_of(file: str) -> bytes:
    """The machine code of a source in the copy; empty if it does not compile."""
    compiler = re.split(r" \d+\.", (ROOT / "build/flags").read_text())[0]
    target, bare = Path("build", file).with_suffix(".o"), PLACE / "bare.o"
    command = ["make", "-s", "-f", "tools/build.mk", f"CC={compiler}", str(target)]
    if subprocess.run(command, cwd=TREE, capture_output=True).returncode:
        return b""
    subprocess.run(["objcopy", "--strip-debug", str(TREE / target), str(bare)], check=True)
    return bare.read_bytes()


def copy_tree() -> None:
    """Makes the copy in which `drawn` compiles."""
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, TREE / name)


def drawn(lab: str, seed: int) -> Iterator[tuple[str, int, str, str]]:
    """The changes that change the code, in drawn order: (file, line, what, text of the file)."""
    texts = {file: (ROOT / file).read_text().splitlines(keepends=True) for file, _ in places(lab)}
    every = [
        (file, number, what, text)
        for file, number in places(lab)
        for what, text in changes.of(texts[file][number - 1].rstrip("\n"))
    ]
    random.Random(f"{lab} {seed}").shuffle(every)
    before = {file: code_of(file) for file in texts}
    for file, number, what, text in every:
        changed = "".join([*texts[file][: number - 1], text + "\n", *texts[file][number:]])
        (TREE / file).write_text(changed)
        code = code_of(file)
        shutil.copy(ROOT / file, TREE / file)
        if code and code != before[file]:
            yield file, number, what, changed


def submit(lab: str, place: Path) -> None:
    """Put the solution's files into a submission."""
    for file in of_toml(lab)["files"]:
        if (ROOT / file).exists():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, place / file)


def points(lab: str, name: str) -> dict[str, float]:
    """The points of a graded submission, by test."""
    grade = json.loads((PLACE / lab / "grades" / name / "grade.json").read_text())
    return {test["title"]: test["given"] for test in grade["tests"]}


def hand_in(lab: str, nr: int, seed: int) -> list[dict]:
    """Write a submission for each change, and one of the solution; returns the changes."""
    place, rows = PLACE / lab / "handed-in", []
    shutil.rmtree(place, ignore_errors=True)
    submit(lab, place / PLAIN)
    for at, (file, number, what, text) in zip(range(1, nr + 1), drawn(lab, seed)):
        submit(lab, place / f"m{at:02}")
        (place / f"m{at:02}" / file).write_text(text)
        lines = (ROOT / file).read_text().splitlines()
        rows.append({"name": f"m{at:02}", "file": file, "at": number, "change": what})
        rows[-1] |= {"line": lines[number - 1].strip(), "in": function_of(lines, number)}
    return rows


def judge(lab: str, rows: list[dict]) -> None:
    """Grade the submissions, and say which changes get full points."""
    command = [sys.executable, "-m", "tidemark.cli", "grade-class", str(PLACE / lab / "handed-in"), "--lab", lab]
    subprocess.run([*command, "-q", "-o", str(PLACE / lab / "grades")], cwd=ROOT, check=False)
    known = tomllib.loads(EXPLAINED.read_text())["explained"]
    explained = {(row["lab"], *(row[name] for name in NAMED)) for row in known}
    lost, fine, open_, full = 0, 0, [], points(lab, PLAIN)
    for row in rows:
        given = points(lab, row["name"])
        row["failing"] = next((title for title in full if given.get(title, 0) < full[title]), "")
        if row["failing"]:
            lost += 1
        elif (lab, *(row[name] for name in NAMED)) in explained:
            fine += 1
        else:
            open_.append(row)
        print(f"{row['name']} {row['file']}:{row['at']} {row['change']}: {row['failing'] or 'full points'}")
    print(f"{lab}: {len(rows)} changes, {lost} lose points, {fine} explained, {len(open_)} open", flush=True)


def main() -> None:
    """Draw, grade, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab", nargs="*", help="labs; default: all that have code")
    parser.add_argument("--nr", type=int, default=20, help="number of changes for each lab (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    args = parser.parse_args()
    if unknown := set(args.lab) - set(labs()):
        parser.error(f"{', '.join(sorted(unknown))}: the labs with code are {', '.join(labs())}")
    copy_tree()
    for lab in args.lab or labs():
        judge(lab, hand_in(lab, args.nr, args.seed))


if __name__ == "__main__":
    main()
