/** Recorded traffic: imported, served, and asked again by the client that it was recorded from. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { recordingNames, recordingText } from "../../support/recordings.ts";
import { bytesBelow, type Json } from "../../support/files.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { exchangesOf, headerOf, type ReadExchange } from "./recording_files.ts";
import { outcomeOf, sent, Served } from "./served.ts";

/** Anthropic's recordings keep no headers; they were made under this version. */
const headers = { "anthropic-version": "2023-06-01" };
const asArrived = ({ request, sent: body }: ReadExchange) =>
  sent(body ?? "", { method: request.method, path: request.path, headers });

/** The cassettes of APIs whose rules are known, imported: a folder for each server. */
async function imported(home: RecordingHome): Promise<string[]> {
  const names = recordingNames("responses", "messages").filter((name) => name.endsWith(".yaml"));
  for (const [index, name] of names.entries()) {
    home.file(`cassette-${index}.yaml`, recordingText(name));
    const { code } = await home.verb(["import", `cassette-${index}.yaml`, `imported/${index}`]);
    assert.ok([0, 2].includes(code), name);
  }
  const folder = `${home.directory}/imported`;
  const paths = [...bytesBelow(folder).keys()].filter((path) => path.endsWith("/fixture.json"));
  return paths.map((path) => `${folder}/${path.slice(0, -"/fixture.json".length)}`);
}

function mistakesIn({ request: { body } }: ReadExchange): Json[] {
  if (!Array.isArray(body?.input) || body.previous_response_id !== undefined) return [];
  const [output, blob] = [
    body.input.findIndex(({ type }: Json) => type === "function_call_output"),
    body.input.findIndex((item: Json) => !!item.encrypted_content),
  ];
  const altered = { ...body.input[blob], encrypted_content: `${body.input[blob]?.encrypted_content}A` };
  return [
    ...(output < 0 ? [] : [{ ...body, input: body.input.toSpliced(output, 1) }]),
    ...(blob < 0 ? [] : [{ ...body, input: body.input.with(blob, altered) }]),
  ];
}

withHome(
  "recorded traffic plays byte for byte and without a warning; its mistakes are refused",
  async (home) => {
    let [played, refused] = [0, 0];
    const folders = await imported(home);
    await using server = await Served.start(home, [`${home.directory}/imported`]);
    for (const folder of folders) {
      const { provider } = headerOf(folder);
      for (const [index, exchange] of exchangesOf(folder).entries()) {
        if (exchange.sent === null) continue;
        const mistakes = provider === "openai" && exchange.response.status === 200
          ? mistakesIn(exchange)
          : [];
        for (const mistake of mistakes) {
          const answer = await server.ask(sent(mistake, { path: exchange.request.path }));
          assert.match(outcomeOf(answer), /^refused /, `${folder} ${index + 1}`);
          refused += 1;
        }
        const answer = await server.ask(asArrived(exchange));
        const expected = [`${index + 1} exact`, exchange.text];
        assert.deepEqual([outcomeOf(answer), answer.text], expected, folder);
        played += 1;
      }
    }
    assert.ok(played >= 33 && refused >= 10, `${played} played, ${refused} refused`);
  },
  test.long,
);
