#!/usr/bin/env python3
"""The first steps as the guides show them, in both languages, each in a sandbox of its own.

    scripts/with-sandbox guide.py PAGE PROGRAM

runs the page's `sh` blocks one after the other, and PROGRAM, a binary, for its `rust` block, which it was
made of. A `json` or `text` block is what the block before it printed, a `story` block what the sandbox has
printed by then; times, days and ids may differ.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import receiving

FENCED = re.compile(r"^```(sh|rust|json|text|story)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def follow(page, program):
    sandbox = json.loads(Path(os.environ["PREAUTH_READY_FILE"]).read_text())
    environment = {
        **os.environ,
        "BASE": f"{sandbox['baseUrl']}/api/integration/v1",
        "PLATFORM": f"{sandbox['platformUrl']}/api/platform/v1",
        "KEY": sandbox["apiKey"],
        "TOKEN": sandbox["platformToken"],
    }
    printed, compared = "", 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, block in FENCED.findall(page):
            if kind in ("sh", "rust"):
                in_a_month = str(datetime.date.today() + datetime.timedelta(days=30))
                shell = ["bash", "-euo", "pipefail", "-c", block]
                command = shell if kind == "sh" else [program, in_a_month]
                printed = subprocess.run(
                    command, env=environment, cwd=folder, check=True, text=True, stdout=subprocess.PIPE
                ).stdout
                continue
            compared += 1
            if kind == "json":
                assert json.loads(stable(printed)) == json.loads(stable(block)), f"{block}\n{printed}"
            elif kind == "text":
                assert stable(printed) == stable(block), f"{block}\n{printed}"
            else:
                for line in stable(block).splitlines():
                    receiving.wait_for(lambda line=line: line in story(), line)
    return compared


if __name__ == "__main__":
    compared = follow(Path(sys.argv[1]).read_text(), sys.argv[2])
    assert compared >= 8, f"only {compared} answers were compared"
    print(f"{sys.argv[1]}: {compared} answers are as shown")
