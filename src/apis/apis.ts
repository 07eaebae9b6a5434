/** All wire APIs, one row each. */
import type { ProviderKind } from "../domain/fingerprint.ts";
import type { FoldNeeds } from "../domain/folded.ts";
import type { Api, ApiName, RunApi } from "./api.ts";
import { chatApi } from "./chat/api.ts";
import { messagesApi } from "./messages/api.ts";
import { CLIENT_ROUTES, type ClientRoute, DEFAULT_PROVIDER, pathOnly, providerRow } from "./providers.ts";
import { responsesApi } from "./responses/api.ts";
import type { StreamEvent } from "./stream.ts";
import { isJsonObject, type JsonValue } from "../domain/json.ts";

export const RUN_APIS: readonly RunApi[] = [responsesApi, messagesApi];

export const APIS: readonly Api[] = [...RUN_APIS, chatApi];

/** The API of clients whose requests do not identify it. */
export const DEFAULT_API: RunApi = responsesApi;

/** The API that runs use with a kind of provider. */
export function apiOf(provider: ProviderKind): RunApi {
  const { api } = providerRow(provider);
  return RUN_APIS.find(({ name }) => name === api) ?? DEFAULT_API;
}

export function apiNamed(name: ApiName): Api {
  return APIS.find((api) => api.name === name) as Api;
}

export function foldNeedsOf(provider: ProviderKind): FoldNeeds {
  const { takesVisibleReasoning = false } = providerRow(provider);
  return { ...apiOf(provider).foldNeeds, takesVisibleReasoning };
}

/** The API of a request's path, with or without query; `null` for a path of no known API. */
export function apiOfPath(path: string): Api | null {
  return APIS.find(({ ownsPath }) => ownsPath(pathOnly(path))) ?? null;
}

/** The API of a stream's events; `null` if no event identifies it. */
export function apiOfEvents(events: readonly Pick<StreamEvent, "type" | "data">[]): Api | null {
  return APIS.find(({ recognition }) => events.some((event) => recognition.ownsEvent(event))) ??
    null;
}

/** The API that a document is an answer of; `null` if no known API sends such a document. */
export function apiOfDocument(document: JsonValue | undefined): Api | null {
  if (!isJsonObject(document)) return null;
  // The first API takes any error, so the others are asked before.
  return APIS.findLast(({ recognition }) => recognition.documentPath(document) !== null) ?? null;
}

/** The route of clients that send requests to a path; the default provider's if no known API has the path. */
export function clientRouteOf(path: string): ClientRoute {
  const routeOf = (api: Api) => CLIENT_ROUTES.find(({ provider }) => apiOf(provider) === api);
  const api = apiOfPath(path);
  return (api === null ? undefined : routeOf(api)) ?? routeOf(apiOf(DEFAULT_PROVIDER)) as ClientRoute;
}
