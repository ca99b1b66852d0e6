"""Arrow streams that would end the process if they were looked at before they are validated."""

from __future__ import annotations

import subprocess
import sys
import time

import pyarrow as pa
import pytest

from supm._errors import MessageError
from supm.service._arrow import read_stream

# In a process of its own: a stream that is not validated first ends it.
DAMAGED = """
import io, struct
import pyarrow as pa
from supm._errors import MessageError
from supm.service._arrow import read_stream

ids = pa.array([bytes([row] * 16) for row in range(3)], pa.binary(16))
symbols = pa.FixedSizeListArray.from_arrays(pa.array(range(6), pa.int16()), 2)
made = pa.record_batch([ids, symbols], names=["id", "symbols"])
file = io.BytesIO()
with pa.ipc.new_stream(file, made.schema) as writer:
    writer.write_batch(made)
whole, refused = file.getvalue(), 0
for place in range(0, len(whole) - 8, 4):
    if struct.unpack_from("<q", whole, place)[0] in (3, 6):
        damaged = bytearray(whole)
        struct.pack_into("<q", damaged, place, -8)
        try:
            read_stream(bytes(damaged), most=10)
        except MessageError:
            refused += 1
print(refused)
"""


def test_a_column_of_a_negative_length_is_refused_and_does_not_end_the_process() -> None:
    done = subprocess.run(  # noqa: S603  our own interpreter and text
        [sys.executable, "-c", DAMAGED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 4, "the batch and each of its columns declare a length"


def test_empty_batches_are_refused_at_the_first() -> None:
    ids = pa.array([], pa.binary(16))
    symbols = pa.array([], pa.list_(pa.int8(), 1))
    made = pa.record_batch([ids, symbols], names=["id", "symbols"])
    file = pa.BufferOutputStream()
    with pa.ipc.new_stream(file, made.schema) as writer:
        for _ in range(20_000):
            writer.write_batch(made)
    body = file.getvalue().to_pybytes()
    began = time.process_time()
    with pytest.raises(MessageError, match="at least one report"):
        read_stream(body, most=10_000)
    assert time.process_time() - began < 0.2


def test_a_full_batch_beside_an_empty_one_is_refused() -> None:
    ids = pa.array([b"0" * 16], pa.binary(16))
    symbols = pa.array([[1]], pa.list_(pa.int8(), 1))
    made = pa.record_batch([ids, symbols], names=["id", "symbols"])
    file = pa.BufferOutputStream()
    with pa.ipc.new_stream(file, made.schema) as writer:
        writer.write_batch(made)
        writer.write_batch(made.slice(0, 0))
    with pytest.raises(MessageError, match="at least one report"):
        read_stream(file.getvalue().to_pybytes(), most=10)
