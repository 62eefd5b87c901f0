"""``python -m linkwork``."""

from .cli import main

main()
