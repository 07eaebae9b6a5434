/** An API with its rules: a request that it takes, and changes of it that break a rule, or none. */
import type { Json } from "../../support/files.ts";
import { Sent, sent } from "./served.ts";

/** A change of the valid request: values by path, such as `messages.0.content`; or a whole body that is no object. */
export type Change = Json;

/** Answers of `serve` to a broken rule that differ from the default. */
export interface Reaction {
  /** Rule that answers, if it is another one. */
  readonly rule?: string;
  /** @default {"input"} */
  readonly param?: string | null;
  /** @default {null} */
  readonly code?: string | null;
  /** @default {400} */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the header of the fixture. */
  readonly header?: Readonly<Record<string, Json>>;
  /** Exchanges that a fixture needs for the rule. @default {the valid request} */
  readonly recorded?: readonly Json[];
  /** True if this request is only warned of, though others that break the rule are refused. */
  readonly warns?: boolean;
}

/** An API with its rules. */
export interface RuledApi {
  /** Its name in docs/rules.md. */
  readonly name: "responses" | "messages" | "chat";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Header of its fixtures. */
  readonly header: Readonly<Record<string, Json>>;
  readonly valid: Json;
  /** By rule, with the text of the error or of the warning; `null` if only the rule is known. */
  readonly broken: Readonly<
    Record<string, readonly (readonly [change: Change, message: string | null, does?: Reaction])[]>
  >;
  readonly accepted: Readonly<Record<string, Change>>;
  /** Forms that are allowed in all requests of a fixture once the API took one of them; the second is not. */
  readonly forms: readonly (readonly [taken: Change, other: Change])[];
  /** A member that makes a request another one, and breaks no rule. */
  readonly ignored: string;
}

/** The valid request of an API with a change. */
export function changed({ valid, headers = {} }: RuledApi, change: Change, more: Partial<Sent> = {}): Sent {
  if (change instanceof Sent) return sent(at(valid, change.body), change);
  return sent(Array.isArray(change) ? change : at(valid, change), { headers, ...more });
}

function at(valid: Json, change: Readonly<Record<string, Json>>): Json {
  const body = structuredClone(valid);
  for (const [path, value] of Object.entries(change)) {
    const names = path.split(".");
    const last = names.pop() as string;
    names.reduce((object, name) => object[name], body)[last] = value;
  }
  return body;
}

/** The reaction of `serve` to each rule of an API, in the words of docs/rules.md. */
export function documented(name: RuledApi["name"]): Map<string, string> {
  const text = Deno.readTextFileSync(new URL("../../../docs/rules.md", import.meta.url));
  const [, table = ""] =
    new RegExp(`<!-- rules-${name}:begin -->([^]*?)<!-- rules-${name}:end -->`).exec(text) ?? [];
  const rows = table.matchAll(/^\| `(\w+)` \|.*\| `\w+`: (refuses|warns|does not check)/gm);
  return new Map([...rows].map(([, rule = "", does = ""]) => [rule, does]));
}
