# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB names of d2ke's functions, for scripts ported from MATLAB.

Names and the order of arguments follow the authors' scripts (Random Warping Series, Word Mover's
Embedding), the MATLAB interfaces of LIBLINEAR and LIBSVM, and MATLAB's random numbers, distances,
clusters and neighbours.
``docs/matlab.md`` has the table and a complete port.
"""

from matlab_compat._cells import Struct
from matlab_compat.clustering import cluster, dbscan, kmedoids, linkage
from matlab_compat.learners import predict, svmpredict, svmtrain, train
from matlab_compat.mat_files import load, save
from matlab_compat.neighbors import knnsearch
from matlab_compat.pairs import pdist, pdist2, squareform
from matlab_compat.rand_stream import RandStream
from matlab_compat.random import rand, randi, randn, randperm, rng
from matlab_compat.rws_accuracy import rws_VaryingR_CV, rws_VaryingR_CV_mulvar
from matlab_compat.rws_features import rws_GenFea, rws_GenFea_mulvar
from matlab_compat.rws_search import rws_gridsearch_CV, rws_gridsearch_CV_mulvar
from matlab_compat.sparse_text import libsvmread, libsvmwrite
from matlab_compat.warping import dtw, dtw_c, dtw_m, dtw_similarity_cell, dtw_similarity_cell_mulvar
from matlab_compat.wme import wmd_dist, wme_GenFea, wme_GenFea_preproc

__all__ = [
    "RandStream",
    "Struct",
    "cluster",
    "dbscan",
    "dtw",
    "dtw_c",
    "dtw_m",
    "dtw_similarity_cell",
    "dtw_similarity_cell_mulvar",
    "kmedoids",
    "knnsearch",
    "libsvmread",
    "libsvmwrite",
    "linkage",
    "load",
    "pdist",
    "pdist2",
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
    "save",
    "squareform",
    "svmpredict",
    "svmtrain",
    "train",
    "wmd_dist",
    "wme_GenFea",
    "wme_GenFea_preproc",
]
