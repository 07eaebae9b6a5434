import { ReprError } from "../domain/errors.ts";
import type { FinishedResponse, ProviderFailure } from "../provider/provider.ts";

/** The error that a finished response stands for, or `null` when it ended well or merely short. */
export function readableFailure(response: FinishedResponse | null): ReprError | null {
  if (response === null || response.status === "completed" || response.status === "incomplete") return null;
  if (response.failure !== undefined) return failureError(response.failure);
  if (response.status === "cut") {
    return new ReprError("stream_cut", "The response stream ended before its last event", {
      hint: "Continue the run: finished items are kept",
    });
  }
  return new ReprError("provider_failed", "The provider reported a failed response without saying why");
}

/** A provider's failure as the error that the user sees. */
export function failureError(failure: ProviderFailure): ReprError {
  return new ReprError(failure.code, failure.message, {
    details: {
      status: failure.status,
      provider_code: failure.providerCode,
      provider_type: failure.providerType,
      param: failure.param,
    },
  });
}
