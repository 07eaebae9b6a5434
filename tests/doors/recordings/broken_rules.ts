/** Requests that break a rule of their API: what `serve` answers them, by what docs/rules.md says of the rule. */
import type { Json } from "../../support/files.ts";
import { type Row, rows, sent } from "./served.ts";

/** A request that breaks one rule, and what the API says to it. */
export interface Broken {
  readonly rule: string;
  readonly body: Json;
  /** Text of the error or of the warning; `null` if only the rule is known. */
  readonly message: string | null;
  /** @default {"input"} */
  readonly param?: string | null;
  /** @default {null} */
  readonly code?: string | null;
  /** @default {400} */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the header of the fixture. */
  readonly header?: Readonly<Record<string, Json>>;
  /** Exchanges that a fixture needs for the rule. @default {those of the API} */
  readonly recorded?: readonly Json[];
  /** True if this request is only warned of, though others that break the rule are refused. @default {false} */
  readonly warns?: boolean;
}

/** An API with its rules. */
export interface RuledApi {
  /** Its name in docs/rules.md. */
  readonly name: "responses" | "messages" | "chat";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly header: Readonly<Record<string, Json>>;
  /** Exchanges that show what the API issued. */
  readonly recorded: readonly Json[];
}

/** The reaction of `serve` to each rule of an API, in the words of docs/rules.md. */
export function documented(name: RuledApi["name"]): Map<string, string> {
  const text = Deno.readTextFileSync(new URL("../../../docs/rules.md", import.meta.url));
  const [, table = ""] =
    new RegExp(`<!-- rules-${name}:begin -->([^]*?)<!-- rules-${name}:end -->`).exec(text) ?? [];
  return new Map(
    [...table.matchAll(/^\| `(\w+)` \|.*\| `\w+`: (refuses|warns|does not check)/gm)].map(([, rule, does]) =>
      [rule, does] as [string, string]
    ),
  );
}

/** Registers the requests that break rules of an API as one test. */
export function brokenRules(api: RuledApi, broken: readonly Broken[]): void {
  const does = documented(api.name);
  const table = broken.map((one, index): [string, Row] => {
    const {
      rule,
      body,
      message,
      param = "input",
      code = null,
      status = 400,
      warns = does.get(rule) === "warns",
    } = one;
    const type = "invalid_request_error";
    const error = api.name === "messages" ? { type, message } : { message, type, param, code };
    const { header = {}, headers = api.headers ?? {}, recorded = api.recorded } = one;
    return [`${index + 1} ${rule}`, {
      ...{ path: api.path, header: { ...api.header, ...header }, recorded },
      asked: [[
        sent(body, { headers }),
        warns ? ["warned", rule, message] : ["refused", rule, status, error],
      ]],
    }];
  });
  rows(
    `${api.name}: a request that breaks a rule is answered as the API answers it`,
    Object.fromEntries(table),
    {
      outcome: ({ status, text, events: [event, ...warnings] }) => {
        if (event.type !== "refused") {
          const [{ rule, message } = { rule: null, message: null }] = warnings;
          return [
            "warned",
            rule,
            broken.some((one) => one.rule === rule && one.message === null) ? null : message,
          ];
        }
        return ["refused", event.rule, status, JSON.parse(text).error];
      },
    },
  );
}
