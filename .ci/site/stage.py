#!/usr/bin/env python3
"""Puts the pages of the site together: stage.py FOLDER

The project's pages are written for a code host, where a link leads to a file. In the site a page of the root folder
stands in a section, the language is chosen in the header, and what is no page is a file to download.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Where the pages outside of docs/ stand in the site.
PLACES = {
    "README.md": "index.md",
    "README.pt-BR.md": "index.pt.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "ROADMAP.md": "project/roadmap.md",
    "SECURITY.md": "project/security.md",
    "preauth-client/README.md": "crates/preauth-client.md",
    "preauth-core/README.md": "crates/preauth-core.md",
    "webhook-verify/README.md": "crates/webhook-verify.md",
    "examples/README.md": "crates/examples.md",
    "fuzz/README.md": "crates/fuzz.md",
}
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A paragraph that only leads to the same page in the other language.
OTHER_LANGUAGE = re.compile(r"^\[(?:Em português|In English)\]\([^)]+\)\n\n", re.MULTILINE)


def place(path):
    """Where a file of the project stands in the site."""
    name = str(path.relative_to(ROOT))
    if name in PLACES:
        return Path(PLACES[name])
    return path.relative_to(ROOT / "docs") if name.startswith("docs/") else Path("source", name)


def link(page, target):
    if re.match(r"[a-z]+:|#", target):
        return f"]({target})"
    path, _, anchor = target.partition("#")
    found = (page.parent / path).resolve()
    if not found.is_file():
        return None
    here = place(page)
    there = place(found)
    if there.parts[0] == "source":
        copy(found)
    # The plugin takes a page in the reader's language by its name in the default one.
    to = os.path.relpath(there, here.parent).replace(".pt.md", ".md")
    return f"]({to}#{anchor})" if anchor else f"]({to})"


def staged(page):
    """The page's text with the links that it has in the site."""
    text = OTHER_LANGUAGE.sub("", page.read_text(), count=1)
    # The site knows no attributes of rustdoc.
    parts = FENCED.split(re.sub(r"^( *```rust),\w+$", r"\1", text, flags=re.MULTILINE))
    for index in range(0, len(parts), 2):
        # What leads to a folder, or to an item of a crate, is text.
        parts[index] = re.sub(
            r"\[((?:[^\[\]]|\[[^\]]*\])*)" + LINK.pattern,
            lambda found: f"[{found[1]}{to}" if (to := link(page, found[2])) else found[1],
            parts[index],
        )
    return "".join(parts)


def copy(path):
    to = folder / place(path)
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


folder = Path(sys.argv[1])
shutil.copy(Path(__file__).with_name("site.css"), folder)
tracked = subprocess.check_output(["git", "-C", ROOT, "ls-files", *PLACES, "docs"], text=True).split()
for path in (ROOT / name for name in tracked):
    copy(path)
    if path.suffix == ".md":
        (folder / place(path)).write_text(staged(path))
