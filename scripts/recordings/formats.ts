/**
 * Replaces what could be somebody's in a recording, whichever format it has; the format stays.
 *
 * @module
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { isMap, isScalar, isSeq, type Node, parseDocument, type Scalar } from "yaml";
import { replaceBody, replaceEvents, replaceLeaves, type TextRule } from "./body.ts";
import { type Leaf, leavesOf, withLeaves } from "./leaves.ts";

/** Replaces the texts and numbers of a recording; its format follows from the end of `name`. */
export function replaceRecording(name: string, source: string, rule: TextRule): string {
  if (/\.ya?ml$/.test(name)) return replaceCassette(source, rule);
  if (name.endsWith(".sse")) return replaceBody(source, rule);
  if (name.endsWith(".chunks.txt")) return replaceEvents(source.split("\n"), rule).join("\n");
  return replaceDocument(source, rule);
}

/** A document that is a body, or that holds bodies: as text, or in base64 in one piece or in the network's. */
function replaceDocument(source: string, rule: TextRule): string {
  const leaves = leavesOf(source);
  const values = replaceLeaves(leaves, rule);
  const isPiece = ({ kind, path }: Leaf) => kind === "string" && path.at(-1) === "b64";
  const pieces = leaves.filter((leaf) => isPiece(leaf) && leaf.path[0] === "chunks");
  const whole = replaceBytes(joined(pieces.map(({ value }) => bytesOf(value))), rule);
  let at = 0;
  leaves.forEach((leaf, index) => {
    const { kind, path, value } = leaf;
    if (isPiece(leaf)) {
      const bytes = bytesOf(value);
      const isOfChunk = path[0] === "chunks";
      const own = isOfChunk ? whole.subarray(at, at += bytes.length) : replaceBytes(bytes, rule);
      values[index] = btoa(String.fromCharCode(...own));
    } else if (kind === "string" && path.at(-1) === "value" && path.at(-2) === "body") {
      values[index] = replaceBody(value, rule);
    }
  });
  if (at !== whole.length) throw new Error("The network's chunks have another length than before");
  return withLeaves(source, leaves, values);
}

function replaceBytes(bytes: Uint8Array, rule: TextRule): Uint8Array {
  return encoder.encode(replaceBody(decoder.decode(bytes), rule));
}

function replaceCassette(source: string, rule: TextRule): string {
  const document = parseDocument(source, { customTags: ["binary"] });
  const scalars: Scalar[] = [];
  const leaves: Leaf[] = [];
  const walk = (node: unknown, path: Leaf["path"]): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        const name = String((key as Scalar).value);
        scalars.push(key as Scalar);
        leaves.push({ kind: "name", path: [...path, name], value: name });
        walk(value as Node, [...path, name]);
      }
    } else if (isSeq(node)) node.items.forEach((item, index) => walk(item, [...path, index]));
    else if (isScalar(node)) visit(node, path);
  };
  const visit = (scalar: Scalar, path: Leaf["path"]): void => {
    const { value } = scalar;
    const isBody = path.at(-1) === "string" || path.at(-1) === "body";
    if (value instanceof Uint8Array) {
      scalar.value = new Uint8Array(gzipSync(replaceBytes(gunzipSync(value), rule)));
    } else if (typeof value === "string" && isBody) {
      scalar.value = replaceBody(value, rule);
    } else if (typeof value === "string" || typeof value === "number") {
      scalars.push(scalar);
      const kind = typeof value === "string" ? "string" : "number";
      leaves.push({ kind, path, value: kind === "string" ? String(value) : scalar.source ?? String(value) });
    }
  };
  walk(document.contents, []);
  replaceLeaves(leaves, rule).forEach((value, index) => {
    const scalar = scalars[index] as Scalar;
    scalar.value = leaves[index]?.kind === "number" ? Number(value) : value;
  });
  return document.toString({ indentSeq: false });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
