"""From data and priors to a posterior that says whether it can be trusted.

    priors, data groups --> target --> samplers --> sample --> summary, evidence, predictive
                                          |
                                     diagnostics

Nothing here knows of ledger or command line, and only `compiled` of surrogates: elsewhere a forward model is any
callable, a posterior a value. The two tables (`samplers.registry`, `discrepancies.registry`) load nothing heavy, so
that a command line may read them; the numerical modules import numpy at the top, since whoever loads them is about to
compute.

Equations C.1 to C.15 are those of Gupta, Bourrier, Acary, Lambert (2023), "Bayesian interface based calibration of a
novel rockfall protection structure modelled in the non-smooth contact dynamics framework", Engineering Structures
297, 116936.
"""
