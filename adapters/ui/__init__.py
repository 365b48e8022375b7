"""
The page to look at: rounds as documents, who has them, and a server on loopback.

Nothing here decides or writes anything; what a page may ask for is read only.
"""
