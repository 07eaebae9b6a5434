/**
 * An API on this machine that answers in place of `https://api.openai.com`: requests reach it through a proxy, which
 * forwards each connection to it.
 *
 * @module
 */
import { run } from "../process.ts";

/** Host that the certificate is for. */
const HOST = "api.openai.com";

/** A running API. */
export interface LocalApi extends AsyncDisposable {
  /** Variables of the clients: the proxy, and the certificate to trust. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts an API that answers each prompt with the answer whose key the prompt contains, as JSON of `/v1/responses`.
 *
 * @param directory An empty directory for its certificate.
 * @throws {Error} if `openssl` is missing.
 */
export async function startLocalApi(
  directory: string,
  answers: Readonly<Record<string, string>>,
): Promise<LocalApi> {
  const certificate = await createCertificate(directory);
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: Deno.readTextFileSync(certificate.cert),
    key: Deno.readTextFileSync(certificate.key),
    onListen: () => {},
  }, async (request) => {
    const { input, model } = await request.json();
    const answer = Object.entries(answers).find(([part]) => String(input).includes(part))?.[1];
    if (answer === undefined) return new Response(null, { status: 500 });
    return Response.json(responseOf(String(model), answer));
  });
  const proxy = startProxy(server.addr.port);
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, DENO_CERT: certificate.cert },
    async [Symbol.asyncDispose]() {
      proxy.close();
      await server.shutdown();
    },
  };
}

/** The whole answer of the API to one request. */
function responseOf(model: string, text: string): unknown {
  return {
    id: "resp_0001",
    object: "response",
    created_at: 1_790_000_000,
    status: "completed",
    model,
    output: [{
      id: "msg_0001",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
    }],
    usage: { input_tokens: 15, output_tokens: 8, total_tokens: 23 },
  };
}

/** Creates a certificate for {@linkcode HOST} that signs itself, good for one day. */
async function createCertificate(
  directory: string,
): Promise<{ readonly cert: string; readonly key: string }> {
  const [config, cert, key] = ["openssl.cnf", "cert.pem", "key.pem"].map((name) => `${directory}/${name}`);
  if (config === undefined || cert === undefined || key === undefined) throw new Error("No path");
  Deno.writeTextFileSync(
    config,
    `[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = ${HOST}
[extensions]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:${HOST}
`,
  );
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const args = ["req", "-x509", "-config", config, ...ec, "-days", "1", "-out", cert, "-keyout", key];
  const { code, stderr } = await run("openssl", args);
  if (code !== 0) throw new Error(`Cannot create a certificate with openssl: ${stderr}`);
  return { cert, key };
}

/** Starts a proxy that answers each CONNECT and forwards the connection to `target`, a port of this machine. */
function startProxy(target: number): { readonly port: number; close(): void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const forward = async (client: Deno.TcpConn): Promise<void> => {
    const buffer = new Uint8Array(4096);
    let head = "";
    while (!head.endsWith("\r\n\r\n")) {
      const length = await client.read(buffer);
      if (length === null) return client.close();
      head += new TextDecoder().decode(buffer.subarray(0, length));
    }
    await client.write(new TextEncoder().encode("HTTP/1.1 200 Connection established\r\n\r\n"));
    const server = await Deno.connect({ hostname: "127.0.0.1", port: target });
    await Promise.allSettled([
      client.readable.pipeTo(server.writable),
      server.readable.pipeTo(client.writable),
    ]);
  };
  void (async () => {
    for await (const client of listener) forward(client).catch(() => client.close());
  })();
  return { port: listener.addr.port, close: () => listener.close() };
}
