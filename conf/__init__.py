"""Hydra's configuration groups; a package so that `pkg://conf` finds them. A file here is code: `_target_` runs what it names."""
