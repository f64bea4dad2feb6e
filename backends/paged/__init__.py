"""Kernels that read a page table, called as SGLang calls them, against their libraries alone. `backends/fa3_paged.py` and its neighbours
are the entries."""
