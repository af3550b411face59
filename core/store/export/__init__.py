"""A run as files: the published run folder, and exports to other programs."""

from core.store.export.folder import write_run_folder
from core.store.export.formats import FORMATS, export
from core.store.export.tabular import read_csv, write_csv, write_json, write_jsonl

__all__ = ["FORMATS", "export", "read_csv", "write_csv", "write_json", "write_jsonl", "write_run_folder"]
