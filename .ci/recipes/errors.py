#!/usr/bin/env python3
"""Holds the guides on error codes to docs/errors.md, which is generated from the code: each code has one row, which
links to its row there."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTED = re.compile(r'^\| `([A-Z_]+)`<a id="([a-z_]+)"></a> \|', re.MULTILINE)
EXPLAINED = re.compile(r"^\| \[`([A-Z_]+)`\]\(\.\./errors\.md#([a-z_]+)\) \|", re.MULTILINE)


def codes(page, row):
    """The codes of a page's rows, each with its anchor."""
    found = row.findall((ROOT / page).read_text())
    assert len(found) == len(set(found)), f"{page} has a code twice"
    return set(found)


expected = codes("docs/errors.md", LISTED)
assert len(expected) > 40, "the generated table is found"
for page in ("docs/guides/errors.md", "docs/guides/errors.pt.md"):
    for code, anchor in sorted(expected ^ codes(page, EXPLAINED)):
        sys.exit(f"{page} and docs/errors.md differ in {code} (#{anchor})")
print(f"{len(expected)} codes are explained in both languages")
