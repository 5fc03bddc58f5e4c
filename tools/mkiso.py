#!/usr/bin/env python3
"""Make the GRUB image: mkiso.py OUT POLICY...

The parameters of each entry come from make's variables, as for `make qemu`. The entry of VM is the default, and
starts without waiting if there is a RUN.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tidemark.machine import qemu

WAIT_S = 5


def quoted(command_line: str) -> str:
    """The kernel's words as GRUB reads them: name="a b" is passed on as one word, which GRUB quotes as a whole."""
    words = re.findall(r'(?:[^\s"]|"[^"]*")+', command_line)
    return " ".join("'" + word.replace('"', "").replace("'", r"'\''") + "'" for word in words)


def menu(settings: qemu.Settings, policies: list[str]) -> str:
    """GRUB's commands: the timeout in seconds, the number of the default entry (GRUB takes 2q for 2), and the entries.

    The image may be started on any machine, so the kernel is not told that time is virtual.
    """
    lines = [f"set timeout={0 if settings.run else WAIT_S}", f"set default={policies.index(settings.vm)}", ""]
    for policy in policies:
        words = quoted(qemu.command_line(replace(settings, vm=policy, exact=False)))
        lines += [
            f"menuentry 'Tidemark, vm={policy}' --id {policy} {{",
            f"\tmultiboot /boot/tidemark.elf {words}",
            "\tmodule /boot/initramfs.cpio",
            "}",
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes OUT. Returns 1 with a message on an error."""
    out, policies = sys.argv[1], sorted(sys.argv[2:])
    try:
        settings = qemu.settings_from(os.environ)
        if settings.vm not in policies:
            raise qemu.BadSetting(f"VM={settings.vm}: there is no such policy; there are: {' '.join(policies)}")
        commands = menu(settings, policies)
    except qemu.BadSetting as error:
        print(f"tidemark: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        grub = Path(folder, "boot/grub")
        grub.mkdir(parents=True)
        frame = (qemu.ROOT / "boot/grub.cfg").read_text()
        (grub / "grub.cfg").write_text(re.sub(r"(?m)^@\n", lambda _: commands, frame))
        for name in (qemu.KERNEL, qemu.INITRD):
            shutil.copy(qemu.ROOT / name, grub.parent)
        made = subprocess.run(
            ["grub-mkrescue", "-d", "/usr/lib/grub/i386-pc", "-o", out, folder], capture_output=True, text=True
        )
    if made.returncode:
        print(made.stderr, file=sys.stderr)
    return made.returncode


if __name__ == "__main__":
    sys.exit(main())
