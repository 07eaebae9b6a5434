"""Extracts the exchanges of recordings, without the code of the project.

Usage: exchanges_in.py FILE...; prints a JSON list with the exchanges of each file, or with null for a file of a shape
that is not known here. Bodies are in base64, or values if the file holds them parsed.
"""
import base64
import gzip
import json
import re
import sys

import yaml

LOADER = yaml.CSafeLoader


def ruby_binary(loader, node):
    return base64.b64decode(loader.construct_scalar(node))


LOADER.add_constructor("!binary", ruby_binary)


def raw(content):
    if content is None:
        return None
    content = content.encode() if isinstance(content, str) else content
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return {"base64": base64.b64encode(content).decode()}


def body(message):
    if "parsed_body" in message:
        return {"json": message["parsed_body"]}
    content = message.get("body", message.get("content"))
    if not isinstance(content, dict):
        return raw(content)
    if "parsed_body" in content:
        return parsed(content["parsed_body"])
    if "content" in content:
        return parsed(content["content"])
    if "messages" in content:
        return parsed(content)
    text = content.get("base64_string", content.get("base64"))
    return raw(content.get("string") if text is None else base64.b64decode(text))


def parsed(value):
    return {"events": value} if isinstance(value, list) else {"json": value}


def encoding(message):
    headers = {name.lower(): value for name, value in (message.get("headers") or {}).items()}
    value = headers.get("content-encoding", "")
    return value[0] if isinstance(value, list) else value


def interaction(recorded):
    request, response = recorded["request"], recorded["response"]
    status = response.get("status")
    status = status["code"] if isinstance(status, dict) else response.get("status_code", response.get("code", status))
    return {
        "method": request["method"].upper(),
        "url": request.get("uri", request.get("url")),
        "request": body(request),
        "status": status,
        "encoding": encoding(response),
        "response": body(response),
    }


def nock(recorded):
    return {
        "method": recorded["method"],
        "url": recorded["scope"] + recorded["path"],
        "request": parsed(recorded["body"]),
        "status": recorded["status"],
        "encoding": "",
        "response": parsed(recorded["response"]),
    }


def is_call(entry):
    url, status = entry["request"]["url"], entry["response"]["status"]
    return "api.openai.com" in url and entry["request"]["method"] != "OPTIONS" and status > 0


def har(entry):
    content = entry["response"]["content"]
    text = content.get("text", "")
    return {
        "method": entry["request"]["method"],
        "url": entry["request"]["url"],
        "request": raw(entry["request"].get("postData", {}).get("text")),
        "status": entry["response"]["status"],
        "encoding": "",
        "response": raw(base64.b64decode(text) if content.get("encoding") == "base64" else text),
    }


def answer(response, **known):
    return {"method": "POST", "url": None, "request": None, "encoding": "", "response": response, **known}


def typed(part):
    if part is None:
        return None
    return {"json": part["value"]} if part["type"] == "json" else raw(part["value"])


def document(value, text):
    if "log" in value:
        return [har(entry) for entry in value["log"]["entries"] if is_call(entry)]
    if "requests" in value:
        pairs = zip(value["requests"], value["responses"], strict=True)
        return [interaction({"request": request, "response": response}) for request, response in pairs]
    if "interactions" in value or "http_interactions" in value:
        return [interaction(each) for each in value.get("interactions", value.get("http_interactions"))]
    if "exchanges" in value:
        return [
            {
                "method": each["request"]["method"],
                "url": each["request"]["url"],
                "request": typed(each["request"].get("body")),
                "status": each["response"]["status"],
                "encoding": "",
                "response": typed(each["response"].get("body")),
            }
            for each in value["exchanges"]
        ]
    if "request" in value and "response" in value:
        request, response = value["request"], value["response"]
        chunks = value.get("chunks")
        if chunks is None:
            given = response["body"]
            received = raw(given) if isinstance(given, str) else {"json": given}
        else:
            received = raw(b"".join(base64.b64decode(chunk["b64"]) for chunk in chunks))
        sent = (request.get("body") or {}).get("b64")
        return [
            {
                "method": request["method"].upper(),
                "url": request["url"],
                "request": None if sent is None else raw(base64.b64decode(sent)),
                "status": response["status"],
                "encoding": "",
                "response": received,
            }
        ]
    return [answer(raw(text))]


def exchanges(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    path = path.removesuffix(".gz")
    if path.endswith((".yaml", ".yml")):
        return document(yaml.load(text, LOADER), text)
    if path.endswith(".chunks.txt"):
        lines = [line for line in re.split(r"\r\n?|\n", text) if line.strip() != ""]
        return [{"lines": lines}]
    if path.endswith(".sse"):
        return [answer(raw(text))]
    value = json.loads(text)
    return document(value, text) if isinstance(value, dict) else [nock(each) for each in value]


print(json.dumps([exchanges(path) for path in sys.argv[1:]]))
