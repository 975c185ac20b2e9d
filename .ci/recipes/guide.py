#!/usr/bin/env python3
"""A page's commands as the page shows them, in a sandbox of their own, beginning with the lines that it prints to paste.

    scripts/with-sandbox guide.py PAGE [PROGRAM]

runs the page's `sh` blocks one after the other, each with the variables that the ones before it set, and PROGRAM, a
binary, for its `rust` block, which it was made of. A `json` or `text` block is what the block before it printed, a
`story` block what the sandbox has printed by then; times, days and ids may differ. On a page with the mark
<!-- run --> only the blocks below that mark count, those below <!-- printed -->, a webhook's body below
<!-- webhook -->, and a file below <!-- file: NAME -->, which is written. FOLDER is where it all happens, a new one
unless it is set.
"""

import contextlib
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import receiving

FENCED = re.compile(
    r"^(?:<!-- (run|printed|webhook|file: \S+) -->\n)?```(sh|rust|json|text|story|python|ts)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SHOWN_ONLY = ("python", "ts")
VARYING = [
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DAY"),
]


def stable(text):
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text.strip()


def story():
    return stable(Path(os.environ["PREAUTH_STORY"]).read_text())


def pasted():
    """The environment after the lines that the sandbox prints to paste."""
    printed = Path(os.environ["PREAUTH_STORY"]).read_text()
    lines = [line for line in printed.splitlines() if line.startswith("export ")]
    assert lines, "the sandbox prints lines to paste"
    shell = ["bash", "-euc", "\n".join([*lines, "env -0"])]
    return variables(subprocess.run(shell, check=True, text=True, stdout=subprocess.PIPE).stdout)


def variables(printed):
    """What `env -0` printed."""
    return dict(variable.split("=", 1) for variable in printed.split("\0") if variable)


def delivered(environment):
    """The body of the webhook that was delivered last."""
    def ask(path):
        headers = {"Authorization": f"Bearer {environment['TOKEN']}"}
        request = urllib.request.Request(environment["PLATFORM"] + path, headers=headers)
        return json.load(urllib.request.urlopen(request))

    sandbox = json.loads(Path(os.environ["PREAUTH_READY_FILE"]).read_text())
    company = ask(f"/companies?cnpj={sandbox['companyCnpj']}")["data"][0]["id"]
    receiving.wait_for(lambda: ask(f"/companies/{company}/deliveries?status=DELIVERED")["data"], "a delivery")
    delivery = ask(f"/companies/{company}/deliveries?status=DELIVERED")["data"][0]["id"]
    return ask(f"/deliveries/{delivery}")["body"]


def blocks(page):
    """Kind and text of each block that counts."""
    found = FENCED.findall(page)
    marked = any(mark for mark, _, _ in found)
    for mark, kind, block in found:
        if mark.startswith(("file: ", "webhook")):
            yield mark, block
        elif mark or not marked and kind not in SHOWN_ONLY:
            yield kind, block


def follow(page, program):
    environment = pasted()
    printed, compared = "", 0
    with contextlib.ExitStack() as stack:
        folder = os.environ.get("FOLDER") or stack.enter_context(tempfile.TemporaryDirectory())
        after = Path(stack.enter_context(tempfile.TemporaryDirectory()), "variables")
        for kind, block in blocks(page):
            if kind.startswith("file: "):
                Path(folder, kind.removeprefix("file: ")).write_text(block)
                continue
            if kind in ("sh", "rust"):
                in_a_month = str(datetime.date.today() + datetime.timedelta(days=30))
                block = f'set -a\n{block}\nenv -0 >{shlex.quote(str(after))}'
                shell = ["bash", "-euo", "pipefail", "-c", block]
                command = shell if kind == "sh" else [program, in_a_month]
                printed = subprocess.run(
                    command, env=environment, cwd=folder, check=True, text=True, stdout=subprocess.PIPE
                ).stdout
                if kind == "sh":
                    environment = variables(after.read_text())
                continue
            compared += 1
            if kind == "webhook":
                printed, kind = delivered(environment), "json"
            if kind == "json":
                assert json.loads(stable(printed)) == json.loads(stable(block)), f"{block}\n{printed}"
            elif kind == "text":
                assert stable(printed) == stable(block), f"{block}\n{printed}"
            else:
                for line in stable(block).splitlines():
                    receiving.wait_for(lambda line=line: line in story(), line)
    return compared


if __name__ == "__main__":
    compared = follow(Path(sys.argv[1]).read_text(), sys.argv[2] if len(sys.argv) > 2 else None)
    least = 8 if len(sys.argv) > 2 else 1
    assert compared >= least, f"only {compared} answers were compared"
    print(f"{sys.argv[1]}: {compared} answers are as shown")
