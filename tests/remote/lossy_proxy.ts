/**
 * Proxy on loopback that sometimes breaks a connection instead of passing an answer on: the store has taken the request.
 */

/** A running proxy. */
export interface LossyProxy {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  /** Number of answers that were dropped. */
  readonly dropped: () => number;
  stop(): void;
}

/** Starts a proxy in front of `endpoint`; `drops` decides about each piece of an answer. */
export function startLossyProxy(endpoint: string, drops: () => boolean): LossyProxy {
  const { port } = new URL(endpoint);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let dropped = 0;
  const close = (...connections: readonly Deno.Conn[]) => {
    for (const connection of connections) {
      open.delete(connection);
      try {
        connection.close();
      } catch { /* Closed already. */ }
    }
  };
  const serve = async (client: Deno.TcpConn) => {
    open.add(client);
    let server: Deno.TcpConn;
    try {
      server = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
    } catch {
      return close(client);
    }
    open.add(server);
    const copy = async (from: Deno.Conn, to: Deno.Conn, mayDrop: boolean) => {
      const buffer = new Uint8Array(64 * 1024);
      try {
        for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
          if (mayDrop && drops()) {
            dropped += 1;
            break;
          }
          for (let at = 0; at < read;) at += await to.write(buffer.subarray(at, read));
        }
      } catch { /* The other side broke off. */ }
      close(client, server);
    };
    await Promise.all([copy(client, server, false), copy(server, client, true)]);
  };
  void (async () => {
    try {
      for await (const client of listener) void serve(client);
    } catch { /* Stopped. */ }
  })();
  return {
    endpoint: `http://127.0.0.1:${listener.addr.port}`,
    dropped: () => dropped,
    stop() {
      listener.close();
      close(...open);
    },
  };
}
