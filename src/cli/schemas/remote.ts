/** The documents of the verbs that exchange sessions with a remote. */
import * as z from "zod";
import { anyObject, count, doneOrDry, ordinal, text, time } from "./parts.ts";

/** The document of `ls --remote`. */
export const lsRemote = z.object({
  remote: text,
  sessions: z.array(z.object({
    id: text,
    turns: ordinal.describe("the last turn on the remote"),
    here: count.describe("the last turn in this home; 0 if it has none"),
    bytes: count.describe("length of its turns and blobs"),
    updated_at: time.nullable().describe("time at which the last turn was put, by the store's clock"),
  })),
});

/** The document of `sync`. */
export const sync = doneOrDry({
  remote: text,
  sessions: z.array(z.object({
    session: text,
    put: count.describe("turns that the remote lacked"),
    fetched: count.describe("turns that this home lacked"),
    blobs: count.describe("fetched blobs; 0 in a dry run"),
    omitted: count.describe("omitted items, which the remote has too; 0 if nothing was put"),
    mine: text.nullable().describe("with --keep-mine-as: the fork with the turns of this home"),
  })),
  skipped: z.array(z.object({ code: text, message: text, details: anyObject }))
    .describe("without an id: sessions that were left unchanged"),
});
