"""What goes wrong, as exceptions: each has the one sentence that the program `tilewright` says, as its text."""


class Error(Exception):
    """What every exception of this package derives from."""


class InvalidInput(Error, ValueError):
    """A file or an argument says something that cannot be used; the sentence says where, what is and what was expected."""


class NotFound(Error, LookupError):
    """There is no such file, layer or name; the sentence names the nearest one."""


class SystemFailure(Error, OSError):
    """The operating system refused."""


class Infeasible(Error):
    """A mapping cannot run on the machine.

    `reason` is a word ('l1-overflow', 'capacity'), `need` and `limit` are amounts in the unit that the sentence names, and
    `level` is the level that is too small, empty where the reason has none.
    """

    def __init__(self, sentence: str, reason: str = "", need: int = 0, limit: int = 0, level: str = "") -> None:
        """Made of the sentence and its parts."""
        super().__init__(sentence)
        self.reason: str = reason
        self.need: int = need
        self.limit: int = limit
        self.level: str = level

    def __reduce__(self) -> tuple[type["Infeasible"], tuple[str, str, int, int, str]]:
        return type(self), (str(self), self.reason, self.need, self.limit, self.level)
