"""
Where a resource is in the API, and what people and roles call it.
"""

from adapters.kube.api.api_resources import Resource


def path_of(resource: Resource, namespace: str = "", name: str = "") -> str:
    """
    Give the path of a resource, of all namespaces where none is named.
    """
    base = f"/apis/{resource.group}" if resource.group else "/api"
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{base}/{resource.version}{inside}/{resource.plural}" + (
        f"/{name}" if name else ""
    )


def called(resource: Resource) -> str:
    """
    Name a resource as people do: ``pods``, ``queues.scheduling.run.ai``.
    """
    if not resource.group:
        return resource.plural
    return f"{resource.plural}.{resource.group}"


def version_of(resource: Resource) -> str:
    """
    Give the API version as objects write it.
    """
    if not resource.group:
        return resource.version
    return f"{resource.group}/{resource.version}"


def rule_of(resource: Resource, verb: str) -> str:
    """
    Write the rule that a role needs, as it stands in a manifest.
    """
    return (
        f'{{apiGroups: ["{resource.group}"], resources: ["{resource.plural}"], '
        f'verbs: ["{verb}"]}}'
    )
