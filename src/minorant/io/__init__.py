"""Files in and out: data sets as svmlight text or as a memory-mapped cache, models as safetensors."""

from minorant.io.cache import load_cache, save_cache
from minorant.io.data import load_data
from minorant.io.fitted import load_fitted
from minorant.io.liblinear import save_liblinear
from minorant.io.linear_model import LinearModel
from minorant.io.measure_model import MeasureModel
from minorant.io.model import load_model, save_model
from minorant.io.svmlight import load_svmlight

__all__ = [
    "LinearModel",
    "MeasureModel",
    "load_cache",
    "load_data",
    "load_fitted",
    "load_model",
    "load_svmlight",
    "save_cache",
    "save_liblinear",
    "save_model",
]
