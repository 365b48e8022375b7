"""
The machine: its clock, threads, processes and memory.
"""
