"""percuss from Python: ledgers, studies and results as objects, over the operations of `percuss.work`."""

from percuss.api.function_model import model
from percuss.api.ledger import Ledger, open_ledger
from percuss.api.picture import Picture
from percuss.api.posterior import Posterior
from percuss.api.report import Report
from percuss.api.results import Campaign, Design, Result, Run
from percuss.api.studies import load_study, make_study
from percuss.api.surrogate import Surrogate

__all__ = [
    "Campaign",
    "Design",
    "Ledger",
    "Picture",
    "Posterior",
    "Report",
    "Result",
    "Run",
    "Surrogate",
    "load_study",
    "make_study",
    "model",
    "open_ledger",
]
