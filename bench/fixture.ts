import { writeFixture } from "../tests/support/fixture.ts";
import { BASE_URL, MODEL } from "./session.ts";
import { syntheticStream } from "./stream.ts";

/** Writes a fixture folder with one exchange, whose answer is a stream of `events` events. */
export function makeFixture(path: string, events: number): void {
  writeFixture(path, [{ body: syntheticStream(events) }], { base_url: BASE_URL, models: [MODEL] });
}
