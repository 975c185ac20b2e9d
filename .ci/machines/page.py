"""The commands of a page, as the page shows them: the `sh` blocks below `<!-- run: NAME -->`, also within lists."""

import os
import re
import subprocess
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^( *)<!-- run: ([^\n]+) -->\n\1```sh\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """Name and program of each block."""
    return {name: re.sub(f"^{indent}", "", block, flags=re.MULTILINE) for indent, name, block in BLOCK.findall(text)}


class Page:
    """A page in both languages, whose commands must be the same; `close` fails if one of them was not run."""

    def __init__(self, name):
        self.name = name
        self.blocks = blocks((DOCS / f"{name}.md").read_text())
        translated = blocks((DOCS / f"{name}.pt.md").read_text())
        assert self.blocks, f"docs/{name}.md shows no commands"
        assert self.blocks == translated, f"docs/{name}.md and docs/{name}.pt.md show different commands"
        self.left = set(self.blocks)

    def command(self, block):
        """The block as a program, which counts as run."""
        self.left.discard(block)
        return self.blocks[block]

    def run(self, block, folder, variables, user=None, expect=0):
        """What the block prints, run by a shell that knows these variables, as this user of the machine."""
        command = ["bash", "-euo", "pipefail", "-c", self.command(block)]
        if user and os.geteuid() == 0:
            command = ["setpriv", "--reuid", user, "--regid", f"{group(user)}", "--clear-groups", *command]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", **variables}
        ran = subprocess.run(
            command, cwd=folder, env={name: str(value) for name, value in environment.items()},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        )
        shown = f"docs/{self.name}.md, {block}: {ran.returncode}\n{self.blocks[block]}{ran.stdout}"
        assert ran.returncode == expect, shown
        return ran.stdout

    def close(self):
        assert not self.left, f"docs/{self.name}.md: no check runs {self.left}"


def group(user):
    return subprocess.run(["id", "-g", user], check=True, capture_output=True, text=True).stdout.strip()
