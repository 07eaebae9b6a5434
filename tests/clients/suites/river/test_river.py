import datetime
import os

import httpx


def ask(question, directory):
    response = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/responses",
        headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
        json={
            "model": "gpt-5.6",
            "instructions": f"Working directory: {directory}\nToday's date is {datetime.date.today()}",
            "input": question,
            "store": False,
        },
        timeout=60,
    )
    response.raise_for_status()
    output = response.json()["output"]
    return "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])


def test_river(tmp_path):
    assert "Seine" in ask("Does the Seine run through Paris?", tmp_path)
