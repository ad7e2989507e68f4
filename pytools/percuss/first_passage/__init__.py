"""First passage of linear systems under modulated Gaussian motion, without simulation."""
