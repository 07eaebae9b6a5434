/** Requests, and the rules that a recording of them has. */
import type { More } from "./pair.ts";
import { type Asked, requestAt } from "./places.ts";

const SESSION = { prompt_cache_key: "{session}" };
const REPOSITORY: More = { recorder: { git: ["main", "Begin the ledger", "ines.txt"] } };
const ORDINARY: More = { recorder: { user: "root", host: "debian", zone: "UTC" } };
const asked = (body: Readonly<Record<string, unknown>>, path = "/v1/responses"): Asked => ({ path, body });

/** Rows: the rules that are written, or none; the place that is named; the request. */
export const WRITTEN:
  readonly (readonly [name: string, rules: string, place: string, asked: Asked, more?: More])[] = [
    ["an ordinary request", "none", "", asked({ model: "gpt-5.6", input: "Hello" })],
    [
      "values in a question",
      "none",
      "",
      requestAt("chat", "question", "{day} {now} {user} {host} {os} {zone}"),
    ],
    [
      "labels of other values",
      "none",
      "",
      requestAt("chat", "tool", "Username: alice\nOS: Windows 11\n<cwd>/etc</cwd>"),
    ],
    ["an ordinary word", "none", "", requestAt("chat", "system", "as root on debian in UTC"), ORDINARY],
    [
      "an ordinary word after its label",
      "user",
      "messages[0]",
      requestAt("chat", "system", "Username: root"),
      ORDINARY,
    ],
    ["another API", "none", "", asked({ from: "{day}", path: "{cwd}/a" }, "/api/bookings")],
    ["a directory in a question", "none", "", asked({ model: "gpt-5.6", input: "Read {cwd}/a.ts" })],
    ["a directory of a system prompt", "cwd", "instructions", requestAt("responses", "system", "in {cwd}")],
    ["a home in an output", "home", "messages[2]", requestAt("messages", "tool", "in {home}/a")],
    ["a temporary directory", "tmp", "contents[2]", requestAt("gemini", "tool", "in {tmp}/a")],
    ["a user", "user", "messages[0]", requestAt("chat", "system", "by {user}")],
    ["a host", "host", "input[0]", requestAt("responses", "part", "at {host}")],
    ["a zone", "timezone", "system", requestAt("messages", "system", "Timezone: {zone}")],
    ["a day", "date", "systemInstruction", requestAt("gemini", "system", "is {day}")],
    ["a system", "os", "instructions", requestAt("responses", "system", "on {os}")],
    [
      "commits",
      "git",
      "instructions",
      requestAt("responses", "system", "Recent commits:\n{log}"),
      REPOSITORY,
    ],
    [
      "the client's session",
      "uuid",
      "instructions",
      asked({ model: "gpt-5.6", instructions: "In {session}", input: "Hello", ...SESSION }),
    ],
    [
      "a UUID of no session",
      "none",
      "",
      asked({ model: "gpt-5.6", instructions: "In {session}", input: "Hello" }),
    ],
    [
      "several kinds in their order",
      "cwd,host,date",
      "instructions",
      requestAt("responses", "system", "{day} {host} {cwd}"),
    ],
  ];
