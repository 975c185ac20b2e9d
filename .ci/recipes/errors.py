#!/usr/bin/env python3
"""Holds the guides on error codes to docs/errors.md and docs/errors.pt.md, which are generated from the code: each code
has one row, which links to its row there."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTED = re.compile(r'^\| `([A-Z_]+)`<a id="([a-z_]+)"></a> \|', re.MULTILINE)
EXPLAINED = r"^\| \[`([A-Z_]+)`\]\(\.\./{}#([a-z_]+)\) \|"


def codes(page, row):
    """The codes of a page's rows, each with its anchor."""
    found = row.findall((ROOT / page).read_text())
    assert len(found) == len(set(found)), f"{page} has a code twice"
    return set(found)


for page in ("errors.md", "errors.pt.md"):
    expected = codes(f"docs/{page}", LISTED)
    assert len(expected) > 40, "the generated table is found"
    explained = re.compile(EXPLAINED.format(re.escape(page)), re.MULTILINE)
    for code, anchor in sorted(expected ^ codes(f"docs/guides/{page}", explained)):
        sys.exit(f"docs/guides/{page} and docs/{page} differ in {code} (#{anchor})")
print(f"{len(expected)} codes are explained in both languages")
