/**
 * Schema of a manifest. `isManifest` is the twin without a schema library that `ls` uses; a
 * property test holds the two equal.
 *
 * @module
 */
import * as z from "zod";
import { MANIFEST_FORMAT } from "../../../src/domain/manifest.ts";
import { checkpointRef, pins, usage } from "./turn_schema.ts";

const text = z.string().min(1);
const ordinal = z.int().min(1);
const count = z.int().min(0);
const instant = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** The schema of manifests of this version; unknown members are allowed. */
export const manifestSchema: z.ZodType = z.looseObject({
  format: z.literal(MANIFEST_FORMAT),
  session: text,
  family: text,
  parent: text.optional(),
  title: z.string(),
  created_at: instant,
  updated_at: instant,
  head: z.looseObject({ turn: ordinal, seq: ordinal, sum: z.string().regex(/^[0-9a-f]{64}$/) }),
  run: ordinal,
  state: text,
  pins,
  usage,
  checkpoint: checkpointRef.nullable(),
  bytes: z.looseObject({ turns: count, blobs: count }).optional(),
});
