"""Ground motions: records, synthetic motions, pulses, response spectra and measures of intensity. SI inside."""
