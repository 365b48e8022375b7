"""
The parts in a cluster, and who talks to whom.
"""

from adapters.reports.charts.palette import FAINT, SERIES
from tools.pictures.drawing import Drawing, Scheme

WIDTH, HEIGHT = 840, 356
BLUE, GREEN = SERIES[0], SERIES[2]


def draw(scheme: Scheme) -> str:
    """
    Draw users above, the API server in the middle, Phalanx and the nodes below.
    """
    drawing = Drawing(
        WIDTH,
        HEIGHT,
        scheme,
        "Two replicas of Phalanx follow the API server; one leads, binds and evicts.",
    )
    drawing.card(
        (14, 14, 262, 78),
        "Users",
        ["submit Jobs and PodGroups;", "phalanx get, describe, plan: read only"],
    )
    drawing.card(
        (564, 14, 262, 78),
        "Controllers and other schedulers",
        ["make pods; bind pods that do not", "name Phalanx: these are load to it"],
    )
    drawing.box((14, 128, 812, 50), stroke=BLUE)
    drawing.text((420, 149), "Kubernetes API server", bold=True, anchor="middle")
    words = "pods, nodes, groups, queues, owners, budgets, volumes"
    drawing.text((420, 167), words, size=11.5, colour=FAINT, anchor="middle")
    drawing.arrow([(145, 92), (145, 126)])
    drawing.arrow([(695, 92), (695, 126)], both=True)
    _phalanx(drawing)
    _nodes(drawing)
    return drawing.finished()


def _phalanx(drawing: Drawing) -> None:
    drawing.box((14, 214, 540, 128), fill=None, stroke=FAINT, dashed=True)
    words = "namespace phalanx-system"
    drawing.text((544, 232), words, size=11.5, colour=FAINT, anchor="end")
    drawing.card(
        (26, 242, 176, 88),
        "Phalanx, leader",
        ["plans, judges,", "binds and evicts,", "tells the reasons"],
        edge=GREEN,
    )
    drawing.card(
        (214, 242, 152, 88),
        "Phalanx, standby",
        ["follows the cluster,", "leads when the", "Lease is free"],
    )
    drawing.card(
        (378, 242, 164, 88),
        "Lease, ConfigMaps",
        ["who leads; what is", "under way, and what", "is remembered"],
    )
    drawing.arrow([(70, 178), (70, 240)])
    drawing.text((78, 204), "watch", size=11, colour=FAINT)
    drawing.arrow([(160, 242), (160, 180)])
    drawing.text((168, 204), "bind, evict, say why", size=11, colour=FAINT)
    drawing.arrow([(330, 178), (330, 240)])
    drawing.text((338, 204), "watch", size=11, colour=FAINT)


def _nodes(drawing: Drawing) -> None:
    drawing.card((590, 214, 236, 60), "Nodes", ["kubelets start what is bound to them"])
    drawing.card(
        (590, 288, 236, 54), "Prometheus, Grafana", ["read /metrics of both replicas"]
    )
    drawing.arrow([(708, 178), (708, 212)])
    drawing.arrow([(590, 316), (556, 316)], dashed=True)
