"""From data and priors to a posterior that says whether it can be trusted.

    priors, data groups --> target --> samplers --> sample --> summary, evidence, predictive
                                          |
                                     diagnostics

Nothing here knows of ledger, command line or surrogates: a forward model is any callable, a posterior a value. The two
tables (`samplers.registry`, `discrepancies.registry`) load nothing heavy, so that a command line may read them; the
numerical modules import numpy at the top, since whoever loads them is about to compute.
"""
