"""The engine driver: SGLang's own attention backend objects, built and driven without a model or a server.

``driver`` is the entry. ``context`` sets up the process, ``runner`` and ``pools`` stand in for what a server would hand the
backend, ``calls`` and ``capture`` drive one cell, and one thin module a version range holds the names that differ.
"""
