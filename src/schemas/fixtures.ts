/** The documents of the verbs of `fixture`. */
import * as z from "zod";
import {
  counts,
  countType,
  doneOrDry,
  exitCode,
  objectType,
  ordinalType,
  sha256Type,
  textType,
  time,
} from "./parts.ts";

const recordings = z.array(z.object({
  created: time,
  producer: textType.nullable(),
  exchanges: z.tuple([countType, countType]).describe("numbers of its first and last exchange"),
}));

/** The document of `fixture ls`. */
export const fixtureLs = z.object({
  fixtures: z.array(z.object({
    path: textType,
    provider: textType.nullable().describe("null if fixture.json cannot be read"),
    models: z.array(textType),
    exchanges: countType,
    created: time.nullable(),
    recordings,
    age_days: z.int().nullable(),
    bytes: countType,
    sealed: z.boolean().describe("true if every file has the sum in fixture.json"),
    problem: textType.nullable().describe("reason why it cannot be read"),
  })),
});

const timelineItem = z.object({ type: textType, role: textType.nullable(), text: textType.nullable() });
const time_ms = z.number().describe("milliseconds");

/** The document of `fixture show`. */
export const fixtureShow = z.object({
  path: textType,
  provider: textType,
  base_url: textType,
  models: z.array(textType),
  created: time,
  note: textType.nullable(),
  recordings,
  exchanges: z.array(z.object({
    number: ordinalType,
    socket: z.object({
      connection: ordinalType,
      lane: textType.nullable().describe("stream_id of the message"),
      type: textType.nullable().describe("type of the message"),
      warm_up: z.boolean(),
      previous_response_id: textType.nullable(),
      continues: ordinalType.nullable().describe("exchange with that response"),
      message_bytes: countType,
      messages: countType.describe("number of the server's messages"),
      close: z.object({ code: countType, reason: textType }).nullable(),
    }).nullable().describe("connection of an exchange over a WebSocket; the rest is its HTTP equivalent"),
    request: z.object({
      method: textType,
      path: textType,
      at_ms: time_ms.describe("milliseconds since the recording began"),
      model: textType.nullable(),
      items: z.array(timelineItem),
      body_sha256: sha256Type.nullable(),
    }),
    response: z.object({
      status: z.int(),
      content_type: textType,
      bytes: countType,
      chunks: countType,
      output: z.array(timelineItem),
      error: textType.nullable(),
      ended: textType.describe("complete, cut or closed"),
      fault: textType.nullable(),
      terminal: z.boolean().describe("false if the stream is known to lack its terminal event"),
    }),
    events: z.array(z.object({
      at_ms: time_ms.describe("milliseconds after the request was sent"),
      offset: countType,
      kind: textType,
      count: countType.describe("number of events"),
      item: countType.nullable(),
      about: textType.nullable(),
      text: textType.nullable(),
    })),
    usage: objectType.nullable(),
  })),
});

const severity = z.enum(["error", "warning", "info"]);

/** The document of `fixture lint`. */
export const fixtureLint = z.object({
  ok: z.boolean(),
  exit_code: exitCode,
  fixtures: z.array(z.object({
    path: textType,
    exchanges: countType,
    steps: countType.nullable().describe("steps of its session.json"),
    findings: z.array(z.object({ severity, code: textType, path: textType, message: textType })),
  })),
});

/** The document of `fixture redact`. */
export const fixtureRedact = doneOrDry({
  path: textType,
  files: z.array(z.object({ path: textType, redactions: counts, held: z.array(textType) })),
  session_test: textType.nullable().describe("session test that needs an update"),
});

/** The document of `fixture seal`. */
export const fixtureSealDocument = doneOrDry({
  path: textType,
  added: z.array(textType),
  changed: z.array(textType),
  removed: z.array(textType),
  refitted: z.array(z.object({ path: textType, why: textType })),
});

/** The document of `fixture import`. */
export const fixtureImport = doneOrDry({
  imported: z.array(z.object({
    file: textType,
    format: textType,
    fixtures: z.array(z.object({
      path: textType,
      provider: textType,
      base_url: textType,
      models: z.array(textType),
      created: time,
      redactions: counts,
      exchanges: z.array(z.object({
        number: ordinalType,
        method: textType,
        path: textType,
        status: z.int(),
        bytes: countType,
        terminal: z.boolean(),
      })),
    })),
    lost: z.array(z.object({ what: textType, why: textType, exchanges: z.array(ordinalType) })),
    skipped: z.array(textType).describe("entries of the file that cannot become an exchange"),
  })),
  refused: z.array(z.object({ file: textType, code: textType, message: textType, hint: textType.nullable() }))
    .describe("recordings of a folder; a single one that is refused is an error"),
  ignored: countType.describe("files of a folder with other names than recordings have"),
  exit_code: exitCode,
});

const pair = <Shape extends z.ZodType>(each: Shape) => z.object({ a: z.array(each), b: z.array(each) });
const verdict = z.enum(["identical", "benign", "breaking", "different_conversation"]);

/** The document of `fixture diff`. */
export const fixtureDiff = z.object({
  verdict,
  exit_code: exitCode,
  a: textType,
  b: textType,
  pairs: z.array(z.object({
    a: ordinalType,
    b: ordinalType,
    verdict,
    request: z.array(z.object({ where: textType, before: textType, after: textType }))
      .describe("differences between the requests; if there are any, the answers are not compared"),
    request_known: z.boolean().describe("false if a request was not recorded: taken for the same"),
    changes: z.array(z.object({
      kind: z.enum(["outcome", "removed", "changed", "added", "text"]),
      where: textType,
      in: z.array(textType).describe("kinds of events that have it"),
      before: textType.nullable(),
      after: textType.nullable(),
    })),
  })),
  only: pair(ordinalType).describe("exchanges that the other recording does not have"),
  retries: pair(ordinalType).describe("failed exchanges whose request was sent again, in one recording only"),
});

/** The document of `fixture prune`. */
export const fixturePrune = doneOrDry({
  path: textType,
  fixtures: z.array(z.object({
    path: textType,
    exchanges: countType,
    removed: z.array(z.object({ number: ordinalType, prompt: textType })),
    needed_issuers: z.array(
      z.object({ number: ordinalType, needed_by: ordinalType, reason: z.enum(["blob", "continued"]) }),
    ),
  })),
  removed_fixtures: z.array(z.object({ path: textType, exchanges: countType })),
  left_alone: z.array(z.object({
    path: textType,
    reason: z.enum(["unopened", "not_listed", "session_test"]),
  })),
});
