"""Runs: what was asked (plan, manifest), what happened (schema, store), and how it is played (execute)."""

# The kinds of seating; here, so that the command line can list them without loading NumPy.
SEATINGS = ("fixed", "rotate", "all")
