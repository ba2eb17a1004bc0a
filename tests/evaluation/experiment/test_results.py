import dataclasses
import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.results import (
    Parameters,
    Result,
    Results,
    RunScore,
    analyst_gain,
    average_runs,
    read_results,
    relative_score,
    write_results,
)

OPTIMUM = Parameters(epsilon=47.5, length=150, spelling=0.3, morphology="lemma", synsets=False)

COLUMNS = (
    "method task scenario model attacker epsilon length spelling morphology synsets "
    "loss_per_word loss_per_document runs f1 f1_std precision recall"
).split()


def utility(method, f1, model="nb", parameters=Parameters(), **more):  # noqa: B008 - it cannot change
    scores = {"runs": 1, "f1": f1, "precision": f1, "recall": f1} | more
    return Result(method=method, task="utility", model=model, **parameters._asdict(), **scores)


def attack(method, scenario, f1, model="nb", parameters=Parameters(), attacker="writeprints"):  # noqa: B008
    found = utility(method, f1, model, parameters)
    return dataclasses.replace(found, task="attack", scenario=scenario, attacker=attacker)


def score(run, f1=0.5, precision=0.5, recall=0.5, **more):
    given = {"method": "syntf", "task": "utility", "model": "nb"} | OPTIMUM._asdict() | more
    return RunScore(run=run, f1=f1, precision=precision, recall=recall, **given)


def test_columns_of_the_file_are_the_fields(tmp_path):
    assert [field.name for field in dataclasses.fields(Result)] == COLUMNS
    made = dataclasses.replace(
        attack("syntf", "top5-any", 0.75, parameters=OPTIMUM),
        runs=10, f1_std=0.125, precision=1 / 3, loss_per_word=25.61,
    )  # fmt: skip
    write_results(tmp_path / "results.csv", [utility("original", 0.5), made])
    assert (tmp_path / "results.csv").read_bytes().decode() == (
        ",".join(COLUMNS) + "\n"
        "original,utility,,nb,,,,,,,,,1,0.5,,0.5,0.5\n"
        "syntf,attack,top5-any,nb,writeprints,47.5,150,0.3,lemma,false,25.61,,10,0.75,0.125,"
        "0.3333333333333333,0.75\n"
    )


def test_results_of_version_0_1_can_be_read(tmp_path):
    path = tmp_path / "results.csv"
    earlier = [name for name in COLUMNS if name != "loss_per_document"]
    row = "syntf,utility,,nb,,47.5,150,0.3,lemma,false,2.0,1,0.5,,0.5,0.5"
    path.write_text(",".join(earlier) + "\n" + row + "\n")
    (result,) = read_results(path)
    assert (result.loss_per_word, result.loss_per_document, result.f1) == (2.0, None, 0.5)
    assert Results([result]).document_loss(OPTIMUM) == 300.0


def test_loss_of_whole_documents_is_kept(tmp_path):
    whole = Parameters(10.0, 1, 0.0, "lemma", False)
    result = utility("syntf", 0.4, parameters=whole, loss_per_document=10.0)
    write_results(tmp_path / "results.csv", [result])
    results = Results(read_results(tmp_path / "results.csv"))
    assert (results.loss(whole), results.document_loss(whole)) == (None, 10.0)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8)
NUMBERS = st.floats(allow_nan=False)
RESULTS = st.builds(
    Result,
    method=NAMES, task=NAMES, scenario=NAMES, model=NAMES, attacker=NAMES, morphology=NAMES,
    epsilon=st.none() | NUMBERS, length=st.none() | st.integers(), spelling=st.none() | NUMBERS,
    synsets=st.none() | st.booleans(), loss_per_word=st.none() | NUMBERS, runs=st.integers(),
    f1=NUMBERS, f1_std=st.none() | NUMBERS, precision=NUMBERS, recall=NUMBERS,
)  # fmt: skip


@given(results=st.lists(RESULTS, max_size=4))
def test_written_results_can_be_read(tmp_path_factory, results):
    path = tmp_path_factory.mktemp("results") / "results.csv"
    write_results(path, results)
    found = read_results(path)
    assert found == results
    kinds = [[type(value) for value in dataclasses.astuple(each)] for each in found]
    assert kinds == [[type(value) for value in dataclasses.astuple(each)] for each in results]


def test_file_is_written_completely_or_not_at_all(tmp_path):
    path = tmp_path / "results.csv"
    write_results(path, [utility("original", 0.5)])
    before = path.read_bytes()

    def interrupted():
        yield utility("original", 0.6)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_results(path, interrupted())
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["results.csv"]
    write_results(path, [])
    assert read_results(path) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("original,utility,,nb,,,,,,,,1,0.5,,0.5", "line 2"),
        ("original,utility,,nb,,,,,,,,1,0.5,,0.5,0.5,0.5", "line 2"),
        ("original,utility,,nb,,,,,,,,1,high,,0.5,0.5", "line 2: .*high"),
        ("original,utility,,nb,,,,,,,,,0.5,,0.5,0.5", "line 2"),
        ("original,utility,,nb,,,,,,yes,,1,0.5,,0.5,0.5", "line 2: 'yes'"),
        ("original,utility,,nb,,,1.5,,,,,1,0.5,,0.5,0.5", "line 2: .*1.5"),
    ],
)
def test_error_names_the_damaged_line(tmp_path, line, message):
    path = tmp_path / "results.csv"
    path.write_text(",".join(COLUMNS) + f"\n{line}\n")
    with pytest.raises(SyntfError, match=rf"^results\.csv, {message}"):
        read_results(path)


@pytest.mark.parametrize("text", ["", "method,task\n", "a\n" * 9])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(SyntfError, match=r"^a\.csv does not have the columns"):
        read_results(tmp_path / "a.csv")


SHARES = st.floats(0, 1)


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=12))
def test_means_and_standard_deviations(scores):
    (found,) = average_runs(score(run, *values) for run, values in enumerate(scores))
    f1, *others = zip(*scores, strict=True)
    assert found.runs == len(scores)
    assert [found.precision, found.recall] == [statistics.fmean(other) for other in others]
    exact = [Fraction(value) for value in f1]
    mean = sum(exact) / len(exact)
    assert math.isclose(found.f1, mean, rel_tol=1e-15, abs_tol=1e-300)
    if len(scores) == 1:
        assert found.f1_std is None
    else:
        variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
        assert math.isclose(found.f1_std, math.sqrt(variance), rel_tol=1e-12, abs_tol=1e-160)


def test_standard_deviation_needs_two_runs():
    (one,) = average_runs([score(3, 0.5, loss_per_word=25.61)])
    assert one == Result(
        method="syntf", task="utility", model="nb", **OPTIMUM._asdict(), loss_per_word=25.61,
        runs=1, f1=0.5, f1_std=None, precision=0.5, recall=0.5,
    )  # fmt: skip
    (two,) = average_runs([score(0, 0.5), score(1, 0.75)])
    assert two.f1_std == pytest.approx(0.25 / math.sqrt(2))


def test_order_of_results_does_not_depend_on_the_order_of_scores():
    keys = [
        {"method": "original"} | Parameters()._asdict(),
        {"method": "vectorised"} | Parameters(morphology="lemma", synsets=False)._asdict(),
        {"epsilon": 7.5}, {"epsilon": 47.5, "length": 50}, {"epsilon": 47.5},
        {"model": "svm"},
        {"task": "attack", "scenario": "top5-any", "attacker": "writeprints"},
        {"task": "attack", "scenario": "top5-any", "attacker": "writeprints-random"},
        {"task": "attack", "scenario": "top10-any", "attacker": "writeprints"},
        {"task": "attack", "scenario": "all", "attacker": "writeprints"},
        {"method": "scrubadub"} | Parameters()._asdict(),
        {"method": "another"},
    ]  # fmt: skip
    scores = [score(run, **key) for key in keys for run in (0, 1)]
    wanted = [dataclasses.replace(scores[2 * i], run=0).key for i in range(len(keys))]
    for shift in range(len(scores)):
        found = average_runs(scores[shift:] + scores[:shift])
        assert [each.key for each in found] == wanted
        assert {each.runs for each in found} == {2}


def test_runs_that_cannot_be_averaged_are_refused():
    with pytest.raises(SyntfError, match=r"the log has the same run twice: .*epsilon=47\.5"):
        average_runs([score(1), score(2), score(1)])
    with pytest.raises(SyntfError, match="different taggers or losses"):
        average_runs([score(1, tagger="a"), score(2, tagger="b")])
    with pytest.raises(SyntfError, match="different taggers or losses"):
        average_runs([score(1, loss_per_word=1.0), score(2, loss_per_word=2.0)])
    assert len(average_runs([score(1, tagger="a"), score(1, tagger="b", model="svm")])) == 2


def test_results_are_found_by_the_parameters_of_their_method():
    lemma, lower = (
        Parameters(morphology="lemma", synsets=False),
        Parameters(morphology="lower", synsets=False),
    )
    rows = [
        utility("original", 0.7), utility("scrubadub", 0.69),
        utility("vectorised", 0.68, parameters=lemma),
        utility("vectorised", 0.67, parameters=lower),
        utility("syntf", 0.6, parameters=OPTIMUM), utility("syntf", 0.5),
    ]  # fmt: skip
    found = Results(rows)
    assert found.utility("original", "nb", OPTIMUM) is rows[0]
    assert found.utility("scrubadub", "nb", OPTIMUM) is rows[1]
    assert found.utility("vectorised", "nb", OPTIMUM) is rows[2]
    assert found.utility("vectorised", "nb", OPTIMUM._replace(morphology="lower")) is rows[3]
    assert found.utility("vectorised", "nb", OPTIMUM._replace(synsets=True)) is None
    assert found.utility("syntf", "nb", OPTIMUM) is rows[4]
    assert found.utility("syntf", "nb") is rows[5]
    assert found.utility("syntf", "nb", OPTIMUM._replace(epsilon=40)) is None
    assert found.utility("syntf", "svm", OPTIMUM) is None


def test_order_of_words_is_ignored_for_texts():
    rows = [
        attack("original", "a", 0.9), attack("scrubadub", "a", 0.8),
        attack("vectorised", "a", 0.7), attack("syntf", "a", 0.6, parameters=OPTIMUM),
    ]  # fmt: skip
    found = Results(rows)
    for method, row in (("original", rows[0]), ("scrubadub", rows[1])):
        assert found.attack(method, "nb", "a", OPTIMUM, attacker="writeprints-random") is row
        assert found.attack(method, "nb", "a", OPTIMUM, attacker="words") is None
    for method, row in (("vectorised", rows[2]), ("syntf", rows[3])):
        assert found.attack(method, "nb", "a", OPTIMUM) is row
        assert found.attack(method, "nb", "a", OPTIMUM, attacker="writeprints-random") is None
    assert found.attack("syntf", "nb", "b", OPTIMUM) is None


def test_results_list_names_parameters_and_losses():
    other = OPTIMUM._replace(epsilon=5.0)
    rows = [
        attack("syntf", "zoo", 0.5, "svm", OPTIMUM), attack("syntf", "top10-any", 0.5, "nb", other),
        attack("syntf", "top5-any", 0.5, "other", OPTIMUM, "words"),
        utility("syntf", 0.5, parameters=OPTIMUM, loss_per_word=25.6), utility("original", 0.5),
    ]  # fmt: skip
    found = Results(rows)
    assert found.scenarios == ["top5-any", "top10-any", "zoo"]
    assert found.models == ["nb", "svm", "other"]
    assert found.attackers == ["writeprints", "words"]
    assert list(found.by_parameters) == [other, OPTIMUM]
    assert found.by_parameters[OPTIMUM] == [rows[0], rows[2], rows[3]]
    assert (found.loss(OPTIMUM), found.loss(other), found.loss(Parameters())) == (25.6, None, None)


def test_duplicate_results_are_refused():
    with pytest.raises(SyntfError, match=r"there are two results for .*'original'"):
        Results([utility("original", 0.5), utility("original", 0.6)])


def test_gain_equals_the_papers():
    """Table 3's F1 scores: 87 and 66 %, hence 20 % by its own rounding."""
    found = Results(
        [
            utility("original", 0.69), attack("original", "top10-any", 0.64),
            utility("syntf", 0.60, parameters=OPTIMUM),
            attack("syntf", "top10-any", 0.42, parameters=OPTIMUM),
            attack("syntf", "top10-any", 0.08, parameters=OPTIMUM, attacker="writeprints-random"),
            utility("scrubadub", 0.64), attack("scrubadub", "top10-any", 0.57),
        ]
    )  # fmt: skip
    measured = analyst_gain(found, OPTIMUM, "top10-any", "nb")
    assert measured == 0.60 / 0.69 - 0.42 / 0.64
    random = analyst_gain(found, OPTIMUM, "top10-any", "nb", attacker="writeprints-random")
    assert random == 0.60 / 0.69 - 0.08 / 0.64
    scrubbed = analyst_gain(found, OPTIMUM, "top10-any", "nb", method="scrubadub")
    assert scrubbed == 0.64 / 0.69 - 0.57 / 0.64
    assert analyst_gain(found, OPTIMUM, "top5-any", "nb") is None
    assert analyst_gain(found, OPTIMUM, "top10-any", "svm") is None
    assert analyst_gain(found, OPTIMUM._replace(length=1), "top10-any", "nb") is None


def test_relative_score_is_none_for_zero():
    assert relative_score(utility("syntf", 0.5), utility("original", 0.0)) is None
    assert relative_score(utility("syntf", 0.0), utility("original", 0.5)) == 0.0
    assert relative_score(None, utility("original", 0.5)) is None
    assert relative_score(utility("syntf", 0.5), None) is None
