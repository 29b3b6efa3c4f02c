"""`deltatape bench` reports what passes `verify`, and nothing else; no test asserts a time."""

import json

import pytest

from deltatape import verification
from deltatape.benchmark import chunk_tri_solve_invert, measure
from deltatape.benchmark.report import Report
from deltatape.cli import main
from deltatape.verification.comparisons import Comparison

QUICK = ["bench", "--device", "cpu", "--shapes", "quick", "--peers", "none"]
SPREAD = {"median", "low", "high"}
WRONG = Comparison("state", 1.0, 0.0)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A quick run's JSON; a picture is drawn as well."""
    folder = tmp_path_factory.mktemp("bench")
    written = ["--json", str(folder / "report.json"), "--plot", str(folder / "times.png")]
    assert main([*QUICK, *written]) == 0
    assert (folder / "times.png").read_bytes().startswith(b"\x89PNG")
    return json.loads((folder / "report.json").read_text())


def test_the_report_says_where_its_numbers_come_from(report: dict) -> None:
    machine = report["machine"]
    assert report["schema"] == 1
    assert report["shapes"] == "quick"
    assert report["correct"] is True
    assert report["verified_cases"] > 50
    assert machine["device"]["name"] == "cpu"
    assert {"deltatape", "numpy"} <= machine["versions"].keys()
    assert {"system", "processors", "load", "python", "threads"} <= machine.keys()


def test_every_kernel_is_timed_beside_a_copy_of_its_bytes(report: dict) -> None:
    kernels = {each["kernel"] for each in report["results"]}
    assert kernels == {"ssm_step_record", "ssm_replay", "chunk_tri_solve_invert"}
    for each in report["results"]:
        assert SPREAD == each["seconds"].keys() == each["copy_seconds"].keys()
        assert 0 < each["ratio"]["low"] <= each["ratio"]["median"] <= each["ratio"]["high"]
        assert each["bytes_moved"] > 0
        assert each["checks"]
        assert all(check["holds"] for check in each["checks"])
        assert (each["beside_float32"] is None) == (each["dtypes"] == "float32")


def test_every_work_has_times_of_its_own(report: dict) -> None:
    times = [tuple(each["seconds"].values()) for each in report["results"]]
    assert len(set(times)) == len(times)


def test_goals_are_judged_for_production_shapes_alone(report: dict) -> None:
    assert all(each["goal"] is None and each["met"] is None for each in report["results"])
    assert all(each["met"] is None for each in report["threads"])


def test_the_processors_goals_are_not_a_gpus() -> None:
    judged = {
        name: Report({"device": {"name": name}}, "production", 0).has_goals
        for name in ("cpu", "cuda", "metal")
    }
    assert judged == {"cpu": True, "cuda": False, "metal": False}


def test_the_accepted_drafts_lead_to_the_bytes_of_a_straight_run(report: dict) -> None:
    ways = {each["name"]: each for each in report["accept"]["ways"]}
    assert all(each["exact"] for each in ways.values())
    assert ways["factored tape"]["held"] < ways["dense tape"]["held"] / 4
    assert sum(kept for _, kept in report["accept"]["rounds"]) == 20
    assert any(kept < steps for steps, kept in report["accept"]["rounds"])


def test_calls_take_no_memory_but_their_tape(report: dict) -> None:
    extra = {each["name"]: each["extra"] for each in report["memory"]}
    assert extra["record, dense tape"] > 268e6
    assert extra["record, factored tape"] < 2e6
    assert extra["replay, factored tape, in place"] < 1e6
    assert extra["inverse"] < 1e6


def test_overhead_is_reported_for_both_callers(report: dict) -> None:
    callers = {(each["kernel"], each["caller"]) for each in report["overhead"]}
    kernels = ("ssm_step_record", "ssm_replay")
    assert callers == {(kernel, caller) for kernel in kernels for caller in ("Python", "C")}


def test_nothing_is_timed_when_a_case_fails(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(verification, "run", lambda _, case: verification.Row(case, WRONG))
    monkeypatch.setattr(measure, "take_turns", lambda *_: pytest.fail("something was timed"))
    path = tmp_path / "report.json"
    assert main([*QUICK, "--json", str(path)]) == 1
    assert "Nothing was timed" in capsys.readouterr().out
    assert not path.exists()


def test_a_result_that_is_wrong_after_the_timing_is_no_result(capsys, monkeypatch) -> None:
    monkeypatch.setattr(chunk_tri_solve_invert, "check", lambda *_: [WRONG])
    assert main([*QUICK, "--kernel", "chunk_tri_solve_invert"]) == 1
    shown = capsys.readouterr().out
    assert "WRONG" in shown
    assert "met" not in shown


def test_one_kernel_alone_can_be_timed_and_printed_as_json(capsys) -> None:
    assert main([*QUICK, "--kernel", "chunk_tri_solve_invert", "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {each["kernel"] for each in report["results"]} == {"chunk_tri_solve_invert"}
    assert report["accept"]["ways"] == []


@pytest.mark.parametrize(
    "words", [["--kernel", "softmax"], ["--shapes", "huge"], ["--peers", "all"], ["--json"]]
)
def test_unknown_options_are_refused(words: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["bench", *words])
    assert stopped.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_a_picture_needs_matplotlib_before_anything_is_timed(capsys, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert main([*QUICK, "--plot", "times.png"]) == 2
    assert "expected matplotlib" in capsys.readouterr().err
