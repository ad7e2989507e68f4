"""The one kind of array this package computes with."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
