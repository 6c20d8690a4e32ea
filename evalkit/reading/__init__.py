"""Files and frames to typed tables. The only reader of data files."""

from evalkit.reading.tables import TextTable, file_bytes, is_parquet, read_table, unpacked

__all__ = ["TextTable", "file_bytes", "is_parquet", "read_table", "unpacked"]
