"""Beside a plan: the engine that is asked, what each arm would serve on, what is said, what others measured, and the cells that the
default's first times add.
"""
