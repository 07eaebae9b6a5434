/** RADOS Gateway of Ceph on loopback, from Debian's packages: one monitor, one store in memory, one gateway. */
import { AwsClient } from "aws4fetch";
import { outputOf, run } from "../process.ts";

/** Keys of the only user. */
export const ACCESS_KEY = "REPRISETEST";
export const SECRET_KEY = "reprise-test-secret";

const READY_MS = 60_000;
const COMMAND_MS = 30_000;

/** A cluster in a temporary directory. */
export class Gateway {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly #directory: string;
  readonly #port: number;
  readonly #services = new Map<string, Deno.ChildProcess>();

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  /** Starts a cluster; takes about 14 seconds. Throws if a program fails or is missing. */
  static async start(): Promise<Gateway> {
    const directory = Deno.makeTempDirSync({ prefix: "reprise-ceph-" });
    const [monitor, gateway] = freePorts(2) as [number, number];
    const cluster = new Gateway(directory, gateway);
    try {
      await cluster.#create(monitor);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #create(monitor: number): Promise<void> {
    const [fsid, osd] = [crypto.randomUUID(), crypto.randomUUID()];
    for (const name of ["mon", "osd", "rgw", "run"]) Deno.mkdirSync(`${this.#directory}/${name}`);
    Deno.writeTextFileSync(`${this.#directory}/keyring`, "");
    Deno.writeTextFileSync(`${this.#directory}/ceph.conf`, configuration(this.#directory, { fsid, monitor }));
    const map = `${this.#directory}/monmap`;
    await this.#call(
      "monmaptool",
      "--create",
      "--addv",
      "a",
      `[v2:127.0.0.1:${monitor}]`,
      "--fsid",
      fsid,
      map,
    );
    await this.#call("ceph-mon", "--mkfs", "-i", "a", "--monmap", map);
    this.#serve("mon", "ceph-mon", "-i", "a");
    await this.#call("ceph", "osd", "new", osd);
    await this.#call("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd);
    await this.#call("ceph", "osd", "crush", "add", "osd.0", "1.0", "root=default", "host=localhost");
    this.#serve("osd", "ceph-osd", "-i", "0");
    this.startGateway();
    await this.ready();
    await this.#call(
      "radosgw-admin",
      "-n",
      "client.rgw",
      "user",
      "create",
      "--uid",
      "test",
      "--display-name",
      "test",
      "--access-key",
      ACCESS_KEY,
      "--secret-key",
      SECRET_KEY,
    );
  }

  /** Starts the gateway, after {@linkcode Gateway.killGateway}. */
  startGateway(): void {
    this.#serve(
      "gateway",
      "radosgw",
      "-n",
      "client.rgw",
      "--rgw-frontends",
      `beast endpoint=127.0.0.1:${this.#port}`,
    );
  }

  /** Kills the gateway at once. */
  async killGateway(): Promise<void> {
    await this.#end("gateway");
  }

  /** Stops or continues the gateway's process. */
  signalGateway(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#services.get("gateway")?.kill(signal);
  }

  /** Waits until the gateway answers. */
  async ready(): Promise<void> {
    for (const deadline = performance.now() + READY_MS;;) {
      try {
        const response = await fetch(this.endpoint, { signal: AbortSignal.timeout(2000) });
        await response.body?.cancel();
        if (response.status < 500) return;
      } catch (error) {
        if (performance.now() > deadline) throw new Error("The gateway does not start", { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** The variables with which a program finds the store. */
  get environment(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL: this.endpoint,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    };
  }

  /** Creates a bucket. */
  async makeBucket(name: string): Promise<void> {
    const client = new AwsClient({
      accessKeyId: ACCESS_KEY,
      secretAccessKey: SECRET_KEY,
      region: "us-east-1",
      service: "s3",
    });
    const init = { method: "PUT", aws: {} };
    const response = await client.fetch(`${this.endpoint}/${name}`, init);
    await response.body?.cancel();
    if (!response.ok) throw new Error(`Cannot create bucket ${name}: status ${response.status}`);
  }

  /** Ends all processes and removes the directory. */
  async stop(): Promise<void> {
    for (const name of ["gateway", "osd", "mon"]) await this.#end(name);
    Deno.removeSync(this.#directory, { recursive: true });
  }

  #serve(name: string, program: string, ...args: readonly string[]): void {
    const all = ["-c", `${this.#directory}/ceph.conf`, ...args, "-f"];
    const streams = { stdin: "null", stdout: "null", stderr: "null" } as const;
    this.#services.set(name, new Deno.Command(program, { args: all, ...streams }).spawn());
  }

  async #end(name: string): Promise<void> {
    const process = this.#services.get(name);
    if (process === undefined) return;
    this.#services.delete(name);
    try {
      process.kill("SIGKILL");
    } catch { /* It ended by itself. */ }
    await process.status;
  }

  async #call(program: string, ...args: readonly string[]): Promise<void> {
    const isMap = program === "monmaptool";
    const all = isMap ? args : ["-c", `${this.#directory}/ceph.conf`, ...args];
    const finished = await run(program, all, { timeout: COMMAND_MS });
    if (finished.code !== 0) throw new Error(`${program} ${args.join(" ")}: ${outputOf(finished)}`);
  }
}

/** True if Debian's packages are there. */
export function hasCeph(): boolean {
  return ["ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph"].every((name) => {
    try {
      return Deno.statSync(`/usr/bin/${name}`).isFile;
    } catch {
      return false;
    }
  });
}

function freePorts(count: number): number[] {
  const listeners = Array.from({ length: count }, () => Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  return listeners.map((listener) => {
    listener.close();
    return listener.addr.port;
  });
}

/** No login: with one, the gateway would need keys of its own. Without a manager, the store is checked by nothing. */
function configuration(directory: string, { fsid, monitor }: { fsid: string; monitor: number }): string {
  const crc = ["mon cluster", "mon service", "mon client", "cluster", "service", "client"];
  return [
    "[global]",
    `fsid = ${fsid}`,
    `mon host = [v2:127.0.0.1:${monitor}]`,
    ...["cluster", "service", "client"].map((party) => `auth ${party} required = none`),
    ...crc.map((mode) => `ms ${mode} mode = crc`),
    "ms bind ipv6 = false",
    "public addr = 127.0.0.1",
    "cluster addr = 127.0.0.1",
    "osd pool default size = 1",
    "osd pool default min size = 1",
    "osd pool default pg num = 8",
    "osd crush chooseleaf type = 0",
    "mon allow pool size one = true",
    "mon data avail crit = 0",
    "mon data avail warn = 0",
    "osd objectstore = memstore",
    "memstore device bytes = 2147483648",
    `mon data = ${directory}/mon`,
    `osd data = ${directory}/osd`,
    `rgw data = ${directory}/rgw`,
    `run dir = ${directory}/run`,
    `admin socket = ${directory}/run/$name.$pid.asok`,
    `log file = ${directory}/$name.log`,
    `keyring = ${directory}/keyring`,
    "pid file =",
    "",
  ].join("\n");
}
