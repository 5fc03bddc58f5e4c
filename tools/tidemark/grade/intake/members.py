"""Reads a submitted archive. This is a separate program that imports none of our modules: it runs in the sandbox
(tidemark.grade.build.reading), since an archive may be malicious.

It reads an order from stdin, one line of JSON, followed by the archive; it answers in JSON on stdout:

    order    kind: one of SUFFIXES; wanted: a pattern for the names, without folders, of files whose content is
             wanted; released: paths of files whose SHA-256 is wanted, at the top or below one folder
    answer   files: [path, content in base64, or null and what is wrong with it]; digests: SHA-256 by path (empty: the
             file is too large); or refused: why the archive was not read to its end

No number in an archive can be trusted, so each has a limit here: the unpacked size, the number of members, the
length of a header, of a directory and of a file. A tar's headers are read here and not by tarfile, which reads one of
any length at once; a zip's directory is measured before zipfile reads it. The sandbox limits memory and time for the
rest (a compressor that wants memory, a name without end).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import lzma
import re
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

MOST_UNPACKED = 512 << 20
MOST_MEMBERS = 100_000
MOST_HEADER = 256 << 10  # an extended header of a tar: a long name, attributes
MOST_DIRECTORY = 8 << 20  # of a zip
MOST_FILE = 1 << 20
MOST_WANTED = 16 << 20  # all wanted files together
BLOCK = 512
END_OF_ZIP, END_SIZE, MOST_COMMENT = b"PK\5\6", 22, 1 << 16
TARS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".tar": lambda file: file,
    ".tar.gz": lambda file: gzip.GzipFile(fileobj=file),
    ".tgz": lambda file: gzip.GzipFile(fileobj=file),
    ".tar.xz": lzma.LZMAFile,
}
SUFFIXES = (".zip", *TARS)
SOURCES_ONLY = "hand in sources alone, without build/"
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
    ValueError, OverflowError, OSError,
)  # fmt: skip


class Refused(Exception):
    """The archive is not read to its end; the text says why."""


@dataclass(frozen=True)
class Member:
    """A member of an archive. `read` gives its content up to a number of bytes, until the next member is asked for."""

    name: str
    is_file: bool
    read: Callable[[int], bytes]


class Metered:
    """The unpacked bytes of an archive, up to MOST_UNPACKED."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.left = file, MOST_UNPACKED

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes, or fewer at the end. Raises Refused if the sum is too large."""
        self.left -= size
        if self.left < 0:
            raise Refused(f"it unpacks to more than {MOST_UNPACKED >> 20} MiB: {SOURCES_ONLY}")
        return self.file.read(size)

    def whole(self, size: int) -> bytes:
        """Exactly `size` bytes. Raises EOFError if there are fewer."""
        data = self.read(size)
        if len(data) < size:
            raise EOFError("it ends early")
        return data

    def skip(self, size: int) -> None:
        """Read `size` bytes and forget them."""
        while size > 0:
            size -= len(self.whole(min(size, MOST_FILE)))


def padding(size: int) -> int:
    """Bytes from the end of a tar member's content to the next block."""
    return -size % BLOCK


def records(data: bytes) -> dict[str, str]:
    """The keys and values of an extended POSIX header (pax), which is a list of lines "LENGTH KEY=VALUE"."""
    found, at = {}, 0
    while at < len(data):
        blank = data.index(b" ", at, at + 20)
        end = at + int(data[at:blank])
        if not blank < end <= len(data):
            raise ValueError("an extended header is damaged")
        key, _, value = data[blank + 1 : end - 1].partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        at = end
    return found


def extension(header: tarfile.TarInfo, file: Metered) -> dict[str, str]:
    """The values in a header that describes the next member."""
    if header.size > MOST_HEADER:
        raise Refused(f"a header in it has {header.size:,} bytes, more than any name needs")
    data = file.whole(header.size)
    file.skip(padding(header.size))
    if header.type == tarfile.GNUTYPE_LONGNAME:
        return {"path": data.rstrip(b"\0").decode("utf-8", "surrogateescape")}
    return records(data) if header.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE) else {}


EXTENSIONS = (
    tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
)  # fmt: skip
WITHOUT_CONTENT = (
    tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE
)  # fmt: skip


def in_tar(plain: IO[bytes]) -> Iterator[Member]:
    """The members of a tar, which is read once from its beginning to its end."""
    file, said = Metered(plain), dict[str, str]()
    block = file.whole(BLOCK)
    while len(block) == BLOCK and block.strip(b"\0"):
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if header.size < 0:
            raise ValueError("a member has a negative size")
        if header.type in EXTENSIONS:
            said |= extension(header, file)
        else:
            name, size = said.get("path", header.name), int(said.get("size", header.size))
            is_plain = header.isreg() and header.type != tarfile.GNUTYPE_SPARSE
            is_file = is_plain and not name.endswith("/") and not any(key.startswith("GNU.sparse") for key in said)
            size = 0 if header.type in WITHOUT_CONTENT else size
            if header.type == tarfile.GNUTYPE_SPARSE:
                more = block[482]
                while more:
                    more = file.whole(BLOCK)[504]
            taken = 0

            def read(most: int, size: int = size) -> bytes:
                nonlocal taken
                taken = min(most, size)
                return file.whole(taken)

            yield Member(name, is_file, read)
            file.skip(size - taken + padding(size))
            said = {}
        block = file.read(BLOCK)


def check_directory(data: bytes) -> None:
    """Raises Refused if a zip's directory, all of which zipfile reads, is too long."""
    at = data.rfind(END_OF_ZIP, max(0, len(data) - END_SIZE - MOST_COMMENT))
    size = int.from_bytes(data[at + 12 : at + 16], "little") if at >= 0 else 0
    if size > MOST_DIRECTORY:
        raise Refused(f"it has more than {MOST_MEMBERS} members: {SOURCES_ONLY}")


def in_zip(data: bytes) -> Iterator[Member]:
    """The members of a .zip."""
    check_directory(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            mode = member.external_attr >> 16
            is_file = not member.is_dir() and (not stat.S_IFMT(mode) or stat.S_ISREG(mode))

            def read(most: int, member: zipfile.ZipInfo = member) -> bytes:
                with archive.open(member) as file:
                    return file.read(most)

            yield Member(member.filename, is_file, read)


def cleaned(name: str) -> str:
    """A member's name with / between its parts. Raises Refused for a name that no honest archive has."""
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or parts[0].endswith(":") or (len(parts) > 1 and not parts[0]):
        raise Refused(f"a member is called {name!r}, which lies outside of the archive")
    return "/".join(part for part in parts if part not in ("", "."))


def tails(path: str) -> tuple[str, str]:
    """A path, and the path without its first folder."""
    return path, path.partition("/")[2]


def answer(order: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The answer to an order."""
    wanted, released = re.compile(order["wanted"], re.IGNORECASE), set(order["released"])
    kind, files, digests, room = order["kind"], [], {}, MOST_WANTED
    members = in_zip(data) if kind == ".zip" else in_tar(TARS[kind](io.BytesIO(data)))
    for number, member in enumerate(members, 1):
        if number > MOST_MEMBERS:
            raise Refused(f"it has more than {MOST_MEMBERS} members: {SOURCES_ONLY}")
        path = cleaned(member.name)
        is_wanted = wanted.fullmatch(path.rpartition("/")[2])
        if is_wanted and not member.is_file:
            files.append([path, None, f"{path} is not a file: hand in the file itself"])
        elif is_wanted or (member.is_file and released.intersection(tails(path))):
            content = member.read(MOST_FILE + 1)
            is_large = len(content) > MOST_FILE
            digests[path] = "" if is_large else hashlib.sha256(content).hexdigest()
            if is_wanted:
                room -= len(content)
                coded = base64.b64encode(content).decode()
                why = f"{path} is larger than {MOST_FILE >> 20} MiB"
                files.append([path, None, why] if is_large else [path, coded, ""])
        if room < 0:
            raise Refused(f"files with the lab's names have more than {MOST_WANTED >> 20} MiB: {SOURCES_ONLY}")
    return {"files": files, "digests": digests}


def answered(order: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The answer, or why there is none."""
    try:
        return answer(order, data)
    except Refused as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": "unpacking it takes more memory than any honest archive does"}
    except BROKEN as error:
        return {"refused": f"it cannot be read as {order['kind']}: {error or type(error).__name__}"}


if __name__ == "__main__":
    order = json.loads(sys.stdin.buffer.readline())
    json.dump(answered(order, sys.stdin.buffer.read()), sys.stdout)
