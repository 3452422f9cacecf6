"""Whether an Optuna storage URL can be used: its form, its driver, and whether a server answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grpo_ops.home import Home, without_password

_CONNECT_SECONDS = 5


def storage_faults(url: str | None) -> Iterator[str]:
    """What is wrong with the storage `url` (None: the home's own), one sentence; its password is not shown."""
    if url is None:
        return
    import sqlalchemy.exc

    try:
        parsed = sqlalchemy.make_url(url)
        parsed.get_dialect().import_dbapi()
        fault = _unreachable(parsed)
    except sqlalchemy.exc.NoSuchModuleError:
        fault = "names a kind of database that SQLAlchemy does not know; write sqlite:///FILE or postgresql://..."
    except (sqlalchemy.exc.ArgumentError, ValueError):
        fault = "is no database URL; write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
    except ImportError as error:
        fault = f"needs a driver that is not installed ({error.name or error}); install it, or name another in the URL"
    if fault:
        yield f"storage: {without_password(url)!r} {fault}"


def _unreachable(url: Any) -> str | None:
    import sqlalchemy

    if url.get_backend_name() == "sqlite":  # connecting would make the file
        folder = Path(url.database or ".").absolute().parent
        is_there = folder.is_dir() or folder == Home.here().root
        return None if is_there else f"cannot be made: there is no folder {folder}"
    limit = {"connect_timeout": _CONNECT_SECONDS} if url.get_driver_name() in ("psycopg2", "psycopg", "pymysql") else {}
    try:
        sqlalchemy.create_engine(url, connect_args=limit).connect().close()
    except (sqlalchemy.exc.SQLAlchemyError, OSError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        return f"cannot be reached: {reason[:200]}"
    return None
