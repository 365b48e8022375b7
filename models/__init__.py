"""
What is and what is wanted: records, file schemas, reasons, errors.

Nothing here imports the solver or the adapters, and nothing here touches the world.
"""
