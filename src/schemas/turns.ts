/**
 * Parts of sessions as their files hold them. `docs/format.md` specifies these files; the schemas describe the members
 * that scripts need, and allow any other.
 */
import * as z from "zod";
import type { Manifest } from "../domain/manifest.ts";
import { copied, objectType, ordinalType, range, textType, time, usageType } from "./parts.ts";

/** An item of the provider; with `--no-blobs`, encrypted content is an object with `bytes` and `sha256`. */
export const item = copied({ type: textType });

export const event = copied({ seq: ordinalType, type: textType });

const TURN = {
  format: textType.describe("such as reprise.turn/1"),
  session: textType,
  turn: ordinalType,
  kind: textType.describe("user, model, tools, harness, compaction or fork"),
  run: ordinalType,
  seq: range,
  at: time,
};

export const turn = copied({ ...TURN, events: z.array(event) });

/** A turn with the number of its events in place of the events. */
export const turnHead = copied({ ...TURN, events: z.int().min(0) });

export const manifest = copied<Manifest>({
  format: textType,
  session: textType,
  title: textType,
  created_at: time,
  updated_at: time,
  head: objectType,
  run: ordinalType,
  state: textType,
  usage: usageType,
});
