"""
Files of jobs: what is read, what is repaired, what is left out, what is refused.
"""

import gzip
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.replay.world.free_nodes import Ground
from adapters.replay.world.waiting_jobs import WaitingJobs
from adapters.traces import floor_of, read_trace, stream_trace
from adapters.traces.clusters import queues_by_work
from adapters.traces.counted_parts import counting_parts
from adapters.traces.fitting import fitted
from adapters.traces.own import COLUMNS, write_own
from adapters.traces.row_faults import TraceRejectedError
from models.queues import Queue, QueueResource
from models.resources import CPU, GPU, MEMORY
from tests.adapters.documents import scenario

DATA = Path(__file__).parents[5] / "shared" / "data"
GPU8 = {"nvidia.com/gpu": 8}
HEAD = "job,submit,duration,gpus,pods,queue\n"


def read(tmp_path, text, name="jobs.csv", **said):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_trace(str(path), **said)


def problem(tmp_path, text, name="jobs.csv", **said):
    with pytest.raises(TraceRejectedError) as caught:
        read(tmp_path, text, name, **said)
    return "; ".join(map(str, caught.value.problems))


def test_jobs_are_sorted_and_counted_from_the_first(tmp_path):
    found = read(tmp_path, HEAD + "b,160,5,1,1,q\na,100,60,8,2,q\n")

    assert [("a", 0, 16), ("b", 60, 1)] == [
        (job.name, job.submit, job.gpus) for job in found.jobs
    ]
    assert {"unsorted": 1} == found.repaired


def test_times_may_have_units_and_dates(tmp_path):
    text = "submit,duration,gpus\n2026-01-01T00:00:00Z,90m,1\n2026-01-01T01:00:00Z,2d,1"
    found = read(tmp_path, text)

    assert [(0, 5400), (3600, 172800)] == [(j.submit, j.duration) for j in found.jobs]
    assert "2026-01-01T00:00:00+00:00" == found.begins


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("x,0,-5,1,1,q", "negative-duration"),
        ("x,0,5 parsecs,1,1,q", "unknown-unit"),
        ("x,soon,5,1,1,q", "bad-time"),
        ("x,0,,1,1,q", "no-duration"),
        ("x,0,nan,1,1,q", "no-duration"),
        ("x,0,inf,1,1,q", "bad-number"),
        ("x,0,1e300,1,1,q", "bad-number"),
        ("x,0,5,1.5,1,q", "not-whole"),
        ("x,0,5,-1,1,q", "out-of-range"),
        ("x,0,5,one,1,q", "bad-number"),
        ("x,2026-01-01,5,1,1,q", "other-time"),
        ("x,0,5,1,0,q", "no-pods"),
        ("x,0,5", "too-few-cells"),
        ("x,nan,5,1,1,q", "bad-time"),
        ("x,inf,5,1,1,q", "bad-time"),
        ("x,-1e30,5,1,1,q", "bad-time"),
    ],
)
def test_a_row_that_cannot_be_read_is_left_out_and_counted(tmp_path, row, rule):
    found = read(tmp_path, HEAD + f"a,0,5,1,1,q\n{row}\nb,9,5,1,1,q\n")

    assert ({rule: 1}, 2) == (found.left_out, len(found.jobs))


ROLES = "job,role,submit,duration,gpus,queue\nz,,0,5,1,q\n"


@pytest.mark.parametrize(
    ("rows", "omissions"),
    [
        ("a,x,0,5,1,q\na,y,0,5,-1,q", {"out-of-range": 1, "other-role": 1}),
        ("a,x,0,no,1,q\na,y,0,5,1,q", {"bad-number": 1, "other-role": 1}),
    ],
)
def test_a_job_is_left_out_with_any_of_its_roles(tmp_path, rows, omissions):
    rows += "\nb,x,0,5,1,q\nb,y,0,5,1,q\n"
    found = read(tmp_path, ROLES + rows)

    assert (omissions, ["z", "b"]) == (found.left_out, [job.name for job in found.jobs])


def test_a_role_that_contradicts_its_job_is_named(tmp_path):
    found = read(tmp_path, f"{ROLES}a,x,0,5,1,q\na,y,,9,1,\na,w,0,5,1,q\n")

    assert ({"differs": 1}, {}) == (found.repaired, found.left_out)
    assert (5, 3) == (found.jobs[1].duration, len(found.jobs[1].roles))


def test_a_second_role_of_a_name_gets_a_number(tmp_path):
    found = read(tmp_path, f"{ROLES}a,x,0,5,1,q\na,x-x1,0,5,2,q\na,x,0,5,4,q\n")

    assert {"same-name": 1} == found.repaired
    assert ["x", "x-x1", "x-x2"] == [role.name for role in found.jobs[1].roles]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("3,2,0", "min-above-pods"),
        ("0,2,0", "min-above-pods"),
        ("2,2,9999999999", "out-of-range"),
    ],
)
def test_a_minimum_and_a_priority_have_bounds(tmp_path, row, rule):
    head = "submit,duration,gpus,min,pods,priority\n"
    found = read(tmp_path, f"{head}0,5,1,1,1,0\n0,5,1,{row}\n0,5,1,2,2,0\n")

    assert {rule: 1} == found.left_out


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("submit,duration,gpus,gpus", "has the column 'gpus' 2 times"),
        ("submit;duration;gpus", "has a semicolon between its columns"),
        ("submit\tduration\tgpus", "has a tab between its columns"),
    ],
)
def test_columns_are_named_once_with_commas_between(tmp_path, head, said):
    assert said in problem(tmp_path, f"{head}\n0,1,1,1\n")


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (("1970-01-01", "1970-01-03", "2999-01-01"), "375,833 of 375,835 days"),
        ((0, 1_700_000_000, 1_700_000_060), "19,676 of 19,676 days, between lines 2"),
        ((0, 40 * 86400), None),
        ((0, 70 * 86400, 150 * 86400, 230 * 86400), None),
    ],
)
def test_a_gap_in_which_a_time_may_be_wrong_is_noted(tmp_path, times, said):
    rows = "".join(f"j{at},{time},5,1,1,q\n" for at, time in enumerate(times))
    notes = [note for note in read(tmp_path, HEAD + rows).notes if "wrong" in note]

    assert bool(said) == bool(notes)
    assert all(said in note for note in notes)


def test_a_file_of_which_most_rows_are_wrong_is_refused_with_examples(tmp_path):
    said = problem(tmp_path, HEAD + "a,0,-5,1,1,q\nb,0,-6,1,1,q\nc,0,5,1,1,q\n")

    assert "2 of 3 cannot be read, more than half" in said
    assert "line 2: '-5'; line 3: '-6'" in said


def test_mixed_line_ends_and_a_byte_order_mark_are_read(tmp_path):
    text = "\ufeff" + HEAD + "a,0,5,1,1,q\r\nb,1,5,1,1,q\nc,2,5,1,1,q\r\n"
    found = read(tmp_path, text)

    assert ["a", "b", "c"] == [job.name for job in found.jobs]
    assert {"q"} == {job.queue for job in found.jobs}
    assert 0 < found.repaired["line-ends"]


def test_packed_files_are_read_whatever_they_are_called(tmp_path):
    packed = gzip.compress((HEAD + "a,0,5,1,1,q\n").encode())

    assert 1 == len(read(tmp_path, packed, "jobs.csv").jobs)
    assert 1 == len(read(tmp_path, packed, "jobs.csv.gz").jobs)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "is empty"),
        (HEAD.encode(), "has no rows"),
        (b"submt,duration,gpus\n0,1,1\n", "has no column submit (is 'submt' meant?)"),
        (b"submit,duration,gpus,colour\n0,1,1,red\n", "unknown column 'colour'"),
        (b"\0\1\2\3\n", "is binary"),
        (gzip.compress(HEAD.encode() * 99, mtime=0)[:-9], "cannot be unpacked"),
        (b"PAR1 and no more", "is not a whole Parquet file"),
        (b"a" * 2_000_000, "is longer than"),
        (
            b"gpu_model,gpu_capacity_num,cpu_num,node_name\nA,1,2,3\n",
            "list of machines",
        ),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_what_is_wrong(tmp_path, text, what):
    assert what in problem(tmp_path, text)


def test_an_unknown_form_and_a_missing_file_are_refused(tmp_path):
    assert "'grid' is not a form" in problem(tmp_path, HEAD, form="grid")
    with pytest.raises(TraceRejectedError):
        read_trace(str(tmp_path / "nowhere.csv"))


def test_names_are_made_such_that_pods_may_have_them(tmp_path):
    found = read(tmp_path, HEAD + "My Job!,0,5,1,1,q\nmy-job,1,5,1,1,q\n,2,5,1,1,q\n")

    names = [job.name for job in found.jobs]
    assert ["my-job", "my-job-x1", "job-00000004"] == names
    assert {"renamed": 1, "same-name": 1} == found.repaired


def test_rows_of_one_job_are_its_roles(tmp_path):
    head = "job,role,submit,duration,gpus,pods,min,cpu,memory,model,exclusive,fails\n"
    rows = "a,driver,0,60,0,1,,2,4Gi,,,30;20\na,worker,0,60,8,4,2,32,,H100|A100,yes,\n"
    job = read(tmp_path, head + rows).jobs[0]

    driver, worker = job.roles
    assert (2000, 4 * 2**30) == (driver.requests[CPU], driver.requests[MEMORY])
    assert (4, 2, 8, True) == (
        worker.pods,
        worker.minimum,
        worker.requests[GPU],
        worker.exclusive,
    )
    assert ("A100", "H100") == worker.demand.terms[0][0].values
    assert (30, 20) == job.failures


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_what_is_written_is_read_as_the_same_jobs(tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs the extra `traces`")
    head = ",".join(COLUMNS) + "\n"
    one = "a,x,0,60,q,7,false,2,1,8,4,8Gi,H100,true,90,5;6\n"
    first = read(tmp_path, f"{head}{one}a,y,0,60,q,7,false,1,1,0,1,,,,90,\n")
    write_own(first, tmp_path / name)

    assert first.jobs == read_trace(str(tmp_path / name)).jobs


def test_a_log_in_the_standard_workload_format_is_read(tmp_path):
    def line(number, submit, ran, procs, limit=-1, status=1):
        return (
            f"{number} {submit} 0 {ran} {procs} -1 -1 {procs} {limit} -1 {status} "
            "1 1 1 3 -1 -1 -1"
        )

    text = "; Version: 2.2\n;\n" + "\n".join(
        [
            line(1, 10, 60, 12, limit=100),
            line(2, 20, -1, 4),
            line(3, 30, 0, 4, status=5),
            line(4, 40, 5, -1),
            "5 50",
            line(6, 70, 30, 4),
            line(7, 71, 30, 4),
            line(8, 72, 30, 4),
            line(9, 73, 30, 4),
        ]
    )
    found = read(tmp_path, text, "log.swf")

    first = found.jobs[0]
    assert ("queue-3", 0, 60, 100, 12) == (
        first.queue,
        first.submit,
        first.duration,
        first.estimate,
        first.gpus,
    )
    assert (2, 6) == (first.roles[0].pods, first.roles[0].gpus)
    assert {"no-duration": 1, "cancelled": 1, "no-pods": 1, "too-few-cells": 1} == (
        found.left_out
    )


def test_a_round_of_ours_is_a_trace_of_its_gangs(tmp_path):
    gangs = [
        {"name": "old", "age": "1h", "maxRuntime": "2h", "min": 2, "requests": GPU8},
        {"name": "new", "age": "5m", "maxRuntime": "1h", "min": 1, "requests": GPU8},
        {"name": "endless", "min": 1, "requests": GPU8},
    ]
    document = scenario(gangs=gangs)
    found = read(tmp_path, json.dumps(document), "now.json")

    assert [("old", 0, 7200, 16), ("new", 3300, 3600, 8)] == [
        (job.name, job.submit, job.duration, job.gpus) for job in found.jobs
    ]
    assert {"no-duration": 1} == found.left_out


def test_a_long_file_is_read_as_a_stream(tmp_path):
    path = tmp_path / "long.csv"
    with path.open("w") as file:
        file.write("timestamp,duration,num_gpus,cluster\n")
        file.writelines(f"{at},60,1,q\n" for at in range(10_000))
    stream = stream_trace(str(path))
    tracemalloc.start()
    count = sum(1 for _ in stream.jobs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 10_000 == count
    assert peak < 1_000_000


def test_jobs_that_can_never_start_are_left_out_by_rule(tmp_path):
    rows = "a,0,5,9,1,q\nb,1,5,8,3,q\nc,2,5,8,2,q\n"
    found = fitted(read(tmp_path, HEAD + rows), floor_of("2x8"))

    assert {"larger-than-cluster": 1, "pod-too-large": 1} == found.left_out
    assert [("c", 0)] == [(job.name, job.submit) for job in found.jobs]


def test_pods_alone_on_their_nodes_need_so_many_and_one_for_the_others(tmp_path):
    head = "job,role,submit,duration,gpus,pods,exclusive\n"
    rows = "a,m,0,5,1,1,\na,w,0,5,1,2,true\nb,m,1,5,1,1,\nb,w,1,5,1,1,true\n"
    found = fitted(read(tmp_path, head + rows), floor_of("2x8"))

    assert {"larger-than-cluster": 1} == found.left_out
    assert ["b"] == [job.name for job in found.jobs]


def test_what_is_not_preemptible_and_above_its_quota_never_starts(tmp_path):
    head = "job,submit,duration,gpus,queue,preemptible\n"
    rows = "a,0,5,2,x,false\nb,0,5,2,x,true\nc,0,5,1,x,false\nd,0,5,1,y,false\n"
    queues = (
        Queue(name="x", resources={GPU: QueueResource(quota=1)}),
        Queue(name="y"),
    )
    floor = replace(floor_of("1x8"), queues=queues)
    found = fitted(read(tmp_path, head + rows), floor)

    assert {"more-than-its-limit": 2} == found.left_out
    assert ["b", "c"] == [job.name for job in found.jobs]


def test_made_up_gpus_hold_what_jobs_ask_of_their_memory(tmp_path):
    rows = "a,0,5,0.3/0.5,1,q\nb,0,5,20Gi,1,q\nc,0,5,100Gi,1,q\n"
    trace, floor = counting_parts(read(tmp_path, HEAD + rows), floor_of("1x1"))
    found = fitted(trace, floor)
    ground = Ground(floor.nodes, found.jobs)

    assert {"pod-too-large": 1} == found.left_out
    assert {"a": 2, "b": 4} == {
        job.name: int(ground.at_most(shape))
        for job in found.jobs
        for shape, _ in WaitingJobs(found.jobs).kind_of(job).shapes
    }


def test_quotas_by_work_add_up_to_all_gpus(tmp_path):
    rows = "a,0,10,1,1,x\nb,1,20,1,1,y\nc,2,40,1,1,z\n"
    queues = queues_by_work(read(tmp_path, HEAD + rows), 16)

    quotas = {queue.name: queue.rule(GPU).quota for queue in queues}
    assert {"x": 2, "y": 5, "z": 9} == quotas


@pytest.mark.drawn
@pytest.mark.skipif(
    not DATA.is_dir(), reason="the public traces are not on this machine"
)
@pytest.mark.parametrize(
    ("path", "form", "jobs", "hours", "left"),
    [
        ("philly-sia/philly.csv.gz", "philly", 82_247, 978_078, {}),
        (
            "openb/openb_pod_list_default.csv",
            "openb",
            8_152,
            51_499,
            {},
        ),
        (
            "alibaba-dlrm-2025/disaggregated_DLRM_trace.csv.gz",
            "dlrm",
            156,
            4_966_257,
            {},
        ),
    ],
)
def test_public_traces_are_read_as_their_authors_count(path, form, jobs, hours, left):
    found = read_trace(str(DATA / path))

    assert (form, jobs, left) == (found.form, len(found.jobs), found.left_out)
    assert hours == pytest.approx(found.gpu_seconds / 3600, abs=1)


@pytest.mark.skipif(
    not DATA.is_dir(), reason="the public traces are not on this machine"
)
@pytest.mark.parametrize(
    ("path", "nodes", "gpus"),
    [
        ("openb/openb_node_list_gpu_node.csv", 1213, 6212),
        ("openb/openb_node_list_all_node.csv", 1523, 6212),
        ("alibaba-spot-2026/node_info_df.csv", 4278, 10_412),
        ("philly-sia/cluster_machine_list.csv", 552, 2490),
    ],
)
def test_public_lists_of_machines_are_clusters(path, nodes, gpus):
    floor = floor_of(str(DATA / path))

    assert (nodes, gpus) == (len(floor.nodes), floor.gpus)
