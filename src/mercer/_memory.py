"""How much memory this process may still take, and bytes in words."""

import os
import sys
from pathlib import Path


def available_bytes() -> int:
    """Free memory in bytes: the machine's, or less where a container limits us.

    ``MERCER_MEMORY`` (bytes) overrides it.
    """
    override = os.environ.get("MERCER_MEMORY")
    if override:
        return int(float(override))
    return min(_machine_available(), _container_available())


def peak_bytes() -> int:
    """The most that this process has held so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def size_text(size: float) -> str:
    """Bytes as people write them."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _machine_available() -> int:
    try:
        with Path("/proc/meminfo").open("rb") as lines:
            for line in lines:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    except (AttributeError, OSError, ValueError):
        return 4 << 30  # Windows has no sysconf: assume a small machine


def _container_available() -> int:
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):  # no cgroup, or "max"
        return 1 << 62
    return max(limit - used, 0)
