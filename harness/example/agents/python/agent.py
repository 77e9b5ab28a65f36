"""An agent over Gemini with nothing but Python's standard library, as one writes
it in an afternoon. It knows nothing of retake: it takes its address and key from
the environment."""

import json
import os
import sys
import time
import urllib.error
import urllib.request

MODEL = "gemini-3-flash"
BASE = os.environ.get("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")
SYSTEM = (
    "You help a person to get to their appointments dry. Look things up before you answer; never guess. "
    "Set a reminder when they have to take something with them."
)


def get_calendar_event(query):
    if "planning" not in query.lower():
        raise LookupError(f"no event matches {query!r} in /home/me/calendar.ics")
    return {"title": "Planning meeting", "start": "2026-07-14T15:00:00+01:00", "location": "Canary Wharf, London"}


def get_weather(city, date):
    if "london" not in city.lower():
        raise LookupError(f"no station near {city!r}")
    return {"condition": "rain", "temperature_c": 12}


def set_reminder(text, at):
    return {"ok": True, "reminder": "R-1"}


TOOLS = {f.__name__: f for f in (get_calendar_event, get_weather, set_reminder)}


def declaration(name, description, **arguments):
    properties = {k: {"type": "STRING", "description": v} for k, v in arguments.items()}
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "OBJECT", "properties": properties, "required": list(arguments)},
    }


DECLARATIONS = [
    declaration(
        "get_calendar_event",
        "Find the next event in the user's calendar that matches a query.",
        query="Words that the event's title contains",
    ),
    declaration(
        "get_weather",
        "Get the forecast for one city on one day.",
        city="City with country, such as London, UK",
        date="Day, as YYYY-MM-DD",
    ),
    declaration("set_reminder", "Set a reminder for the user.", text="What to think of", at="When, as YYYY-MM-DDTHH:MM"),
]


def generate(contents, tries=3):
    body = json.dumps(
        {
            "systemInstruction": {"parts": [{"text": SYSTEM}]},
            "contents": contents,
            "tools": [{"functionDeclarations": DECLARATIONS}],
        }
    ).encode()
    request = urllib.request.Request(
        f"{BASE}/v1beta/models/{MODEL}:generateContent",
        body,
        {"Content-Type": "application/json", "x-goog-api-key": os.environ.get("GEMINI_API_KEY", "")},
    )
    for n in range(tries):
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as e:
            if e.code < 500 and e.code != 429 or n == tries - 1:
                raise
            time.sleep(0.2 * 2**n)


def call(name, args):
    try:
        return {"result": TOOLS[name](**args)}
    except Exception as e:
        return {"error": repr(e)}


def agent(task):
    contents = [{"role": "user", "parts": [{"text": task}]}]
    for _ in range(10):
        content = generate(contents)["candidates"][0]["content"]
        contents.append(content)
        calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
        if not calls:
            return "".join(p.get("text", "") for p in content["parts"])
        contents.append(
            {
                "role": "user",
                "parts": [{"functionResponse": {**({"id": c["id"]} if "id" in c else {}), "name": c["name"], "response": call(c["name"], c.get("args", {}))}} for c in calls],
            }
        )
    raise RuntimeError("no answer after 10 turns")


if __name__ == "__main__":
    print(agent(" ".join(sys.argv[1:])))
