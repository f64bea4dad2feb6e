"""What two versions' times say: regressed, improved, equivalent, or not sure, at stated error rates. Pure: numbers in, verdicts out.

A difference d is ln(new/old), above 0 is slower. Arrays are (..., rounds, cells): one round is one fresh pair of processes.
"""
