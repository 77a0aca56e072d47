"""Files that are whole or absent.

write temporary → fsync → rename → fsync directory: at every instant the name holds the old file or the new
one. The temporary has one fixed name, so a killed writer leaves at most one, and the next writer replaces it.
Writers into one directory take turns by a lock on it, which the system drops when its holder dies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: no locks, so two writers at once are the user's care
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def directory_lock(path: str, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a directory; where the file system has no locks, go on without."""
    if fcntl is None:  # pragma: no cover
        yield
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable."""
    if os.name != "posix":  # pragma: no cover - Windows has no handle to a directory
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Put `content` at `path`, or raise an OSError and leave what was there.

    A symbolic link is followed. What is not a regular file (a directory, a device) is refused: the rename
    would replace it.
    """
    target = os.path.realpath(path)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(target).st_mode):
            raise FileExistsError(errno.EEXIST, "exists and is not a regular file", os.fspath(path))
    with directory_lock(os.path.dirname(target)):
        replace_locked(target, content)


def replace_locked(target: str, content: bytes) -> None:
    """The same for a caller that holds the lock of the directory."""
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.tmp")
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)  # a killed writer's; it may be a link, so it is not written through
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None:  # a full disk does not say whose
            error.filename = target
        raise
    sync_directory(folder)
