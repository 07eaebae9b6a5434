/** The documents of the verbs that exchange sessions with a remote. */
import * as z from "zod";
import { countType, doneOrDry, objectType, ordinalType, textType, time } from "./parts.ts";

export const lsRemote = z.object({
  remote: textType,
  sessions: z.array(z.object({
    id: textType,
    turns: ordinalType.describe("the last turn on the remote"),
    here: countType.describe("the last turn in this home; 0 if it has none"),
    bytes: countType.describe("length of its turns and blobs"),
    updated_at: time.nullable().describe("time at which the last turn was put, by the store's clock"),
  })),
});

export const sync = doneOrDry({
  remote: textType,
  sessions: z.array(z.object({
    session: textType,
    put: countType.describe("turns that the remote lacked"),
    fetched: countType.describe("turns that this home lacked"),
    blobs: countType.describe("fetched blobs; 0 in a dry run"),
    omitted: countType.describe("omitted items, which the remote has too; 0 if nothing was put"),
    mine: textType.nullable().describe("with --keep-mine-as: the fork with the turns of this home"),
  })),
  skipped: z.array(z.object({ code: textType, message: textType, details: objectType }))
    .describe("without an id: sessions that were left unchanged"),
});
