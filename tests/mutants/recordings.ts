/**
 * Mutants of recordings: recorder, replay, imports and secrets.
 *
 * @module
 */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const RECORDING_MUTANTS: readonly Mutant[] = [
  {
    file: "src/fixture/record/pending_exchange.ts",
    text: 'ending !== "complete" ? why ?? ending : terminal ? null : "no_terminal_event"',
    replacement: 'ending !== "complete" ? why ?? ending : null',
    promise: "fixtures.md: an exchange whose stream has no terminal event is not kept",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/read.ts",
    text: ".filter((folder) => !listed.has(folder)).sort();",
    replacement: ".filter((folder) => !listed.has(folder)).sort().slice(1);",
    promise: "guarantees.md: a killed recorder leaves each exchange whole or not at all",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/match/tiers.ts",
    text: "fits.toReversed() : fits.filter(({ indexed }) => !indexed.used)",
    replacement: "fits.toReversed() : fits",
    promise: "fixtures.md: each exchange is played once",
    area: ["doors/recordings/choice_test.ts"],
  },
  {
    file: "src/fixture/match/tiers.ts",
    text: "if (common > this.#common) [",
    replacement: "if (common >= this.#common) [",
    promise: "fixtures.md: of exchanges that fit equally, the first one in the order of recording answers",
    area: ["doors/recordings/choice_test.ts"],
  },
  {
    file: "src/fixture/serve/replayer.ts",
    text: "const refusal = proven ? null :",
    replacement: "const refusal = proven || chosen !== null ? null :",
    promise: "guarantees.md: a request that breaks a rule of the API never passes unnoticed",
    area: ["doors/recordings/issued_items_test.ts"],
  },
  {
    file: "src/fixture/match/request_key.ts",
    text: "const semantic = hash(`${method} ${canonicalPath(request)}\\n${content}`);",
    replacement: "const semantic = hash(`${method} ${path}\\n${content}`);",
    promise: "fixtures.md: parameters of a query match in any order",
    area: ["doors/recordings/matching_test.ts"],
  },
  {
    file: "src/fixture/loopback/guard.ts",
    text: "if (authority !== asked && (authority === undefined || !ours.has(authority))) {",
    replacement:
      "if (authority !== undefined && authority !== asked && !ours.has(authority) && everywhere) {",
    promise: "guarantees.md: a request for another server is not answered",
    area: ["doors/recordings/raw_heads_test.ts"],
  },
  {
    file: "src/fixture/serve/pace.ts",
    text: "const left = asked + ms / pace - clock.monotonic();",
    replacement: "const left = asked + ms - clock.monotonic();",
    promise: "fixtures.md: chunks come at their recorded times, divided by the pace",
    area: ["doors/recordings/playing_test.ts"],
  },
  {
    file: "src/apis/responses/rules/known_good.ts",
    text: "    if (!accepted) return;\n",
    replacement: "",
    promise: "rules.md: what an API refused is no evidence of what it takes",
    area: ["doors/recordings/issued_items_test.ts"],
  },
  {
    file: "src/fixture/secrets/encodings.ts",
    text: "...[0, 1, 2].flatMap((alignment) => {",
    replacement: "...[0, 1].flatMap((alignment) => {",
    promise: "guarantees.md: no known secret gets into a recording as base64, wherever it begins",
    area: ["doors/recordings", "unit/fixture/secrets"],
  },
  {
    file: "src/fixture/secrets/scrubber.ts",
    text: "const to = ended ? input.length : Math.max(from, input.length - this.#search.reach);",
    replacement: "const to = ended ? input.length : Math.max(from, input.length - 64);",
    promise: "fixtures.md: a secret is replaced wherever chunks cut it",
    area: ["doors/recordings", "unit/fixture/secrets"],
  },
  {
    file: "src/fixture/secrets/header_allowlist.ts",
    text: "/^x-ratelimit-[a-z0-9-]+$/",
    replacement: "/^x-[a-z0-9-]+$/",
    promise: "fixtures.md: kept response headers are those of a list",
    area: ["doors/recordings", "unit/fixture/secrets"],
  },
  {
    file: "src/fixture/import/record_source.ts",
    text: "    scrubber.learnHeaders(Object.entries(requestHeaders));\n",
    replacement: "",
    promise:
      "guarantees.md: no known secret gets into a recording, also if another exchange's body repeats it",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/import/cassette.ts",
    text: "Number(length) !== body.bytes.length;",
    replacement: "Number(length) < body.bytes.length;",
    promise: "fixtures.md: an import says what its source lacks, such as a part of a request",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/import/har.ts",
    text: "const isWhole = body.length >= whole ||",
    replacement: "const isWhole = body.length > 0 ||",
    promise: "fixtures.md: an entry of a HAR file that is cut is refused by its number",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/test_path.ts",
    text: 'return NAME.test(name) && !name.includes("..");',
    replacement: "return NAME.test(name);",
    promise: "fixtures.md: names of tests hold no two dots in a row",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/seal.ts",
    text: "response.chunks.filter(([offset]) => offset < length);",
    replacement: "response.chunks.filter(([offset]) => offset <= length);",
    promise: "fixtures.md: seal updates chunks beyond the end of an edited body",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/prune/uses.ts",
    text: "if (command !== 0) {",
    replacement: "if (command > 1) {",
    promise: "fixtures.md: prune refuses a list with a failed command",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/inspect/redact.ts",
    text: 'if (name.startsWith("start/")) {',
    replacement: 'if (name.startsWith("started/")) {',
    promise: "fixtures.md: a secret in start/ ends redact with 7, and nothing is changed",
    area: ["doors/recordings"],
  },
  {
    file: "src/fixture/inspect/lint.ts",
    text: "days <= maxAgeDays",
    replacement: "days <= maxAgeDays + 1",
    promise: "fixtures.md: --max-age applies to the oldest recording",
    area: ["doors/recordings"],
  },
];
