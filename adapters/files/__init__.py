"""
Files: scenarios, snapshots and plans, read strictly and written in stable bytes.
"""

from adapters.files.plan_reader import read_plan as read_plan
from adapters.files.scenario import read_scenario as read_scenario
from adapters.files.scenario import read_scenarios as read_scenarios
from adapters.files.scenario import scenario_of as scenario_of
from adapters.files.writing.plan_writer import plan_document as plan_document
from adapters.files.writing.plan_writer import plan_json as plan_json
