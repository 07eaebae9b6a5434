import { RepriseError } from "../domain/errors.ts";
import type { FinishedResponse } from "../apis/api.ts";
import { failureError } from "../transport/failure.ts";

/** The error that a finished response stands for, or `null` when it ended well or merely short. */
export function failureOfResponse(response: FinishedResponse | null): RepriseError | null {
  if (response === null || response.status === "completed" || response.status === "incomplete") return null;
  if (response.failure !== undefined) return failureError(response.failure);
  return new RepriseError("provider_failed", `The response ended as ${response.status}, without saying why`);
}
