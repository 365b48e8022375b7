"""
Shares: what each queue is entitled to, borrows and lends.
"""
