#!/usr/bin/env python3
"""Adds a member to every enum and a field to every struct of a crate that may grow, as a later version would.

    grow.py FOLDER CRATE...     each crate is the folder FOLDER/CRATE, in the workspace or project FOLDER

Types marked `non_exhaustive` grow. A crate that matches its own members exhaustively no longer compiles then:
the compiler reports the places, and each gets an arm or a field, so that dependent crates can be
compiled. Prints the number of places, and fails if a crate had none for a member that it must match.
"""

import json
import pathlib
import re
import subprocess
import sys

MARK = re.compile(
    r"""(?m)^(?P<indent>\ *)\#\[(?:cfg_attr\(not\(feature\ =\ "_exhaustive"\),\ non_exhaustive\)|non_exhaustive)\]\n
        (?P<between>(?:\ *(?:///|\#\[).*\n)*)
        \ *pub\ (?P<kind>enum|struct)\ (?P<name>\w+)[^{;]*\{\n""",
    re.VERBOSE,
)
# Types that the rules match without a wildcard.
DECIDED = {"preauth-core": ["Status::Grown", "EventType::Grown", "ErrorCode::Grown", "State::Grown"]}
ROUNDS = 5


def grow(source: str) -> tuple[str, list[str]]:
    """The source with everything grown that may, and the names of what has."""
    names = []
    for mark in reversed(list(MARK.finditer(source))):
        indent, name = mark["indent"], mark["name"]
        end = source.index(f"\n{indent}}}", mark.end() - 1) + 1
        is_text = re.search(r'text_enum! \{\n(?:[^\n]*\n)*?\Z', source[: mark.start()]) and f'{name}, "' in mark[0]
        derives = source[max(0, source.rfind("\n\n", 0, mark.start())) : mark.end()]
        if mark["kind"] == "struct":
            added = "/// Grown.\npub grown: Option<u8>,"
        elif is_text:
            added = '/// Grown.\nGrown => "GROWN",'
        elif "Error)]" in derives:
            added = '/// Grown.\n#[error("grown")]\nGrown,'
        else:
            added = "/// Grown.\nGrown,"
        lines = "".join(f"{indent}    {line}\n" for line in added.splitlines())
        source = source[:end] + lines + source[end:]
        names.append(name)
    return source, names


def complaints(folder: pathlib.Path, crate: str) -> list[dict]:
    """The compiler's errors about a crate, with all its features but the one that hides nothing."""
    command = ["cargo", "check", "--quiet", "--offline", "--lib", "-p", crate, "--message-format", "json"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    errors = [it["message"] for it in messages if it["reason"] == "compiler-message"]
    errors = [it for it in errors if it["level"] == "error" and it["spans"]]
    if done.returncode and not errors:
        sys.exit(f"{crate} does not compile:\n{done.stderr}")
    return errors


def repair(folder: pathlib.Path, error: dict) -> tuple[pathlib.Path, int, int, str]:
    """What makes a place compile again: where it stands, and the text that belongs there."""
    code = (error["code"] or {}).get("code")
    if code == "E0004":
        for child in error["children"]:
            for span in child["spans"]:
                if "todo!()" in (span["suggested_replacement"] or ""):
                    # Its path is the crate's own, which is not in scope everywhere.
                    arm = re.sub(r"(?s)^([,\s]*).* => todo!\(\)", r"\1_ => todo!()", span["suggested_replacement"])
                    return folder / span["file_name"], span["byte_start"], span["byte_end"], arm
    if code == "E0063":
        span = next(it for it in error["spans"] if it["is_primary"])
        path = folder / span["file_name"]
        at = path.read_bytes().index(b"{", span["byte_end"] - 1) + 1
        return path, at, at, " grown: None,"
    if code == "E0080":
        # The compiler misses the row of a new member in a table.
        span = next(it for it in error["spans"] if it["is_primary"])
        return folder / span["file_name"], span["byte_start"], span["byte_end"], "()"
    sys.exit(f"no repair is known:\n{error['rendered']}")


def main() -> None:
    folder = pathlib.Path(sys.argv[1]).resolve()
    # Another version is another crate for cargo, which shares one target folder between this one and the present.
    for manifest in [folder / "Cargo.toml", *(folder / crate / "Cargo.toml" for crate in sys.argv[2:])]:
        text = manifest.read_text()
        if re.search(r'(?m)^\[workspace\.package\]|^name = "(preauth|webhook)-', text):
            manifest.write_text(re.sub(r'(?m)^version = "0\.1\.\d+"', 'version = "0.1.999"', text, count=1))
    for crate in sys.argv[2:]:
        grown = []
        for path in sorted((folder / crate / "src").rglob("*.rs")):
            source, names = grow(path.read_text())
            path.write_text(source)
            grown += names
        decided = ""
        places = 0
        for _ in range(ROUNDS):
            errors = complaints(folder, crate)
            if not errors:
                break
            repairs = set()
            for error in errors:
                decided += error["message"] + "\n"
                repairs.add(repair(folder, error))
            places += len(repairs)
            for path, start, end, text in sorted(repairs, reverse=True):
                content = path.read_bytes()
                path.write_bytes(content[:start] + text.encode() + content[end:])
        else:
            sys.exit(f"{crate} did not compile after {ROUNDS} rounds")
        for member in DECIDED.get(crate, []):
            if member not in decided:
                sys.exit(f"nothing in {crate} decides about {member}")
        print(f"  {crate}: {len(grown)} types grew, {places} places decided about them")


main()
