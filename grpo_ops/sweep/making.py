"""A database that two processes make at the same moment: the one that comes second looks again."""

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError, OperationalError

_TRIES, _PAUSE_SECONDS = 10, 0.5
Made = TypeVar("Made")


def made_once(make: Callable[[], Made]) -> Made:
    """What `make` returns; tried again where another process has just made the same tables or rows.

    Raises what `make` raised last, and at once whatever has another cause.
    """
    for _ in range(_TRIES - 1):
        try:
            return make()
        except (IntegrityError, OperationalError) as error:
            if not any(sign in str(error) for sign in ("UNIQUE constraint", "duplicate key", "already exists")):
                raise
            time.sleep(_PAUSE_SECONDS)
    return make()
