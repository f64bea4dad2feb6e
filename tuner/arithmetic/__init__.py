"""The arithmetic of times: intervals over processes, one objective of many cells, between cells, and after how many processes one looks.
Pure.
"""
