# SPDX-License-Identifier: BSD-3-Clause
"""One table through eight containers: equal objects, records, series, labels and reports."""

import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples

import d2ke
from d2ke.io import read_objects

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore:Constructing a Series with time-zone-aware")

ROME = dt.timezone(dt.timedelta(hours=2))
DAY = dt.date(2024, 2, 29)
TABLE = {
    "name": [" ab", "ab ", None, "c,d", 'say "e"'],
    "price": [1.5, None, -2.0, 1e300, 0.1],
    "count": [1, 2, 3, None, 2**53],
    "cost": [Decimal("1.10"), Decimal("-3.00"), Decimal("0.30"), None, Decimal("7.25")],
    "member": [True, None, False, True, True],
    "born": [DAY, dt.date(1969, 12, 31), dt.date(1, 1, 1), None, DAY],
    "seen": [dt.datetime(2024, 1, 5, 10, tzinfo=ROME), None, *[
        dt.datetime(1969, 12, 31, 23, 59, 59, 250000 + i, tzinfo=ROME) for i in range(3)]],
    "at": [dt.datetime(2024, 1, 5, 10, 0, 0, 123456), None, *[dt.datetime(2024, 1, 5, i)
        for i in range(3)]],
    "took": [dt.timedelta(days=1, hours=2), None, -dt.timedelta(milliseconds=1500),
             dt.timedelta(0), dt.timedelta(microseconds=1)],
    "town": ["x", None, "y", "x", "2"],
    "y": [3, 1, 2, 1, 2],
}  # fmt: skip
NUMBERS = {
    "price": [1.5, -2.0, 1e300, 0.1],
    "count": [1.0, 2.0, 3.0, 2.0**53],
    "cost": [1.1, -3.0, 0.3, 7.25],
    "member": [1.0, 0.0, 1.0, 1.0],
    "born": [19782.0, -1.0, -719162.0, 19782.0],
    "seen": [1704441600.0, *(-7200.75 + np.arange(3) / 1e6)],
    "at": [1704448800.123456, 1704412800.0, 1704416400.0, 1704420000.0],
    "took": [93600.0, -1.5, 0.0, 1e-6],
}
USES = {"member": "booleans", "born": "dates", "seen": "times", "at": "naive times",
        "took": "durations"}  # fmt: skip


def as_text(value):
    if value is None:
        return ""
    text = str(value)
    quoted = '"' + text.replace('"', '""') + '"'
    return quoted if isinstance(value, str) or "," in text else text


def text_file(mark):
    def write(table, folder):
        file = folder / ("a.csv" if mark == "," else "a.tsv")
        lines = [mark.join(map(as_text, row)) for row in zip(*table.values(), strict=True)]
        file.write_text("\n".join([mark.join(table), *lines]) + "\n", "utf-8")
        return file

    return write


def arrow(table, folder=None, category="town"):
    made = pa.table(table)
    if category not in table:
        return made
    column = made[category].dictionary_encode()
    return made.set_column(list(table).index(category), category, column)


def parquet(table, folder):
    pq.write_table(arrow(table), folder / "a.parquet", row_group_size=2)
    return folder / "a.parquet"


def feather_file(table, folder):
    feather.write_feather(arrow(table), folder / "a.feather")
    return folder / "a.feather"


def pandas(table, folder=None):
    frame = pd.DataFrame(table)
    return frame.astype({"town": "category"}) if "town" in table else frame


def pandas_objects(table, folder=None):
    columns = {name: pd.Series(items, dtype=object) for name, items in table.items()}
    frame = pd.DataFrame(columns).set_index(np.arange(len(next(iter(table.values())))) + 3)
    return frame.astype({"town": "category"}) if "town" in table else frame


def pandas_arrow(table, folder=None):
    return arrow(table).to_pandas(types_mapper=lambda kind: pd.ArrowDtype(kind))


def polars(table, folder=None):
    frame = pl.DataFrame(table)
    return frame.with_columns(pl.col("town").cast(pl.Categorical)) if "town" in table else frame


def plain_dict(table, folder=None):
    return {**table, "town": d2ke.categories(table["town"])} if "town" in table else dict(table)


FILES = [text_file(","), text_file("\t"), parquet, feather_file]
MEMORY = [pandas, polars, arrow, plain_dict, pandas_objects, pandas_arrow]
NAMES = ["csv", "tsv", "parquet", "feather"]
IN_MEMORY = ["pandas", "polars", "pyarrow", "dict", "objects", "arrow dtypes"]


def check_records(records):
    assert {name: column.use for name, column in records.columns.items() if column.use in
            USES.values()} == USES  # fmt: skip
    assert list(records["name"].values) == [" ab", "ab ", "c,d", 'say "e"']
    assert records["town"].values.tolist() == ["x", "y", "x", "2"]
    for name, values in NUMBERS.items():
        assert records[name].values.tolist() == values
    for name, column in records.columns.items():
        assert column.missing.tolist() == [value is None for value in TABLE[name]]
    assert repr(records) == (
        "<5 records: name (strings, 1 missing), price (numbers, 1 missing), count (numbers, 1 "
        "missing), cost (numbers, 1 missing), member (booleans, 1 missing), born (dates, 1 "
        "missing), seen (times, 1 missing), at (times without a zone, which count as UTC, 1 "
        "missing), took (durations, 1 missing), town (categories, 1 missing)>"
    )


@pytest.mark.parametrize("make", FILES + MEMORY, ids=NAMES + IN_MEMORY)
def test_records_of_every_container(make, tmp_path):
    names = [name for name in TABLE if name != "y"]
    held = read_objects(make(TABLE, tmp_path), objects=names, categories="town")
    check_records(held.objects)
    assert held.labels.tolist() == TABLE["y"]
    assert held.labels.dtype == np.int64
    assert held.columns.uses == USES
    if make in MEMORY:
        records = d2ke.pack_records(make(TABLE))
        check_records(d2ke.Records({name: records[name] for name in names}))


LONG = {
    "id": ["q", "p", "q", "p"],
    "day": [dt.date(2024, 1, 5), dt.date(2024, 3, 1), dt.date(2023, 12, 31), dt.date(2024, 2, 29)],
    "u": [1.5, 2.0, 3.0, 4.0],
    "v": [Decimal("0.10"), Decimal("2.50"), Decimal("3.00"), Decimal("4.75")],
    "y": ["b", "a", "b", "a"],
}
WITHOUT_LABELS = {name: values for name, values in LONG.items() if name != "y"}
SERIES = [[[3.0, 3.0], [1.5, 0.1]], [[4.0, 4.75], [2.0, 2.5]]]
CLOCKS = {
    "dates": LONG["day"],
    "times": [dt.datetime(2024, 1, 5, tzinfo=ROME) + dt.timedelta(seconds=i) for i in (1, 9, 0, 3)],
    "naive times": [dt.datetime(2024, 1, 5, 0, 0, 0, i) for i in (1, 9, 0, 3)],
    "durations": [dt.timedelta(microseconds=i) for i in (1, 9, 0, 3)],
    "numbers": [2**60 + i for i in (1, 9, 0, 3)],
    "decimals": [Decimal(i) / 8 for i in (1, 9, 0, 3)],
}


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("make", FILES + MEMORY, ids=NAMES + IN_MEMORY)
def test_series_of_every_container(make, clock, tmp_path):
    made = make({**LONG, "day": CLOCKS[clock]}, tmp_path)
    held = read_objects(made, ids="id", time="day")
    assert [x.tolist() for x in held.objects] == SERIES
    assert held.labels.tolist() == ["b", "a"]
    assert held.ids.tolist() == ["q", "p"]
    assert "time from 'day'" in repr(held)
    assert held.columns.uses.get("day", clock) == clock
    if make in MEMORY:
        made = make({**WITHOUT_LABELS, "day": CLOCKS[clock], "w": [1, 2, 3, 4]})
        packed = d2ke.pack(made, ids="id", time="day")
        assert [x[:, :2].tolist() for x in packed] == SERIES


@pytest.mark.parametrize("make", FILES + MEMORY, ids=NAMES + IN_MEMORY)
def test_a_date_that_is_not_named_is_not_used(make, tmp_path):
    held = read_objects(make(LONG, tmp_path), ids="id")
    assert [x.tolist() for x in held.objects] == [x[::-1] for x in SERIES]
    assert repr(held).endswith("not used: 'day' (dates, in days since 1970-01-01)>")
    if make in MEMORY:
        table = make({**WITHOUT_LABELS, "w": [0, 0, 0, 0]}, tmp_path)
        with pytest.warns(UserWarning, match=r"items: 'day' \(dates\) not used; time names"):
            assert d2ke.pack(table, ids="id").dim == 3


@pytest.mark.parametrize("make", FILES + MEMORY, ids=NAMES + IN_MEMORY)
@pytest.mark.parametrize("column", ["day", "id", "v", "y"])
def test_gaps_name_row_and_column(make, column, tmp_path):
    table = {**LONG, column: [*LONG[column][:2], None, LONG[column][3]]}
    made = make(table, tmp_path)
    place = "line 4" if str(made).endswith(("csv", "tsv")) else "row 2"
    with pytest.raises(ValueError, match=f"{place}, column '{column}': the [a-z]* is (empty|miss)"):
        read_objects(made, ids="id", time="day")
    if make in MEMORY and column != "y":
        del table["y"]
        with pytest.raises(d2ke.ArgumentError, match=rf"items\['{column}'\]\[2\] is missing"):
            d2ke.pack(plain_dict(table), ids="id", time="day")


@pytest.mark.parametrize("make", FILES + MEMORY, ids=NAMES + IN_MEMORY)
def test_whole_numbers_that_float64_cannot_hold(make, tmp_path):
    table = {"name": ["a", "b"], "code": [5, 2**53 + 1], "y": [0, 1]}
    made = make(table, tmp_path)
    with pytest.raises(ValueError, match=r"9007199254740993'?, a whole number that float64 cannot"):
        read_objects(made, objects=["name", "code"])
    held = read_objects(made, objects=["name", "code"], categories=["code"])
    assert held.objects["code"].values.tolist() == ["5", "9007199254740993"]


LABELS = {
    "booleans": ([True, False, True], [True, False, True], bool),
    "dates": ([DAY, dt.date(1970, 1, 2), DAY], [19782, 1, 19782], np.int64),
    "naive times": ([dt.datetime(1970, 1, 1, 1), dt.datetime(1970, 1, 2), dt.datetime(1970, 1, 2)],
                    [3600.0, 86400.0, 86400.0], np.float64),
    "decimals": ([Decimal("1.50"), Decimal("2.00"), Decimal("0.25")], [1.5, 2.0, 0.25], np.float64),
    "text": (["a", "b", "a"], ["a", "b", "a"], None),
}  # fmt: skip


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("make", FILES + MEMORY, ids=NAMES + IN_MEMORY)
def test_labels_of_every_container(make, kind, tmp_path):
    values, wanted, dtype = LABELS[kind]
    held = read_objects(make({"word": ["ab", "ba", "c"], "y": values}, tmp_path))
    assert list(held.objects) == ["ab", "ba", "c"]
    assert held.labels.tolist() == wanted
    assert dtype is None or held.labels.dtype == dtype
    assert held.columns.uses.get("y", kind) == kind
    made = make({"word": ["ab", "ba", "c"], "y": [*values[:2], None]}, tmp_path)
    with pytest.raises(ValueError, match=r"(line 4|row 2), column 'y': the label is (empty|miss)"):
        read_objects(made)


OTHERS = {
    "complex": {"c": np.array([1 + 2j, 2.0])},
    "i8": {"c": np.zeros(2, [("a", np.int64)])},
    "interval": pd.DataFrame({"c": pd.interval_range(0, 2)}),
    "period": pd.DataFrame({"c": pd.period_range("2024-01-05", periods=2)}),
    "struct": pa.table({"c": [{"a": 1}, {"a": 2}]}),
    "a.*int64": pl.DataFrame({"c": [{"a": 1}, {"a": 2}]}),
    "complex128": pd.DataFrame({"c": [1 + 2j, 2]}),
    "numbers": pd.DataFrame({"c": [1, "x"]}),
    "map": pa.table({"c": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64()))}),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_columns_of_other_types(kind, tmp_path):
    frame = OTHERS[kind]
    words, numbers = ["ab", "ba"], [1, 1]
    if isinstance(frame, dict):
        frame = {**frame, "word": words, "n": numbers}
    elif isinstance(frame, pa.Table):
        frame = frame.append_column("word", [words]).append_column("n", [numbers])
    elif isinstance(frame, pd.DataFrame):
        frame = frame.assign(word=words, n=numbers)
    else:
        frame = frame.with_columns(pl.Series("word", words), pl.Series("n", numbers))
    sources = [frame]
    if isinstance(frame, pa.Table):
        pq.write_table(frame, tmp_path / "a.parquet")
        sources += [tmp_path / "a.parquet"]
    for source in sources:
        with pytest.warns(UserWarning, match=rf"(?i)not used, .*: 'c' \(.*{kind}"):
            held = read_objects(source, objects="word")
        assert re.search(rf"(?i)not used: 'c' \(.*{kind}", repr(held))
        with pytest.raises((TypeError, ValueError), match=rf"(?i)c'.*{kind}"):
            read_objects(source, objects=["word", "c"])
    with pytest.raises((TypeError, ValueError), match=rf"(?i)columns\['c'\].*{kind}"):
        d2ke.pack_records(frame)
    with pytest.warns(UserWarning, match=rf"(?i)items: 'c' \(.*{kind}.* not used"):
        assert d2ke.pack(frame, ids="word").dim == 1


def test_columns_with_the_names_of_others():
    held = read_objects({"series": [[1.0, 2.0], [3.0]], "label": [0, 1]})
    assert held.objects.lengths.tolist() == [2, 1]
    held = read_objects({"id": ["p", "q"], "word": ["a", "b"], "day": [DAY, DAY]})
    assert held.ids.tolist() == ["p", "q"]
    assert "ids from 'id'; not used: 'day' (dates" in repr(held)
    table = {"id": ["p", "p"], "word": ["a", "b"], "n": [1, 2], "m": [3, 4]}
    assert list(read_objects(table, objects="word").objects) == ["a", "b"]
    assert read_objects(table, objects=["word", "n"]).objects.kind == "records"
    assert read_objects(table, objects=["m", "n"]).objects[0].tolist() == [[3, 1], [4, 2]]
    assert read_objects({**table, "id": [1, 2]}, objects=["m", "n"]).objects[1] == {"m": 4, "n": 2}
    interval = OTHERS["interval"].assign(g=["p", "p"], v=[1.0, 2.0])
    for options, message in [
        ({"objects": "c"}, "objects names 'c' .* which holds interval"),
        ({"ids": "g", "time": "c"}, "'c' holds interval.*; numbers, dates or times are needed"),
        ({"ids": "g", "objects": ["c", "v"]}, "'c' holds interval.*; numbers are needed"),
        ({"objects": ["v", "g"], "labels": "c"}, "'c' holds interval.*; text, numbers or dates"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            read_objects(interval, **options)
    with pytest.raises(TypeError, match=r"items\['c'\] holds interval"):
        d2ke.pack(interval, ids="g", time="c")


def test_times_of_every_unit_are_one_number():
    moment = dt.datetime(2024, 1, 5, 10, 0, 0, 123000)
    units = [np.array([moment], f"M8[{unit}]") for unit in ("ms", "us", "ns")]
    zone = pd.Series([moment]).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    index = pd.DatetimeIndex([moment], tz="UTC").tz_convert("Asia/Tokyo")
    columns = {
        str(i): array for i, array in enumerate([*units, zone, index, index.array, [moment]])
    }
    records = d2ke.pack_records(columns)
    assert {column.values.item() for column in records.columns.values()} == {1704448800.123}
    late = d2ke.pack_records({"a": [dt.datetime(9999, 12, 31), None]})["a"]
    assert late.values.tolist() == [253402214400.0]


def test_gaps_of_arrays():
    nan = pd.Series([0.0, 1.0, None], dtype="Float64") / pd.Series([0.0, 1.0, 1.0])
    masked = np.ma.array([5.0, 1.0, np.nan], mask=[True, False, False])
    sparse = pd.Series(pd.arrays.SparseArray([np.nan, 1.0, np.nan]))
    nat = [pd.NaT, np.timedelta64(1, "s"), None]
    for column in (nan, masked, sparse, pa.array([np.nan, 1.0, None]), [pd.NA, 1, None], nat):
        packed = d2ke.pack_records({"a": column})["a"]
        assert packed.values.tolist() == [1.0]
        assert packed.missing.tolist() == [True, False, True]


def test_text_without_quotes_loses_its_blanks(tmp_path):
    file = tmp_path / "a.csv"
    text = 'word,n,y\n ab , 1 ,1\n" ab "," 2",2\n"","",3\n"a""b\n,c",,4\n'
    file.write_text(text, "utf-8", newline="\n")
    records = read_objects(file, objects=["word", "n"]).objects
    assert list(records["word"].values) == ["ab", " ab ", 'a"b\n,c']
    assert records["n"].values.tolist() == [1, 2]
    file.write_text('word,y\nab,1\n"c" d,2\n', "utf-8")
    file.write_text('word,y\nab,1\n"c\nd,2\n', "utf-8")
    with pytest.raises(ValueError, match="line 3: the quotes of a field do not end"):
        read_objects(file)


def test_what_a_model_was_trained_on():
    days = [dt.date(2024, 1, 1 + i % 28) for i in range(40)]
    table = {"name": ["ab" if i % 2 else "ba" for i in range(40)], "born": days}
    model = d2ke.d2ke_train([i % 2 for i in range(40)], table, R=16)
    assert model.columns == {"objects": ["name", "born"], "uses": {"born": "dates"}}
    assert "'born' (dates, in days since 1970-01-01)" in str(model)
    numbers = {**table, "born": [(day - dt.date(1970, 1, 1)).days for day in days]}
    first, other = (d2ke.d2ke_predict(None, one, model)[2] for one in (table, numbers))
    assert (first == other).all()
    times = {**table, "born": [dt.datetime(2024, 1, 1)] * 40}
    with pytest.raises(TypeError, match=r"X\['born'\] holds times, but the tr"):
        d2ke.d2ke_predict(None, times, model)
    with pytest.raises(TypeError, match=r"Y\['born'\] holds times, but X\['born'\] has dates"):
        d2ke.distance_matrix(table, times, {"born": "absolute"})


FRAMES = st.integers(1, 6).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            name: st.lists(st.none() | values, min_size=n, max_size=n)
            for name, values in {
                "text": st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"),
                                min_size=1),
                "number": st.floats(allow_nan=False, allow_infinity=False),
                "whole": st.integers(-(2**53), 2**53),
                "cost": st.decimals(-1000, 1000, places=2),
                "flag": st.booleans(),
                "day": st.dates(),
                "at": st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)),
                "zoned": st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1),
                                      timezones=st.just(ROME)),
                "took": st.timedeltas(dt.timedelta(-50000), dt.timedelta(50000)),
            }.items()
        }
    )
)  # fmt: skip


@given(FRAMES)
@settings(max_examples=examples(15), deadline=None)
def test_random_tables(tmp_path_factory, table):
    folder = tmp_path_factory.getbasetemp()
    table["text"][0] = "no number"
    reports, entries = set(), set()
    for make in FILES + MEMORY:
        schema = pa.schema(
            [
                pa.field(name, pa.decimal128(8, 2)) if name == "cost" else field
                for name, field in zip(table, pa.table(table).schema, strict=True)
            ]
        )
        made = pa.table(table, schema=schema)
        if make in (pandas_arrow, arrow, parquet, feather_file):
            made = make(dict(zip(table, made.columns, strict=True)), folder)
        else:
            made = make({**table, "y": [None] * len(table["text"])}, folder)
        held = read_objects(made, objects=list(table), categories=[])
        reports.add(repr(held.objects))
        entries.add(str([list(held.objects[i].values()) for i in range(len(held.objects))]))
    assert len(reports) == len(entries) == 1


def numbers_of(column):
    packed = d2ke.pack_records({"a": column})["a"]
    return packed.use, packed.values.tolist(), packed.missing.tolist()


def test_dates_and_times_beside_each_other():
    at = dt.datetime(2024, 2, 29, 1)
    assert numbers_of([DAY, at]) == ("naive times", [1709164800.0, 1709168400.0], [False, False])
    assert numbers_of([pd.Timestamp(at), None, DAY])[0] == "naive times"
    assert numbers_of([np.datetime64(DAY), DAY]) == ("dates", [19782.0] * 2, [False, False])
    far = [np.datetime64("1970-01-01T00:00:00.000000001"), np.datetime64("9999-12-31")]
    assert numbers_of(far)[1] == [1e-9, 253402214400.0]
    with pytest.raises(TypeError, match=r"columns\['a'\]\[1\] is .*timedelta64.* in a column of"):
        numbers_of([np.datetime64(DAY), np.timedelta64(1, "s")])


@pytest.mark.parametrize(("dtype", "count"), [("M8[h]", 2**61), ("m8[W]", 2**60), ("M8[Y]", 2**60)])
def test_times_that_numpy_cannot_hold(dtype, count):
    with pytest.raises(TypeError, match=rf"columns\['a'\]\[1\] is {count} of .*out of range"):
        numbers_of(np.array([1, count]).astype(dtype))


def test_gaps_and_views_of_other_libraries():
    assert numbers_of([Decimal("sNaN"), Decimal(1)])[1:] == ([1.0], [True, False])
    if hasattr(pa, "string_view"):
        packed = d2ke.pack_records({"a": pa.array(["x", None], pa.string_view())})["a"]
        assert list(packed.values) == ["x"]
        assert packed.missing.tolist() == [False, True]
    with pytest.raises(TypeError, match=r"columns\['a'\] holds timedelta64, of no fixed length"):
        numbers_of(np.array([5]).view("m8"))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([DAY, None, DAY]).astype("category"),
        pa.array([DAY, None, DAY]).dictionary_encode(),
        d2ke.categories([DAY, None, DAY]),
    ],
)
def test_categories_of_dates(column):
    packed = d2ke.pack_records({"a": column})["a"]
    assert packed.kind == "categories"
    assert packed.values.tolist() == ["2024-02-29"] * 2


def test_large_labels_of_decimals():
    labels = [Decimal(2**53 + 1), Decimal(2**53), Decimal(1)]
    read = read_objects({"sequence": ["a", "b", "c"], "label": labels}).labels
    assert read.tolist() == [2**53 + 1, 2**53, 1]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_tables_without_rows(make):
    table = make({"a": np.empty(0), "b": np.empty(0)})
    with pytest.raises(ValueError, match=r"column 'a' is empty: at least one row is needed"):
        read_objects(table, objects=["a", "b"])
    with pytest.raises(ValueError, match=r"columns\['a'\] is empty: at least one row is needed"):
        d2ke.pack_records(table)


def test_a_named_index_is_a_column():
    days = pd.to_datetime(["2020-01-02", "2020-01-01"]).rename("time")
    frame = pd.DataFrame({"id": ["a", "a"], "v": [1, 2]}, index=days)
    read = read_objects(frame, ids="id")
    assert read.objects[0].tolist() == [[2.0], [1.0]]
    assert "time from 'time'" in repr(read)
    assert d2ke.pack(frame, ids="id", time="time")[0].tolist() == [[2.0], [1.0]]


@pytest.mark.parametrize("field", [' "ab"', '"ab" ', '  "ab"  '])
def test_blanks_around_quotes(field, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(f'sequence, "label"\n{field},x\nab,y\n', "utf-8")
    read = read_objects(file)
    assert list(read.objects) == ["ab", "ab"]
    assert read.labels.tolist() == ["x", "y"]
