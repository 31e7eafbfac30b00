# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB names of d2ke's functions, for scripts ported from MATLAB.

Names and the order of arguments are those of the authors' scripts (Random Warping Series, Word
Mover's Embedding), of LIBLINEAR's and LIBSVM's MATLAB interfaces, and of MATLAB's random numbers.
``docs/matlab.md`` has the table and a complete port.
"""

from matlab_compat._cells import Struct
from matlab_compat.dtw import dtw_c, dtw_m, dtw_similarity_cell, dtw_similarity_cell_mulvar
from matlab_compat.learners import predict, svmpredict, svmtrain, train
from matlab_compat.rand_stream import RandStream
from matlab_compat.random import rand, randi, randn, randperm, rng
from matlab_compat.rws_accuracy import rws_VaryingR_CV, rws_VaryingR_CV_mulvar
from matlab_compat.rws_features import rws_GenFea, rws_GenFea_mulvar
from matlab_compat.rws_search import rws_gridsearch_CV, rws_gridsearch_CV_mulvar
from matlab_compat.sparse_text import libsvmread, libsvmwrite
from matlab_compat.wme import wmd_dist, wme_GenFea, wme_GenFea_preproc

__all__ = [
    "RandStream",
    "Struct",
    "dtw_c",
    "dtw_m",
    "dtw_similarity_cell",
    "dtw_similarity_cell_mulvar",
    "libsvmread",
    "libsvmwrite",
    "predict",
    "rand",
    "randi",
    "randn",
    "randperm",
    "rng",
    "rws_GenFea",
    "rws_GenFea_mulvar",
    "rws_VaryingR_CV",
    "rws_VaryingR_CV_mulvar",
    "rws_gridsearch_CV",
    "rws_gridsearch_CV_mulvar",
    "svmpredict",
    "svmtrain",
    "train",
    "wmd_dist",
    "wme_GenFea",
    "wme_GenFea_preproc",
]
