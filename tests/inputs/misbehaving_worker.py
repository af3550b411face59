"""A parser process that hangs on `hang.txt`, dies on `die.txt` and parses everything else."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from core.inputs.parse_worker import parse_file

print("ready", flush=True)
for line in sys.stdin:
    path = Path(json.loads(line)["path"])
    if path.name == "hang.txt":
        time.sleep(600)
    if path.name == "die.txt":
        sys.exit(3)
    print(parse_file(path, "text").model_dump_json(), flush=True)
