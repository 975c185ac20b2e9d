#!/usr/bin/env python3
"""Every link from one page of the project to another file, and to a heading of it, leads somewhere; no program on a
page has lines that only rustdoc hides."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HIDDEN = re.compile(r"^```(?:rust|no_run)[^\n]*\n(?:(?!```)[^\n]*\n)*?(# [^\n]*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors of a page: its headings, and the written ones: of rules and rows, and of a page in Portuguese those of
    the English headings."""
    text = FENCED.sub("", page.read_text())
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in kept} | set(re.findall(r'<a id="([^"]+)"></a>', text))


def main():
    tracked = subprocess.check_output(["git", "-C", ROOT, "ls-files", "*.md"], text=True)
    wrong, count = [], 0
    for page in (ROOT / name for name in tracked.split()):
        wrong += [f"{page.relative_to(ROOT)}: {line}" for line in HIDDEN.findall(page.read_text())]
        for link in LINK.findall(FENCED.sub("", page.read_text())):
            # Addresses, and items of a crate, which rustdoc sees to.
            if re.match(r"[a-z]+:|\w+::", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or anchor and anchor not in anchors(target):
                wrong.append(f"{page.relative_to(ROOT)}: {link}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{count} links lead somewhere")


if __name__ == "__main__":
    main()
