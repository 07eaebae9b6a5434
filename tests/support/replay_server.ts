/** A replay server without tests, for any client on one port. */
import type { Replayer } from "../../src/fixture/serve/replayer.ts";
import { type ReplayServersOptions, startReplayServers } from "../../src/fixture/serve/server.ts";

/** Starts a server that answers all requests with one replayer: no path names a test. */
export function startReplayServer(
  { replayer, ...options }: Omit<ReplayServersOptions, "replayers"> & { readonly replayer: Replayer },
) {
  const replayers = {
    placeOf: ({ path }: { readonly path: string }) => ({ test: null, path }),
    replayerOf: () => Promise.resolve(replayer),
  };
  const [server] = startReplayServers({ ...options, replayers }, [null]);
  if (server === undefined) throw new TypeError("One route has one server");
  return server;
}
