# ruff: noqa: E402 - what follows the skip
"""scikit-learn's estimators and metrics take and return gpunumpy arrays with ``array_api_dispatch``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy

from .ecosystem import Case, agree

sklearn = pytest.importorskip("sklearn", reason="a machine with a GPU may lack it")

from sklearn import metrics, preprocessing
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

RANDOM = numpy.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
# Targets: numbers, two classes, three classes; guesses at the two classes, as classes and as probabilities.
Z = X @ RANDOM.normal(size=5) + 0.1 * RANDOM.normal(size=60)
TWO = (X[:, 0] + 0.1 * RANDOM.normal(size=60) > 0).astype(int)
THREE = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0)
GUESS = numpy.where(numpy.arange(60) % 7, TWO, 1 - TWO)
SCORE = 1 / (1 + numpy.exp(-2 * X[:, 0]))


def _there_and_back(xp: Any, a: Any) -> Any:
    pca = PCA(3, svd_solver="full", whiten=True).fit(a(X))
    return pca.inverse_transform(pca.transform(a(X)))


ESTIMATORS: dict[str, Case] = {
    "GaussianMixture": lambda xp, a: (
        GaussianMixture(2, init_params="random", random_state=0).fit(a(X)).predict_proba(a(X))
    ),
    "GaussianNB": lambda xp, a: GaussianNB().fit(a(X), a(THREE)).predict_proba(a(X)),
    "GridSearchCV": lambda xp, a: (
        GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 1.0, 10.0]}).fit(a(X), a(Z)).predict(a(X))
    ),
    "LinearDiscriminantAnalysis": lambda xp, a: LinearDiscriminantAnalysis().fit(a(X), a(THREE)).predict_proba(a(X)),
    "LogisticRegression": lambda xp, a: LogisticRegression(solver="lbfgs").fit(a(X), a(TWO)).predict_proba(a(X)),
    "PCA": lambda xp, a: abs(PCA(3, svd_solver="full").fit_transform(a(X))),
    "PCA, covariance": lambda xp, a: abs(PCA(3, svd_solver="covariance_eigh").fit(a(X)).components_),
    "PCA, whitened and back": _there_and_back,
    "Ridge": lambda xp, a: Ridge(solver="svd").fit(a(X), a(Z)).predict(a(X)),
    "RidgeCV": lambda xp, a: RidgeCV().fit(a(X), a(Z)).coef_,
    "RidgeClassifier": lambda xp, a: RidgeClassifier(solver="svd").fit(a(X), a(TWO)).predict(a(X)),
    "cross_val_predict": lambda xp, a: cross_val_predict(LinearDiscriminantAnalysis(), a(X), a(THREE)),
    "pipeline": lambda xp, a: (
        make_pipeline(preprocessing.StandardScaler(), Ridge(solver="svd")).fit(a(X), a(Z)).predict(a(X))
    ),
    "train_test_split": lambda xp, a: train_test_split(a(X), a(TWO), random_state=0),
    "Binarizer": lambda xp, a: preprocessing.Binarizer().fit_transform(a(X)),
    "LabelBinarizer": lambda xp, a: preprocessing.LabelBinarizer().fit_transform(a(THREE)),
    "LabelEncoder": lambda xp, a: preprocessing.LabelEncoder().fit_transform(a(THREE)),
    "MaxAbsScaler": lambda xp, a: preprocessing.MaxAbsScaler().fit_transform(a(X)),
    "MinMaxScaler": lambda xp, a: preprocessing.MinMaxScaler().fit_transform(a(X)),
    "Normalizer": lambda xp, a: preprocessing.Normalizer().fit_transform(a(X)),
    "PolynomialFeatures": lambda xp, a: preprocessing.PolynomialFeatures(2).fit_transform(a(X)),
    "StandardScaler": lambda xp, a: preprocessing.StandardScaler().fit_transform(a(X)),
}

METRICS: dict[str, Case] = {
    "accuracy_score": lambda xp, a: metrics.accuracy_score(a(TWO), a(GUESS)),
    "average_precision_score": lambda xp, a: metrics.average_precision_score(a(TWO), a(SCORE)),
    "confusion_matrix": lambda xp, a: metrics.confusion_matrix(a(TWO), a(GUESS)),
    "cosine_similarity": lambda xp, a: metrics.pairwise.cosine_similarity(a(X), a(X[:3])),
    "euclidean_distances": lambda xp, a: metrics.pairwise.euclidean_distances(a(X), a(X[:3] + 1)),
    "f1_score": lambda xp, a: metrics.f1_score(a(THREE), a(THREE), average="macro"),
    "log_loss": lambda xp, a: metrics.log_loss(a(TWO), a(SCORE)),
    "mean_squared_error": lambda xp, a: metrics.mean_squared_error(a(Z), a(Z + 0.1)),
    "mean_tweedie_deviance": lambda xp, a: metrics.mean_tweedie_deviance(a(SCORE), a(SCORE + 0.1), power=1.5),
    "median_absolute_error": lambda xp, a: metrics.median_absolute_error(a(Z), a(X[:, 0])),
    "precision_recall_curve": lambda xp, a: metrics.precision_recall_curve(a(TWO), a(SCORE)),
    "r2_score": lambda xp, a: metrics.r2_score(a(Z), a(Z + 0.1)),
    "rbf_kernel": lambda xp, a: metrics.pairwise.rbf_kernel(a(X), a(X[:3])),
    "recall_score": lambda xp, a: metrics.recall_score(a(TWO), a(GUESS)),
    "roc_auc_score": lambda xp, a: metrics.roc_auc_score(a(TWO), a(SCORE)),
    "roc_curve": lambda xp, a: metrics.roc_curve(a(TWO), a(SCORE)),
}


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(at_home: str, name: str) -> None:
    agree(ESTIMATORS[name], at_home, rtol=1e-6)


@pytest.mark.parametrize("name", METRICS)
def test_metrics(at_home: str, name: str) -> None:
    agree(METRICS[name], at_home)


def test_what_is_learned_is_ours(at_home: str) -> None:
    learned = preprocessing.StandardScaler().fit(gpunumpy.asarray(X))
    assert type(learned.mean_) is gpunumpy.ndarray
    assert str(learned.mean_.device) == at_home
