"""
What the model says of devices below a whole GPU.
"""
