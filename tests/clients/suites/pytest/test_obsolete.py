from conversations import ask


def test_obsolete(base_url):
    assert ask(base_url("OPENAI_BASE_URL"), "Are you still needed?") == "You asked: Are you still needed?"
