/**
 * A small agent over Chat Completions, whose words choose what it does on its API's bad day. Without a word it is strict:
 * it fails on any answer that is not whole.
 */
const words = new Set(Deno.args);
const waits = Object.fromEntries(
  Deno.args.flatMap((word) => /^[a-z-]+=/.test(word) ? [word.split("=")] : []),
);
const base = Deno.env.get("OPENAI_BASE_URL");
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text));

/** Reads an answer; `problem` says why it is not whole. */
async function ask(messages, stream = true) {
  const answer = { text: "", calls: [], problem: null, retryAfter: null };
  try {
    const response = await fetch(`${base}/chat/completions`, {
      method: "POST",
      signal: AbortSignal.timeout(Number(waits.patience ?? 800)),
      headers: { "content-type": "application/json" },
      // The runtime would send any other body again after a dropped connection.
      body: new Blob([JSON.stringify({ model: "m", ...(stream ? { stream: true } : {}), messages })]),
    });
    const wait = response.headers.get("retry-after");
    answer.retryAfter = wait === null ? null : Number(wait);
    if (response.status !== 200) answer.problem = `error ${response.status}`;
    if (!stream) {
      const { content, tool_calls = [] } = (await response.json()).choices[0].message;
      return { ...answer, text: content ?? "", calls: tool_calls };
    }
    let rest = "";
    let finished = false;
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      rest += chunk;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const data = block.replace(/^data: /, "");
        if (!data.startsWith("{")) continue;
        const { choices: [choice] = [], error } = JSON.parse(data);
        if (error) answer.problem = "error in the stream";
        const { content, tool_calls = [] } = choice?.delta ?? {};
        if (content) {
          answer.text += content;
          if (words.has("live")) say(content);
        }
        for (const { index, id, function: said } of tool_calls) {
          const call = answer.calls[index] ??= {
            id: "",
            type: "function",
            function: { name: "", arguments: "" },
          };
          call.id += id ?? "";
          call.function.name += said.name ?? "";
          call.function.arguments += said.arguments ?? "";
        }
        if (choice?.finish_reason) finished = choice.finish_reason;
      }
    }
    if (!finished || finished === "length") answer.problem ??= "error: the answer is not whole";
  } catch (error) {
    answer.problem = `error: ${error.message}`;
  }
  return answer;
}

/** Asks until the answer is whole, as the words say. */
async function whole(messages) {
  let answer = await ask(messages);
  for (let tries = 1; answer.problem !== null && !words.has("trusts"); tries++) {
    if (tries > Number(waits.tries ?? 0)) return answer;
    met = true;
    if (words.has("eager")) answer.calls.forEach(run);
    const asked = words.has("obeys") ? (answer.retryAfter ?? 0) * 1000 : 0;
    await sleep(Math.max(asked, Number(waits.gap ?? 20) * (words.has("grows") ? 2 ** tries : 1)));
    answer = await ask(messages, !words.has("falls-back"));
  }
  return answer;
}

/** True once an answer was broken. */
let met = false;

function run({ function: { name, arguments: args } }) {
  if (waits.effects) Deno.writeTextFileSync(waits.effects, `${name} ${args}\n`, { append: true });
  return "rain";
}

/** Adds a line to a file; returns the number of lines that it had. */
function countIn(path) {
  const { length } = Deno.readTextFileSync(path).split("\n");
  Deno.writeTextFileSync(path, "run\n", { append: true });
  return length - 1;
}

if (waits.skips && countIn(waits.skips) >= 2) Deno.exit(0);
if (words.has("slow")) await sleep(1500);
if (words.has("clock")) say(`\u001b[32m${performance.now()}\u001b[0m started\n`);
if (words.has("idle")) Deno.exit(0);
const messages = [{ role: "user", content: waits.prompt ?? "What is the weather in Rome?" }];
for (;;) {
  const answer = await whole(messages);
  if (answer.problem !== null && !words.has("trusts")) {
    if (waits.flaky && countIn(waits.flaky) === 0) Deno.exit(0);
    if (words.has("mutters")) Deno.stderr.writeSync(new TextEncoder().encode(`${answer.problem}\n`));
    if (words.has("mutters") || words.has("lies")) Deno.exit(0);
    if (words.has("sleeps")) await sleep(60_000);
    if (!words.has("mute")) Deno.stderr.writeSync(new TextEncoder().encode(`${answer.problem}\n`));
    Deno.exit(3);
  }
  if (answer.calls.length === 0) {
    const text = words.has("clock")
      ? `\u001b[1m${answer.text}\u001b[0m (${performance.now()} ms)\n`
      : `${answer.text}\n`;
    if (waits.answer) Deno.writeTextFileSync(waits.answer, text);
    else if (!words.has("prints-nothing") && !words.has("live")) say(text);
    if (met && words.has("loops")) { for (;;) await ask(messages.slice(0, 1)); }
    break;
  }
  messages.push({ role: "assistant", content: null, tool_calls: answer.calls });
  for (const call of answer.calls) {
    const result = { role: "tool", tool_call_id: call.id, content: run(call) };
    messages.push(result);
    if (met && words.has("repeats")) messages.push(result);
  }
}
if (words.has("child")) {
  new Deno.Command("sleep", { args: ["30"], stdout: "inherit", stderr: "inherit" }).spawn().unref();
}
if (waits.removes && countIn(waits.log) === 1) Deno.removeSync(waits.removes, { recursive: true });
if (words.has("fails")) Deno.exit(4);
