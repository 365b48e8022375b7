"""
Definitions of the kinds that other systems install, from their documented fields.
"""

TEXT = {"type": "string"}
WHOLE = {"type": "integer", "format": "int32"}
NUMBER = {"type": "number"}
YES_NO = {"type": "boolean"}
TIME = {"type": "string", "format": "date-time"}
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
AMOUNTS = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    },
}


def fields(**named: dict) -> dict:
    return {"type": "object", "properties": named}


def several(entry: dict) -> dict:
    return {"type": "array", "items": entry}


CONDITIONS = several(
    fields(
        type=TEXT,
        status=TEXT,
        reason=TEXT,
        message=TEXT,
        transitionID=TEXT,
        observedGeneration={"type": "integer", "format": "int64"},
        lastTransitionTime=TIME,
    )
)
COUNTS = dict.fromkeys(("running", "succeeded", "failed"), WHOLE)

COSCHEDULING_SPEC = fields(
    minMember=WHOLE | {"minimum": 1},
    minResources=AMOUNTS,
    scheduleTimeoutSeconds=WHOLE,
)
COSCHEDULING_STATUS = fields(
    phase=TEXT, occupiedBy=TEXT, scheduled=WHOLE, scheduleStartTime=TIME, **COUNTS
)
QUOTA_SPEC = fields(min=AMOUNTS, max=AMOUNTS)
QUOTA_STATUS = fields(used=AMOUNTS)

NETWORK = fields(mode=TEXT, highestTierAllowed=WHOLE, highestTierName=TEXT)
VOLCANO_GROUP_SPEC = fields(
    minMember=WHOLE,
    minTaskMember={"type": "object", "additionalProperties": WHOLE},
    queue=TEXT,
    priorityClassName=TEXT,
    minResources=AMOUNTS,
    networkTopology=NETWORK,
    subGroupPolicy=several(
        fields(
            name=TEXT,
            networkTopology=NETWORK,
            subGroupSize=WHOLE,
            minSubGroups=WHOLE,
            labelSelector=ANYTHING,
            matchLabelKeys=several(TEXT),
        )
    ),
)
VOLCANO_GROUP_STATUS = fields(phase=TEXT, conditions=CONDITIONS, **COUNTS)
VOLCANO_QUEUE_SPEC = fields(
    weight=WHOLE | {"minimum": 1, "maximum": 65535},
    capability=AMOUNTS,
    deserved=AMOUNTS,
    guarantee=fields(resource=AMOUNTS),
    reclaimable=YES_NO,
    parent=TEXT,
    priority=WHOLE,
    dequeueStrategy=TEXT,
    affinity=ANYTHING,
    extendClusters=several(ANYTHING),
    type=TEXT,
)
VOLCANO_QUEUE_STATUS = fields(
    state=TEXT,
    unknown=WHOLE,
    pending=WHOLE,
    running=WHOLE,
    inqueue=WHOLE,
    completed=WHOLE,
    allocated=AMOUNTS,
    reservation=fields(nodes=several(TEXT), resource=AMOUNTS),
)

KAI_TOPOLOGY = fields(
    topology=TEXT, requiredTopologyLevel=TEXT, preferredTopologyLevel=TEXT
)
KAI_GROUP_SPEC = fields(
    minMember=WHOLE,
    minSubGroup=WHOLE,
    queue=TEXT,
    priorityClassName=TEXT,
    preemptibility=TEXT,
    topologyConstraint=KAI_TOPOLOGY,
    subGroups=several(
        fields(
            name=TEXT,
            minMember=WHOLE,
            minSubGroup=WHOLE,
            parent=TEXT,
            topologyConstraint=KAI_TOPOLOGY,
        )
    ),
    markUnschedulable=YES_NO,
    schedulingBackoff=WHOLE,
    preemptionDelay=TEXT,
    stalenessGracePeriod=TEXT,
)
KAI_GROUP_STATUS = fields(
    conditions=CONDITIONS,
    schedulingConditions=several(ANYTHING),
    resourcesStatus=ANYTHING,
)
KAI_SHARE = fields(quota=NUMBER, overQuotaWeight=NUMBER, limit=NUMBER)
KAI_QUEUE_SPEC = fields(
    displayName=TEXT,
    parentQueue=TEXT,
    priority=WHOLE,
    preemptMinRuntime=TEXT,
    reclaimMinRuntime=TEXT,
    resources=fields(cpu=KAI_SHARE, memory=KAI_SHARE, gpu=KAI_SHARE),
)
KAI_QUEUE_STATUS = fields(
    conditions=CONDITIONS,
    childQueues=several(TEXT),
    allocated=AMOUNTS,
    allocatedNonPreemptible=AMOUNTS,
    requested=AMOUNTS,
)
BIND_REQUEST_SPEC = fields(
    podName=TEXT,
    selectedNode=TEXT,
    receivedResourceType=TEXT,
    receivedGPU=fields(count=WHOLE, portion=TEXT),
    selectedGPUGroups=several(TEXT),
    selectedFractionalGpuGroups=several(fields(id=TEXT, computeSharingMode=TEXT)),
    resourceClaimAllocations=several(ANYTHING),
    extendedResourceClaimAllocation=ANYTHING,
    predictedNUMAZones=several(ANYTHING),
    backoffLimit=WHOLE,
)
BIND_REQUEST_STATUS = fields(phase=TEXT, reason=TEXT, failedAttempts=WHOLE)
KAI_LEVELS = fields(levels=several(fields(nodeLabel=TEXT, alias=TEXT)))

HYPER_NODE_SPEC = fields(
    tier=WHOLE,
    tierName=TEXT,
    members=several(fields(type=TEXT, selector=ANYTHING)),
)

VOLCANO_GROUPS = (
    ("scheduling.volcano.sh", "v1beta1"),
    ("scheduling.incubator.k8s.io", "v1alpha1"),
    ("scheduling.roc", "v1beta1"),
)
COSCHEDULING_GROUPS = ("scheduling.x-k8s.io", "scheduling.sigs.k8s.io")


def definition(
    api: str, kind: str, spec: dict, status: dict | None, *, namespaced: bool = True
) -> dict:
    """
    Write the definition of a kind; with a status it has the subresource for it.
    """
    group, version = api.split("/")
    plural = f"{kind[:-1].lower()}ies" if kind[-1] == "y" else f"{kind.lower()}s"
    properties = {"spec": spec} | ({"status": status} if status else {})
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            # Groups of the project itself ask for proof of a review.
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": fields(**properties)},
                    **({"subresources": {"status": {}}} if status else {}),
                }
            ],
        },
    }


def definitions() -> list[dict]:
    """
    List all definitions.
    """
    found = [
        definition(
            "scheduling.run.ai/v2alpha2", "PodGroup", KAI_GROUP_SPEC, KAI_GROUP_STATUS
        ),
        definition(
            "scheduling.run.ai/v2",
            "Queue",
            KAI_QUEUE_SPEC,
            KAI_QUEUE_STATUS,
            namespaced=False,
        ),
        definition(
            "scheduling.run.ai/v1alpha2",
            "BindRequest",
            BIND_REQUEST_SPEC,
            BIND_REQUEST_STATUS,
        ),
        definition(
            "kai.scheduler/v1alpha1", "Topology", KAI_LEVELS, None, namespaced=False
        ),
        definition(
            "topology.volcano.sh/v1alpha1",
            "HyperNode",
            HYPER_NODE_SPEC,
            None,
            namespaced=False,
        ),
        definition(
            "scheduling.koordinator.sh/v1alpha1",
            "Device",
            fields(devices=several(ANYTHING)),
            None,
            namespaced=False,
        ),
    ]
    for group in COSCHEDULING_GROUPS:
        api = f"{group}/v1alpha1"
        found += [
            definition(api, "PodGroup", COSCHEDULING_SPEC, COSCHEDULING_STATUS),
            definition(api, "ElasticQuota", QUOTA_SPEC, QUOTA_STATUS),
        ]
    for group, version in VOLCANO_GROUPS:
        api = f"{group}/{version}"
        # These systems write the status with the rest: no subresource there.
        without = definition(api, "PodGroup", VOLCANO_GROUP_SPEC, VOLCANO_GROUP_STATUS)
        without["spec"]["versions"][0].pop("subresources")
        found += [
            without,
            definition(
                api,
                "Queue",
                VOLCANO_QUEUE_SPEC,
                VOLCANO_QUEUE_STATUS,
                namespaced=False,
            ),
        ]
    return found


MANY = {"type": "object", "additionalProperties": fields(replicas=WHOLE)}
POLICY = fields(schedulingPolicy=fields(minAvailable=WHOLE, queue=TEXT))
WORKERS = fields(
    groupName=TEXT,
    numOfHosts=WHOLE,
    suspend=YES_NO,
    **dict.fromkeys(("replicas", "minReplicas", "maxReplicas"), WHOLE),
)
RAY = fields(
    enableInTreeAutoscaling=YES_NO,
    headGroupSpec=ANYTHING,
    workerGroupSpecs=several(WORKERS),
)
JOBS = {
    "TFJob": {"tfReplicaSpecs": MANY},
    "PyTorchJob": {
        "pytorchReplicaSpecs": MANY,
        "elasticPolicy": fields(minReplicas=WHOLE, maxReplicas=WHOLE),
    },
    "XGBoostJob": {"xgbReplicaSpecs": MANY},
    "JAXJob": {"jaxReplicaSpecs": MANY},
    "PaddleJob": {"paddleReplicaSpecs": MANY},
    "MPIJob": {"mpiReplicaSpecs": MANY, "launcherCreationPolicy": TEXT},
}


def owners() -> list[dict]:
    """
    List the definitions of the controllers of pods that are not Kubernetes' own.
    """
    parallel = fields(spec=fields(parallelism=WHOLE, completions=WHOLE))
    before = several(fields(name=TEXT, status=TEXT))
    job = fields(name=TEXT, replicas=WHOLE, template=parallel, dependsOn=before)
    specs = {
        "jobset.x-k8s.io/v1alpha2 JobSet": fields(
            replicatedJobs=several(job),
            startupPolicy=fields(startupPolicyOrder=TEXT),
        ),
        "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": fields(
            replicas=WHOLE,
            leaderWorkerTemplate=fields(size=WHOLE),
            startupPolicy=TEXT,
        ),
        "ray.io/v1 RayCluster": RAY,
        "ray.io/v1 RayJob": fields(entrypoint=TEXT, rayClusterSpec=RAY),
        "sparkoperator.k8s.io/v1beta2 SparkApplication": fields(
            driver=ANYTHING, executor=fields(instances=WHOLE)
        ),
    }
    for kind, spec in JOBS.items():
        version = "v2beta1" if kind == "MPIJob" else "v1"
        specs[f"kubeflow.org/{version} {kind}"] = fields(runPolicy=POLICY, **spec)
    status = fields(rayClusterName=TEXT)
    return [definition(*name.split(), spec, status) for name, spec in specs.items()]
