"""PrivUnit, the mechanism that other work releases whole vectors with."""

from math import exp

import numpy as np
import pytest

from syntf.research.privunit import PrivUnit, share_above


@pytest.mark.parametrize("loss", [1.0, 10.0, 60.0])
@pytest.mark.parametrize("dimensions", [3, 100])
def test_densities_differ_by_the_loss(loss, dimensions):
    mechanism = PrivUnit.with_loss(dimensions, loss)
    assert mechanism.loss == pytest.approx(loss, rel=1e-6)
    assert share_above(dimensions, mechanism.edge) == pytest.approx(mechanism.share, rel=1e-6)
    inside = mechanism.chance / mechanism.share
    outside = 1 / (1 + exp(mechanism.chance_odds)) / (1 - mechanism.share)
    assert inside / outside == pytest.approx(exp(loss), rel=1e-6)


def test_released_points_are_in_the_cap_as_often_as_stated():
    mechanism = PrivUnit.with_loss(5, 2.0)
    vectors = np.tile([[3.0, 0, 4.0, 0, 0]], (40_000, 1))
    points = mechanism.release(vectors, 1)
    assert np.allclose((points**2).sum(axis=1), 1)
    products = points @ [0.6, 0, 0.8, 0, 0]
    assert np.mean(products >= mechanism.edge) == pytest.approx(mechanism.chance, abs=0.01)
    assert products.mean() == pytest.approx(mechanism.expected_product, abs=0.01)
    across = points[:, 1]
    assert across.mean() == pytest.approx(0, abs=0.02)


def test_more_loss_releases_points_nearer_to_the_vector():
    products = [PrivUnit.with_loss(100, loss).expected_product for loss in (1, 10, 40, 100)]
    assert products == sorted(products)
    assert products[-1] > 0.6


def test_vector_of_zeros_releases_any_point():
    points = PrivUnit.with_loss(4, 50.0).release(np.zeros((2000, 4)), 3)
    assert np.allclose((points**2).sum(axis=1), 1)
    assert np.abs(points.mean(axis=0)).max() < 0.06
