"""From composed configuration to records: the names there are, what files and the machine fill in, what stands in for a GPU, what Hydra
objects to.
"""
