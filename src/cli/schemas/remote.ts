/**
 * The documents of the verbs that exchange sessions with a remote.
 *
 * @module
 */
import * as z from "zod";
import { anyObject, count, text } from "./parts.ts";

const skipped = z.array(z.object({ code: text, message: text, details: anyObject }))
  .describe("with --all: sessions that were left unchanged");

/** The document of `push`. */
export const push = z.object({
  remote: text,
  sessions: z.array(z.object({
    session: text,
    put: count.describe("turns that the remote lacked"),
    turns: count.describe("turns of this home"),
  })),
  skipped,
});

/** The document of `pull`. */
export const pull = z.object({
  remote: text,
  sessions: z.array(z.object({
    session: text,
    turns: count.describe("fetched turns"),
    blobs: count.describe("fetched blobs"),
    mine: text.nullable().describe("with --keep-mine-as: the fork with the turns of this home"),
  })),
  skipped,
});
