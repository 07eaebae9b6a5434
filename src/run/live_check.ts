/** Checks at an API that reasoning is accepted again: two turns with a tool call, on a session in memory. */
import { asRepriseError, RepriseError } from "../domain/errors.ts";
import { itemKind } from "../domain/item.ts";
import type { TurnDraft } from "../domain/turn.ts";
import { requestAccount } from "../fold/fold.ts";
import { defineTool, requiredArgument } from "../tools/tool.ts";
import { type NextRequest, nextRequest } from "./next_request.ts";
import { type PinnedSettings, pinnedTexts, pinsOf } from "./pins.ts";
import { MemorySession } from "./preview.ts";
import { fallbackResult, openCalls, openingDraft } from "./recover.ts";
import { type Asking, modelDraft, requestOnce, type WholeResponse } from "./request_step.ts";
import type { RunSettings } from "./setup.ts";

/** Tool that the model has to call. Its result does not depend on the call. */
const ADD = defineTool({
  name: "add_numbers",
  description: "Add two whole numbers, and return their sum.",
  arguments: { a: requiredArgument("integer"), b: requiredArgument("integer") },
  group: "read",
  target: () => ({ kind: "none" }),
  run: ({ a, b }) => Promise.resolve({ status: "ok", text: String(a + b) }),
});
const PROMPT = "Think about it, then call add_numbers with 17 and 25. Answer with the sum alone.";
const RESULT = "42";
const RUN = 1;

/** Settings of the check: those of a run, but for its prompt and tools. */
type CheckSettings = Omit<
  RunSettings,
  "instructions" | "tools" | "permissions" | "limits" | "replay" | "window"
>;

/** A request with `sent` reasoning items that got a whole answer, and the turn that would keep it. */
export interface Accepted {
  readonly sent: number;
  readonly answer: WholeResponse;
  readonly draft: TurnDraft;
}
type Tried = Accepted | { readonly sent: number; readonly error: RepriseError };

export interface LiveCheck {
  readonly first: Accepted;
  /** Number of reasoning items, and of calls, in the first answer. */
  readonly reasoning: number;
  readonly calls: number;
  /** Reasons why reasoning of the first answer cannot be sent again. */
  readonly unsent: readonly string[];
  /** The second turn with the reasoning of the first one; `null` if it was not sent, because it would have none. */
  readonly exact: Tried | null;
  /** The second turn without reasoning; `null` if it was not sent, for want of a call or after another failure. */
  readonly none: Tried | null;
}

/**
 * Makes the requests, up to three. The session never reaches a disk.
 *
 * @throws {RepriseError} if the first one gets no whole answer.
 */
export async function checkReplay(asking: Asking, given: CheckSettings): Promise<LiveCheck> {
  const check = new Check(asking, given);
  const first = await check.ask(await check.open());
  if ("error" in first) throw first.error;
  const reasoning = first.answer.items.filter((item) => itemKind(item) === "reasoning").length;
  const calls = await check.callTools(first);
  const facts = { first, reasoning, calls };
  if (calls === 0) return { ...facts, unsent: [], exact: null, none: null };
  const next = check.next("exact");
  const unsent = [...new Set(next.folded.reasoning.flatMap(({ reason }) => reason ?? []))];
  const exact = requestAccount(next.folded).sent === 0 ? null : await check.ask(next);
  const isRefused = exact !== null && "error" in exact && exact.error.code === "request_refused";
  const mayAsk = exact === null || isRefused || !("error" in exact);
  return { ...facts, unsent, exact, none: mayAsk ? await check.ask(check.next("none")) : null };
}

class Check {
  readonly #asking: Asking;
  readonly #settings: PinnedSettings;
  readonly #session = new MemorySession({
    id: "doctor",
    manifest: null,
    turns: [],
    allTurns: () => [],
    readBlob: () => null,
  }, []);
  /** `null` until an answer names it. */
  #account: string | null;

  constructor(asking: Asking, given: CheckSettings) {
    this.#asking = asking;
    this.#account = given.account;
    const fixed = { instructions: "", tools: [ADD], permissions: ["read"], window: null };
    this.#settings = { ...given, ...fixed, replay: "exact" };
  }

  /** Saves the prompt; returns the first request. */
  async open(): Promise<NextRequest> {
    const start = { prompt: PROMPT, attached: [] };
    await this.#session.save(openingDraft(start, RUN, pinsOf(this.#settings, "")));
    return this.next("exact");
  }

  next(replay: "exact" | "none"): NextRequest {
    const settings = { ...this.#settings, replay };
    return nextRequest(settings, this.#session, { run: RUN, account: this.#account });
  }

  async ask(next: NextRequest): Promise<Tried> {
    const { sent } = requestAccount(next.folded);
    try {
      const answer = await requestOnce(this.#asking, next.built);
      this.#account = answer.account ?? this.#account;
      const { model } = this.#settings;
      const pinned = pinnedTexts(this.#settings);
      const draft = modelDraft(next, { ...answer, account: this.#account }, { run: RUN, model, pinned });
      if (draft === null) throw new RepriseError("incomplete", "The answer holds nothing");
      const at = new Date(this.#asking.ports.clock.now()).toISOString();
      return { sent, answer, draft: { ...draft, at } };
    } catch (error) {
      return { sent, error: asRepriseError(error) };
    }
  }

  /** Saves an answer and the results of its calls; returns their number. */
  async callTools({ draft }: Accepted): Promise<number> {
    await this.#session.save(draft);
    const calls = openCalls(this.#session.turns);
    const events = calls.map((call) => fallbackResult(call, "ok", RESULT));
    if (events.length > 0) await this.#session.save({ kind: "tools", run: RUN, events });
    return calls.length;
  }
}
