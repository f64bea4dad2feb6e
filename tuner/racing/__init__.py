"""Which arms are worth another fresh process: an arm leaves as soon as it is surely not the best that may be picked.

The chance that the truly best pair of arms ever leaves is at most `elimination.ALPHA`, under normal process effects: at each of L looks
each of its rivals may beat it with ALPHA / (L x rivals). Everything here is a pure function of what is stored.
"""
