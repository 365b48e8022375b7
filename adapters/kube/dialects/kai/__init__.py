"""
KAI-Scheduler: its groups, queues, trees and answers.
"""
