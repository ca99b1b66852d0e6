from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from supm._errors import ParameterError, RecordError
from supm.schema.text_table import TextTable, read_csv

PRIVATE = "QX7731"


def table(folder: Path, content: str | bytes, name: str = "people.csv") -> TextTable:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_csv(str(path))


@pytest.mark.parametrize(
    "content",
    [
        "age,ward\n34,north\n61,east\n",
        "age,ward\r\n34,north\r\n61,east",
        "\ufeffage;ward\n34;north\n\n61;east\n",
        "age\tward\n34\tnorth\n61\teast\n",
        ' age , "ward"\n 34 , "north"\n61,east \n',
    ],
)
def test_the_usual_spellings_of_a_table_are_one_table(content: str, tmp_path: Path) -> None:
    found = table(tmp_path, content)
    assert found.names == ("age", "ward")
    assert found.rows == 2
    assert found.column("age").tolist() == ["34", "61"]
    assert [(name, text.tolist()) for name, text in found.columns()] == [
        ("age", ["34", "61"]),
        ("ward", ["north", "east"]),
    ]


def test_a_packed_file_is_unpacked_and_a_damaged_one_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b"age,ward\n34,north\n" * 100)
    assert table(tmp_path, packed, "a.csv.gz").rows == 199
    with pytest.raises(ParameterError, match="data must be a file that can be read"):
        table(tmp_path, packed[:-12], "b.csv.gz")
    with pytest.raises(ParameterError, match="data must be a file that can be read"):
        table(tmp_path, b"age,ward\n", "c.csv.gz")


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="No such file or directory"):
        read_csv(str(tmp_path / "nowhere.csv"))
    with pytest.raises(ParameterError, match="Is a directory"):
        read_csv(str(tmp_path))


def test_a_long_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supm.schema.text_table._CHUNK", 6)
    found = table(tmp_path, "a,b\n" + "".join(f"{k},{-k}\n" for k in range(10)))
    assert len(found.chunks) == 4
    assert found.rows == 10
    assert found.column("b").tolist() == [str(-k) for k in range(10)]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "line 1: there must be the names of the columns, and it is empty"),
        (",,\n1,2,3\n", "line 1: there must be the names"),
        ("age,ward\n", "a header and no records"),
        ("age,,ward\n1,2,3\n", "line 1: column 2 has no name"),
        (f"{PRIVATE},ward,{PRIVATE}\n1,2,3\n", "columns 1 and 3 have one name"),
        (f"age,ward\n1,x\n{PRIVATE}\n", "line 3: 1 values where the header has 2 columns"),
        (f"age,ward\n1,x\n\n1,2,{PRIVATE}\n", "line 4: 3 values where the header has 2 columns"),
        (b"age,ward\n1,x\n\xff\xfe,x\n", "line 3: this is not UTF-8 text"),
        (f'age,ward\n1,"{PRIVATE}\n2,x\n', "this is not CSV"),
        (f'age,ward\n1,"x"{PRIVATE}\n', "line 2: this is not CSV"),
        ("age,ward\n1," + PRIVATE * 30_000 + "\n", "line 2: this is not CSV"),
    ],
)
def test_what_is_no_table_is_named_by_its_line_and_never_by_its_content(
    content: str | bytes, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(RecordError) as refusal:
        table(tmp_path, content)
    assert complaint in str(refusal.value)
    assert PRIVATE not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_a_column_that_is_not_there_gets_a_hint(tmp_path: Path) -> None:
    found = table(tmp_path, "Diagnosis,age\nb,1\n")
    with pytest.raises(RecordError, match=r"no column 'diagnosis'\. Did you mean 'Diagnosis'\?"):
        found.column("diagnosis")
    with pytest.raises(RecordError, match=r"no column 'zzz'\. There are 'Diagnosis', 'age'"):
        found.column("zzz")


def test_a_wide_file_is_read(tmp_path: Path) -> None:
    width = 20_000
    lines = [",".join(f"{word}{k}" for k in range(width)) for word in ("c", "", "-")]
    found = table(tmp_path, "\n".join(lines))
    assert len(found.names) == width
    assert found.column("c19999").tolist() == ["19999", "-19999"]


def test_the_target_is_looked_for_before_the_records_are_read(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n1,2,3\n")
    with pytest.raises(ParameterError, match=r"target must be a column of .* Did you mean 'ill'"):
        read_csv(str(path), target="Ill")


def test_every_record_knows_its_line(tmp_path: Path) -> None:
    found = table(tmp_path, 'a,b\n1,2\n\n3,"x\ny"\n5,6\n')
    assert found.lines.tolist() == [2, 5, 6]
