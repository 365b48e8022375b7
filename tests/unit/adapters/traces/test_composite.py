"""
Composite workloads: what is lent, how it is drawn, and that every file says so.
"""

from collections import Counter
from pathlib import Path

import pytest

from adapters.traces import floor_of, read_trace
from adapters.traces.composite import with_priorities, with_requests
from adapters.traces.own import write_own
from adapters.traces.row_faults import TraceRejectedError
from models.resources import CPU, GPU, MEMORY

DATA = Path(__file__).parents[5] / "shared" / "data"
PHILLY = DATA / "philly-sia" / "philly.csv.gz"
OPENB = DATA / "openb"
OWN = "job,submit,duration,gpus,pods\n"
LENDERS = "job,submit,duration,gpus,pods,cpu,memory\n"


def trace(tmp_path, text, name):
    path = tmp_path / name
    path.write_text(text)
    return read_trace(str(path))


@pytest.fixture
def jobs(tmp_path):
    rows = (f"j{at},{at},60,{(1, 8, 6)[at % 3]},2" for at in range(300))
    return trace(tmp_path, OWN + "\n".join(rows), "jobs.csv")


@pytest.fixture
def lender(tmp_path):
    rows = ("a,0,9,1,3,4,8Gi", "b,0,9,1,1,8,16Gi", "c,0,9,8,1,64,1Gi", "d,0,9,1,4,,")
    return trace(tmp_path, LENDERS + "\n".join(rows), "lender.csv")


def asked(job):
    (role,) = job.roles
    return (role.gpus, role.requests.get(CPU, 0), role.requests.get(MEMORY, 0))


def test_pods_ask_for_what_pods_with_as_many_gpus_do(jobs, lender):
    found = {asked(job) for job in with_requests(jobs, lender, 0).jobs}

    one = {(1, 4000, 8 * 2**30), (1, 8000, 16 * 2**30)}
    assert one | {(8, 64000, 2**30), (6, 48000, 2**30 * 6 // 8)} == found


def test_lenders_weigh_as_much_as_they_have_pods(jobs, lender):
    found = Counter(asked(job)[1] for job in with_requests(jobs, lender, 0).jobs)

    assert 2 < found[4000] / found[8000] < 4.5


def test_the_same_seed_draws_the_same_and_another_seed_another(jobs, lender):
    drawn = [with_requests(jobs, lender, seed).jobs for seed in (0, 0, 1)]

    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_a_draw_does_not_depend_on_which_other_jobs_there_are(tmp_path, jobs, lender):
    few = trace(tmp_path, OWN + "j0,0,60,1,2\nj4,9,60,8,2\n", "few.csv")
    found = {job.name: asked(job) for job in with_requests(jobs, lender, 3).jobs}

    assert [found["j0"], found["j4"]] == [
        asked(job) for job in with_requests(few, lender, 3).jobs
    ]


def test_who_asks_for_cpu_already_keeps_what_it_has(tmp_path, lender):
    own = trace(tmp_path, LENDERS + "a,0,60,1,1,1500m,\nb,0,60,0,1,,\n", "own.csv")
    found = with_requests(own, lender, 0)

    assert [(1, 1500, 0), (0, 0, 0)] == [asked(job) for job in found.jobs]


def test_a_lender_without_cpu_or_memory_is_refused(jobs):
    with pytest.raises(TraceRejectedError) as caught:
        with_requests(jobs, jobs, 0)

    assert "lends nothing" in str(caught.value.problems[0])


def test_priorities_come_by_weight(jobs):
    found = with_priorities(jobs, {100: 1, 0: 3}, 0)
    counts = Counter(job.priority for job in found.jobs)

    assert {0, 100} == set(counts)
    assert 2 < counts[0] / counts[100] < 4.5
    assert "100 for 25 %, 0 for 75 % of the jobs, seed 0" in found.parts[-1]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_file_of_a_composite_workload_says_so(tmp_path, jobs, lender, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="needs the extra traces")
    made = with_priorities(with_requests(jobs, lender, 0), {5: 1}, 0)
    write_own(made, tmp_path / name)
    found = read_trace(str(tmp_path / name))

    assert made.parts == found.parts
    assert made.jobs == found.jobs
    assert 3 == len(found.parts)
    assert any("GPU by GPU: 200 of 6 GPUs" in note for note in found.notes)


def test_marks_that_somebody_made_up_are_shown_as_text_and_cut(tmp_path):
    marks = "# note: a\x1b[31mb" + "x" * 9000 + "\n" + "# part: p\n" * 99
    found = trace(tmp_path, marks + OWN + "a,0,1,1,1\n", "odd.csv")

    assert "\x1b" not in found.notes[0]
    assert 600 > len(found.notes[0])
    assert 30 == len(found.parts)
    assert 1 == len(found.jobs)


def test_a_list_of_machines_with_a_row_that_cannot_be_read_is_refused(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("machineId,number of GPUs\na,8\nb\nc,8\nd,8\ne,8\nf,many\n")
    with pytest.raises(TraceRejectedError) as caught:
        floor_of(str(path))

    first, *each = map(str, caught.value.problems)
    assert "2 of 6 cannot be read" in first
    assert ["too-few-cells", "bad-number"] == [text.split(":")[0] for text in each]
    assert "line 3" in each[0]
    assert "line 7: 'many'" in each[1]


def test_so_many_machines_of_a_list_have_each_kind_by_its_share(tmp_path):
    rows = [f"a{at},1000,1024,8,G2" for at in range(60)]
    rows += [f"b{at},1000,1024,2,T4" for at in range(30)]
    rows += [f"c{at},1000,1024,1,P100" for at in range(10)]
    path = tmp_path / "list.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\n" + "\n".join(rows))
    found = floor_of(f"{path}@12")

    assert {8: 7, 2: 4, 1: 1} == Counter(n.allocatable[GPU] for n in found.nodes)
    assert found == floor_of(f"{path}@12")
    assert "12 of 100 machines, of each kind its share of them" == found.notes[0]
    assert 100 == len(floor_of(f"{path}@100").nodes)
    for count in (0, 101):
        with pytest.raises(TraceRejectedError) as caught:
            floor_of(f"{path}@{count}")

        assert "list.csv@N, N from 1 to 100" in str(caught.value.problems[0])


@pytest.mark.drawn
@pytest.mark.skipif(not PHILLY.exists(), reason="the Philly trace is not here")
def test_philly_on_openb_shapes_has_all_jobs_with_cpu_and_memory():
    lender = read_trace(str(OPENB / "openb_pod_list_default.csv"))
    found = with_requests(read_trace(str(PHILLY)), lender, 0)
    known = {
        (role.requests.get(CPU), role.requests.get(MEMORY))
        for job in lender.jobs
        for role in job.roles
        if role.gpus == 1
    }

    assert 82247 == len(found.jobs)
    assert all(
        (role.requests.get(CPU), role.requests.get(MEMORY)) in known
        for job in found.jobs
        for role in job.roles
        if role.gpus == 1
    )
    assert ("lent by pods of other numbers of GPUs, GPU by GPU: 14 of 6 GPUs",) == (
        found.notes[-1:]
    )
