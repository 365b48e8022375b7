"""
Devices by claim (``resource.k8s.io/v1``): what there is, what is asked, who gets what.
"""
