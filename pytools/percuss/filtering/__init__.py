"""Sequential filters over ensembles of runs (Cheng, Shuku, Thoeni and Yamamoto, 2018)."""
