#!/usr/bin/env python3
"""Holds the recipes' pages to their files: `pages.py` compares, `pages.py --write` renews.

A page shows a file below a line **[name](name)**, as one fenced block. Every program is shown by a page, but
for those that hold the others to the vectors.
"""

import re
import sys
from pathlib import Path

RECIPES = Path(__file__).resolve().parents[2] / "docs/recipes"
SHOWN = re.compile(r"^\*\*\[([^\]]+)\]\(\1\)\*\*\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def renewed(page, shown):
    def block(found):
        name, fence = found[1], found[2]
        shown.add(name)
        return f"**[{name}]({name})**\n\n```{fence}\n{(RECIPES / name).read_text()}```"

    return SHOWN.sub(block, page)


wrong, shown = [], set()
for page in sorted(RECIPES.glob("*.md")):
    text = page.read_text()
    fresh = renewed(text, shown)
    if fresh != text and "--write" in sys.argv:
        page.write_text(fresh)
    elif fresh != text:
        wrong.append(f"{page.name} differs from its files: run .ci/recipes/pages.py --write")
for program in sorted(RECIPES.glob("*/*.*")):
    name = str(program.relative_to(RECIPES))
    is_program = program.suffix in (".py", ".mjs", ".java", ".php", ".cs") and program.stem.lower() != "vectors"
    if is_program and name not in shown:
        wrong.append(f"{name} is on no page")
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(shown)} files are as their pages show them")
