/** Requests of APIs that no model answers, in which everything counts, and the fixtures of one exchange of ordinary clients. */
import { bodyPairs, type BodyRow, type Pair, textPairs } from "./pair.ts";

/** The same template on both sides. */
const same = (kind: string, path: string, body: unknown): BodyRow => [kind, path, body, body];

/** Bodies of other APIs. */
const OTHER_APIS = bodyPairs("miss", [
  ["unknown api", "/api/bookings", { from: "2026-11-20", to: "2026-12-24" }, {
    ...{ from: "2026-11-27", to: "2026-12-24" },
  }],
  same("unknown api", "/api/bookings", { from: "{day}" }),
  same("unknown api", "/api/bookings", { from: "{day}", note: "in {cwd}" }),
  same("unknown api", "/api/files", { path: "{cwd}/a" }),
  same("unknown api", "/api/files", { args: ["{home}/a", "{tmp}/b"] }),
  same("unknown api", "/api/users", { name: "{user}" }),
  same("unknown api", "/api/users", { text: "Username: {user}" }),
  same("unknown api", "/api/hosts/reset", { host: "{host}" }),
  same("unknown api", "/api/hosts", { os: "{os}", zone: "{zone}" }),
  same("unknown api", "/api/log", { at: "{now}" }),
  same("unknown api", "/api/log", { lines: ["at {now} by {user}"] }),
  same("unknown api", "/api/sessions", { session_id: "{session}", text: "End {session}" }),
  same("unknown api", "/api/search", { query: "invoices of {day}" }),
  same("unknown api", "/api/mails", { messages: [{ to: "{user}", text: "Due {day}" }] }),
  same("unknown api", "/graphql", {
    query: '{ bookings(from: "{day}") { id } }',
    variables: { day: "{day}" },
  }),
  same("unknown api", "/api/list", ["{day}", "{cwd}"]),
  same("unknown api", "/api/parcels", { contents: [], from: "{day}" }),
  same("unknown api", "/api/parcels", { contents: [{ parts: ["lamp"] }], from: "{day}" }),
]);

/** One exchange of an ordinary client: the line, with another value, is another question. */
const LINES: readonly (readonly [recorded: string, received: string])[] = [
  ["Username: alice", "Username: mallory"],
  ["Hostname: mail-9", "Hostname: mail-3"],
  ["OS: Windows 11", "OS: Ubuntu"],
  ["Timezone: Europe/Berlin", "Timezone: Asia/Tokyo"],
  ["Current date: 2026-11-20", "Current date: 2026-11-27"],
  ["Current time: 10:00", "Current time: 22:00"],
  ["Working directory: /etc", "Working directory: /boot"],
  ["Git branch: scratch", "Git branch: main"],
  ["Session ID: 11111111-1111-4111-8111-111111111111", "Session ID: 22222222-2222-4222-8222-222222222222"],
  ["Shell: bash", "Shell: fish"],
  ["<os>linux</os>", "<os>windows</os>"],
  ["<cwd>/etc</cwd>", "<cwd>/boot</cwd>"],
  ["<current_date>2026-11-20</current_date>", "<current_date>2026-11-27</current_date>"],
  ["Today's date is Friday, 2 January 2026.", "Today's date is Friday, 19 June 2026."],
  ["You are running on **Windows**.", "You are running on **macOS**."],
  [
    "gitStatus: This is the state.\nRecent commits:\nabcdef1 Fix login",
    "gitStatus: This is the state.\nRecent commits:\nabcdef2 Drop table",
  ],
  ["Is a git repository: true", "Is a git repository: false"],
  [
    "Conversation ID: 11111111-1111-4111-8111-111111111111",
    "Conversation ID: 22222222-2222-4222-8222-222222222222",
  ],
];

/** All of them. */
export const ORDINARY_CLIENTS: readonly Pair[] = [
  ...OTHER_APIS,
  ...LINES.flatMap(([recorded, received]) =>
    textPairs("miss", [
      [
        "line of a prompt",
        "chat",
        "question",
        `${recorded}\nAnswer for this.`,
        `${received}\nAnswer for this.`,
      ],
      ["line of a tool", "responses", "tool", `${recorded}\nstate: down`, `${received}\nstate: down`],
    ])
  ),
  ...textPairs("miss", [
    ["day in contents", "gemini", "question", "Is 2026-11-20 a holiday?", "Is 2026-11-27 a holiday?"],
    ["day in contents", "gemini", "question", "Is {day} a holiday?"],
  ]),
];
