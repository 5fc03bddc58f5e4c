"""`press.py PAGE.html BOOK.pdf`: prints a page by Chromium. The file appears whole or not at all.

An error is one sentence: there is no Chromium, it failed (with the last line that it printed), or it took too long.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S = 120


def printed(browser: str, page: Path, folder: Path) -> bytes:
    """The PDF. SystemExit if there is none. `folder`: for the browser's own files, and the PDF while it is written."""
    made = folder / "made.pdf"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-pdf-tagging", "--no-pdf-header-footer"]
    command = [browser, *options, f"--user-data-dir={folder}", f"--print-to-pdf={made}", page.resolve().as_uri()]
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise SystemExit(f"make book: {browser} did not print {page.name} within {LIMIT_S} s") from None
    if run.returncode or not made.is_file():
        said = run.stderr.strip().splitlines() or [f"exit status {run.returncode}"]
        raise SystemExit(f"make book: {browser} did not print {page.name}: {said[-1]}")
    return made.read_bytes()


def main() -> None:
    """Prints argv[1] to argv[2]."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        raise SystemExit("make book: printing takes Chromium, which is not installed; make doctor names its package")
    with tempfile.TemporaryDirectory(prefix="tidemark-book-", ignore_cleanup_errors=True) as folder:
        Path(sys.argv[2]).write_bytes(printed(browser, Path(sys.argv[1]), Path(folder)))


if __name__ == "__main__":
    main()
