"""Prints a line for each promise, with the figure seen. Exits 1 if one does not hold."""

import os
import sys

URL = os.environ["WEIR_URL"]
KEY = os.environ["WEIR_KEY"]
FOLDER = os.environ["FOLDER"]
# The fake hosts read the score of a document at its beginning.
DOCUMENTS = ["0.10 a", "1e-05 b", "0.9000 c", "0.5 d"]
ORDER = [2, 3, 0, 1]
SCORES = [0.9, 0.5, 0.1, 1e-05]
HOSTS = ["cohere", "jina", "voyage", "tei", "vllm"]


def check_all(promises):
    """promises: sentence to function, which returns whether the promise holds, and the figure that shows it."""
    failed = 0
    for promise, run in promises.items():
        try:
            holds, figure = run()
        except Exception as thrown:  # the figure of a failed check
            holds, figure = False, f"{type(thrown).__name__}: {thrown}"
        failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'}  {promise}: {figure}", flush=True)
    sys.exit(failed > 0)


def thrown_by(run):
    """The error of a call that must fail."""
    try:
        run()
    except Exception as thrown:
        return thrown
    raise AssertionError("it did not fail")
