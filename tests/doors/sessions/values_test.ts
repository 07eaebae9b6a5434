/** Sizes, counts, ages and dates: as `ls` shows them, and as flags take them. */
import assert from "node:assert/strict";
import { said } from "../../support/reprise.ts";
import { withHome } from "./home.ts";

/** Bytes of a session and tokens of its runs, and the columns of `ls`. */
const SHOWN: readonly (readonly [bytes: number, tokens: number, columns: RegExp])[] = [
  [999, 999, / 999 B +999 /],
  [1000, 1000, / 1\.0 kB +1\.0k /],
  [99_951, 1, / 100 kB +1 /],
  [999_949, 1, / 1\.0 MB +1 /],
];

withHome("sizes and counts have three digits and a unit", async (home) => {
  for (const [index, [bytes, tokens]] of SHOWN.entries()) {
    const session = home.session(undefined, `s${index}`);
    session.edit(
      session.manifest,
      (text) =>
        text.replace(/"bytes":\{"turns":\d+/, `"bytes":{"turns":${bytes}`).replace(/"blobs":\d+/, '"blobs":0')
          .replace(/"input_tokens":\d+/, `"input_tokens":${tokens}`).replace(
            /"output_tokens":\d+/,
            '"output_tokens":0',
          ),
    );
  }
  const { stdout } = await home.call(["ls"]);
  const lines = stdout.split("\n");
  for (const [index, [, , columns]] of SHOWN.entries()) {
    assert.match(lines.find((line) => line.startsWith(`s${index} `)) ?? "", columns);
  }
});

/** Values that a flag takes, and values that it refuses. */
const FLAGS:
  readonly (readonly [args: readonly string[], takes: readonly string[], refuses: readonly string[]])[] = [
    [
      ["ls", "--since"],
      ["90s", "90m", "1.5h", "7d", "2w", "2026-11-21", "2026-11-21T10:00:00Z"],
      ["7", "d", "-1d", "1y", "1e3d", "yesterday", "2026-13-45", "11/21"],
    ],
    [["rm", "--dry-run", "--older-than"], ["90", "90d", "12h"], ["-1", "1y", "d", "200000d"]],
    [
      ["rm", "--dry-run", "--larger-than"],
      ["10", "1GB", "500 MB", "1.5k", "2GiB", "1kib", "7B", "0"],
      ["GB", "1XB", "-1", "1e9", "9999999TB"],
    ],
  ];

withHome("ages, dates and sizes have units, and other texts are refused", async (home) => {
  home.session();
  for (const [args, takes, refuses] of FLAGS) {
    for (const text of takes) {
      const called = await home.call([...args, text]);
      assert.equal(called.code, 0, `${text}: ${said(called)}`);
    }
    for (const text of refuses) {
      const called = await home.call([...args, text]);
      assert.equal(called.code, 2, `${text}: ${said(called)}`);
      assert.match(called.stderr, /Expected an? (?:age|size)|Give a date|--/, text);
    }
  }
});

withHome("a size counts decimal or binary units", async (home) => {
  const session = home.session();
  session.blob("x".repeat(1_000_500));
  session.writeManifest();
  for (const [size, chosen] of [["1MB", 1], ["0.5 MiB", 1], ["1MiB", 0]] as const) {
    const { changes } = await home.json(["rm", "--dry-run", "--larger-than", size]);
    assert.equal(changes.length, chosen, size);
  }
});
