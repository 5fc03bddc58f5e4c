"""What students get: an archive for each name, with three machines, a sheet, and files for the answers.

    NAME.tar.gz    hunts/1, 2, 3     images: kernel, symbols, first file system, the programs of the command
                   hunts/README.md   the commands, and what to hand in; hunts/answers.toml and answers.md to fill in

No file of it names the changed line, the symptom or the kernel's number in the pool. The kernels keep the symbols and
lines that gdb needs. Files that the machines share are in the archive once, as links. Equal pools, secrets and names
make equal bytes.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.files import write_atomically
from tidemark.grade.hunts import drawing, symptoms
from tidemark.grade.hunts.pool import BASE, Pool, Row, parts
from tidemark.machine import qemu
from tidemark.runs import result_image

TOP = "hunts"
ANSWERS, WRITTEN, SHEET = "answers.toml", "answers.md", "README.md"
MOST = 20 * 10**6  # bytes of a student's machines, unpacked
SHEET_TEXT = """# Three bugs of your own: {name}

Each machine has one changed line. Unpack this archive in your tree, and call in a shell of `make lab`:

{commands}

1. Run a machine, and read its console. Run the same command without `--image`: your own kernel behaves correctly. Say
   in one sentence what is wrong, and what should have happened.
2. Go back from the symptom, as docs/reference/gdb.md says: *this is wrong; what wrote it last, and was that right?*
   The last line that `tidemark run` prints puts gdb at the symptom.
3. Write the place into hunts/answers.toml: file, function and line in your tree that the machine executes differently.
4. Write the way into hunts/answers.md: each step from the symptom to the cause with gdb's output (times, addresses,
   values), the values with which the line goes wrong, and why this has this symptom.

Hand in hunts/answers.toml and hunts/answers.md. For each machine there are 2 points for the place, and 6 for the way.
"""


def commands(rows: Sequence[Row]) -> list[str]:
    """The command of each machine."""
    works = {work.name: work for work in symptoms.listed()}
    return [symptoms.shell(works[row.workload], f"{TOP}/{nr}", f"results/hunt{nr}") for nr, row in enumerate(rows, 1)]


def texts(name: str, rows: Sequence[Row]) -> dict[str, bytes]:
    """The files that are not machines."""
    shown = "\n".join(f"    {command}" for command in commands(rows))
    numbers = range(1, len(rows) + 1)
    return {
        SHEET: SHEET_TEXT.format(name=name, commands=shown).encode(),
        ANSWERS: "".join(f'[hunt{nr}]\nfile = ""\nfunction = ""\nline = 0\n\n' for nr in numbers).encode(),
        WRITTEN: "".join(f"## hunt{nr}\n\n" for nr in numbers).encode(),
    }


def machine(pool: Pool, row: Row) -> dict[str, bytes]:
    """The files of a machine, by their names in its image. Raises LabError if one cannot be read."""
    base, works = pool.folder / BASE, {work.name: work for work in symptoms.listed()}
    names = [qemu.INITRD, *result_image.programs(base, works[row.workload].run)]
    try:
        own = {name: gzip.decompress(path.read_bytes()) for name, path in parts(pool.kernel(row.number))}
        return own | {name: (base / name).read_bytes() for name in names}
    except (OSError, EOFError) as error:
        raise LabError(f"{pool.folder}: a kernel is damaged: {error}", BAD_INPUT) from None


def files(pool: Pool, name: str, rows: Sequence[Row]) -> dict[str, bytes]:
    """All files of a student's archive. Raises LabError if the machines are larger than MOST."""
    found = {f"{TOP}/{path}": data for path, data in texts(name, rows).items()}
    for nr, row in enumerate(rows, 1):
        found |= {f"{TOP}/{nr}/{path}": data for path, data in machine(pool, row).items()}
    size = sum(len(data) for data in set(found.values()))
    if size > MOST:
        raise LabError(f"{name}: three machines have {size / 1e6:.1f} MB, more than {MOST / 1e6:.0f}", FAILED)
    return found


def packed(found: dict[str, bytes]) -> bytes:
    """A .tar.gz with these files; a file that is equal to an earlier one is a link to it."""
    plain, first = io.BytesIO(), dict[bytes, str]()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, data in sorted(found.items()):
            member = tarfile.TarInfo(path)
            member.mode = 0o755 if "/build/user/" in path else 0o644
            earlier = first.setdefault(data, path)
            if earlier != path:
                member.type, member.linkname = tarfile.LNKTYPE, earlier
                archive.addfile(member)
            else:
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)


def write(pool: Pool, rows: Sequence[Row], names: Mapping[str, str], secret: bytes, out: Path) -> Counter[int]:
    """Write the archive of each name, `names` by their plain forms; how often each kernel was drawn."""
    times: Counter[int] = Counter()
    drawn = {plain: drawing.drawn(rows, secret, name) for plain, name in names.items()}
    for plain, hunts in drawn.items():
        write_atomically(out / f"{plain}.tar.gz", packed(files(pool, names[plain], hunts)))
        times.update(row.number for row in hunts)
    return times
