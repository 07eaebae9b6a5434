import { BASE_URL, MODEL } from "./session.ts";
import { syntheticStream } from "./stream.ts";

/** Writes a fixture folder with one exchange, whose answer is a stream of `events` events. */
export function makeFixture(path: string, events: number): void {
  const exchange = `${path}/exchanges/0001`;
  Deno.mkdirSync(exchange, { recursive: true });
  writeJson(`${path}/fixture.json`, {
    format: "reprise.fixture/1",
    provider: "openai",
    base_url: BASE_URL,
    model: MODEL,
    created: "2026-11-21T20:18:00.000Z",
  });
  writeJson(`${exchange}/request.json`, { method: "POST", path: "/responses", body: {} });
  writeJson(`${exchange}/response.json`, { status: 200, headers: { "content-type": "text/event-stream" } });
  Deno.writeFileSync(`${exchange}/body`, syntheticStream(events));
}

function writeJson(path: string, value: object): void {
  Deno.writeTextFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
