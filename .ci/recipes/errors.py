#!/usr/bin/env python3
"""Holds the guides' lists of error codes to docs/errors.md, which is generated from the code."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `([A-Z_]+)` \| (\d{3}) \|", re.MULTILINE)


def codes(page):
    found = ROW.findall((ROOT / page).read_text())
    assert len(found) == len(set(found)), f"{page} has a code twice"
    return set(found)


expected = codes("docs/errors.md")
assert len(expected) > 40, "the generated table is found"
for page in ("docs/guides/errors.md", "docs/guides/errors.pt.md"):
    for code, status in sorted(expected ^ codes(page)):
        sys.exit(f"{page} and docs/errors.md differ in {code} ({status})")
print(f"{len(expected)} codes are explained in both languages")
