"""Stands in for SGLang: a server and benchmarks that say what the real ones say, of made-up times."""
