/** Mutants of recordings at their edges: exactly the limit, one of two, across two pieces. */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const RECORDING_EDGES: readonly Mutant[] = [
  {
    file: "src/cli/serve/open_recording.ts",
    text: "again.leftBehind || headerSum(files, path) !== left",
    replacement: "again.leftBehind",
    promise: "fixtures.md: a recording that another program changed meanwhile is not continued",
    area: ["doors/recordings/record_suite_test.ts"],
  },
  {
    file: "src/domain/secret_names.ts",
    text: 'while (words.length > 1 && /^\\d+$/.test(words.at(-1) ?? "")) words.pop();\n',
    replacement: "",
    promise: "fixtures.md: api_key_2 names a secret as api_key does",
    area: ["doors/recordings/record_secrets_test.ts", "unit/domain"],
  },
  {
    file: "src/domain/secret_patterns.ts",
    text: 'export const NUMBER = "(?:[_-]?\\\\d{1,3})?";',
    replacement: 'export const NUMBER = "";',
    promise: "fixtures.md: the value of access_token_1 in a body is replaced",
    area: ["doors/recordings/record_secrets_test.ts", "unit/domain"],
  },
  {
    file: "src/fixture/record/pending_exchange.ts",
    text: "!keepErrors && answer.status >= 400",
    replacement: "!keepErrors && answer.status > 400",
    promise: "recording.md: record --missing keeps no error of the API, status 400 included",
    area: ["cli/binary/record_missing_test.ts"],
  },
  {
    file: "src/fixture/serve/gateway.ts",
    text: "if (others.length > 0) {",
    replacement: "if (others.length > 9) {",
    promise: "recording.md: with two tests that run, the gateway forwards to neither",
    area: ["cli/binary/suite_flag_test.ts"],
  },
  {
    file: "src/fixture/serve/suite.ts",
    text: 'if (kind !== "symlink") return',
    replacement: 'if (kind !== "other") return',
    promise: "fixtures.md: the recording of a test is no link",
    area: ["doors/recordings/suite_test.ts"],
  },
  {
    file: "src/cli/serve/served_fixtures.ts",
    text: "files.facts(`${path}/.`)",
    replacement: "files.facts(path)",
    promise: "fixtures.md: each exchange is played once, also if its folder is named again by a link",
    area: ["doors/recordings/suite_test.ts"],
  },
  {
    file: "src/fixture/secrets/secret_values.ts",
    text: "return [password, decoded(password)];",
    replacement: "return [password];",
    promise: "fixtures.md: the password of a URL is replaced escaped and not",
    area: ["doors/recordings/record_secrets_test.ts"],
  },
  {
    file: "src/fixture/exchange_reader.ts",
    text: "const key = `${this.#firstOf(number)} ${connection}`;",
    replacement: "const key = `${connection}`;",
    promise: "fixtures.md: connections are numbered within a recording",
    area: ["doors/recordings/sockets_test.ts"],
  },
  {
    file: "src/fixture/record/verify.ts",
    text: "kept = Math.min(overlap, end);",
    replacement: "kept = 0;",
    promise: "guarantees.md: the second search finds a secret across two pieces of a file",
    area: ["doors/recordings/record_secrets_test.ts"],
  },
  {
    file: "src/fixture/record/upstream.ts",
    text: 'url.username !== "" || url.password !== ""',
    replacement: 'url.password !== ""',
    promise: "recording.md: an upstream has no user, whose name may be a key",
    area: ["cli/record_routes_test.ts"],
  },
];
