"""Pins: as values, as files, and from one version of them to the next."""
