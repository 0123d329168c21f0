"""Run directories and their points."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import threading

import numpy as np
import pytest

import tilewright as tw


@pytest.fixture(scope="module", params=["eyeriss", "eyeriss-dram", "codesign"])
def directory(request, tmp_path_factory):
    output = tmp_path_factory.mktemp("runs") / "run"
    if request.param == "codesign":
        tw.codesign("zoo:alexnet", layer="conv5", measurements=40, output=output)
    else:
        tw.map("zoo:alexnet", f"zoo:{request.param}", samples=40, output=output)
    return output


def said(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "tilewright", "points", *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_points_are_the_columns_that_the_program_prints(directory):
    rows = said(directory)
    points = tw.open_run(directory).points()
    assert points.columns == list(rows[0])
    table = points.read()
    assert {len(column) for column in table.values()} == {len(rows)}
    for name, column in table.items():
        texts = [row[name] for row in rows]
        if column.dtype == np.float64:
            assert [float(text) if text else None for text in texts] == [None if np.isnan(value) else value for value in column]
        else:
            assert texts == list(column)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_pieces_have_as_many_rows_as_asked_for(directory, rows):
    run = tw.open_run(directory)
    whole = run.points().read()
    pieces = list(run.points(columns=["number", "status"], rows=rows))
    assert {len(piece["number"]) for piece in pieces[:-1]} <= {rows}
    assert np.concatenate([piece["number"] for piece in pieces]).tolist() == whole["number"].tolist()
    assert set(pieces[0]) == {"number", "status"}


def test_a_data_frame_knows_what_was_valid(directory):
    frame = tw.open_run(directory).points().to_pandas()
    valid = frame[frame["status"] == "ok"]
    assert valid["objective"].notna().all()
    assert frame[frame["status"] != "ok"]["objective"].isna().all()


def test_a_stream_may_be_left_early(directory):
    for _ in range(5):
        for piece in tw.open_run(directory).points(rows=1):
            assert len(piece["number"]) == 1
            break


def test_one_layer_only(tmp_path):
    tw.map("zoo:alexnet", "zoo:eyeriss", samples=20, search="random", output=tmp_path / "run")
    run = tw.open_run(tmp_path / "run")
    assert set(run.points("conv3").read()["layer"]) == {"conv3"}
    with pytest.raises(tw.InvalidInput, match="no layer 'conv9'"):
        list(run.points("conv9"))
    with pytest.raises(tw.NotFound, match="did you mean 'energy_nj'"):
        list(run.points(columns=["energy_n"]))
    with pytest.raises(tw.InvalidInput, match="rows is 0"):
        list(run.points(rows=0))


def test_a_run_is_opened_whatever_its_verb(tmp_path):
    tw.compare("zoo:alexnet", "zoo:eyeriss", ["random"], layer="conv3", samples=10, seeds=1, output=tmp_path / "compared")
    run = tw.open_run(tmp_path / "compared")
    assert (run.verb, run.result["verb"], run.record["verb"]) == ("compare",) * 3
    with pytest.raises(tw.InvalidInput, match="expected one of map or codesign"):
        list(run.points())
    with pytest.raises(tw.Error):
        tw.open_run(tmp_path / "nothing")
    with pytest.raises(tw.Error):
        tw.open_run(tmp_path)


def test_two_threads_read_two_streams(directory):
    found = {}

    def read(place):
        found[place] = tw.open_run(directory).points(columns=["number", "objective"], rows=3).read()["number"].tolist()

    threads = [threading.Thread(target=read, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2] == found[3]
