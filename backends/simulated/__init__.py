"""A GPU that is none: its own clock, chosen times and noise, and whatever misfortune is asked for. Needs no library.

Everything that measures is the code that measures on a real GPU; only the bench (`backends.bench`) is another one.
`world` says what the GPU is like, `modelled` and `recorded` how long a call takes on it, `misfortunes` what befalls it.
"""
