"""sisepai: millions of deals of the card game Sì Sè Pái, played, stored and summed up.

Importing the package loads nothing heavy; ``read_run`` brings Polars along when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sisepai.runs.reader import read_run

__version__ = "0.1.0"
__all__ = ["__version__", "read_run"]


def __getattr__(name: str) -> Any:
    if name == "read_run":
        from sisepai.runs.reader import read_run

        return read_run
    raise AttributeError(f"module 'sisepai' has no attribute {name!r}")
