"""generate_options.py OUTPUT.pyi: the options of every function as typed dictionaries, out of the tables in C++.

Run by the build, so that an option is spelt once: a new row of a table is a keyword with its type and meaning.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tilewright import _core

TYPES = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str | os.PathLike[str]",
    "list": "str | Sequence[str] | Mapping[str, str | int | float | bool]",
    "words": "str | int | float | Sequence[str] | Sequence[int] | Mapping[str, float]",
}


def typed(field: dict[str, object]) -> str:
    """What a type checker should accept for a field."""
    if field["kind"] != "choice":
        return TYPES[str(field["kind"])]
    choices = field["choices"]
    assert isinstance(choices, list)
    return f"Literal[{', '.join(repr(choice) for choice in choices)}]"


def main() -> None:
    """Writes the file."""
    text = '"""Options of the functions, out of the tables that the command line is made of."""\n\n'
    text += "import os\nfrom collections.abc import Mapping, Sequence\nfrom typing import Literal, TypedDict\n"
    for name, fields in _core.option_tables().items():
        text += f"\nclass {name}(TypedDict, total=False):\n"
        for field in fields:
            meaning = field["meaning"] + (f" (default {field['default']})" if field["default"] else "")
            text += f'    {field["name"]}: {typed(field)} | None\n    """{meaning}"""\n'
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
