"""What Plumbline ships to try it with: small, made for the purpose, and part of the installed package.

demo/        four short documents of an invented library and questions over them
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
DEMO = HERE / "demo"
