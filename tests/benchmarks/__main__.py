"""Runs `tests.benchmarks.NAME.main(argv)`; without a name it lists them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import tests.benchmarks as here


def main() -> int:
    names = sorted(
        module.name for module in pkgutil.iter_modules(here.__path__) if not module.name.startswith("_")
    )
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print(
            "usage: python -m tests.benchmarks NAME [options]\n\n" + "\n".join(f"  {name}" for name in names)
        )
        return 2
    module = importlib.import_module(f"tests.benchmarks.{sys.argv[1]}")
    return int(module.main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
