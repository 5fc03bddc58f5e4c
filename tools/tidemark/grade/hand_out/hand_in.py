"""A student's submission, packed: the lab's files at their paths, and a list of them, in LAB-handin.zip.

It is checked before it is packed: every file must exist, and none may be the starter's unchanged. The archive has no
dates, so the same files give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

from tidemark.errors import USAGE, LabError
from tidemark.files import write_atomically
from tidemark.grade.build import solution_files
from tidemark.grade.model import Lab

LIST = "handed-in.txt"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can have


def check(tree: Path, lab: Lab) -> None:
    """Raises LabError if a file of the lab is missing, or equals the starter's."""
    missing = [file for file in lab.sources if not (tree / file).is_file()]
    if missing:
        raise LabError(f"{', '.join(missing)}: not there, so nothing was packed", USAGE)
    untouched = [file for file in lab.sources if solution_files.is_starter(tree, lab, file)]
    if untouched:
        raise LabError(f"{', '.join(untouched)}: still the starter's, so nothing was packed", USAGE)


def listed(contents: dict[str, bytes]) -> str:
    """The list: SHA-256, bytes and path of each file."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {len(data):7,}  {file}\n" for file, data in contents.items())


def pack(tree: Path, lab: Lab, out: Path) -> str:
    """Write the archive, and return the list. Raises LabError as `check` does."""
    check(tree, lab)
    contents = {file: (tree / file).read_bytes() for file in (*lab.files, lab.answers) if (tree / file).is_file()}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {LIST: listed(contents).encode(), **contents}.items():
            member = zipfile.ZipInfo(name, FIRST_DATE)
            member.external_attr, member.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    write_atomically(out, data.getvalue())
    return listed(contents)
