"""What SGLang makes of a command line, as rules: attention backends, page size, KV dtype, graphs and prefix cache, or the refusal.

`resolve` in `steps` is the one way in. The rules hold for the releases in `versions`, whose own code the differential test asks.
"""
