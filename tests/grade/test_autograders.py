"""The script that Gradescope, PrairieLearn and Autolab run, labs/autograder, with a stand-in for `tidemark grade`."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from grades import REPORT, sample
from soak import soak_but
from tidemark.grade.hand_back import result
from tidemark.machine import qemu

AUTOGRADER = qemu.ROOT / "labs/autograder"
GRADES = 'for word; do last=$here; here=$word; [ "$last" != --json ] || cp "$SAMPLE" "$word"; done\n'
BAD = r"""
echo '  File "secret.py": SECRET' >&2
printf 'tidemark: clock.c is "missing" \\ \033[31m\000\377\n' >&2
exit 3
"""
REFUSED = """Not graded (status 3). Mend what is said here, or tell your instructor.
tidemark: clock.c is "missing" \\ [31m"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The sample grade as a file."""
    result.save(sample(), tmp_path / "grade.json")
    return tmp_path / "grade.json"


def stand_in(folder: Path, grade: str, saved: Path) -> dict[str, str]:
    """An environment in which `tidemark grade` is this shell script; the other commands are the real ones."""
    folder.mkdir()
    program = folder / "tidemark"
    true = f'exec {sys.executable} -m tidemark.cli "$@"'
    program.write_text(f'#!/bin/sh\n[ "$1" = grade ] || {true}\necho "$*" >>{folder}/called\nhere=\n{grade}')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:/usr/bin:/bin", "SAMPLE": str(saved)}


def run(*command: object, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, timeout=60, check=False)


class Gradescope:
    results = "results/results.json"
    submission, secret = "submission", "source/secret"

    def lay(self, root: Path) -> None:
        (root / self.secret).mkdir(parents=True)
        (root / "source/lab").write_text("clock\n")

    def start(self, root: Path, env: dict[str, str]) -> dict:
        run(AUTOGRADER / "gradescope/run_autograder", cwd=root, env={**env, "AUTOGRADER_ROOT": str(root)})
        return json.loads((root / self.results).read_text())

    def says(self, data: dict) -> str:
        assert data["score"] == 0
        return data["output"]


class PrairieLearn:
    results = "results/results.json"
    submission, secret = "student", "tests/secret"

    def lay(self, root: Path) -> None:
        (root / self.secret).mkdir(parents=True)

    def start(self, root: Path, env: dict[str, str]) -> dict:
        run(AUTOGRADER / "prairielearn/run.sh", cwd=root, env={**env, "GRADE_ROOT": str(root), "LAB": "clock"})
        return json.loads((root / self.results).read_text())

    def says(self, data: dict) -> str:
        assert data["gradable"] is False
        return "\n".join(data["format_errors"])


class Autolab:
    results = None
    submission, secret = "handin.tar", "secret"

    def lay(self, root: Path) -> None:
        shutil.copy(AUTOGRADER / "autolab/autograde-Makefile", root / "Makefile")
        with tarfile.open(root / "autograde.tar", "w") as archive:
            archive.add(AUTOGRADER / "autolab/run.sh", "run.sh")
            (root / "made/secret").mkdir(parents=True)
            archive.add(root / "made/secret", "secret")

    def start(self, root: Path, env: dict[str, str]) -> dict:
        done = run("make", cwd=root, env={**env, "MAKEFLAGS": "", "MAKELEVEL": "0"})
        assert done.returncode == 0 and done.stderr == b""
        *lines, last = done.stdout.decode("ascii").splitlines()
        return {**json.loads(last), "output": "\n".join(lines)}

    def says(self, data: dict) -> str:
        assert data["scores"] == {"clock": 0}
        return data["output"]


@pytest.fixture(params=[Gradescope, PrairieLearn, Autolab], ids=lambda each: each.__name__)
def system(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    made = request.param()
    made.root = tmp_path / "root"
    made.root.mkdir()
    made.lay(made.root)
    return made


def test_a_system_gets_the_grade(system: object, saved: Path) -> None:
    data = system.start(system.root, stand_in(saved.parent / "bin", GRADES, saved))
    expected = {
        Gradescope: {"score": 5.9},
        PrairieLearn: {"gradable": True, "score": 5.9 / 20},
        Autolab: {"scores": {"clock": 5.9}, "output": REPORT},
    }[type(system)]
    assert {name: data[name] for name in expected} == expected
    called = (saved.parent / "bin/called").read_text()
    prefix = "" if isinstance(system, Autolab) else f"{system.root}/"
    assert called.startswith(
        f"grade clock --submission {prefix}{system.submission} --secret {prefix}{system.secret} --json "
    )


@pytest.mark.parametrize(
    ("grade", "said"),
    [
        (BAD, REFUSED),
        ("kill -9 $$", "Not graded: it took more than 540 seconds, or too much memory"),
        ("exec sleep 50", "Not graded: it took more than 0.3 seconds"),
        pytest.param("echo '{' >\"$8\"", "Graded, but the grade could not be written", marks=pytest.mark.soak),
        ("", "Graded, but the grade could not be written"),
    ],
    ids=["refuses", "killed", "too-long", "no-grade", "nothing"],
)  # fmt: skip
def test_a_system_is_told_why_there_is_no_grade(system: object, saved: Path, grade: str, said: str) -> None:
    env = stand_in(saved.parent / "bin", grade, saved)
    if "sleep" in grade:
        env["GRADE_LIMIT_S"] = "0.3"
    says = system.says(system.start(system.root, env))
    assert says.startswith(said) and "SECRET" not in says


def test_a_system_without_tidemark_says_so(system: object, saved: Path) -> None:
    env = {**os.environ, "PATH": "/usr/bin:/bin"}
    assert system.says(system.start(system.root, env)).startswith("Not graded (status 127)")


@pytest.mark.parametrize("system", soak_but([Gradescope, PrairieLearn], Gradescope), indirect=True)
def test_a_result_is_there_before_grading_ends(system: object, saved: Path) -> None:
    env = stand_in(saved.parent / "bin", f"cp {system.root / system.results} {saved.parent}/early\n" + GRADES, saved)
    system.start(system.root, env)
    assert system.says(json.loads((saved.parent / "early").read_text())).startswith(
        "Not graded: the autograder was stop"
    )


def test_classroom50_gets_the_grade_and_the_report(tmp_path: Path, saved: Path) -> None:
    env = stand_in(tmp_path / "bin", GRADES + "printf 'digits ... ok\\nScore: 5.9/20\\n'", saved)
    place = tmp_path / "opt/build/venv/bin"
    place.mkdir(parents=True)
    (place / "tidemark").symlink_to(tmp_path / "bin/tidemark")
    env |= {"TIDEMARK": str(tmp_path / "opt"), "TIDEMARK_SECRET": str(tmp_path), "ASSIGNMENT": "clock"}
    env |= {
        "CLASSROOM": "os",
        "SUBMISSION_TAG": "submit/2027-01-20T14-32-05Z-a1",
        "COMMIT_URL": "c",
        "RELEASE_URL": "r",
    }
    done = run(sys.executable, AUTOGRADER / "classroom50/autograder.py", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "result.json").read_text())["score"] == 590
    assert (tmp_path / "release-body.md").read_text() == "    digits ... ok\n    Score: 5.9/20\n"
    assert "grade clock --submission . --json" in (tmp_path / "bin/called").read_text()
    (tmp_path / "bin/tidemark").write_text("#!/bin/sh\nexit 3\n")
    assert run(sys.executable, AUTOGRADER / "classroom50/autograder.py", cwd=tmp_path, env=env).returncode == 3


def test_gradescope_s_setup_unpacks_and_builds(tmp_path: Path) -> None:
    source = tmp_path / "root/source"
    (source / "secret").mkdir(parents=True)
    (tmp_path / "tree/build/kernel").mkdir(parents=True)
    for name in ("Makefile", "build/tidemark.elf"):
        (tmp_path / "tree" / name).write_text("all:\n")
    with tarfile.open(source / "tidemark.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "tree", "tidemark")
    for name in ("apt-get", "make"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$*" >>{tmp_path}/called\n')
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "AUTOGRADER_ROOT": str(tmp_path / "root")}
    done = run(AUTOGRADER / "gradescope/setup.sh", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    for name in ("kernel", "tidemark.elf"):
        assert stat.S_IMODE((source / "tidemark/build" / name).stat().st_mode) & 0o007 == 0
    assert (source / "tidemark/Makefile").exists() and stat.S_IMODE((source / "secret").stat().st_mode) & 0o077 == 0
    assert (tmp_path / "called").read_text().endswith("make -C tidemark grade-base\n")


def test_the_example_question_runs_what_is_there() -> None:
    options = json.loads((AUTOGRADER / "prairielearn/info.json").read_text())["externalGradingOptions"]
    entrypoint = qemu.ROOT / Path(options["entrypoint"]).relative_to("/tidemark")
    assert os.access(entrypoint, os.X_OK) and options["timeout"] <= 600 and "LAB" in options["environment"]


def test_gradescope_tells_whose_quiz_it_is(tmp_path: Path, saved: Path) -> None:
    system, root = Gradescope(), tmp_path / "root"
    system.lay(root)
    (root / "submission_metadata.json").write_text(json.dumps({"users": [{"name": "Zoë Ng"}]}))
    system.start(root, stand_in(tmp_path / "bin", "exit 3\n", saved))
    assert "--student Zoë Ng --json" in (tmp_path / "bin/called").read_text()
    (root / "source/roster").write_text("Zoë Ng\n")
    system.start(root, stand_in(tmp_path / "other", "exit 3\n", saved))
    assert f"--student Zoë Ng --roster {root}/source/roster --json" in (tmp_path / "other/called").read_text()


def test_gradescope_grades_a_quiz_only_in_a_supervised_session(tmp_path: Path, saved: Path) -> None:
    system, root = Gradescope(), tmp_path / "root"
    system.lay(root)
    for at, told in enumerate(("--secret", "--supervised")):
        env = stand_in(tmp_path / f"bin{at}", "exit 3\n", saved)
        system.start(root, env)
        called = (tmp_path / f"bin{at}/called").read_text()
        assert told in called and ("--supervised" in called) == bool(at)
        (root / "source/supervised").touch()
