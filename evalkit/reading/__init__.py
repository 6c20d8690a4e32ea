"""Files and frames to typed tables. The only reader of data files."""

from evalkit.reading.archives import packed_like, unpacked
from evalkit.reading.stored_tables import parquet_table, stored_form
from evalkit.reading.table_files import file_bytes, is_folder
from evalkit.reading.tables import TextTable, read_table

__all__ = [
    "TextTable",
    "file_bytes",
    "is_folder",
    "packed_like",
    "parquet_table",
    "read_table",
    "stored_form",
    "unpacked",
]
