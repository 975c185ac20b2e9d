#!/usr/bin/env python3
"""Every section of the contract that a comment cites (Contract, "...") has its anchor in docs/reference.md, and the
documentation of the published crates links to it there."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from links import ROOT, anchors

CITED = re.compile(r'\b[Cc]ontract,\s+"([^"]+)"')
# What the reference calls by its name.
TITLES = {
    "the service": "operation",
    "the service (response of create, get and cancel; item of list)": "operation",
    "GET /pre-authorizations": "GET /api/integration/v1/pre-authorizations",
    "POST /pre-authorizations": "POST /api/integration/v1/pre-authorizations",
}

# The crates that others read on a documentation host.
PUBLISHED = ("preauth-client/src/", "preauth-core/src/", "webhook-verify/src/")
REPOSITORY = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
PAGE = f"{REPOSITORY}/blob/main/docs/reference.md"
UNLINKED = re.compile(r"\(contract:", re.IGNORECASE)
LINKED = re.compile(r'\[[Cc]ontract, "([^"]+)"\]\(([^)#]*)#([^)]*)\)')

there = anchors(ROOT / "docs/reference.md")
wrong, count = [], 0
tracked = subprocess.check_output(["git", "-C", ROOT, "ls-files", "*.rs"], text=True)
for source in tracked.split():
    # A citation may go over the end of a comment's line.
    text = re.sub(r"\n\s*//[/!]? ?", " ", (ROOT / source).read_text())
    for section in CITED.findall(text):
        count += 1
        title = TITLES.get(section, section)
        slug = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        if not any(anchor == slug or anchor.startswith(f"{slug}-") for anchor in there):
            wrong.append(f"{source}: docs/reference.md has no section for {section!r}")
    if UNLINKED.search(text):
        wrong.append(f"{source}: cites the contract as '(contract: ...)', which leads nowhere")
    linked = LINKED.findall(text)
    if source.startswith(PUBLISHED) and len(linked) < len(CITED.findall(text)):
        wrong.append(f"{source}: cites the contract without a link to {PAGE}")
    for section, page, anchor in linked:
        if page != PAGE or anchor not in there:
            wrong.append(f"{source}: {section!r} leads to {page}#{anchor}")
if wrong or count < 30:
    sys.exit("\n".join(wrong) or f"only {count} citations were found")
print(f"{count} citations of the contract have their anchor")
