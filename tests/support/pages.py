"""A page in a browser, for the tests of build/page."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote


@dataclass
class Opened:
    """A page with its error messages and its requests."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def value(self, script: str) -> object:
        """Returns the value of an expression in the page."""
        return self.page.evaluate(script)

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds."""
        return self.value(f"[...document.querySelectorAll({selector!r})].map(one => one.textContent)")

    def until(self, script: str, seconds: float = 250) -> None:
        """Waits until an expression in the page is true: a machine in it runs only as fast as the host allows."""
        self.page.wait_for_function(script, timeout=1000 * seconds, polling=50)


def link(policies: str, run: str, memory: str = "8M", more: str = "") -> str:
    """The end of an address that starts a race."""
    return f"#vm={policies}&mem={memory}&run={quote(run)}&seed=1{more}"


GO_ON = "document.querySelector('.result button')?.click()"
HALTED = "document.querySelector('.result button')?.textContent == 'Go on'"


def raced(page: Opened, machines: int = 2) -> list[str]:
    """Lets the race go on to its end; returns the line about each machine, such as `0.722 s, finished`."""
    page.until(f"({GO_ON}, document.querySelectorAll('.fingerprint').length == {machines})")
    page.page.wait_for_timeout(100)  # the page draws once more
    return page.texts(".verdict")
