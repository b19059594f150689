"""Frames in, frames and small records out: what runs show, with intervals. Never imports the engine."""
