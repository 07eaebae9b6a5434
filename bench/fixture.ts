import { writeFixture } from "../tests/support/fixture.ts";
import { requestBody } from "./client_request.ts";
import { BASE_URL, MODEL } from "./session.ts";
import { syntheticStream } from "./stream.ts";

/** Writes a fixture folder with one exchange, whose answer is a stream of `events` events. */
export function makeFixture(path: string, events: number): void {
  writeFixture(path, [{ body: syntheticStream(events) }], { base_url: BASE_URL, models: [MODEL] });
}

/** Writes a fixture folder with one exchange for the request {@linkcode requestBody} number 0, to be served. */
export function makeServedFixture(path: string, events: number): void {
  const request = { path: "/v1/responses", body: JSON.parse(requestBody(0)) };
  writeFixture(path, [{ request, body: syntheticStream(events) }]);
}
