"""The command line: one command a file; ``main`` holds the group, ``boundary`` turns exceptions into one line."""
