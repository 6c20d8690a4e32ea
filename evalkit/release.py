"""A release: the originals, their avatars and a holdout, aligned to one schema."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from evalkit.engine import memory_bytes
from evalkit.errors import InputError
from evalkit.given_values import flag, whole_number
from evalkit.halves import content_ranks, row_order, two_halves
from evalkit.persons import Persons, numbered
from evalkit.randomness import stream
from evalkit.reading import read_table
from evalkit.reading.alignment import aligned_names
from evalkit.reading.options import reading_options
from evalkit.reading.personal_key import check_personal_key, person_keys
from evalkit.reading.sizes import store_for
from evalkit.reading.stores import Store, taken
from evalkit.reading.typed_tables import typed_tables
from evalkit.release_notes import release_notes, shared_persons
from evalkit.rules.checking import checked_rule, columns_of
from evalkit.splitting import split, split_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.ledger import LedgerLine
    from evalkit.rules.listing import Rule
    from evalkit.schema import Schema

    Source: TypeAlias = str | Path | pd.DataFrame

__all__ = ["InputTable", "Release", "load", "split", "split_file"]

LARGEST_SEED = 2**63 - 1
_HALVES = ("working", "working_avatars", "reference")


@dataclass(frozen=True)
class InputTable:
    """One input table as it was read.

    Attributes
    ----------
    name : str
        Base name of the file, or original, avatars or holdout for a DataFrame.
    rows, columns : int
        As read, the columns that are not used included.
    sha256 : str, optional
        Of the bytes of the file; None for a DataFrame.
    individuals : int, optional
        Number of persons, where a personal key was named and the table carries it.
    """

    name: str
    rows: int
    columns: int
    sha256: str | None
    individuals: int | None = None


@dataclass(frozen=True, eq=False)
class Release:
    """The tables under assessment, aligned to one schema, and the halves for the metrics.

    Attributes
    ----------
    schema : Schema
        All columns, the unused ones too.
    original, avatars : pandas.DataFrame
        The used columns in the order of the schema; int64 or float64 for numbers and dates (in
        seconds), pandas.Categorical with levels shared by all tables otherwise.
    holdout : pandas.DataFrame, optional
        Records that the anonymisation never saw; None without a real holdout.
    inputs : dict of str to InputTable
        ``"original"``, ``"avatars"`` and perhaps ``"holdout"`` as they were read.
    row_link : bool
        Whether avatar i was made from original i; declared by the user.
    axes : int
        Number of principal axes for the metrics that use them.
    seed : int
        Draws only the halves of an approximate holdout.
    notes : tuple of Message
        What was found and decided while reading.
    options : dict
        The reading options as used, without paths.
    ledger : tuple of LedgerLine
        For each column of each table what it was read as and what is missing, counted.
    individual : str, optional
        Column of the personal key.
    persons : dict of str to Persons
        Of ``"original"`` and perhaps ``"holdout"``, where a personal key was named: which rows
        belong to one person, as numbers; the keys themselves are not kept.
    shared : int
        Persons of the originals that are in the holdout too.
    rules : tuple of Rule
        What rows should obey, as the schema says; their columns exist.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> release = evalkit.load(table, table)
    >>> release.holdout_kind, len(release.working), len(release.reference)
    ('approximate', 2, 2)
    """

    schema: Schema
    original: pd.DataFrame
    avatars: pd.DataFrame
    holdout: pd.DataFrame | None
    inputs: dict[str, InputTable]
    row_link: bool
    axes: int
    seed: int
    notes: tuple[Message, ...]
    options: dict[str, Any]
    ledger: tuple[LedgerLine, ...] = ()
    individual: str | None = None
    persons: dict[str, Persons] = field(default_factory=dict)
    shared: int = 0
    rules: tuple[Rule, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return how each column of each table was read: one row each, counts and no cell.

        Returns
        -------
        pandas.DataFrame
            Columns ``column``, ``table``, ``read_as``, ``used``, ``rows``, ``filled``,
            ``distinct``, ``missing`` (marks and how many cells each took away) and
            ``unknown_cells`` (of a category that no original has).

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50]})
        >>> evalkit.load(table, table).frame()[["column", "table", "read_as", "filled"]]
          column     table  read_as  filled
        0    age  original  numeric       4
        1    age   avatars  numeric       4
        """
        from evalkit.reading.ledger import ledger_frame

        return ledger_frame(self.ledger)

    def _repr_html_(self) -> str:
        """Return sizes, hashes, columns by type and notes for a notebook; never a row."""
        from evalkit.displays.inputs import release_card

        return release_card(self).html()

    def __repr__(self) -> str:
        from evalkit.displays.inputs import release_card

        return release_card(self).text()

    @property
    def holdout_kind(self) -> str:
        """Return ``"real"`` if a holdout was given, else ``"approximate"``."""
        return "approximate" if self.holdout is None else "real"

    @property
    def working(self) -> pd.DataFrame:
        """Return WO, the originals that the avatars under comparison were made from."""
        return self._working_tables[0]

    @property
    def working_avatars(self) -> pd.DataFrame:
        """Return WA, the avatars of the working originals."""
        return self._working_tables[1]

    @property
    def reference(self) -> pd.DataFrame:
        """Return HO, the records that the working avatars are compared against."""
        return self._working_tables[2]

    @cached_property
    def _working_tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """WO, WA and HO, settled once for all metrics."""
        if self.holdout is not None:
            return self.original, self.avatars, self.holdout
        return self.halves(self.seed)

    def persons_of(self, table: str) -> Persons:
        """Return which rows of a table belong to one person.

        Parameters
        ----------
        table : {"original", "avatars", "holdout", "working", "working_avatars", "reference"}

        Returns
        -------
        Persons
            Each row a person of its own without a personal key. Avatars belong to the person of
            their original where rows are linked; else each is one of its own, and
            `avatar_worth` says what it counts.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> release = evalkit.load(table, table)
        >>> release.persons_of("original").count
        4
        """
        if self.holdout is None and table in _HALVES:
            name = "avatars" if table == "working_avatars" else "original"
            whole, rows = self.persons_of(name), self._places[_HALVES.index(table)]
            return whole.part(rows)
        name = {"working": "original", "working_avatars": "avatars", "reference": "holdout"}.get(
            table, table
        )
        owner = "original" if name == "avatars" and self.row_link else name
        if owner in self.persons:
            return self.persons[owner]
        return Persons.one_row_each(len(getattr(self, name)))

    @property
    def avatar_worth(self) -> float:
        """What one avatar counts where it stands for no person: 1 without several rows a person.

        Avatars made from ten rows of one person are no ten independent ones. Where nothing says
        which they are, all of them count as many as there are persons, at most.
        """
        persons = self.persons_of("original")
        if persons.are_rows or self.row_link:
            return 1.0
        return min(1.0, persons.count / len(self.avatars))

    @cached_property
    def _places(self) -> tuple[npt.NDArray[np.intp], ...]:
        """Rows of the originals, the avatars and the originals that are WO, WA and HO."""
        return self._drawn(self.seed)

    def halves(self, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return WO, WA and HO of an approximate holdout, drawn with another seed.

        The rows are put in an order of content before the draw, so that the order of rows and
        columns in the files never matters. With a personal key whole persons are drawn, and n
        below is their number.

        Parameters
        ----------
        seed : int
            0 or more.

        Returns
        -------
        working : pandas.DataFrame, shape (ceil(n / 2), columns)
        working_avatars : pandas.DataFrame
            The avatars of the working originals if rows are linked, else a random half with the
            extra row.
        reference : pandas.DataFrame, shape (floor(n / 2), columns)

        Raises
        ------
        ValueError
            If the release has a real holdout: there is nothing to draw.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> release = evalkit.load(table, table)
        >>> [len(half) for half in release.halves(seed=1)]
        [2, 2, 2]
        """
        if self.holdout is not None:
            raise ValueError("a release with a real holdout has no halves to draw")
        frames = self.original, self.avatars, self.original
        drawn = zip(frames, self._drawn(seed), strict=True)
        working, avatars, reference = (taken(frame, places) for frame, places in drawn)
        return working, avatars, reference

    def _drawn(self, seed: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Return the rows that are WO, WA and HO, each in an order of content."""
        linked = [self.avatars] if self.row_link else []
        order, rng = row_order([self.original, *linked]), stream(seed, "originals")
        working, reference = two_halves(order, rng, self.persons.get("original"))
        if self.row_link:
            return working, working, reference
        avatars, _ = two_halves(row_order([self.avatars]), stream(seed, "avatars"))
        return working, avatars, reference

    def part(
        self,
        rows: Mapping[str, npt.NDArray[np.bool_]],
        *,
        without: str,
        linked: bool = False,
    ) -> Release:
        """Return the release of some rows only, as if no other had been read.

        Parameters
        ----------
        rows : mapping of str to ndarray of bool
            Of ``"original"``, ``"avatars"`` and perhaps ``"holdout"``: which rows stay. Without
            the last the part has an approximate holdout.
        without : str
            A used column that is left out, and with it those that have no filled cell left;
            likewise the rules that name one of them.
        linked : bool
            Whether avatar i is that of original i in the part too.

        Returns
        -------
        Release
            Shares nothing that was computed for the whole.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> release = evalkit.load(table, table)
        >>> rows = {"original": np.array([True, True, False, False])}
        >>> part = release.part(rows | {"avatars": rows["original"]}, without="size")
        >>> len(part.original), list(part.original.columns)
        (2, ['age'])
        """
        originals = rows["original"]
        names = [
            name
            for name in self.schema.used_names()
            if name != without and bool(self.original[name][originals].notna().any())
        ]
        kept_levels = _of_rows({role: getattr(self, role) for role in rows}, rows, names)
        variables = tuple(
            replace(variable, used=variable.name in names) for variable in self.schema.variables
        )
        return replace(
            self,
            schema=replace(self.schema, variables=variables),
            original=kept_levels["original"],
            avatars=kept_levels["avatars"],
            holdout=kept_levels.get("holdout"),
            row_link=linked,
            rules=tuple(
                rule
                for rule in self.rules
                if columns_of(checked_rule(rule, self.schema)) <= set(names)
            ),
            persons={
                role: self.persons[role].part(kept)
                for role, kept in rows.items()
                if role in self.persons
            },
        )


def _of_rows(
    tables: Mapping[str, pd.DataFrame],
    rows: Mapping[str, npt.NDArray[np.bool_]],
    names: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """Return some rows of the tables, with only those levels that one of them holds.

    Each column is copied once, and no table as a whole.
    """
    import pandas as pd

    found: dict[str, dict[str, Any]] = {role: {} for role in tables}
    for name in names:
        kept = {role: table[name].array[rows[role]] for role, table in tables.items()}
        if isinstance(kept["original"].dtype, pd.CategoricalDtype):
            held = {code for one in kept.values() for code in pd.unique(one.codes)}
            every = kept["original"].categories
            levels = [level for code, level in enumerate(every) if code in held]
            kept = {role: one.set_categories(levels) for role, one in kept.items()}
        for role, one in kept.items():
            found[role][name] = one
    return {
        role: pd.DataFrame(columns, index=pd.RangeIndex(int(rows[role].sum())), copy=False)
        for role, columns in found.items()
    }


def load(  # noqa: PLR0913 - one option each for all that can be said about a table
    original: Source,
    avatars: Source,
    holdout: Source | None = None,
    *,
    schema: str | Path | dict[str, Any] | None = None,
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    datetime: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    row_link: bool = False,
    axes: int = 5,
    on_mismatch: str = "error",
    individual: str | None = None,
    seed: int = 0,
    memory: str | int | None = None,
) -> Release:
    """Return the tables read, typed once and aligned.

    Parameters
    ----------
    original, avatars : str, pathlib.Path or pandas.DataFrame
        CSV or Parquet files, plain or compressed, folders of such files, or tables in memory.
    holdout : str, pathlib.Path or pandas.DataFrame, optional
        Records set aside before the anonymisation; not one of the other two files.
    schema : str, pathlib.Path or dict, optional
        YAML file or mapping ``{columns: {name: {type: ..., use: true}}}``.
    categorical, numeric, datetime : sequence of str
        Columns whose type is given instead of found.
    ignore : sequence of str
        Columns that no metric sees; they may be absent from any table.
    missing : sequence of str
        Cells that stand for missing, such as ``"?"``.
    delimiter, encoding, decimal : str, optional
        Dialect of all text files; found for each file if not given.
    row_link : bool
        Whether avatar i was made from original i.
    axes : int
        Number of principal axes, 1 to 1,000.
    on_mismatch : {"error", "intersect"}
        What to do if the tables have different columns.
    individual : str, optional
        Column of a personal key, where a person has several rows: persons are then counted, not
        rows. Originals and holdout carry it, filled in every row; the avatars need not. No metric
        sees it.
    seed : int
        Draws the halves of an approximate holdout.
    memory : str or int, optional
        What the tables may take, such as ``"4GB"`` or a number of bytes; by default half of the
        machine's memory. Larger tables are read in batches and kept on disk, in files without a
        name in the temporary folder. The release is the same with any memory.

    Returns
    -------
    Release

    Raises
    ------
    evalkit.InputError
        With one clear line, if a table or an option cannot be used.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 45], "town": ["Nice", "Lyon"]})
    >>> release = evalkit.load(table, table)
    >>> [variable.type for variable in release.schema.variables]
    ['numeric', 'categorical']
    """
    options = reading_options(
        schema=schema,
        categorical=categorical,
        numeric=numeric,
        datetime=datetime,
        ignore=ignore,
        missing=missing,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        on_mismatch=on_mismatch,
        individual=individual,
    )
    row_link = flag("row_link", row_link)
    axes = whole_number("axes", axes, 1, 1000)
    seed = whole_number("seed", seed, 0, LARGEST_SEED)
    sources = {"original": original, "avatars": avatars, "holdout": holdout}
    allowed = memory if type(memory) is int else memory_bytes(memory)
    store = store_for(sources.values(), allowed)
    tables = {
        role: read_table(source, role, options, store).with_decimals(options)
        for role, source in sources.items()
        if role != "holdout" or source is not None
    }
    _refuse_same_file(tables)
    check_personal_key(tables, options)
    if row_link and tables["original"].rows != tables["avatars"].rows:
        message = (
            f"--row-link: {tables['original'].rows:,} originals and {tables['avatars'].rows:,} "
            "avatars cannot be linked row by row; drop the option or give tables of equal length."
        )
        raise InputError(message)
    names, notes = aligned_names(tables, options)
    found, frames, ledger = typed_tables(names, tables, options, Store(on_disk=store.on_disk))
    keys = person_keys(tables, options) if individual is not None else {}
    persons, shared = _persons(keys, frames, row_link=row_link), shared_persons(keys)
    for rule in options.rules:
        checked_rule(rule, found)
    return Release(
        schema=found,
        original=frames["original"],
        avatars=frames["avatars"],
        holdout=frames.get("holdout"),
        inputs={
            role: InputTable(
                table.name,
                table.rows,
                len(table.columns),
                table.sha256,
                persons[role].count if role in persons else None,
            )
            for role, table in tables.items()
        },
        row_link=row_link,
        axes=axes,
        seed=seed,
        rules=options.rules,
        notes=(
            *(note for table in tables.values() for note in table.notes),
            *notes,
            *release_notes(frames, keys),
        ),
        options=options.recorded,
        ledger=ledger,
        individual=individual,
        persons=persons,
        shared=shared,
    )


def _persons(
    keys: Mapping[str, npt.NDArray[np.int64]], frames: Mapping[str, pd.DataFrame], *, row_link: bool
) -> dict[str, Persons]:
    """Return the persons of each table with keys, numbered by what the metrics see of them."""
    beside = {"original": [frames["avatars"]] if row_link else []}
    return {
        role: numbered(key, content_ranks([frames[role], *beside.get(role, [])]))
        for role, key in keys.items()
    }


def _refuse_same_file(tables: Mapping[str, TextTable]) -> None:
    """Refuse a holdout that is one of the other files: it must hold other people."""
    holdout = tables.get("holdout")
    if holdout is None or holdout.sha256 is None:
        return
    for role in ("original", "avatars"):
        if tables[role].sha256 == holdout.sha256:
            message = (
                f"{holdout.label}: is the same file as {tables[role].label}; a holdout must hold "
                "other people, set aside before the anonymisation. Give another file or none."
            )
            raise InputError(message)
