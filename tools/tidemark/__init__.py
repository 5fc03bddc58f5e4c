"""Tidemark's lab: run experiments on the kernel, and look at the results.

`tidemark --help` lists the commands.
"""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent

# numba's compiled code goes to the build folder, not beside the sources; numba reads this when it is first imported.
# Numba recognises old code by the function's own file. So a change in functions that are compiled into functions of
# other files selects another folder.
SHARED = ("curves/bits.py", "curves/runs.py")
_AGES = "-".join(f"{(HERE / name).stat().st_mtime_ns:x}" for name in SHARED)
os.environ.setdefault("NUMBA_CACHE_DIR", str(HERE.parents[1] / "build/numba" / _AGES))
