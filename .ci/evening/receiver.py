"""Programs that run in a terminal of their own, and what the company's receiver has printed."""

import os
import re
import signal
import subprocess
import time

ARRIVED = re.compile(r"^\S+Z  (\S+)  event (\S+)\n  (.*)\n", re.MULTILINE)
NUMBER = re.compile(r'"number": "([^"]+)"')


def wait_for(condition, what, seconds=60):
    """What the condition gives, once it is something."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.1)
    return found


class Terminal:
    """A program whose output goes to a file."""

    def __init__(self, command, log, **options):
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options
            )

    def end(self):
        """As Ctrl-C does."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(30)


def arrivals(log):
    """The invoices of which a webhook has arrived, verified, each with its event's id."""
    text, found = log.read_text(), {}
    starts = [*ARRIVED.finditer(text)]
    for here, after in zip(starts, [*starts[1:], None]):
        kind, event, check = here.groups()
        assert check.startswith("signature verified"), f"{kind} {event}: {check}"
        number = NUMBER.search(text, here.end(), after.start() if after else len(text))
        if number:
            found.setdefault(number[1], set()).add(event)
    return found
