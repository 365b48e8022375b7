"""
The encoding: one CP-SAT model of a round, one module per family of constraints.
"""

from solver.encode.encoding import Encoding as Encoding
from solver.encode.encoding import encode as encode
