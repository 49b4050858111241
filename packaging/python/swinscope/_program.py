"""The program that this package brings, and what it says."""
import json
import os
import subprocess
import warnings

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "bin", "swinscope")


class Failure(RuntimeError):
    """The program ended with `status`; the text is what it said: error, cause and hint."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Warned(UserWarning):
    """What the program warns of."""


def document(command, *arguments):
    """The JSON document of a command: {"schema", "run", "warnings", "definition", "data"}."""
    words = [PROGRAM, command, *map(os.fspath, arguments), "--format", "json", "--quiet"]
    ended = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    try:
        found = json.loads(ended.stdout)
    except ValueError:
        raise Failure(ended.returncode, ended.stderr.strip()) from None
    # With another status the document holds what could be read of a damaged file.
    said = list(found["warnings"]) + ([ended.stderr.strip()] if ended.returncode != 0 else [])
    for text in said:
        warnings.warn(text, Warned, stacklevel=4)
    return found
