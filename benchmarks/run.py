"""What `make benchmark` runs: environments of the peers first, then the measurements."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from nearest import main

if __name__ == "__main__":
    main()
