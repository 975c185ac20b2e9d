#!/usr/bin/env python3
"""The pages in Portuguese that list limits, metrics and settings have the rows of the English ones: as many, in the same
order, and each with the same code and numbers in it."""

import re
import sys

from links import ROOT

CODE = re.compile(r"`[^`]+`")
NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
PAGES = ("limits", "metrics", "configuration")


def facts(row):
    """A row's code, and its numbers without separators, which differ between the languages."""
    numbers = (re.sub("[.,]", "", number) for number in NUMBER.findall(CODE.sub("", row)))
    return sorted(CODE.findall(row)), sorted(numbers)


def rows(page):
    """The rows of a page's tables, without their heads and lines."""
    lines = (ROOT / "docs" / page).read_text().splitlines()
    found = [line for at, line in enumerate(lines[:-1]) if line.startswith("|") and not lines[at + 1].startswith("|-")]
    return [line for line in found if not line.startswith("|-")]


def main():
    wrong, count = [], 0
    for page in PAGES:
        english, portuguese = rows(f"{page}.md"), rows(f"{page}.pt.md")
        for original, translated in zip(english, portuguese):
            count += 1
            if facts(original) != facts(translated):
                wrong.append(f"docs/{page}.pt.md differs from the English page:\n{original}\n{translated}")
        if len(english) != len(portuguese):
            wrong = [f"docs/{page}.md has {len(english)} rows, docs/{page}.pt.md {len(portuguese)}", *wrong[:1]]
        if wrong:
            sys.exit("\n".join(wrong))
    print(f"{count} rows of limits, metrics and settings are in both languages")


if __name__ == "__main__":
    main()
