"""percuss: simulate contact and impact, calibrate, and keep every step as an auditable event."""
