"""The command line: ``mercer <command>``.

One file per command, registered with one line in :mod:`mercer.cli.run`. Command modules import
numpy and the library inside their function, so that ``mercer --help`` answers at once.
"""

from mercer.cli.run import main

__all__ = ["main"]
