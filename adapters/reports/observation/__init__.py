"""
The report of `phalanx run --observe`: another scheduler's binds beside our plans.
"""
