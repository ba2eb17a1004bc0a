"""Schemathesis checks the service against its OpenAPI description."""

import pytest
from hypothesis import HealthCheck, given, settings

schemathesis = pytest.importorskip(
    "schemathesis", reason="needs schemathesis: pip install schemathesis"
)
ROUTES = {"/v1/anonymize", "/v1/guarantee", "/healthz", "/metrics"}
OWN_ROUTES = {"server": {"/v1/explain/{word}"}, "document_server": {"/v1/prototypes"}}


@pytest.mark.parametrize("unit", OWN_ROUTES)
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_answers_match_the_openapi_description(request, unit, mode):
    """Valid requests are answered, invalid ones refused, and every status is described."""
    server = request.getfixturevalue(unit)
    description = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    seen = {}
    for found in description.get_all_operations():
        operation = found.ok()
        if mode == "NEGATIVE" and operation.path not in ("/v1/anonymize", "/v1/explain/{word}"):
            continue  # these routes take no input

        @settings(
            max_examples=30, deadline=None, database=None,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=getattr(schemathesis.GenerationMode, mode)))
        def check(case):
            answer = case.call_and_validate()
            seen.setdefault(case.path, set()).add(answer.status_code)

        check()
    if mode == "POSITIVE":
        assert set(seen) == ROUTES | OWN_ROUTES[unit]
        assert all(200 in codes for codes in seen.values())
    else:
        assert all(422 in codes for codes in seen.values())
        assert 200 not in seen["/v1/anonymize"]
