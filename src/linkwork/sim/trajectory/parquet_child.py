"""Read a Parquet file in a child process, which a damaged file may end; ``parquet.py`` starts it.

    python parquet_child.py SYS_PATH LARGEST < FILE      writes the numeric columns as an .npz file

It imports nothing of linkwork, so that it starts quickly.
"""

import io
import json
import sys
from typing import Any

NUMBERS = ("DOUBLE", "FLOAT", "INT32", "INT64")
COMPRESSIONS = ("SNAPPY", "UNCOMPRESSED")  # cannot expand to much more than the file
SPARE = 2**31  # bytes that libraries use themselves


def limit_memory(largest: int) -> None:
    """Limit the memory of this process to copies of the numbers, where the system can."""
    try:
        import resource
    except ImportError:
        return
    limits = [x for x in resource.getrlimit(resource.RLIMIT_DATA) if x != resource.RLIM_INFINITY]
    least = min(SPARE + 8 * largest, *limits, sys.maxsize)
    resource.setrlimit(resource.RLIMIT_DATA, (least, least))


def numbers(largest: int) -> bytes:
    """Return the numeric columns of the file on standard input, as an .npz file."""
    import numpy as np
    from pyarrow import parquet

    data = sys.stdin.buffer.read()
    arrays: list[Any] = []
    with parquet.ParquetFile(io.BytesIO(data), page_checksum_verification=True) as file:
        metadata = file.metadata
        groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        parts = [group.column(k) for group in groups for k in range(group.num_columns)]
        numeric = [part for part in parts if part.physical_type in NUMBERS]
        if 8 * metadata.num_rows * metadata.num_columns > largest:
            raise ValueError(f"{metadata.num_rows} rows of {metadata.num_columns} columns in {len(data)} bytes")
        about: dict[str, Any] = {
            "packed": sorted({part.compression for part in numeric} - {*COMPRESSIONS}),
            "others": sorted({part.physical_type for part in parts} - {*NUMBERS}),
            "names": list(dict.fromkeys(part.path_in_schema for part in numeric)),
        }
        if not about["packed"]:
            table = file.read(columns=about["names"], use_threads=False)
            about["names"] = table.column_names
            about["metadata"] = ((table.schema.metadata or {}).get(b"linkwork") or b"").decode()
            arrays = [seconds(table[name].to_numpy()) for name in table.column_names]
    answer = io.BytesIO()
    np.savez(answer, json.dumps(about), *arrays)
    return answer.getvalue()


def seconds(array: Any) -> Any:
    """Convert dates (from the first one on) and durations to seconds; return others unchanged."""
    import numpy as np

    if array.dtype.kind not in "mM":
        return array
    return (array - (array[:1] if array.dtype.kind == "M" else 0)) / np.timedelta64(1, "s")


def main(path: str, largest: str) -> None:
    """Run the command."""
    sys.path[:] = json.loads(path)
    limit_memory(int(largest))
    try:
        sys.stdout.buffer.write(numbers(int(largest)))
    except Exception as error:  # a damaged file may raise anything
        sys.exit(f"{type(error).__name__}: {str(error)[:500]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
