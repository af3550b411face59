"""Other tools' files → the same records: one module a tool.

`load_foreign(path)` recognises the format by its contents; FORMATS names them. Scores that the other tool
computed are kept under their exact names in `Output.raw["foreign_scores"]`.
"""

from core.inputs.foreign.formats import FORMATS, detect, load_foreign
from core.inputs.foreign.imported import Imported

__all__ = ["FORMATS", "Imported", "detect", "load_foreign"]
