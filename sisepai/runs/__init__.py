"""Runs: what was asked (plan, manifest), what happened (schema, store), and how it is played (execute)."""

# The kinds of seating and the longest match; here, so that the command line has them without loading NumPy.
SEATINGS = ("fixed", "rotate", "all")
MAX_MATCH = 24_000  # deals of a match; a shard holds whole ones
