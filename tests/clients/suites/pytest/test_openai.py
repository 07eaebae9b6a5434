import pytest

from conversations import ask, ask_with_tools


@pytest.mark.parametrize("country", ["France", "Peru"])
def test_capital(base_url, country):
    question = f"What is the capital of {country}?"
    assert ask(base_url("OPENAI_BASE_URL"), question) == f"You asked: {question}"


def test_parallel_calls(base_url):
    assert ask_with_tools(base_url("OPENAI_BASE_URL"), "Add 1 and 2, and 3 and 4") == "The sums are 3 and 7."


def test_state_of_a_job(base_url):
    """Polls: the same request gets another answer each time."""
    for _ in range(5):
        state = ask(base_url("OPENAI_BASE_URL"), "Is the job done?")
        if state != "Not yet.":
            break
    assert state == "Done."
