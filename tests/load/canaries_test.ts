/** Recordings of traffic that is full of random secrets: none of them reaches a file or a report, in no form. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { withHome } from "../doors/recordings/home.ts";
import { Dice } from "../support/dice.ts";
import { WRITTEN } from "../support/encodings.ts";
import { type Json, textsBelow } from "../support/files.ts";
import { answering, RawUpstream, sse, STREAM_HEAD, write, writeChunk } from "../support/raw_upstream.ts";
import { scaled } from "../support/scale.ts";

const FLOWS = scaled(40, 200);
/** Flows through one recorder, whose environment has the secrets of all of them. */
const FLOWS_EACH = 10;
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Letters and digits that say nothing. */
function randomText(dice: Dice, length: number, from = DIGITS): string {
  return Array.from({ length }, () => from[dice.count(0, from.length - 1)]).join("");
}

/** The secret variables of a developer's shell. */
const environmentOf = (dice: Dice): Record<string, string> => ({
  OPENAI_API_KEY: `sk-proj-${randomText(dice, 40)}`,
  ANTHROPIC_API_KEY: `sk-ant-api03-${randomText(dice, 40)}-AA`,
  AWS_SECRET_ACCESS_KEY: randomText(dice, 40, `${DIGITS}+/`),
  GITHUB_TOKEN: `ghp_${randomText(dice, 36)}`,
  // A value that every format must escape.
  DB_PASSWORD: `p&"${randomText(dice, 8)}\\ /=+é%${randomText(dice, 8)}`,
  SESSION_SECRET: randomText(dice, 32, "0123456789abcdef"),
});

/** The forms of a secret that `text` holds. */
function formsIn(text: string, secret: string): string[] {
  // The part that the base64 of any text with the secret holds, whatever number of bytes comes before it.
  const inside = [0, 1, 2].map((before) => {
    const bytes = Buffer.from("x".repeat(before) + secret);
    return bytes.subarray(0, bytes.length - bytes.length % 3).toString("base64").slice(before === 0 ? 0 : 4);
  });
  const base64 = inside.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
  return [...Object.values(WRITTEN).map((write) => write(secret)), ...base64]
    .filter((form) => text.includes(form));
}

/** A secret as people and programs put it into texts. */
function asText(value: string, dice: Dice): string {
  return dice.pick([
    () => `The key is ${value}, do not tell`,
    () => `Authorization: Basic ${Buffer.from(`user:${value}`).toString("base64")}`,
    () => `{"token":${JSON.stringify(value)}}`,
    () => `https://example.com/hook?id=7&sig=${encodeURIComponent(value)}`,
    () =>
      `${"x".repeat(dice.count(0, 3))}${Buffer.from(`${randomText(dice, 4)}${value}`).toString("base64url")}`,
  ])();
}

/** One request with its answer, both with secrets in them. */
function flowOf(environment: Readonly<Record<string, string>>, dice: Dice) {
  const [bearer, cookie, query] = [0, 1, 2].map(() => randomText(dice, 32)) as [string, string, string];
  const said = () => asText(dice.pick([...Object.values(environment), bearer]), dice);
  // Simple forms only for values in JSON that is in JSON.
  const { DB_PASSWORD: _escaped, ...simple } = environment;
  const inner = () => dice.pick(Object.values(simple));
  const call = { type: "function_call", call_id: "call_1", name: "shell", arguments: inner() };
  return {
    path: `/v1/responses?${dice.pick(["key", "api_key", "access_token"])}=${query}`,
    headers: { authorization: `Bearer ${bearer}`, cookie: `session=${cookie}` },
    body: {
      ...{ model: "gpt-5.6", instructions: said(), stream: true, metadata: { note: said() } },
      input: [
        { role: "user", content: said() },
        { ...call, arguments: JSON.stringify({ command: `curl -H 'x: ${inner()}'` }) },
        { type: "function_call_output", call_id: "call_1", output: `$ env\n${said()}\n${said()}` },
      ],
    },
    head: `set-cookie: session=${inner()}\r\nx-debug: ${said().replaceAll(/[^\x20-\x7e]/g, "?")}\r\n`,
    /** The body of an error or of a page; a stream if it is `null`. */
    error: dice.pick([
      null,
      null,
      JSON.stringify({ error: { message: `Incorrect API key provided: ${said()}`, code: null } }),
      `<html><body>502 while asking for ${said()}</body></html>`,
    ]),
    events: [
      { type: "response.created", response: { id: "resp_1", instructions: said() } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, delta: said() },
      { type: "response.output_item.done", output_index: 0, item: call },
      { type: "response.completed", response: { id: "resp_1", status: "completed", output: [call] } },
    ].map(sse).join(""),
    secrets: [bearer, cookie, query],
  };
}

for (let batch = 0; batch < FLOWS / FLOWS_EACH; batch++) {
  withHome(`recorded flows leave no secret in files or reports, in no form (seed ${batch})`, async (home) => {
    const dice = new Dice(7000 + batch);
    const env = environmentOf(dice);
    const flows = Array.from({ length: FLOWS_EACH }, () => flowOf(env, dice));
    const secrets = [...Object.values(env), ...flows.flatMap((flow) => flow.secrets)];
    await using upstream = new RawUpstream(async (connection, request) => {
      const { head, error, events } = flows[upstream.requests.length - 1] as (typeof flows)[number];
      if (error !== null) return await answering(`401 No\r\n${head.trimEnd()}`, error)(connection, request);
      await write(connection, STREAM_HEAD.replace("\r\n\r\n", `\r\n${head}\r\n`));
      const bytes = new TextEncoder().encode(events);
      for (let at = 0, size = 0; at < bytes.length; at += size) {
        size = dice.count(1, 400);
        await writeChunk(connection, bytes.subarray(at, at + size));
      }
      await write(connection, "0\r\n\r\n");
    });
    await using recorder = await home.record(upstream.origin, { env });
    for (const { path, headers, body, error, events } of flows) {
      for (const text of [JSON.stringify(body), error ?? events]) {
        assert.ok(secrets.some((secret) => formsIn(text, secret).length > 0), `no secret in ${text}`);
      }
      const { text } = await recorder.ask(path, body, { headers });
      assert.equal(text, error ?? events, "the client gets what the server said");
    }
    const end: Json = await recorder.end(0);
    assert.equal(end.published, flows.length);
    const found = [...textsBelow(recorder.out), ["the reports", JSON.stringify([end, recorder.events])]];
    for (const [path = "", text = ""] of found) {
      for (const secret of secrets) assert.deepEqual(formsIn(path + text, secret), [], path);
    }
  });
}
