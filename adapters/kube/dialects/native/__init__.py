"""
Kubernetes' own gangs: groups, trees and answers.
"""
