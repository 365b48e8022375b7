"""
Devices below a whole GPU: their states, packing parts onto them, dealing them out.
"""
