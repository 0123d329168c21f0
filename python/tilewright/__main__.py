"""`python -m tilewright` and the console script: the program `tilewright`, which comes with the package.

The process becomes the program: signals, streams, memory and exit codes are the program's own, which a library call inside an
interpreter could not promise.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    program = Path(__file__).parent / "bin" / "tilewright"
    os.execv(program, ["tilewright", *sys.argv[1:]])


if __name__ == "__main__":
    main()
