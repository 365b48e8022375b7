"""
Traces: files of several forms, read as streams, judged row by row, and never trusted.
"""

from adapters.traces.clusters import floor_of as floor_of
from adapters.traces.read import FORMS as FORMS
from adapters.traces.read import read_trace as read_trace
from adapters.traces.read import stream_trace as stream_trace
