/** Tests for the addresses of `record` and `serve`, in any environment, and for too many connections. */
import assert from "node:assert/strict";
import { Sandbox } from "../../support/reprise.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Serving } from "../serving.ts";
import { Wrapping } from "./wrapping.ts";

/** A port that nothing listens on at the moment. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/** The sockets that a process listens on, as Linux lists them: `0100007F:1F90` for 127.0.0.1:8080, or a path. */
function listenedOn(pid: number): string[] {
  const inodes = new Set(
    [...Deno.readDirSync(`/proc/${pid}/fd`)].flatMap(({ name }) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(Deno.readLinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const rows = (name: string) =>
    Deno.readTextFileSync(`/proc/${pid}/net/${name}`).trim().split("\n").slice(1).map((row) =>
      row.trim().split(/\s+/)
    );
  const tcp = ["tcp", "tcp6"].flatMap(rows).filter((row) => row[3] === "0A" && inodes.has(row[9] ?? ""));
  const unix = rows("unix").filter((row) => row[3] === "00010000" && inodes.has(row[6] ?? ""));
  return [...tcp.map((row) => row[1] ?? ""), ...unix.map((row) => row[7] ?? "")];
}

/** A server's arguments, with a scratch fixture of one exchange. */
function argumentsOf(verb: "record" | "serve", { directory }: Sandbox): string[] {
  if (verb === "record") return ["record", "--upstream", "http://127.0.0.1:9", "--out", `${directory}/out`];
  return [
    "serve",
    writeFixture(`${directory}/chat`, [{
      request: { method: "GET", path: "/v1/models", body_sha256: null },
      response: { headers: { "content-type": "application/json" } },
      body: "{}",
    }]),
  ];
}

const VERBS = ["record", "serve"] as const;

for (const verb of VERBS) {
  for (const address of ["tcp:0.0.0.0:PORT", "duplicate,tcp:0.0.0.0:PORT", "unix:FILE", "tcp:nonsense"]) {
    Deno.test(`${verb} listens on the one loopback port that it prints, whatever DENO_SERVE_ADDRESS says: ${address}`, async () => {
      await using sandbox = new Sandbox();
      const DENO_SERVE_ADDRESS = address.replace("PORT", String(freePort()))
        .replace("FILE", `${sandbox.directory}/socket`);
      const port = freePort();
      const args = [...argumentsOf(verb, sandbox), "--json", "--port", String(port)];
      const started = sandbox.start(args, { env: { DENO_SERVE_ADDRESS } });
      try {
        await started.printed('"ready"');
        const hex = port.toString(16).toUpperCase().padStart(4, "0");
        assert.deepEqual(listenedOn(started.process.pid), [`0100007F:${hex}`]);
        const ready = JSON.parse(started.stdout.split("\n")[0] as string);
        assert.deepEqual([ready.address, ready.origin], [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`]);
      } finally {
        started.process.kill("SIGTERM");
        assert.equal((await started.ended()).stderr.includes("unexpected"), false);
      }
    });
  }
}

const CONNECTIONS = 1200;

/** Asks for the models on a connection of its own, which stays open. */
async function asked(port: number): Promise<{ readonly status: number; readonly connection: Deno.Conn }> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(
    new TextEncoder().encode(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
  );
  const buffer = new Uint8Array(4096);
  const read = await connection.read(buffer) ?? 0;
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(new TextDecoder().decode(buffer.subarray(0, read)))?.[1]);
  return { status, connection };
}

Deno.test("more connections than ulimit -n allows get their answer or 503, and serve continues", async () => {
  await using sandbox = new Sandbox();
  const through = ["/bin/sh", "-c", 'ulimit -n 1024; exec "$@"', "sh"];
  const serving = await Serving.start(sandbox, [...argumentsOf("serve", sandbox), "--json"], { through });
  const port = Number(new URL(serving.origin).port);
  const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => asked(port)));
  for (const { connection } of all) connection.close();
  const statuses = new Set(all.map(({ status }) => status));
  // One answer, its misses, and those that were too many.
  assert.deepEqual([...statuses].sort(), [200, 400, 503]);
  // The server hears of closed connections a moment later.
  let later = 503;
  for (let tries = 0; tries < 100 && later === 503; tries++) {
    const { status, connection } = await asked(port);
    connection.close();
    later = status;
  }
  assert.equal(later, 400);
  const { code, events } = await serving.end();
  assert.deepEqual([code, events.at(-1).type], [7, "serve.ended"]);
  assert.ok(events.some(({ type, status }) => type === "turned_away" && status === 503));
});

Deno.test("a request that record refuses makes it end with 7, and what the command ended with comes first", async () => {
  const foreign =
    `const answer = await fetch(Deno.env.get("OPENAI_BASE_URL"), { headers: { origin: "http://a.example" } });
    console.log(answer.status); await answer.text();`;
  for (const [end, code] of [["", 7], ["Deno.exit(3);", 3]] as const) {
    await using suite = new Wrapping();
    const called = await suite.record([], foreign + end);
    assert.deepEqual([called.stdout, called.code], ["403\n", code], called.stderr);
    assert.match(called.stderr, /error: Cannot keep 1 request: it was turned away/);
    assert.equal(suite.ended.turned_away, 1);
  }
});
