/** The flag `--env NAME=URL` of `record`: one more variable that leads clients to an API. */
import { RepriseError } from "../../domain/errors.ts";
import { parseUpstream, type Upstream } from "../../fixture/record/upstream.ts";
import { knownUpstream, UPSTREAM_VARIABLES } from "../../apis/known_upstreams.ts";
import { isRead } from "../environment.ts";

/** Variable that leads clients to an API. */
export interface AddedUpstream {
  readonly variable: string;
  readonly upstream: Upstream;
}

/** Names that POSIX shells can set. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Parses the values of the flag.
 *
 * @throws {RepriseError} `usage` for a name that is no variable, that has another use, or that is given twice; `bad_url`
 * and `insecure_url` as `parseUpstream`.
 */
export function parseEnvFlags(given: readonly string[] = []): readonly AddedUpstream[] {
  const seen = new Set<string>();
  return given.map((text) => {
    const at = text.indexOf("=");
    const variable = at === -1 ? text : text.slice(0, at);
    if (at === -1 || !NAME.test(variable)) {
      throw refused(`${nameOf(variable)} is not NAME=URL`, "Give --env GROQ_BASE_URL=https://api.groq.com");
    }
    if (seen.has(variable)) {
      throw refused(
        `${variable} is given twice`,
        "A variable leads to one API: give another name or one URL",
      );
    }
    const isKey = UPSTREAM_VARIABLES.includes(variable) && knownUpstream(variable) === null;
    if (isKey || isRead(variable) && knownUpstream(variable) === null) {
      throw refused(`${variable} does not lead clients to an API`, "Name the variable with the base URL");
    }
    seen.add(variable);
    return { variable, upstream: parseUpstream(text.slice(at + 1), { isLiteral: true }) };
  });
}

/** Returns the text for a message, unless it may be a URL with a password. */
function nameOf(text: string): string {
  return NAME.test(text) ? JSON.stringify(text) : "the value";
}

function refused(why: string, hint: string): RepriseError {
  return new RepriseError("usage", `Cannot use --env: ${why}`, { hint });
}
