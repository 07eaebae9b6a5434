/**
 * The documents of the verbs that exchange sessions with a remote.
 *
 * @module
 */
import * as z from "zod";
import { anyObject, count, doneOrDry, ordinal, text, time } from "./parts.ts";

const skipped = z.array(z.object({ code: text, message: text, details: anyObject }))
  .describe("with --all: sessions that were left unchanged");

/** The document of `ls --remote`. */
export const lsRemote = z.object({
  remote: text,
  sessions: z.array(z.object({
    id: text,
    turns: ordinal.describe("the last turn on the remote"),
    here: count.describe("the last turn in this home; 0 if it has none"),
    bytes: count.describe("length of its turns and blobs"),
    updated_at: time.nullable().describe("time at which the last turn was put, by the store's clock"),
    open: z.boolean().describe("true while a run keeps it open, or did until it was killed"),
  })),
});

/** The document of `push`. */
export const push = doneOrDry({
  remote: text,
  sessions: z.array(z.object({
    session: text,
    put: count.describe("turns that the remote lacked"),
    omitted: count.describe("omitted items, which the remote holds too"),
    turns: count.describe("turns of this home"),
  })),
  skipped,
});

/** The document of `pull`. */
export const pull = doneOrDry({
  remote: text,
  sessions: z.array(z.object({
    session: text,
    turns: count.describe("fetched turns; in a dry run those that are missing here"),
    blobs: count.describe("fetched blobs; 0 in a dry run"),
    mine: text.nullable().describe("with --keep-mine-as: the fork with the turns of this home"),
  })),
  skipped,
});
