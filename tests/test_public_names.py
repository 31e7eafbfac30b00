# SPDX-License-Identifier: BSD-3-Clause
"""The public names and their parameters, as users have learned them.

A change here is a change for every user: it needs a line in CHANGELOG.md.
"""

import importlib
import inspect
import sys

import pytest

import d2ke


def default(value):
    if value is inspect.Parameter.empty:
        return ""
    return f"={value.__name__}" if isinstance(value, type) else f"={value!r}"


def spelled(name, value):
    """Write a function or a class with its parameters and their defaults."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return name
    words, keyword_only = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            words.append("*")
        keyword_only = keyword_only or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        words.append(f"{stars}{one.name}{default(one.default)}")
    return f"{name}({', '.join(words)})"


def public(module):
    for name in sorted(module.__all__):
        value = getattr(module, name)
        plain = not (inspect.isfunction(value) or inspect.isclass(value))
        error = inspect.isclass(value) and issubclass(value, BaseException)
        yield name if plain or error else spelled(name, value)


NAMES = {
    "d2ke": """
    Alignment(distance, params, x, y, value, pairs, costs, masses=None, operations=None,
        maximum=None)
    ArgumentError
    ArgumentTypeError
    Barycenter(center, distances, inertia, n_iter)
    Block(name, distance, sampler, R, views=(), parameters=<factory>, from_omega=False,
        gamma_scale=1.0, sd_power=1.0, family='', column='')
    Clustering(labels, alpha, objectives, best, lam, h, smoothing, trained)
    D2KEModel(blocks, scaling, deviation, linear, kind, channels, alphabet, letters, C, accuracy,
        accuracy_error, largest_class, confusion, calibration, known, left_out, n_train, seconds,
        columns=<factory>, inputs=<factory>, sums=None, n_added=0)
    DBSCANClusters(labels, core)
    Duplicates(labels, examples, threshold, pairs, distances, weights)
    Explanation(label, decision, offset, blocks, omegas, training_objects, windows=(),
        steps=None, series=None)
    FeatureSelection(indices, weights, q, alignment)
    HDBSCANClusters(labels, probabilities, examples, core_distances, tree)
    Importance(name, drop, error)
    KernelAlignment(rotation, translation, distance_before, distance, kappa, bound, method,
        motion, sigma, eps, counts=<factory>)
    KernelBootstrap(max, rms, relative, centred, delta, n_features, n_objects)
    KernelClassifier(classes, alpha, codes, objective, lam, coef, from_features)
    KernelCoreset(indices, weights, measure, distance, distance_method, standard_error, bound,
        delta, total, method, kernel, sigma)
    KernelDistanceInfo(value, **facts)
    KernelError(sizes, n_blocks, max_mean, max_sd, rms_mean, rms_sd, expected_rms,
        relative_mean, relative_sd, centred_mean=None, centred_sd=None)
    KernelFeatureMap(method, kernel, sigma, centre, kind, channels, omega, degree, radius, eps)
    LinearModel(weights, bias, classes, solver, options, multilabel=False)
    Links(pairs, distances, threshold, weights)
    Measure(points, vectors, kind='points', gap=0.0, n_samples=None)
    MedoidClusters(medoids, labels, distances, loss)
    NeighborsInfo(pairs, computed=0, ruled_out=<factory>)
    Objects(kind, values, offsets, alphabet=None, letters=None, weights=None, missing=False)
    Operations(op, i, j)
    Propagation(labels, scores, classes, reached, alpha, objectives, lam, h, trained)
    PseudoEuclideanEmbedding(Z, eigenvalues, signature, _column_means, _map)
    Records(columns)
    SVMModel(support, coef, rho, classes, n_support, n_columns, vectors, kernel, svm_type,
        options)
    Scaling(mean, sd)
    Search(parameters, accuracy, tried, info=<factory>)
    SimilarityMachine(classes, coef, bias)
    SimplexSolution(alpha, objective, gap, n_steps, converged)
    SpanningTree(edges, weights)
    SpectrumRepair(kind, gram, least, negative)
    Telling(label, adds, block, index, object, training_object)
    TwoSampleTest(distance, p_value, exact, null, sigma=None)
    __version__
    align(x, y, distance=None, **params)
    bandwidth(X, *, n_neighbors=7)
    barycenter(X, *, distance=None, initial=None, weights=None, max_iter=30, tol=1e-05, seed=0,
        n_threads=None, **params)
    bootstrap_kernel_error(Z, *, delta=0.05, n_resamples=200, max_objects=256, seed=0,
        n_threads=None)
    categories(values)
    cdsk(K=None, n_clusters=None, *, points=None, distances=None, features=None, h=None,
        lam=None, variant='hard', trace_weight=0.1, smoothing=None, similarity='psd',
        risk='margin', max_iter=10, seed=0)
    clustering_accuracy(y, labels)
    column_weights(X, *, distance, seed=0)
    concatenate(collections)
    curve(points, *, closed=False, oriented=True, gap=None, n_samples=None, seed=0)
    d2ke_embed(X, omega, *, distance, gamma=None, link='exp', n_threads=None, out=None,
        dtype=None, progress=False, **params)
    d2ke_explain(x, model, *, limit=10, training_object=None)
    d2ke_features(D, gamma=None, link='exp', *, out=None, n_threads=None)
    d2ke_gram(X, Y=None, *, omega, distance, gamma, n_threads=None, progress=False, **params)
    d2ke_importance(y, X, model, *, by='family', repeats=5, seed=0, n_threads=None)
    d2ke_predict(y, X, model, *, probability=False, unseen_letters='allow', n_threads=None,
        progress=False)
    d2ke_telling(model, *, limit=10)
    d2ke_train(y, X, *, blocks=None, distance=None, R=None, task=None, class_weight=None,
        sample_weight=None, groups=None, seed=0, keep_sums=False, n_threads=None,
        progress=False, **params)
    d2ke_transform(X, model, *, unseen_letters='allow', n_threads=None, out=None,
        progress=False)
    d2ke_update(y, X, model, *, unseen_letters='allow', n_threads=None, progress=False)
    datasets
    dbscan(X, eps, min_samples=5, *, distance=None, metric=False, n_threads=None,
        progress=False, **params)
    dedupe(X, *, radius, distance=None, clean=(), threshold=0.5, known=None,
        linkage='average', seed=0, n_threads=None, progress=False)
    density_error_bound(X, y, alpha, *, h, delta=0.05)
    discriminative_predict(result, K_new=None, *, points=None, distances=None, features=None)
    distance_matrix(X, Y=None, distance=None, *, n_threads=None, out=None, dtype=None,
        progress=False, **params)
    distance_names()
    dsk_gram(D, *, kind='rbf', gamma=None, beta=2.0, repair=None)
    effective_dimension(kind, *, length=None, alphabet_size=None, n_elements=None,
        n_dimensions=None)
    features_needed(eps, delta, p, gamma)
    features_needed_for_risk(eps, delta, p, gamma, *, lipschitz=1.0, coefficients=1.0)
    features_two_sample_test(Z, n, *, n_permutations=999, seed=0)
    gaussian_gram(X, Y=None, *, h=None)
    gdk_led(D, R)
    gram_two_sample_test(K, n, *, n_permutations=999, seed=0)
    hdbscan(X, *, min_cluster_size=5, min_samples=None, cluster_selection_epsilon=0.0,
        distance=None, metric=False, n_threads=None, progress=False, **params)
    io
    kernel_align(P, Q, *, sigma, motion='rigid', weights_p=None, weights_q=None, method='auto',
        eps=None, seed=0, n_threads=None)
    kernel_classifier_fit(K=None, y=None, *, features=None, lam=None, similarity='psd',
        risk='margin')
    kernel_classifier_predict(model, K_new=None, *, features=None)
    kernel_coordinates(P, covariance)
    kernel_coreset(P, m=None, *, sigma=None, weights_p=None, kernel='gaussian', method='auto',
        eps=None, delta=None, seed=0, n_threads=None, evaluate=True)
    kernel_distance(P, Q, *, sigma=None, weights_p=None, weights_q=None, kernel='gaussian',
        method='auto', eps=None, delta=None, seed=0, n_threads=None)
    kernel_distance_matrix(X, Y=None, *, sigma=None, weights_x=None, weights_y=None,
        kernel='gaussian', method='exact', n_features=None, eps=None, delta=None, seed=0,
        n_threads=None)
    kernel_error(Z, *, gram=None, features=None, sizes=None, max_blocks=20, centred=False,
        n_threads=None)
    kernel_feature_map(sets, *, sigma, weights=None, kernel='gaussian', method='auto',
        n_features=None, eps=None, delta=None, uniform=False, seed=0)
    kernel_features(sets, *, sigma, weights=None, kernel='gaussian', method='auto',
        n_features=None, eps=None, delta=None, seed=0, n_threads=None)
    kernel_neighbors(queries, sets, k=1, *, sigma=None, weights_queries=None, weights=None,
        kernel='gaussian', method='exact', n_features=None, eps=None, delta=None, seed=0,
        n_threads=None)
    kernel_norm(P, *, sigma=None, weights_p=None, kernel='gaussian', method='auto', eps=None,
        delta=None, seed=0, n_threads=None)
    kernel_risk_bound(K, y, alpha, *, margin=1.0, delta=0.05)
    kernel_similarity_bound(K, y, alpha, *, margin=1.0, delta=0.05)
    kernel_standard_error(Z, Y=None)
    kernel_two_sample_test(P, Q, *, sigma='median', kernel='gaussian', n_permutations=999,
        n_groups=None, seed=0, n_threads=None)
    kmedoids(X, k, *, distance=None, sample_size=5000, n_samples=5, seed=0, metric=False,
        n_threads=None, progress=False, **params)
    knn_predict(y, D, k=1)
    link(left, right, *, radius, distance=None, clean=(), threshold=0.5, known=None,
        one_to_one=True, seed=0, n_threads=None, progress=False)
    lipschitz_constant(w, gamma)
    load_model(file)
    load_search(path)
    lpdsk(K=None, y=None, *, points=None, distances=None, features=None, h=None, unknown=-1,
        lam=None, variant='relaxed', trace_weight=0.1, similarity='psd', risk='margin',
        balance=True, max_iter=None)
    markov_strings(R, X, *, length, order=1, seed)
    mesh(vertices, faces, *, oriented=True, gap=None, n_samples=None, seed=0)
    nearest(X, Y=None, *, k, radius=None, distance=None, include_self=False, metric=False,
        n_threads=None, progress=False, checkpoint=None, info=False, **params)
    nearest_windows(X, query, k=1, *, normalize=True, exclusion=0.5, distance='euclidean',
        window=None, n_threads=None, progress=False)
    neighbor_similarities(points=None, *, distances=None, n_neighbors=15, h=None)
    normalized_mutual_information(y, labels)
    novelty(X, model, *, unseen_letters='allow', n_threads=None, progress=False)
    outlier_scores(X, *, k=10, distance=None, method='knn', metric=False, n_threads=None,
        progress=False, checkpoint=None, **params)
    pack(items, *, kind=None, lengths=None, channels_first=None, weights=None, missing=False,
        layout=None, ids=None, time=None, name='items')
    pack_records(columns, *, name='columns')
    plot_tree(X, *, distance=None, names=None, method='average', max_leaves=80, seed=0,
        n_threads=None, **params)
    predict(y, Z, model, *, probability=False)
    predict_set(X, model, *, alpha=0.1, unseen_letters='allow', n_threads=None, progress=False)
    psd_split(S)
    random_segments(R, X, *, length, scale=1.0, seed)
    random_series(R, n_channels=None, *, length, sigma=None, seed, X=None, dtype=float64)
    random_sets(R, dim, *, size, seed, region='sphere', low=0.0, high=1.0, dtype=float64)
    random_strings(R, alphabet, *, length, seed)
    representatives(X, R, *, seed)
    resampled_sets(R, X, *, size, seed)
    rsm_embed(X, reps, *, distance, gamma=None, link='exp', n_threads=None, out=None,
        dtype=None, progress=False, **params)
    samplers
    save_model(file, model)
    search(y, X=None, method='d2ke', *, distance=None, sampler=None, grid=None, within=None,
        checkpoint=None, n_folds=10, seed=0, n_threads=None, progress=False, **params)
    select_features(Z, y, R, *, rho=1.0, keep='best', centre=True, seed=None)
    show_config()
    similarity_machine_bound(model, S, y, *, margin=1.0, delta=0.05)
    similarity_machine_fit(S, y, *, C=1.0, lam_plus=1.0, lam_minus=1.0, tol=0.001)
    similarity_machine_predict(model, S_new)
    similarity_risk_bound(S, y, alpha, *, margin=1.0, delta=0.05)
    simplex_qp(H, f, *, start=None, tol=1e-06, max_steps=None)
    single_linkage(X, *, distance=None, metric=False, n_threads=None, progress=False, **params)
    soft_min_distance(D, E=None, *, gamma)
    spanning_tree(X, *, distance=None, metric=False, n_threads=None, progress=False, **params)
    svmpredict(y, K, model)
    svmtrain(y, K, options='-t 4 -c 1 -q', *, class_weight=None)
    train(y, Z, options='-s 2 -e 0.0001 -c 1 -q', *, solver='liblinear', class_weight=None,
        n_threads=None, seed=0)
    train_classifier(y, Z, *, loss, C, n_threads=None)
    train_least_squares(y, Z, C=1.0, *, n_threads=None)
    views
    within(X, Y=None, *, radius, distance=None, include_self=False, metric=False,
        n_threads=None, progress=False, checkpoint=None, info=False, **params)
    write_distances(path, X, Y=None, *, distance, dtype=None, n_threads=None, progress=False,
        **params)
    write_features(path, X, omega_or_model, *, labels=None, distance=None, gamma=None, link='exp',
        dtype=None, n_threads=None, progress=False, **params)
    """,
    "d2ke.dask": """
    d2ke_embed(X, omega, *, distance, gamma=None, link='exp', chunks=None, n_threads=1, dtype=None,
        **params)
    d2ke_predict(y, X, model, *, probability=False, unseen_letters='allow', chunks=None,
        n_threads=1)
    d2ke_train(y, X, *, blocks=None, distance=None, R=None, task=None, seed=0, keep_sums=False,
        chunks=None, n_threads=1, **params)
    d2ke_transform(X, model, *, unseen_letters='allow', chunks=None, n_threads=1)
    distance_matrix(X, Y=None, distance=None, *, chunks=None, n_threads=1, dtype=None, **params)
    nearest(X, Y=None, *, k, radius=None, distance=None, include_self=False, metric=False,
        chunks=None, n_threads=1, **params)
    novelty(X, model, *, unseen_letters='allow', chunks=None, n_threads=1)
    within(X, Y=None, *, radius, distance=None, include_self=False, metric=False, chunks=None,
        n_threads=1, **params)
    """,
    "d2ke.datasets": """
    Dataset(name, objects, labels, source)
    REGISTRY
    Source(name, loader, domain, distance, rounding, title, page, alphabet=None,
        options=<factory>, n_train=None)
    boundary_code(image, directions=8)
    chain_code(image, directions=8)
    load(name, **options)
    read_ts(path)
    standardize(train, *others)
    train_test_split(n_or_labels, *, fraction=0.7, rounding='floor', seed)
    """,
    "d2ke.io": """
    FeatureFile(file)
    FeatureStore(Z, labels, omega, parameters, versions)
    LabelledObjects(objects, labels, ids=None, columns=None, written=None)
    MatFileError
    ParquetObjects(file, *, objects=None, labels=None, kind=None)
    Unreadable(name, matlab_class, reason)
    load_features(file, *, rows=None, columns=None)
    load_mat(file, names=None, *, squeeze=False)
    load_objects(file, name, *, channels_first=None, kind=None)
    open_features(file)
    read_objects(file, *, objects=None, labels=None, ids=None, time=None, channels_first=None,
        kind=None)
    read_ts(path)
    save_features(file, Z, *, labels=None, omega=None, parameters=None, compression=None)
    save_mat(file, data, *, version='5', compress=True)
    whos_mat(file)
    """,
    "matlab_compat": """
    ClassificationKNN(X, Y, k, distance, params)
    RandStream(seed=0)
    Struct
    cluster(Z, *, MaxClust=None, Cutoff=None, Criterion='inconsistent', Depth=2)
    cmdscale(D, p=None)
    confusionmat(group, grouphat, *, Order=None)
    crossvalind(method, N, K=None)
    cvpartition(N, method, value=None)
    dbscan(X, epsilon, minpts, Distance=None, **params)
    dendrogram(Z, P=30, *, Labels=None, Orientation='top', ColorThreshold=0.0, ax=None)
    dtw(x, y, maxsamp=None, metric='euclidean')
    dtw_c(s, t, w=-1)
    dtw_m(s, t, w=-1)
    dtw_similarity_cell(newX, baseX, *, n_threads=None)
    dtw_similarity_cell_mulvar(newX, baseX, *, n_threads=None)
    fitcknn(X, Y, *, NumNeighbors=1, Distance=None, **params)
    kmedoids(X, k, Distance=None, *, seed=0, **params)
    knnsearch(X, Y, *, K=1, Distance=None, **params)
    libsvmread(filename)
    libsvmwrite(filename, labels, X)
    linkage(X, method='single', metric=None, **params)
    load(filename, *names)
    mdscale(D, p, *, Criterion='stress', Start='cmdscale')
    pdist(X, Distance=None, DistParameter=None, **params)
    pdist2(X, Y, Distance=None, DistParameter=None, **params)
    perfcurve(labels, scores, posclass)
    predict(y, X, model, options='')
    rand(*size)
    randi(limits, *size)
    randn(*size)
    randperm(n)
    rangesearch(X, Y, r, *, Distance=None, **params)
    rng(seed=None, generator='twister')
    rws_GenFea(file_dir, filename, sigma, R, DMin, DMax, *, n_threads=None)
    rws_GenFea_mulvar(file_dir, filename, sigma, R, DMin, DMax, *, n_threads=None)
    rws_VaryingR_CV(file_dir, filename, sigma, DMax, lambda_inverse, *, DMin=1, R_list=(4, 8,
        16, 32, 64), solver='trust-region', save_dir=None, n_threads=None)
    rws_VaryingR_CV_mulvar(file_dir, filename, sigma, DMax, lambda_inverse, *, DMin=1,
        R_list=(4, 8, 16, 32, 64, 128, 256, 512), solver='trust-region', save_dir=None,
        n_threads=None)
    rws_gridsearch_CV(file_dir, filename, *, DMin=1, DMax_list=(5, 10, 15, 20, 25, 30, 35, 40,
        45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100), sigma_list=(0.001, 0.003, 0.01, 0.03,
        0.1, 0.14, 0.19, 0.28, 0.39, 0.56, 0.79, 1.12, 1.58, 2.23, 3.16, 4.46, 6.3, 8.91, 10,
        31.62, 100.0, 300.0, 1000.0), R=128, CV=10, lambda_inverse=(1e-05, 0.0001, 0.001, 0.01,
        0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0), solver='trust-region', save_dir=None,
        n_threads=None, progress=False)
    rws_gridsearch_CV_mulvar(file_dir, filename, *, DMin=1, DMax_list=(5, 10, 15, 20, 25, 30,
        35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100), sigma_list=(0.001, 0.003,
        0.01, 0.03, 0.1, 0.14, 0.19, 0.28, 0.39, 0.56, 0.79, 1.12, 1.58, 2.23, 3.16, 4.46, 6.3,
        8.91, 10, 31.62, 100.0, 300.0, 1000.0), R=32, CV=10, lambda_inverse=(1e-05, 0.0001,
        0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0), solver='trust-region',
        save_dir=None, n_threads=None, progress=False)
    save(filename, variables, version='-v7')
    squareform(D)
    svmpredict(y, X, model, options='')
    svmtrain(y, X, options='')
    train(y, X, options='')
    wmd_dist(newX, weight_newX, baseX, weight_baseX, gamma, *, n_threads=None)
    wme_GenFea(Data, gamma, R, DMin, DMax, dataSplit, val_min, val_max, d, nbow_X_allDoc,
        idf_X_allDoc, tf_idf_X_allDoc, randdoc_scheme=1, wordweight_scheme=1, *, n_threads=None)
    wme_GenFea_preproc(Data)
    zscore(X, flag=0, dim=None)
    """,
}


@pytest.mark.parametrize("name", NAMES)
def test_public_names_and_parameters(name):
    if name == "d2ke.dask":
        pytest.importorskip("dask.array")
    module = importlib.import_module(name)
    # Lines that are folded go on with more than four blanks.
    expected = NAMES[name].replace("\n        ", " ").split("\n    ")
    assert list(public(module)) == [line for line in map(str.strip, expected) if line]


def test_no_function_has_the_name_of_a_package():
    for name in d2ke.__all__:
        value = getattr(d2ke, name)
        if inspect.isfunction(value):
            assert f"d2ke.{name}" not in sys.modules
