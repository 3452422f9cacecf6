"""What breaks a sweep off from outside (its storage, a full disk), as one sentence."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import SQLAlchemyError

from grpo_ops.errors import SweepError
from grpo_ops.home import Home

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def said_in_a_sentence(home: Home) -> Iterator[None]:
    """Inside the block a storage that fails and a full disk raise SweepError; nothing that was told is lost."""
    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        first = str(error.__cause__ or error).strip().splitlines()[0][:200]
        raise SweepError(f"the study's storage failed ({first}); the same command continues the sweep") from error
    except OSError as error:
        if error.errno not in _FULL:
            raise
        place = error.filename or home.root
        raise SweepError(f"no space is left on the disk ({place}); make room, the same command continues") from error
