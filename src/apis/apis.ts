/**
 * All wire APIs, one row each.
 *
 * @module
 */
import type { ProviderKind } from "../domain/fingerprint.ts";
import type { Api } from "./api.ts";
import { messagesApi } from "./messages/api.ts";
import { responsesApi } from "./responses/api.ts";

/** Every wire API that the program knows. */
export const APIS: readonly Api[] = [responsesApi, messagesApi];

/** The API of a kind of provider. */
export function apiOf(provider: ProviderKind): Api {
  return APIS.find(({ providers }) => providers.includes(provider)) ?? responsesApi;
}

/** The API of a request's path, with or without query; `null` for a path of no known API. */
export function apiOfPath(path: string): Api | null {
  const [pathname = ""] = path.split("?", 1);
  return APIS.find(({ ownsPath }) => ownsPath(pathname)) ?? null;
}
