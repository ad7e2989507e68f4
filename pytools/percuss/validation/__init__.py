"""Validation before extrapolation: parameters that should be constant are allowed to drift, to see whether they do.

    data --> drift filter, at several drifts --> paths, innovations --> verdict
      |
      +----> constant-parameter calibration --> held-out prediction, evidence

After Green, Chodora, Zhu and Atamturktur, "Towards the validation of dynamical models in regions where there is no
data". `filter` is the drift filter for arrays; the rest serves `percuss validate`.
"""

from percuss.validation.drift_filter import Filtered, filter

__all__ = ["Filtered", "filter"]
