import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from syntf.core.errors import SyntfError
from syntf.evaluation import bound_figures
from syntf.evaluation.figures import save_figure
from syntf.privacy import bounds


def curves(figure):
    (axes,) = figure.axes
    return {line.get_label(): line for line in axes.get_lines()}


def test_loss_figure_draws_the_standard_bound_dotted():
    line = curves(bound_figures.loss_bounds())["standard: ε"]
    assert line.get_linestyle() == ":"
    assert np.array_equal(line.get_xdata(), line.get_ydata())
    assert line.get_xdata()[-1] == 60


def test_loss_figure_draws_the_improved_bound_for_each_size():
    drawn = curves(bound_figures.loss_bounds())
    del drawn["standard: ε"]
    assert list(drawn) == [
        "improved: ε + ln η, L = 2",
        "improved: ε + ln η, L = 100",
        "improved: ε + ln η, L = 30,000",
    ]
    for size, line in zip((2, 100, 30_000), drawn.values(), strict=True):
        x, y = line.get_data()
        assert len(x) >= 100
        assert y.tolist() == [bounds.improved_loss(float(e), size) for e in x]
    assert len({line.get_linestyle() for line in drawn.values()} | {":"}) == 4


def test_loss_figure_marks_a_measured_loss():
    assert len(curves(bound_figures.loss_bounds())) == 4
    line = curves(bound_figures.loss_bounds(47.5, 33.254))["tight, measured: 33.25"]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([47.5], [33.254])
    assert line.get_marker() == "o"


def test_epsilon_figure_draws_the_necessary_epsilon():
    figure = bound_figures.necessary_epsilon()
    assert figure.axes[0].get_xscale() == "log"
    drawn = curves(figure)
    assert list(drawn) == ["1 good output", "10 good outputs", "100 good outputs"]
    for good, line in zip((1, 10, 100), drawn.values(), strict=True):
        sizes, values = line.get_data()
        assert (sizes[0], sizes[-1]) == (10, 1_000_000)
        expected = [bounds.necessary_epsilon(0.5, good, max(0, int(n) - good)) for n in sizes]
        assert list(values) == expected


@pytest.mark.parametrize("draw", [bound_figures.loss_bounds, bound_figures.necessary_epsilon])
def test_axes_and_curves_have_names(draw):
    figure = draw()
    axes = figure.axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == list(curves(figure))


@pytest.mark.parametrize("name", ["a.png", "a.PNG"])
def test_png_is_saved(tmp_path, name):
    save_figure(bound_figures.loss_bounds(), tmp_path / name)
    raw = (tmp_path / name).read_bytes()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(raw[16:20], "big") == 960  # 6.4 inches at 150 dots


def test_svg_and_pdf_are_saved(tmp_path):
    save_figure(bound_figures.necessary_epsilon(), tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    save_figure(bound_figures.necessary_epsilon(), tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes()[:5] == b"%PDF-"


@pytest.mark.parametrize("name", ["a.jpg", "a", "png"])
def test_unknown_suffix_is_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(
        SyntfError, match=rf"^cannot save the figure as {name}: .*\.png, \.svg, \.pdf$"
    ):
        save_figure(Figure(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
