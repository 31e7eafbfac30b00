# SPDX-License-Identifier: BSD-3-Clause
"""The table of commands: their texts, their options, and the modules that run them.

It imports none of them, so that `d2ke --help` is instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from d2ke.cli.options import DISTANCE, OBJECTS, Option, names, number, positive, radii, radius

TITLE = """\
Learning from distances: series, strings, sets, graphs, and records of several columns.

what people do:
  look at a file       d2ke inspect words.csv
  learn its labels     d2ke train words.csv --objects word --labels language --out model.h5
  predict labels       d2ke predict model.h5 new.csv --out labels.csv
  find the nearest     d2ke neighbors words.csv --objects word --k 5 --out nearest.csv
  keep for look-ups    d2ke index words.csv --objects word --out words.d2ke
  find clusters        d2ke cluster words.csv --objects word --n-clusters 4 --out clusters.csv
  find anomalies       d2ke outliers machine.csv --time t --window 288 --out scores.csv
  find duplicates      d2ke dedupe people.csv --objects name,town --radius 2 --out groups.csv

All commands name columns alike: --objects NAME,NAME --labels NAME --ids NAME --time NAME.
"""

# The exit statuses of the command.
STATUSES = {
    0: "done",
    1: "a file or a package is missing, or a file cannot be read or written",
    2: "an argument, or the content of a file, is wrong",
    130: "interrupted by Ctrl-C",
    141: "the reader of the output, such as head, has left",
}

FILES = """\
FILE holds objects and, for most uses, their labels:

  .ts               series and classes, as in the UEA and UCR archives
  .csv, .tsv        a header, then a string on each row; or a vector of a series on each row, with
                    a column that says which series it is of (id, or --ids NAME); or with --series
                    a series on each row; also .csv.gz and .csv.zip
  .tsv, .txt        of the UCR archive: a class, then the values of a series; no header
                    (.csv too, if the name ends with _TRAIN or _TEST); or in .txt lines of text
  .mat              a cell of strings or matrices, and labels
  .fasta, .fa, ...  sequences (.fna, .faa, .fas); the id is the first word of the header, the label
                    the last field of it after |, if each has one and they repeat, or the group of a
                    regular expression, --labels 'family=(\\w+)'
  .arff             series (numbers or a relational attribute) or strings, and a nominal attribute
  .parquet          a column of strings or lists, and one of labels; `d2ke train` reads it in parts;
                    or as a .csv, and .feather too
  .npz, .h5, .hdf5  arrays values and offsets, or series of equal length, or strings; and labels
  .zip, a folder    graphs of TU Dortmund: the columns codes and, if there are any, attributes

Results have the ids of the objects: of the column called id, series or series_id, or --ids NAME.

In place of a file, the name of a data set that comes with d2ke does: splice, japanese-vowels, and
digits (digits-str8), digits-str4, digits-points.
"""

_INPUT = f"""\
INPUT holds objects, or a matrix of n objects: their similarities (a Gram matrix), or what --as
says.

  .mat, .h5, .hdf5        a matrix, --variable NAME where there are several
  .csv, .tsv, .txt        a table of numbers; a first line without any number is a header
  .h5                     features of --save-features, d2ke embed or d2ke.io.save_features

With --as objects, an option about objects (--objects, --ids, --distance, ...), or an ending that
no matrix has, it is a FILE of objects, or a data set: all their distances are computed (series are
standardised). Of more than 5000 objects, or with --R or --save-features, they are the features of
distances to R of the objects, drawn at random. Objects with an empty label are unlabelled.

{FILES}"""

# Endings of results.
TABLES, HDF5, INDEX = (".csv", ".h5", ".hdf5"), (".h5", ".hdf5"), ".d2ke"


@dataclass(frozen=True)
class Command:
    """A command: the function `name` of a module of `d2ke.cli`, its texts and its options.

    `out` has the endings of its result, and `inputs` the options of input files with their names in
    errors; the result must not be an input file.
    """

    name: str
    module: str
    help: str
    description: str = ""
    examples: str = ""
    options: Sequence[Option] = ()
    out: Sequence[str] = ()
    inputs: Sequence[tuple[str, str]] = (("file", "the file of objects"),)


def _model_command(
    name: str, help: str, out: str, examples: str, *options: Option, endings: Sequence[str] = HDF5
) -> Command:
    """Return a command that trains a model or reads one."""
    text = "; .csv, .h5 or .hdf5" if endings is TABLES else ""
    inputs: tuple[tuple[str, str], ...] = (("file", "the file of objects"),)
    where = "--out", {"help": f"where to write, such as {out}{text}"}
    first: tuple[Option, ...] = ("file", where, *OBJECTS)
    if name == "train":
        inputs = (*inputs, ("costs", "the costs"))
    else:
        first, inputs = ("model", *first, "--unseen-letters"), (*inputs, ("model", "the model"))
    description = f"{help[0].upper()}{help[1:]}.\n\n{FILES}"
    return Command(
        name, "models", help, description, examples, (*first, *options), endings, inputs
    )  # fmt: skip


def _similarities_command(
    name: str, help: str, title: str, examples: str, variant: str, *options: Option
) -> Command:
    """Return one of the two commands of discriminative similarity."""
    shared: tuple[Option, ...] = (
        ("file", {"metavar": "INPUT", "help": "a file, or the name of a data set"}),
        ("--as", {
            "dest": "form",
            "choices": ["objects", "gram", "distances", "features", "points"],
            "help": "what the file holds: objects, or a matrix: a Gram matrix (default), "
            "distances, features as from d2ke.d2ke_embed, or points; for distances and points the "
            "widths are chosen",
        }),
        ("--variable", {"metavar": "NAME", "help": "the matrix in a .mat or HDF5 file"}),
        *OBJECTS,
        ("--labels", {
            "metavar": "WHAT",
            "help": "known labels: for objects, the variable or column (default: by name); for a "
            "matrix, a text file with one in each line, or a variable of the input file",
        }),
        ("--unknown", {
            "metavar": "MARK",
            "help": "the marker of an unknown label (default: an empty line or field, nan, and -1 "
            "unless all labels are -1 or 1)",
        }),
        *DISTANCE,
        ("--gamma", {
            "type": number,
            "metavar": "G",
            "help": "for distances d: K = exp(-gamma d) in place of widths that are chosen; for "
            "features of objects (default 5 / the median distance)",
        }),
        ("--R", {"type": positive, "metavar": "R",
                 "help": "random objects, for features of objects (default 1024)"}),
        ("--lam", {"type": number, "metavar": "L",
                   "help": "weight of the quadratic term (default n / 2)"}),
        ("--variant", {"choices": ["hard", "relaxed"],
                       "help": f"weights for labels or for scores (default {variant})"}),
        ("--trace-weight", {"type": number, "metavar": "S", "help": "of the cut (default 0.1)"}),
        ("--similarity", {
            "choices": ["psd", "general"],
            "help": "general: the Gram matrix may be indefinite (default psd)",
        }),
        "--seed",
        ("--out", {"required": False,
                   "help": "write a row for each object here, .csv, .h5 or .hdf5"}),
        ("--picture", {"metavar": "FILE",
                       "help": "draw a map of the objects here, .png, .pdf or .svg"}),
        ("--save-features", {"metavar": "FILE", "help": "write the features of objects here "
                             "(.h5), an INPUT for other runs"}),
    )  # fmt: skip
    description = f"{title}\n\n{_INPUT}"
    inputs = (("file", "the input"),)
    return Command(
        name, "clustering", help, description, examples, (*shared, *options), TABLES, inputs
    )


COMMANDS = (
    Command(
        "inspect",
        "inspection",
        "what would be read of a file, and the command to type next",
        f"""\
What the other commands would read of a file: the objects and their lengths, the labels, and for a
table what each column holds, how many entries are missing, and what it is read as. Then the command
to type next. Of a model, an index or groups that d2ke wrote: what it is.

{FILES}""",
        """\
  d2ke inspect words.csv
  d2ke inspect words.csv --objects word --labels language
""",
        ["file", *OBJECTS, "--categories"],
        inputs=(),
    ),
    Command(
        "demo",
        "demo",
        "D2KE and four baselines side by side; needs no files",
        options=[
            ("--figure", {"default": "d2ke-demo.png", "metavar": "FILE", "help": "the picture"}),
            "--seed",
        ],
        inputs=(),
    ),
    _model_command(
        "train",
        "train a model on the labelled objects of a file",
        "model.h5",
        """\
  d2ke train genes.fasta --out model.h5 --report report.html
  d2ke train words.csv --objects word --labels language --out model.h5
  d2ke train gestures.ts --distance dtw --parameter window=10 --out model.h5
  d2ke train gestures.ts --distance dtw,msm --out model.h5      both, side by side
  d2ke train people.parquet --objects name,track,age --distance track=dtw --out model.h5
""",
        "--categories",
        *DISTANCE,
        ("--R", {"type": positive, "metavar": "R",
                 "help": "random objects (default: by kind of objects)"}),
        ("--strands", {
            "choices": ["one", "both"],
            "default": "one",
            "help": "of DNA and RNA: the reverse complement counts too (default: one)",
        }),
        ("--missing", {
            "choices": ["interpolate"],
            "help": "fill in missing values of series, linearly in time (default: refuse them)",
        }),
        ("--task", {
            "choices": ["classification", "regression"],
            "help": "what the labels are (default: numbers that are not whole are a regression's)",
        }),
        ("--keep-sums", {
            "action": "store_true",
            "help": "keep what d2ke update needs in the model: 8 R^2 bytes",
        }),
        "--report",
        "--seed",
    ),
    _model_command(
        "update",
        "add the labelled objects of a file to a model",
        "updated.h5",
        """\
  d2ke train old.fasta --keep-sums --out model.h5
  d2ke update model.h5 new.fasta --out updated.h5
""",
    ),
    _model_command(
        "predict",
        "predict the labels of a file by a model",
        "labels.csv",
        "  d2ke predict model.h5 new.fasta --out labels.csv --report report.html\n",
        ("--report", {"help": "of labelled objects: write a page with pictures here, .html"}),
        ("--alpha", {
            "type": float,
            "default": 0.1,
            "metavar": "A",
            "help": "share of objects whose set of classes, or interval, may miss the truth "
            "(default: 0.1)",
        }),
        endings=TABLES,
    ),
    _model_command(
        "embed",
        "features of the objects of a file by a model",
        "features.h5",
        "  d2ke embed model.h5 genes.fasta --out features.h5\n",
    ),
    Command(
        "neighbors",
        "neighbors",
        "a sparse graph of the neighbours of the objects of a file",
        f"""\
The nearest objects of each object in a file, those within a radius, or the nearest of those,
exactly: a sparse matrix of their distances, as scipy.sparse.load_npz reads it. Each row has the
nearest first, and with --radius fewer than K where fewer are near. Distances of 0 are stored
entries; what is not stored is no neighbour. A .csv file has a row for each neighbour: item,
neighbor, distance, with items counted from 0, and id and neighbor_id if the objects have ids; these
are the array ids of a .npz file. Strings of up to 100 letters without ids are in the columns text
and neighbor_text.

With --index the neighbours are objects of an index, which d2ke index wrote; neighbor has their
indices, and neighbor_id (the array neighbor_ids) their ids.

{FILES}""",
        """\
  d2ke neighbors genes.fasta --k 15 --out graph.npz
  d2ke neighbors genes.fasta --k 15 --out graph.csv
  d2ke neighbors words.csv --k 5 --radius 3 --out graph.csv
  d2ke neighbors words.csv --radius 2 --include-self --out graph.npz
  d2ke neighbors gestures.ts --k 5 --distance dtw --parameter window=10 --out graph.npz
  d2ke neighbors queries.csv --index names.d2ke --k 5 --out nearest.csv
""",
        [
            "file",
            ("--out", {"help": "where to write, .npz or .csv"}),
            ("--k", {"type": positive, "metavar": "K",
                     "help": "the K nearest others of each object"}),
            ("--radius", {
                "type": radius,
                "metavar": "R",
                "help": "all others at distances up to R; with --k, at most K of them",
            }),
            *DISTANCE,
            ("--include-self", {
                "action": "store_true",
                "help": "each object is its own neighbour, beside the K others",
            }),
            ("--index", {"metavar": "FOLDER",
                         "help": "find neighbours in this index, not in the file"}),
            *OBJECTS,
        ],
        (".npz", ".csv"),
        (("file", "the file of objects"), ("index", "the index"), ("costs", "the costs")),
    ),
    Command(
        "outliers",
        "outliers",
        "anomalies in one long series",
        """\
The windows of a long series that are least like any other one, and a score for each step. The file
is a table (.csv, .tsv, .parquet, .feather) with a row for each step. The result has its row for
each step, in the order of time, its score, and which of the windows it is in, 1 for the most
unusual, 0 for none. Empty fields are missing values: windows over them have no score.
""",
        """\
  d2ke outliers machine.csv --time t --columns value --window 288 --out scores.csv
  d2ke outliers machine.csv --time t --columns temperature,pressure --window 288 \\
      --out scores.csv --report report.html
""",
        [
            ("file", {"help": "the table"}),
            ("--out", {"help": "where to write, .csv, .h5 or .hdf5"}),
            "--time",
            ("--columns", {"type": names, "metavar": "NAME,NAME",
                           "help": "the channels (default: all columns of numbers)"}),
            ("--window", {"type": positive, "metavar": "STEPS",
                          "help": "steps of a window (default: a period of the series)"}),
            ("--n", {"type": positive, "default": 5, "metavar": "N",
                     "help": "windows to report (default 5)"}),
            "--na-values",
            ("--report", {"help": "write a page with the series and its windows, .html"}),
        ],
        TABLES,
        (("file", "the table"),),
    ),
    Command(
        "index",
        "index",
        "objects that are looked up again and again, in a folder",
        f"""\
Keep the objects of a file in a folder, with what searches need, so that d2ke neighbors --index and
d2ke.Index.open find the nearest of them at once. An index in place of FILE is changed: --remove
comes before --add, and each of them does all of its work or none. Name the columns of these files
as for the first one. One command at a time can change an index; others read it meanwhile. Keep it
on a local disk.

{FILES}""",
        """\
  d2ke index names.csv --objects name --ids id --out names.d2ke
  d2ke index names.d2ke --add more.csv --objects name --ids id
  d2ke index names.d2ke --remove gone.csv --ids id
  d2ke index names.d2ke --verify
  d2ke neighbors queries.csv --index names.d2ke --k 5 --out nearest.csv
""",
        [
            "file",
            ("--out", {"required": False, "dest": "folder", "metavar": "FOLDER",
                       "help": f"the folder of the new index, such as names{INDEX}; "
                       "an index is replaced"}),
            *DISTANCE,
            ("--add", {"metavar": "FILE", "help": "add the objects of this file to the index"}),
            ("--remove", {
                "metavar": "FILE",
                "help": "remove the objects whose ids (or indices, without ids) a column of this "
                "table has",
            }),
            ("--verify", {"action": "store_true", "default": None,
                          "help": "compare all checksums of the index"}),
            *OBJECTS,
        ],
    ),
    Command(
        "learn-costs",
        "learned",
        "costs of edits from a table of wrong strings and right ones",
        """\
Learn what edits of letters cost, from two columns of a table: what was written, and what it should
have been. At least 20 rows must differ. The costs are those of the distance weighted_levenshtein;
neighbors, index, dedupe and train take them by --costs.
""",
        """\
  d2ke learn-costs pairs.csv --columns wrong,right --out costs.json
  d2ke index words.csv --objects word --costs costs.json --out words.d2ke
  d2ke neighbors queries.csv --index words.d2ke --k 10 --out nearest.csv
""",
        [
            ("file", {"help": "the table of pairs"}),
            ("--columns", {"required": True, "type": names, "metavar": "WRONG,RIGHT",
                           "help": "the column of wrong strings, and that of right ones"}),
            ("--out", {"help": "where to write, .json"}),
            ("--symmetric", {"action": "store_true",
                             "help": "the same costs in both directions, as d2ke cluster needs"}),
            ("--no-transposition", {
                "dest": "transposition",
                "action": "store_false",
                "help": "neighbouring letters do not change places in one edit",
            }),
        ],
        (".json",),
        (("file", "the table of pairs"),),
    ),
    Command(
        "dedupe",
        "dedupe",
        "groups of the rows of a table that are about the same thing",
        """\
Groups of the rows of a table (.csv, .tsv, .parquet, .feather) that are about the same person or
thing. Rows are compared if a column is within its radius. How likely they match is learned from the
table itself; the mean over the pairs of a group is within the threshold. The result has a row for
each row of the table: its number from 0, its id if it has one, its group, and the example of the
group, the row that is nearest to the others.
""",
        """\
  d2ke dedupe people.csv --objects name,address --radius name=2,address=3 --out groups.csv
  d2ke dedupe people.csv --objects name --radius 1 --clean case,accents,punctuation \\
      --ids id --pairs pairs.csv --out groups.csv --report groups.html
  d2ke dedupe people.csv --objects name --radius 2 --out groups.csv --save groups.d2ke
  d2ke dedupe new.csv --with groups.d2ke --out labels.csv
""",
        [
            ("file", {"help": "the table"}),
            ("--objects", {"help": "the compared columns"}),
            ("--radius", {
                "type": radii,
                "metavar": "R",
                "help": "the distance up to which a column may be that of a match: a number for "
                "all columns, or NAME=R,NAME=R",
            }),
            ("--out", {"help": "where to write, .csv, .h5 or .hdf5"}),
            ("--distance", {"help": "of all columns (default: levenshtein for strings)"}),
            "--parameter",
            "--costs",
            ("--clean", {"metavar": "WHAT",
                         "help": "what does not count, of case,accents,punctuation,spaces"}),
            ("--threshold", {
                "type": float,
                "metavar": "T",
                "help": "largest probability that two rows of a group do not match (default 0.5)",
            }),
            ("--linkage", {
                "choices": ["average", "complete", "single"],
                "help": "complete: all pairs of a group are likely; single: rows are in one group "
                "if small steps lead from one to the other",
            }),
            ("--ids", {"help": "the column of ids, for the result and for --pairs (default: by "
                       "name, and row numbers in --pairs)"}),
            ("--pairs", {
                "metavar": "FILE",
                "help": "a table, with or without a header, of two ids (or row numbers) and "
                "whether they match, 1 or 0: they correct the weights of the columns",
            }),
            ("--report", {"help": "write a page with the distances and examples, .html"}),
            ("--save", {"metavar": "FILE", "help": "write what --with needs: what was learned, and "
                        "the rows"}),
            ("--with", {
                "dest": "groups",
                "metavar": "FILE",
                "help": "put the rows of the table into these groups, saved by --save, or into new "
                "ones; columns and all else are as they were there",
            }),
        ],
        TABLES,
        (("file", "the table"), ("pairs", "pairs"), ("groups", "the saved groups"),
         ("costs", "the costs")),
    ),
    _similarities_command(
        "cluster",
        "clusters of objects, or of a Gram matrix, distances or features",
        "Clusters by discriminative similarity, d2ke.cdsk.",
        """\
  d2ke cluster digits --picture digits.png
  d2ke cluster names.csv --objects name --n-clusters 4 --out clusters.csv
  d2ke cluster gestures.ts --distance msm --tree tree.png
  d2ke cluster gram.csv --n-clusters 3 --names names.txt --tree tree.png
  d2ke cluster COIL20.mat --variable X --as points --labels Y --out clusters.h5
""",
        "hard",
        ("--n-clusters", {"type": positive, "metavar": "N",
                          "help": "default: the number of classes"}),
        ("--tree", {
            "metavar": "FILE",
            "help": "draw the tree of average linkage and the distances in its order here, .png, "
            ".pdf or .svg; of more than 80 objects, of a sample",
        }),
        ("--names", {
            "metavar": "WHAT",
            "help": "names of the objects, in place of ids: a text file with one in each "
            "line, or a variable of the input file (default: their ids, or numbers)",
        }),
    ),
    _similarities_command(
        "propagate",
        "propagate labels from some objects to all",
        "Label propagation by discriminative similarity, d2ke.lpdsk.",
        """\
  d2ke propagate digits --labeled 5 --picture digits.png
  d2ke propagate names.csv --objects name --labels language --out labels.csv
  d2ke propagate distances.csv --as distances --labels some-labels.txt --out labels.csv
""",
        "relaxed",
        ("--labeled", {
            "type": positive,
            "metavar": "K",
            "help": "use K labels of each class, drawn by --seed, and measure the accuracy on the "
            "other objects (default: all known labels, or 3 if all are known)",
        }),
    ),
)  # fmt: skip
