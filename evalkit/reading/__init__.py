"""Files and frames to typed tables. The only reader of data files."""

from evalkit.reading.table_files import file_bytes, is_parquet, parquet_table, unpacked
from evalkit.reading.tables import TextTable, read_table

__all__ = ["TextTable", "file_bytes", "is_parquet", "parquet_table", "read_table", "unpacked"]
