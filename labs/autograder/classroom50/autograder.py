#!/usr/bin/env python3
"""What Classroom 50 runs for each submission, in the student's checkout: it leaves result.json and release-body.md.

Copy it to CLASSROOM/autograders/ASSIGNMENT/, where ASSIGNMENT is the name of the lab. It needs a built tree on the
runner, TIDEMARK (/opt/tidemark), and hidden tests, if there are any, in TIDEMARK_SECRET (/opt/tidemark-secret). Both
hold what students must not have: use a runner of your own, not a public container.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_S = 1500


def main() -> None:
    """Grade the checkout, and leave what came of it. A status that is not 0 says that the student is not to blame."""
    tree = Path(os.environ.get("TIDEMARK", "/opt/tidemark"))
    secret = Path(os.environ.get("TIDEMARK_SECRET", "/opt/tidemark-secret"))
    tidemark = str(tree / "build/venv/bin/tidemark")
    hidden = ["--secret", str(secret)] if secret.is_dir() else []
    with tempfile.TemporaryDirectory() as scratch:
        grade = str(Path(scratch, "grade.json"))
        words = ["grade", os.environ["ASSIGNMENT"], "--submission", ".", "--json", grade, *hidden]
        done = subprocess.run([tidemark, *words], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
        if done.returncode:
            sys.exit(done.returncode)
        Path("release-body.md").write_text("".join(f"    {line}\n" for line in done.stdout.splitlines()))
        subprocess.run([tidemark, "export-grade", grade, "--to", "classroom50", "-o", "result.json"], check=True)


if __name__ == "__main__":
    main()
