"""Requests of the suite, as an application sends them."""
import json
import os

import httpx

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers",
        "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
    },
}


def post(url, body, headers):
    response = httpx.post(url, json=body, headers=headers, timeout=60)
    response.raise_for_status()
    return response


def openai_headers():
    return {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}


def anthropic_headers():
    return {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}


def ask(base_url, question):
    """One answer of the Responses API."""
    body = {"model": "gpt-5.6", "input": question, "store": False}
    output = post(base_url + "/responses", body, openai_headers()).json()["output"]
    return "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])


def ask_streamed(base_url, question):
    """One answer of the Messages API, from its stream."""
    body = {
        "model": "claude-opus-5",
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": question}],
        "stream": True,
    }
    text = post(base_url + "/v1/messages", body, anthropic_headers()).text
    events = [json.loads(line[len("data: ") :]) for line in text.splitlines() if line.startswith("data: ")]
    return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")


def ask_with_tools(base_url, question):
    """An answer of Chat Completions, after the calls that it asks for."""
    messages = [{"role": "user", "content": question}]
    while True:
        body = {"model": "gpt-4o", "messages": messages, "tools": [ADD]}
        message = post(base_url + "/chat/completions", body, openai_headers()).json()["choices"][0]["message"]
        calls = message.get("tool_calls") or []
        if not calls:
            return message["content"]
        messages.append({"role": "assistant", "content": message["content"], "tool_calls": calls})
        for call in calls:
            args = json.loads(call["function"]["arguments"])
            result = str(args["a"] + args["b"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
