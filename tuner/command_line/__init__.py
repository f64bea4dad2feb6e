"""A command line from its words to an exit code: signals, failures in one sentence, Hydra's own application, completion. What the
words do is in `tuner.commands`.
"""
