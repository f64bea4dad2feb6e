"""Recorded measurements told again, without a GPU."""
