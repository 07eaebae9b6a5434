/// <reference lib="deno.worker" />
/** Worker: changes a file as soon as a temporary file is beside it, as another program might. */

/** An act of the worker. */
export interface Intrusion {
  readonly directory: string;
  readonly name: string;
  /** New content; `null` removes the file. */
  readonly content: string | null;
  /** An `Int32`, not 0 once the worker is to stop. */
  readonly stop: SharedArrayBuffer;
}

self.onmessage = ({ data: { directory, name, content, stop } }: MessageEvent<Intrusion>) => {
  self.postMessage("watching");
  const stopped = new Int32Array(stop);
  while (Atomics.load(stopped, 0) === 0) {
    if (![...Deno.readDirSync(directory)].some((entry) => entry.name.endsWith(".tmp"))) continue;
    if (content === null) Deno.removeSync(`${directory}/${name}`);
    else Deno.writeTextFileSync(`${directory}/${name}`, content);
    break;
  }
  self.postMessage("done");
};
