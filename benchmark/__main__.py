"""``python -m benchmark`` is ``assay``."""

from benchmark.cli import main

if __name__ == "__main__":
    main()
