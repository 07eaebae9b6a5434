from concurrent.futures import ThreadPoolExecutor

from conversations import ask, ask_streamed


def test_river(base_url):
    question = "Which river runs through Paris?"
    assert ask_streamed(base_url("ANTHROPIC_BASE_URL"), question) == f"You asked: {question}"


def test_two_apis_at_once(base_url):
    with ThreadPoolExecutor() as pool:
        message = pool.submit(ask_streamed, base_url("ANTHROPIC_BASE_URL"), "Say hello")
        response = pool.submit(ask, base_url("OPENAI_BASE_URL"), "Say hello")
        assert (message.result(), response.result()) == ("You asked: Say hello", "You asked: Say hello")
