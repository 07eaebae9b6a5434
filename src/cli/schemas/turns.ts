/**
 * Parts of sessions as their files hold them. `docs/format.md` specifies these files; the schemas describe the members
 * that scripts need, and allow any other.
 */
import * as z from "zod";
import type { Manifest } from "../../domain/manifest.ts";
import { anyObject, copied, ordinal, range, text, time, usage } from "./parts.ts";

/** An item of the provider; with `--no-blobs`, encrypted content is an object with `bytes` and `sha256`. */
export const item = copied({ type: text });

/** An event of a turn. */
export const event = copied({ seq: ordinal, type: text });

const TURN = {
  format: text.describe("such as reprise.turn/1"),
  session: text,
  turn: ordinal,
  kind: text.describe("user, model, tools, harness, compaction or fork"),
  run: ordinal,
  seq: range,
  at: time,
};

/** A turn. */
export const turn = copied({ ...TURN, events: z.array(event) });

/** A turn with the number of its events in place of the events. */
export const turnHead = copied({ ...TURN, events: z.int().min(0) });

/** A manifest. */
export const manifest = copied<Manifest>({
  format: text,
  session: text,
  title: text,
  created_at: time,
  updated_at: time,
  head: anyObject,
  run: ordinal,
  state: text,
  usage,
});
