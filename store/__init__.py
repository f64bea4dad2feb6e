"""Records of what flows, the database that keeps them, and the pin files.

What is asked: `scenario` with its `recorded_traffic` and `search`; `plan`; `digest`, by which equal questions are known; `sweeps` of many.
What is known: `boards`, `engines`, `serving`.
What is measured and said: `runs`, `comparisons`; `decision`, `revisit`, `verdicts`; `past` over many runs.
Where it is kept: `database` and its `tables`; `pins` and their `evidence`, which are `files`; `exchange` between two stores.
Each package says what it is in its first line. They import one way.
"""
