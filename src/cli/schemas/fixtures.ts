/** The documents of the verbs of `fixture`. */
import * as z from "zod";
import { anyObject, count, counts, doneOrDry, exitCode, ordinal, sha256, text, time } from "./parts.ts";

const recordings = z.array(z.object({
  created: time,
  producer: text.nullable(),
  exchanges: z.tuple([count, count]).describe("numbers of its first and last exchange"),
}));

/** The document of `fixture ls`. */
export const fixtureLs = z.object({
  fixtures: z.array(z.object({
    path: text,
    provider: text.nullable().describe("null if fixture.json cannot be read"),
    models: z.array(text),
    exchanges: count,
    created: time.nullable(),
    recordings,
    age_days: z.int().nullable(),
    bytes: count,
    sealed: z.boolean().describe("true if every file has the sum in fixture.json"),
    problem: text.nullable().describe("reason why it cannot be read"),
  })),
});

const timelineItem = z.object({ type: text, role: text.nullable(), text: text.nullable() });
const time_ms = z.number().describe("milliseconds");

/** The document of `fixture show`. */
export const fixtureShow = z.object({
  path: text,
  provider: text,
  base_url: text,
  models: z.array(text),
  created: time,
  note: text.nullable(),
  recordings,
  exchanges: z.array(z.object({
    number: ordinal,
    socket: z.object({
      connection: ordinal,
      lane: text.nullable().describe("stream_id of the message"),
      type: text.nullable().describe("type of the message"),
      warm_up: z.boolean(),
      previous_response_id: text.nullable(),
      continues: ordinal.nullable().describe("exchange with that response"),
      message_bytes: count,
      messages: count.describe("number of the server's messages"),
      close: z.object({ code: count, reason: text }).nullable(),
    }).nullable().describe("connection of an exchange over a WebSocket; the rest is its HTTP equivalent"),
    request: z.object({
      method: text,
      path: text,
      at_ms: time_ms.describe("milliseconds since the recording began"),
      model: text.nullable(),
      items: z.array(timelineItem),
      body_sha256: sha256.nullable(),
    }),
    response: z.object({
      status: z.int(),
      content_type: text,
      bytes: count,
      chunks: count,
      output: z.array(timelineItem),
      error: text.nullable(),
      ended: text.describe("complete, cut or closed"),
      fault: text.nullable(),
      terminal: z.boolean().describe("false if the stream is known to lack its terminal event"),
    }),
    events: z.array(z.object({
      at_ms: time_ms.describe("milliseconds after the request was sent"),
      offset: count,
      kind: text,
      count: count.describe("number of events"),
      item: count.nullable(),
      about: text.nullable(),
      text: text.nullable(),
    })),
    usage: anyObject.nullable(),
  })),
});

const severity = z.enum(["error", "warning", "info"]);

/** The document of `fixture lint`. */
export const fixtureLint = z.object({
  ok: z.boolean(),
  exit_code: exitCode,
  fixtures: z.array(z.object({
    path: text,
    exchanges: count,
    steps: count.nullable().describe("steps of its session.json"),
    findings: z.array(z.object({ severity, code: text, path: text, message: text })),
  })),
});

/** The document of `fixture redact`. */
export const fixtureRedact = doneOrDry({
  path: text,
  files: z.array(z.object({ path: text, redactions: counts, held: z.array(text) })),
  session_test: text.nullable().describe("session test that needs an update"),
});

/** The document of `fixture seal`. */
export const fixtureSeal = doneOrDry({
  path: text,
  added: z.array(text),
  changed: z.array(text),
  removed: z.array(text),
  refitted: z.array(z.object({ path: text, why: text })),
});

/** The document of `fixture import`. */
export const fixtureImport = doneOrDry({
  imported: z.array(z.object({
    file: text,
    format: text,
    fixtures: z.array(z.object({
      path: text,
      provider: text,
      base_url: text,
      models: z.array(text),
      created: time,
      redactions: counts,
      exchanges: z.array(z.object({
        number: ordinal,
        method: text,
        path: text,
        status: z.int(),
        bytes: count,
        terminal: z.boolean(),
      })),
    })),
    lost: z.array(z.object({ what: text, why: text, exchanges: z.array(ordinal) })),
    skipped: z.array(text).describe("entries of the file that cannot become an exchange"),
  })),
  refused: z.array(z.object({ file: text, code: text, message: text, hint: text.nullable() }))
    .describe("recordings of a folder; a single one that is refused is an error"),
  ignored: count.describe("files of a folder with other names than recordings have"),
  exit_code: exitCode,
});

const pair = <Shape extends z.ZodType>(each: Shape) => z.object({ a: z.array(each), b: z.array(each) });
const verdict = z.enum(["identical", "benign", "breaking", "different_conversation"]);

/** The document of `fixture diff`. */
export const fixtureDiff = z.object({
  verdict,
  exit_code: exitCode,
  a: text,
  b: text,
  pairs: z.array(z.object({
    a: ordinal,
    b: ordinal,
    verdict,
    request: z.array(z.object({ where: text, before: text, after: text }))
      .describe("differences between the requests; if there are any, the answers are not compared"),
    request_known: z.boolean().describe("false if a request was not recorded: taken for the same"),
    changes: z.array(z.object({
      kind: z.enum(["outcome", "removed", "changed", "added", "text"]),
      where: text,
      in: z.array(text).describe("kinds of events that have it"),
      before: text.nullable(),
      after: text.nullable(),
    })),
  })),
  only: pair(ordinal).describe("exchanges that the other recording does not have"),
  retries: pair(ordinal).describe("failed exchanges whose request was sent again, in one recording only"),
});

/** The document of `fixture prune`. */
export const fixturePrune = doneOrDry({
  path: text,
  fixtures: z.array(z.object({
    path: text,
    exchanges: count,
    removed: z.array(z.object({ number: ordinal, prompt: text })),
    needed_issuers: z.array(
      z.object({ number: ordinal, needed_by: ordinal, reason: z.enum(["blob", "continued"]) }),
    ),
  })),
  removed_fixtures: z.array(z.object({ path: text, exchanges: count })),
  left_alone: z.array(z.object({
    path: text,
    reason: z.enum(["unopened", "not_listed", "session_test"]),
  })),
});
