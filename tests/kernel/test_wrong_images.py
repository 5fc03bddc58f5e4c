"""Images with a single error, made by debugfs: the kernel reports it to the right process, and continues."""

from __future__ import annotations

import shlex
import struct
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from tidemark.machine import qemu

MOUNT = "mkdir /mnt; mount -t ext2 /dev/sda /mnt"
CHECK = "echo went on; cat /proc/vm/check"


def image_of(folder: Path, *commands: str, names: str = "", options: tuple[str, ...] = (), size: str = "1M") -> Path:
    """An image with files, modified by debugfs."""
    content = folder / "content"
    content.mkdir()
    for name in names.split():
        (content / name).write_text(f"{name}\n")
    (content / "folder").mkdir()
    image = ext2.make(folder / "image", size, *options, content=content)
    ext2.tool("debugfs", "-w", "-f", "-", image, text="\n".join(commands) + "\n")
    return image


def entry(inode: int, size: int, name: bytes) -> bytes:
    """An entry of a directory."""
    return struct.pack("<IHBB", inode, size, len(name), 2) + name + bytes(size - 8 - len(name))


def in_guest(image: Path, command: str) -> Result:
    return (
        boot(f"{MOUNT}; {command}; {CHECK}", disk=image, disk_kind="sim:ram")
        .check_exit()
        .check_lines(["went on", "^ok$"])
    )


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("links_count 0", "was deleted"),
        ("mode 030644", "is of no kind"),
        ("flags 0x80000", "is not laid out as in ext2"),
        ("file_acl 99999999", "has a wrong block of attributes"),
    ],
)
def test_wrong_inode_is_an_error_for_who_uses_it(tmp_path: Path, field: str, said: str) -> None:
    image = image_of(tmp_path, f"sif /hurt {field}", names="hurt sound")
    run = in_guest(image, "cat /mnt/hurt; cat /mnt/sound")
    run.check_lines([rf"ext2: sda: inode \d+ {said}: run e2fsck", "cat: /mnt/hurt: ", "^sound$"])


@pytest.mark.parametrize("size", [0, 100, 1 << 30])
def test_directory_of_a_wrong_size(tmp_path: Path, size: int) -> None:
    image = image_of(tmp_path, f"sif /folder size {size}", names="sound")
    run = in_guest(image, "ls /mnt/folder; cat /mnt/sound")
    run.check_lines(["has the wrong size for a directory", "ls: /mnt/folder: ", "^sound$"])


def test_link_longer_than_any_name(tmp_path: Path) -> None:
    image = image_of(tmp_path, f"symlink long {'l' * 100}", "sif long size 100000", names="sound")
    run = in_guest(image, "cat /mnt/long; cat /mnt/sound")
    run.check_lines([r"ext2: sda: inode \d+ is too long: run e2fsck", "^cat: /mnt/long: I/O error", "^sound$"])


def test_no_inode_is_left(tmp_path: Path) -> None:
    image = image_of(tmp_path, names="sound", options=("-N", "16"))
    run = in_guest(image, f"touch {' '.join(f'/mnt/{n}' for n in range(9))}; mkdir /mnt/more; cat /mnt/sound")
    run.check_lines(["^touch: /mnt/[0-9]: No space left on device", "^mkdir: /mnt/more: No space left", "^sound$"])


def test_device_numbers(tmp_path: Path) -> None:
    """Linux's two forms, both for /dev/null; and one that does not fit into the first."""
    wide = ("mknod wide c 1 3", "sif wide block[0] 0", "sif wide block[1] 0x103")
    image = image_of(tmp_path, "mknod small c 1 3", *wide, "mknod large c 300 7")
    run = in_guest(image, "echo text >/mnt/small; echo text >/mnt/wide; cat /mnt/small /mnt/wide /mnt/large")
    run.check_lines(["^cat: /mnt/large: No such device"])
    assert "text" not in run.console.partition("cat: ")[0].rpartition("partitions: none")[2]


def test_copies_of_the_superblock_in_two_groups_alone(tmp_path: Path) -> None:
    """The other groups have data blocks where a copy would be."""
    options = ("-b", "1024", "-g", "256", "-O", "sparse_super2,^sparse_super,^resize_inode")
    image = image_of(tmp_path, names="sound", options=options)
    in_guest(image, "cat /mnt/sound; dd if=/dev/zero of=/mnt/all bs=4096; umount /mnt").check_lines(["^sound$"])
    ext2.check(image)


def test_file_behind_what_revision_0_reaches(tmp_path: Path) -> None:
    image = ext2.make_old(tmp_path / "image", "1M", "-b", "1024")
    run = in_guest(image, "dd if=/dev/zero of=/mnt/far bs=1024 count=1 seek=2097152; ls -l /mnt/far; umount /mnt")
    run.check_lines(["^dd: .*: File too large", " 0 .* /mnt/far"])
    ext2.check(image)


def test_name_that_leads_elsewhere_while_it_is_used(tmp_path: Path) -> None:
    """On the device, the inode number in one entry is overwritten with another one."""
    image = image_of(tmp_path, names="hurt sound")
    to, other = (image.read_bytes().index(bytes([len(name), 1]) + name) - 6 for name in (b"hurt", b"sound"))
    change = f"dd if=/dev/sda of=/dev/sda bs=4 count=1 skip={other // 4} seek={to // 4}"
    run = in_guest(image, f"cat /mnt/hurt; {change}; rm /mnt/hurt; cat /mnt/hurt /mnt/sound")
    said = r"ext2: sda: directory 2 names inode \d+ twice: run e2fsck"
    run.check_lines([said, "^rm: /mnt/hurt: I/O error", "^hurt$", "^sound$"])


def test_directory_that_is_damaged_while_it_is_used(tmp_path: Path) -> None:
    """The directory's name, and that it does not contain `new`, are cached; one of its entries is overwritten on the
    device."""
    image = image_of(tmp_path, names="sound")
    block = int(ext2.tool("debugfs", "-R", "blocks /folder", image).split()[0])
    damage = f"dd if=/mnt/sound of=/dev/sda bs=4 count=1 seek={(block * 1024 + 12 + 4) // 4}"
    use = "echo new >/mnt/folder/new; rmdir /mnt/folder; cat /mnt/sound"
    run = in_guest(image, f"cat /mnt/folder/new; {damage}; {use}")
    wrong = rf"ext2: sda: directory \d+: a wrong entry at 12 of block {block}: run e2fsck"
    run.check_lines([wrong, "^sh: /mnt/folder/new: I/O error", wrong, "^rmdir: /mnt/folder: I/O error", "^sound$"])


def test_inode_in_use_that_is_marked_free(tmp_path: Path) -> None:
    """The inode's number is assigned to a new file, which is refused."""
    image = image_of(tmp_path, "freei /hurt", names="hurt")
    run = in_guest(image, "cat /mnt/hurt; echo new >/mnt/new; rm /mnt/hurt")
    run.check_lines(["^hurt$", r"inode \d+ is in use, but is marked free: run e2fsck"])


def test_inode_that_is_freed_twice(tmp_path: Path) -> None:
    image = image_of(tmp_path, "freei /hurt", names="hurt")
    in_guest(image, "rm /mnt/hurt").check_lines([r"inode \d+ is freed, but was free: run e2fsck"])


def attributes(image: Path) -> int:
    """The offset of the block of attributes, in bytes."""
    at = image.read_bytes().find(struct.pack("<II", 0xEA020000, 1))
    assert at > 0
    return at


OLD = ("-I", "128", "-O", "ext_attr")


def test_attributes_leave_with_the_last_inode(tmp_path: Path) -> None:
    image = image_of(tmp_path, "ea_set /hurt user.a text", names="hurt", options=OLD)
    raw = bytearray(image.read_bytes())
    struct.pack_into("<I", raw, attributes(image) + 4, 2)  # another inode refers to them, too
    image.write_bytes(raw)
    in_guest(image, "rm /mnt/hurt; umount /mnt")
    assert image.read_bytes()[attributes(image) :][:8] == struct.pack("<II", 0xEA020000, 1)


def test_wrong_attributes(tmp_path: Path) -> None:
    image = image_of(tmp_path, "ea_set /hurt user.a text", names="hurt", options=OLD)
    raw = bytearray(image.read_bytes())
    struct.pack_into("<I", raw, attributes(image), 0)
    image.write_bytes(raw)
    in_guest(image, "rm /mnt/hurt").check_lines([r"inode \d+ has wrong attributes: run e2fsck"])


def test_error_makes_it_read_only_where_the_image_asks_for_it(tmp_path: Path) -> None:
    image = image_of(tmp_path, "sif /hurt links_count 0", names="hurt sound")
    ext2.tool("tune2fs", "-e", "remount-ro", image)
    run = in_guest(image, "echo a >/mnt/before; cat /mnt/hurt; echo b >/mnt/after; cat /mnt/sound")
    run.check_lines(["was deleted", "sh: /mnt/after: Read-only file system", "^sound$"])


def test_hole_of_a_mapping_gets_no_block_when_it_is_read_only(tmp_path: Path) -> None:
    """A process that writes to it after an error was found gets SIGBUS."""
    image = image_of(tmp_path, "sif /hurt links_count 0", names="hurt")
    ext2.tool("tune2fs", "-e", "remount-ro", image)
    ext2.tool("debugfs", "-w", "-R", f"write {qemu.ROOT / 'build/user/gone'} gone", image)
    run = in_guest(image, "cp /mnt/gone /gone; cd /mnt; /gone hole && echo said nothing")
    run.check_lines(["was deleted", "^said nothing$"])


def test_read_only_disk_is_mounted_to_read_only(tmp_path: Path) -> None:
    image = image_of(tmp_path, names="sound")
    drive = shlex.join(["-drive", f"if=virtio,readonly=on,format=raw,file={image}"])
    run = boot(
        "mkdir /mnt; mount -t ext2 /dev/vda /mnt; mount -t ext2 -o ro /dev/vda /mnt; cat /mnt/sound;"
        "mount -o remount,rw /mnt; mount -t ext2 /dev/vdb /mnt; cat /mnt/sound",
        qemu_flags=drive,
        cmdline="disk=virtio mount=none",
    )
    denied, missing = "^mount: /mnt: Permission denied", "^mount: /mnt: No such file"
    run.check_exit().check_lines([denied, "^sound$", denied, missing, "^sound$"])


def test_disk_by_another_name(tmp_path: Path) -> None:
    """A device node for it on another disk; below that, mounted read-only, nothing changes."""
    image, other = image_of(tmp_path, names="sound"), tmp_path / "other"
    ext2.make(other, "256K")
    ext2.tool("debugfs", "-w", "-R", "mknod node b 3 0", other)
    drive = shlex.join(["-drive", f"if=virtio,format=raw,file={other}"])
    run = boot(
        "mkdir /a /b; mount -t ext2 /dev/vda /a; mount -t ext2 -o ro /a/node /b; dd if=/a/node of=/dev/null count=1;"
        "rm /b/sound; touch /b/sound; mount -t ext2 /a /b; cat /b/sound",
        disk=image,
        disk_kind="ide",
        qemu_flags=drive,
        exact=False,
        cmdline="disk=virtio mount=none",
    )
    run.check_exit().check_lines(["^rm: /b/sound: Read-only", "^touch: /b/sound: Read-only", "^mount: ", "^sound$"])


@pytest.mark.soak
def test_directory_that_may_not_grow(tmp_path: Path) -> None:
    """The directory has 2 GiB minus a block, and is full: all its blocks except the first are the same block."""
    image = image_of(tmp_path, names="sound", options=("-b", "4096"), size="2100M")
    first, full, some, many = 300_000, 300_001, 300_002, 300_003
    fields = {"size": 0x7FFFF000, "blocks": 8, "block[0]": first, "block[IND]": some, "block[DIND]": many}
    fields |= {f"block[{n}]": full for n in range(1, 12)}
    text = "\n".join(f"sif /folder {field} {value}" for field, value in fields.items())
    ext2.tool("debugfs", "-w", "-f", "-", image, text=f"{text}\n")
    halves = entry(11, 256, b"x" * 248) * 2
    dots = entry(12, 12, b".") + entry(2, 12, b"..") + entry(11, 264, b"x" * 255) + entry(11, 224, b"x" * 216)
    with image.open("r+b") as file:
        file.seek(first * 4096)
        file.write(dots + halves * 7 + halves * 8 + struct.pack("<I", full) * 1024 + struct.pack("<I", some) * 1024)
    run = boot(
        f"mkdir /mnt; mount -t ext2 /dev/vda /mnt; echo >/mnt/folder/new; cat /mnt/sound; {CHECK}",
        disk=image,
        disk_kind="virtio",
        exact=False,
        timeout=250,
    )
    run.check_exit().check_lines(["^sh: /mnt/folder/new: No space left on device", "^sound$", "went on", "^ok$"])
