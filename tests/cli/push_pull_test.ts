/** Sessions that two homes exchange through a remote with `push` and `pull`. */
import assert from "node:assert/strict";
import { livePorts } from "../../src/cli/live_ports.ts";
import { openHome } from "../../src/store/home.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { type Called, Sandbox } from "../support/reprise.ts";
import { S3Server } from "../support/s3_server.ts";
import { appendRun, ID, newSession, testPorts } from "../unit/store/support.ts";

Deno.test("a pushed session is pulled by another home, file by file", async () => {
  await using place = new Place();
  await place.write("a", 1);
  assert.deepEqual((await place.call("a", "push", ID)).code, 0);
  const pulled = await place.call("b", "pull", ID);
  assert.deepEqual(pulled.code, 0, pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  assert.deepEqual((await place.call("b", "fsck", ID)).code, 0);
  const again = await place.call("a", "push", ID, "--json");
  assert.deepEqual(JSON.parse(again.stdout).sessions[0].put, 0);
});

Deno.test("a session that went two ways is left unchanged, and both ways can be kept", async () => {
  await using place = new Place();
  await place.write("a", 1);
  await place.call("a", "push", ID);
  await place.call("b", "pull", ID);
  const common = place.turns("b").length;
  await place.write("a", 2);
  await place.call("a", "push", ID);
  await place.write("b", 2);
  const [mine, remote] = [place.turns("b"), [...place.server.objects.keys()]];

  for (const verb of ["push", "pull"]) {
    const refused = await place.call("b", verb, ID);
    assert.deepEqual(refused.code, 5);
    assert.ok(refused.stderr.includes(`from turn ${common + 1} on`), refused.stderr);
    assert.ok(refused.stderr.includes(`pull ${ID} --keep-mine-as`), refused.stderr);
    assert.deepEqual(place.turns("b"), mine);
    assert.deepEqual([...place.server.objects.keys()], remote);
  }

  const kept = await place.call("b", "pull", ID, "--keep-mine-as", "mine");
  assert.deepEqual(kept.code, 0, kept.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  assert.deepEqual(place.turns("b", "mine").slice(0, mine.length), mine);
  for (const id of [ID, "mine"]) {
    const checked = await place.call("b", "fsck", id);
    assert.deepEqual(checked.code, 0, checked.stdout);
  }
});

Deno.test("a turn that was altered on the remote is not fetched", async () => {
  await using place = new Place();
  await place.write("a", 1);
  await place.call("a", "push", ID);
  const key = `${ID}/turns/000002.json`;
  const bytes = place.server.objects.get(key)?.slice() ?? new Uint8Array();
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  place.server.objects.set(key, bytes);
  const pulled = await place.call("b", "pull", ID);
  assert.deepEqual(pulled.code, 12);
  assert.ok(pulled.stderr.includes("turn 2"), pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a").slice(0, 1));
});

/** Two homes, `a` and `b`, and the server between them. */
class Place implements AsyncDisposable {
  readonly server = new S3Server();
  readonly #sandbox = new Sandbox();

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.#sandbox[Symbol.asyncDispose]();
  }

  #home(name: string): string {
    return `${this.#sandbox.directory}/${name}`;
  }

  async call(home: string, ...args: readonly string[]): Promise<Called> {
    return await this.#sandbox.call([...args, "--home", this.#home(home)], { env: this.server.env });
  }

  /** Adds a run to the session; run 1 creates it. */
  async write(name: string, run: number): Promise<void> {
    const { files } = livePorts();
    const { clock } = testPorts();
    // At another time, so that the turns of both homes differ.
    const later = name === "b" ? 3_600_000 : 0;
    const ports = testPorts({ files, clock: { ...clock, now: () => clock.now() + later } });
    const home = openHome(ports, this.#home(name), { create: true });
    const writer = run === 1
      ? await newSession(ports, home)
      : await SessionWriter.open(ports, home, { id: ID });
    if (run > 1) appendRun(writer, run);
    writer.close();
  }

  /** Bytes of all turn files, as text. */
  turns(home: string, id: string = ID): string[] {
    const directory = `${this.#home(home)}/sessions/${id}/turns`;
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    return names.map((name) => Deno.readTextFileSync(`${directory}/${name}`));
  }
}
