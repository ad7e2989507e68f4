"""Any program as a model: parameters in through files, arguments or environment; results out through files.

    [model]
    kind = "command"
    command = ["python3", "frame.py", "--gap", "{{gap}}"]     # a program and its arguments, never a shell
    files = ["frame.py"]                                      # of the study's folder, put into the scratch folder
    templates = ["frame.json"]                                # the same, with {{gap}} and {{gap:.6e}} filled in
    environment = { RUN_SEED = "{{seed}}" }
    version = ["python3", "--version"]
    timeout = "60 s"
    inputs.gap = { unit = "mm", low = 0 }
    quantities.peak = { file = "out.csv", column = "peak", unit = "mm" }

Each run has a scratch folder of its own, which is its working, home and temporary folder and is deleted afterwards. A
program has the rights of whoever runs it: the model refuses to run until the user has seen what it would execute and
has said yes (`percuss.models.model.Runner`).
"""

from __future__ import annotations

from percuss.models.command.command import configure
from percuss.models.command.tables import reference, settings

__all__ = ["configure", "reference", "settings"]
