"""What a model, a prior, a sampler or a family of surrogates promises, as checks to be called by the tests of others.

    from percuss.testing import check_model

    def test_my_model():
        check_model("pendulum", {"duration": "5 s"}, points=[{"length": 1.0}, {"length": 2.0}])

Each check raises AssertionError with what is broken; percuss holds its own parts to the same checks.
"""

from percuss.testing.families import check_family
from percuss.testing.models import check_model
from percuss.testing.priors import check_prior
from percuss.testing.samplers import check_sampler

__all__ = ["check_family", "check_model", "check_prior", "check_sampler"]
