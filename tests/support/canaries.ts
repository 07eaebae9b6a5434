/**
 * Secrets to look for, and every form in which they are looked for: written without anything of the scrubber, so that
 * a fault in one does not hide in the other.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Dice } from "../unit/fold/dice.ts";

/** A secret by where it comes from. */
export interface Canary {
  readonly name: string;
  readonly value: string;
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Letters and digits that say nothing. */
export function randomText(dice: Dice, length: number, from = DIGITS): string {
  return Array.from({ length }, () => from[dice.count(0, from.length - 1)]).join("");
}

/** The variables of a developer's shell that nobody may see. */
export function secretEnvironment(dice: Dice): Canary[] {
  return [
    { name: "OPENAI_API_KEY", value: `sk-proj-${randomText(dice, 40)}` },
    { name: "ANTHROPIC_API_KEY", value: `sk-ant-api03-${randomText(dice, 40)}-AA` },
    { name: "AWS_SECRET_ACCESS_KEY", value: randomText(dice, 40, `${DIGITS}+/`) },
    { name: "GITHUB_TOKEN", value: `ghp_${randomText(dice, 36)}` },
    // What has to be escaped wherever it goes.
    { name: "DB_PASSWORD", value: `p&"${randomText(dice, 8)}\\ /=+é%${randomText(dice, 8)}` },
    { name: "SESSION_SECRET", value: randomText(dice, 32, "0123456789abcdef") },
  ];
}

/** Which canaries are in `bytes`, in which form; empty when none is. */
export function canariesIn(bytes: Uint8Array, canaries: readonly Canary[]): string[] {
  const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return canaries.flatMap(({ name, value }) =>
    Object.entries(formsOf(value)).flatMap(([form, texts]) =>
      texts.some((text) => haystack.includes(text)) ? [`${name} ${form}`] : []
    )
  );
}

/** All that a value looks like. */
function formsOf(value: string): Record<string, string[]> {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  return {
    "as it is": [value],
    "in JSON": [json],
    "in a URL": [
      url,
      url.replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
      url.replaceAll("%20", "+"),
    ],
    "in base64": [0, 1, 2].flatMap((before) => {
      const inside = insideOfBase64(value, before);
      return [inside, inside.replaceAll("+", "-").replaceAll("/", "_")];
    }),
  };
}

/** What the base64 of any text with `value` in it must hold, when `before` bytes (modulo 3) come first. */
function insideOfBase64(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value, "utf8")]);
  const whole = bytes.length - bytes.length % 3;
  return bytes.subarray(0, whole).toString("base64").slice(before === 0 ? 0 : 4);
}

/** The content of every file below `directory`, by its path. */
export function* filesBelow(directory: string): Generator<readonly [path: string, bytes: Uint8Array]> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    else yield [path, Deno.readFileSync(path)];
  }
}
