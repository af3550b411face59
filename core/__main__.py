"""`python -m core …` is the same as `plumbline …`."""

from core.cli import main

if __name__ == "__main__":
    main()
