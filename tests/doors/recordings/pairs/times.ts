/** Days, moments and UUIDs: those of the two runs, and others. */
import { beside, bodyPairs, type More, type Pair, type SpreadRow } from "./pair.ts";

/** Days that are neither side's own. */
const OTHER_DAYS: readonly SpreadRow[] = [
  ["day of one side", "is {day}", "is 2026-12-29"],
  ["day of one side", "is 2026-11-19", "is {day}"],
  ["day of one side", "is {day.long}", "is Tuesday, December 29, 2026"],
  ["another day", "is 2026-11-19", "is 2026-12-29"],
  ["another day", "is {day}, due 2026-12-01", "is {day}, due 2026-12-02"],
  ["another day", "Today's date is 2026-11-19", "Today's date is {day}"],
  ["day of the other side", "is {client.day}", "is {recorder.day}"],
  ["day of the other side", "from {recorder.day} to {day}"],
  ["longer number", "number {day}7"],
  ["longer number", "number 1{day}"],
  ["longer number", "number {day.us}7"],
  ["day with another year", "is {day.none} 2020"],
  ["day with another year", "is {day.none}, 2020"],
  ["day with another year", "is {day.none} 10:30:00 2020"],
  ["day with another year", "is {day.none} 10:30:00 UTC 2020"],
  ["day with another year", "is 20 Nov 2020", "is 30 Dec 2020"],
  ["day with another year", "is {day.none} 10:30:00 AM UTC 2020"],
  ["day with another year", "is {day.none} 10:30:00 +01 2020"],
  ["day with another year", "is {day.none} (2020)"],
  ["day with another year", "is 2020 {day.none}"],
  ["time without a day", "at 10:30", "at 21:15"],
  ["time without a day", "at 10:30:00 UTC", "at 21:15:00 UTC"],
];

/** Moments outside of the minute before and after the runs, which take no time: by one second, or by a zone. */
const OTHER_MOMENTS: readonly SpreadRow[] = [
  ["moment before", "at 2026-11-20T09:28:59Z", "at {now}"],
  ["moment before", "at {now}", "at 2026-12-30T15:43:59Z"],
  ["moment before", "at 2026-11-20T09:28:59Z", "at 2026-12-30T15:43:59Z"],
  ["moment after", "at 2026-11-20T09:31:01Z", "at {now}"],
  ["moment after", "at {now}", "at 2026-12-30T15:46:01Z"],
  ["moment after", "due 2026-11-20T11:30:00Z", "due 2026-12-30T17:45:00Z"],
  ["moment of another zone", "at 2026-11-20T09:30:00+02:00", "at 2026-12-30T15:45:00+02:00"],
  ["moment of another zone", "at 2026-11-20 09:30:00", "at 2026-12-30 15:45:00"],
  ["moment of another zone", "at 2026-11-20 10:30:00Z", "at 2026-12-30 21:15:00Z"],
  ["moment of another zone", "at 2026-11-20 10:30:00 PST", "at 2026-12-30 21:15:00 PST"],
  ["moment of another zone", "at Fri Nov 20 10:30:00 JST 2026", "at Wed Dec 30 21:15:00 JST 2026"],
  ["moment of another day", "at 2026-11-19T09:30:00Z", "at 2026-12-29T15:45:00Z"],
  ["moment of another year", "at Fri Nov 20 10:30:00 2020", "at Wed Dec 30 21:15:00 2020"],
  ["moment of one side", "Current time: {now}", "Current time: 2026-12-30T08:00:00Z"],
  ["moment of the other side", "at {client.now}", "at {recorder.now}"],
  ["moment of the other side", "from {recorder.now} to {now}"],
  [
    "moments in another order",
    "from 2026-11-20T09:29:30Z to 2026-11-20T09:30:10Z",
    "from 2026-12-30T15:45:20Z to 2026-12-30T15:44:50Z",
  ],
  [
    "moments in another order",
    "from 2026-11-20 10:30:20 to 2026-11-20 10:29:40",
    "from 2026-12-30 21:14:40 to 2026-12-30 21:15:20",
  ],
];

/** Moments of the runs, with their last second. */
const OWN_MOMENTS: readonly SpreadRow[] = [
  ["first second", "at 2026-11-20T09:29:00Z", "at 2026-12-30T15:44:00Z"],
  ["last second", "at 2026-11-20T09:31:00Z", "at 2026-12-30T15:46:00Z"],
  ["first and last second", "at 2026-11-20T09:29:00Z", "at 2026-12-30T15:46:00Z"],
  [
    "moments with another distance",
    "from 2026-11-20T09:29:30Z to 2026-11-20T09:30:10Z",
    "from 2026-12-30T15:45:10Z to 2026-12-30T15:45:12Z",
  ],
  ["one moment twice", "{now} and {now}"],
  ["moment in UTC", "at {now}"],
  ["moment with an offset", "at 2026-11-20T10:30:00+01:00", "at 2026-12-30T21:15:00+05:30"],
  ["moment with an offset", "at 2026-11-20 10:30:00 +0100", "at 2026-12-30 21:15:00 +0530"],
  ["local moment", "at 2026-11-20 10:30:00", "at 2026-12-30 21:15:00"],
  ["local moment", "at 2026-11-20 10:30", "at 2026-12-30 21:15"],
  ["local moment", "at 2026/11/20 10:30", "at 2026/12/30 21:15"],
  ["local moment", "at 11/20/2026, 10:30:00 AM", "at 12/30/2026, 9:15:00 PM"],
  ["local moment", "at 20.11.2026, 10:30", "at 30.12.2026, 21:15"],
  [
    "moment in words",
    "at Friday, November 20, 2026 at 10:30 AM",
    "at Wednesday, December 30, 2026 at 9:15 PM",
  ],
  ["moment of date", "at Fri Nov 20 10:30:00 CET 2026", "at Wed Dec 30 21:15:00 IST 2026"],
  ["moment of git log", "Date: Fri Nov 20 10:30:00 2026 +0100", "Date: Wed Dec 30 21:15:00 2026 +0530"],
  ["moment of a header", "Fri, 20 Nov 2026 09:30:00 GMT", "Wed, 30 Dec 2026 15:45:00 GMT"],
  ["moment after a label", "Current time: 2026-11-20 10:30:00", "Current time: 2026-12-30 21:15:00"],
];

/** The day in its notations. */
const OWN_DAYS: readonly SpreadRow[] = [
  ...[
    "{day}",
    "{day.us}",
    "{day.de}",
    "{day.uk}",
    "{day.slashes}",
    "{day.long}",
    "{day.short}",
    "{day.month}",
  ],
  ...["{day.british}", "{day.mail}", "{day.none}", "({day})", "report-{day}.txt", "Today's date is {day}."],
  ...["<current_date>{day}</current_date>", "{day.none} and then 2020 rows"],
].map((text) => ["day", `is ${text}`]);

/** An output of a tool. */
const said = (output: string) => [
  { role: "user", content: "Look" },
  { type: "function_call", call_id: "call_1", name: "sh", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output },
];
const ONE = "0b51f0de-4a2f-4c1e-8f3a-7d2f6f0c1a11";
const TWO = "c9d8e7f6-1b2c-4d3e-9f8a-5b6c7d8e9f22";
/** Two moments of the run at two places. */
const MOMENTS_APART = bodyPairs("miss", [[
  "moments in another order",
  "/v1/responses",
  { model: "gpt-5.6", instructions: "at 2026-11-20T09:29:30Z", input: said("at 2026-11-20T09:30:10Z") },
  { model: "gpt-5.6", instructions: "at 2026-12-30T15:45:20Z", input: said("at 2026-12-30T15:44:50Z") },
]]);
/** A request of Responses whose instructions, and output of a tool, have these texts. */
const told = (instructions: string, output: string, more: Readonly<Record<string, unknown>> = {}) => ({
  ...{ model: "gpt-5.6", instructions },
  input: said(output),
  ...more,
});
const KEY = { prompt_cache_key: "{session}" };
const named = (name: string): More => ({ headers: { [name]: "{session}" } });
const claude = (system: string, user_id: string) => ({
  ...{ model: "claude-opus-5", max_tokens: 64, system, metadata: { user_id } },
  messages: [{ role: "user", content: "Hello" }],
});
const FLAG: More = { record: ["--normalize", "uuid"] };

/** UUIDs that no request carries as its session. */
const OTHER_UUIDS = bodyPairs("miss", [
  ["uuid of no session", "/v1/responses", told("In {session}", "ok"), told("In {session}", "ok")],
  ["uuid of a tool", "/v1/responses", told("", `order ${ONE}`), told("", `order ${TWO}`)],
  ["uuid beside a session", "/v1/responses", told("In {session}", ONE, KEY), told("In {session}", TWO, KEY)],
  [
    "uuid beside a session",
    "/v1/responses",
    told("In {session}", "ok", { input: `Cancel ${ONE}`, ...KEY }),
    told("In {session}", "ok", { input: `Cancel ${TWO}`, ...KEY }),
  ],
  ["session in the question", "/v1/responses", { ...told("", ""), input: "End {session}", ...KEY }, {
    ...{ ...told("", ""), input: "End {session}", ...KEY },
  }],
  ["session of one side", "/v1/responses", told("In {session}", "ok", KEY), told("In {session}", "ok")],
  ["session of one side", "/v1/responses", told("In {session}", "ok"), told("In {session}", "ok", KEY)],
  ["session of one side", "/v1/responses", told("In {session}", "ok", KEY), told(`In ${ONE}`, "ok", KEY)],
  [
    "session of the other side",
    "/v1/responses",
    told("In {session} after {session}", "ok", KEY),
    told("In {session} after {recorder.session}", "ok", KEY),
  ],
  [
    "uuid of metadata that names no session",
    "/v1/responses",
    told(`order ${ONE}`, "ok", { metadata: { order_id: ONE } }),
    told(`order ${TWO}`, "ok", { metadata: { order_id: TWO } }),
  ],
  [
    "uuid of the request",
    "/v1/responses",
    told("In {session}", ""),
    told("In {session}", ""),
    named("x-request-id"),
  ],
  ["two uuids that are one there", "/v1/responses", told(ONE, ONE), told(ONE, TWO), FLAG],
  [
    "uuid in a question",
    "/v1/responses",
    { ...told("", ""), input: ONE },
    { ...told("", ""), input: TWO },
    FLAG,
  ],
]);

/** UUIDs that requests carry as their session, or that a flag declares. */
const OWN_UUIDS = bodyPairs("play", [
  ["session by its key", "/v1/responses", told("In {session}", "ok", KEY), told("In {session}", "ok", KEY)],
  [
    "session in a tool",
    "/v1/responses",
    told("", "sessions/{session}/log", KEY),
    told("", "sessions/{session}/log", KEY),
  ],
  [
    "session by a header",
    "/v1/responses",
    told("In {session}", ""),
    told("In {session}", ""),
    named("session_id"),
  ],
  [
    "session by a header",
    "/v1/responses",
    told("In {session}", ""),
    told("In {session}", ""),
    named("x-session-id"),
  ],
  [
    "session by metadata",
    "/v1/responses",
    told("In {session}", "ok", { metadata: { session_id: "{session}" } }),
    told("In {session}", "ok", { metadata: { session_id: "{session}" } }),
  ],
  [
    "session by metadata",
    "/v1/messages",
    claude("In {session}", '{"device_id":"a","session_id":"{session}"}'),
    claude("In {session}", '{"device_id":"b","session_id":"{session}"}'),
  ],
  [
    "session by metadata",
    "/v1/messages",
    claude("In {session}", "user_a_account__session_{session}"),
    claude("In {session}", "user_b_account__session_{session}"),
  ],
  ["uuid by a flag", "/v1/responses", told(ONE, `${ONE} ${TWO}`), told(TWO, `${TWO} ${ONE}`), FLAG],
]);

/** All that are other questions. */
export const OTHER_TIMES: readonly Pair[] = [
  ...beside("miss", [...OTHER_DAYS, ...OTHER_MOMENTS]),
  ...MOMENTS_APART,
  ...OTHER_UUIDS,
];
/** All that are the machine's own. */
export const OWN_TIMES: readonly Pair[] = [...beside("play", [...OWN_DAYS, ...OWN_MOMENTS]), ...OWN_UUIDS];
