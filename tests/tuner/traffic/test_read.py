from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tuner.errors import UsageError
from tuner.traffic.read import read_trace
from tuner.traffic.trace import How

TABLE = b"prompt_tokens,output_tokens\n100,20\n300,40\n"


def test_gzip_shows_in_the_content(tmp_path: Path) -> None:
    plain, packed = tmp_path / "log.csv", tmp_path / "log.data"
    plain.write_bytes(TABLE)
    packed.write_bytes(gzip.compress(TABLE))
    one, two = (read_trace(str(path), How(), "sglang").requests for path in (plain, packed))
    assert one is not None and two is not None and one.sha256 == two.sha256


@pytest.mark.parametrize(
    ("make", "said"), [(lambda path: None, "does not exist: check the path"), (Path.mkdir, "is a folder: name a file")]
)
def test_what_is_no_file_is_refused(tmp_path: Path, make, said: str) -> None:
    make(tmp_path / "log")
    with pytest.raises(UsageError, match=said):
        read_trace(str(tmp_path / "log"), How(), "sglang")


def test_a_cut_gzip_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.gz").write_bytes(gzip.compress(TABLE * 1000)[:-20])
    with pytest.raises(UsageError, match="is a gzip file that is cut short or broken"):
        read_trace(str(tmp_path / "log.gz"), How(), "sglang")
