"""`python -m tests`: lint, format, types, tests and browser tests, in that order; stops at the first that fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS = {
    "lint": ["-m", "ruff", "check", "."],
    "format": ["-m", "ruff", "format", "--check", "."],
    "types": ["-m", "mypy"],
    "tests": ["-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-m", "not browser"],
    "browser": ["-m", "pytest", "-q", "-n", "2", "--dist", "load", "-m", "browser"],
}


def main() -> int:
    chosen = sys.argv[1:] or list(STEPS)
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    for name in chosen:
        begun = time.monotonic()
        done = subprocess.run([sys.executable, *STEPS[name]], cwd=ROOT, env=environment, check=False)
        print(
            f"{name}: {'ok' if done.returncode == 0 else 'FAILED'} ({time.monotonic() - begun:.0f} s)",
            flush=True,
        )
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
