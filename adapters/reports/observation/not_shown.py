"""
What an observation does not show, in words for its page.
"""

from adapters.reports.observation.story import SAME

LIMITS = (
    (
        "A gang that a plan would have started would have held its room from then on, "
        "and others would have found less. That is not simulated: each round begins "
        "from what the other one made of the cluster. So the hours of several gangs do "
        "not add up to a schedule that anybody could have had; they say how long gangs "
        "waited that could have started where they were. A replay plays a schedule."
    ),
    (
        "A gang that the other one started and no plan would have by then is named, "
        "but not with hours: when a plan would have started it later is not known, "
        "since it was running."
    ),
    (
        "What has to be evicted first counts apart: nobody was evicted, so no plan was "
        "seen to start there."
    ),
    (
        "A gang that has not ended waiting counts until the end of the record or until "
        "it was gone; it may have waited longer."
    ),
    "Only the first wait of each gang counts, until its minimum ran once.",
    (
        f"Moments are those of the rounds that saw them, and two of them within "
        f"{SAME:g} s are the same. A gang that came and went between two rounds is not "
        "in here."
    ),
    (
        "Which running pods were gone without having ended is counted; whether the "
        "other scheduler evicted them or somebody deleted them is not known."
    ),
    (
        "What Phalanx remembers over rounds, such as heads that are protected after an "
        "hour, takes no part: its rounds never came to pass."
    ),
)
