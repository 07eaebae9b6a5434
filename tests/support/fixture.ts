/**
 * Fixture folders made by tests.
 *
 * @module
 */
import {
  exchangeFolder,
  FIXTURE_FORMAT,
  readable,
  type RequestFile,
  type ResponseFile,
} from "../../src/fixture/format.ts";
import { type FixtureHeader, sealAs, writeNewFile } from "../../src/fixture/seal.ts";
import { sha256Hex } from "../../src/domain/hash.ts";
import type { Files } from "../../src/domain/ports.ts";
import { denoFiles } from "../../src/store/deno_files.ts";

/** One exchange as a test gives it. */
export interface GivenExchange {
  /** @default {POST /v1/responses without a body} */
  readonly request?: Partial<RequestFile>;
  /** @default {200 and an event stream} */
  readonly response?: Partial<ResponseFile>;
  readonly body: string | Uint8Array;
  /** Bytes of the request, if its readable body does not restore them. */
  readonly sent?: string;
}

/** Writes and seals a fixture; returns its path. */
export function writeFixture(
  path: string,
  exchanges: readonly GivenExchange[],
  header: Partial<FixtureHeader> = {},
  files: Files = denoFiles,
): string {
  for (const [index, { request, response, body, sent }] of exchanges.entries()) {
    const folder = `${path}/${exchangeFolder(index + 1)}`;
    writeNewFile(
      files,
      `${folder}/request.json`,
      readable({
        ...{ method: "POST", path: "/v1/responses", ...request },
        ...(sent === undefined ? {} : { body_sha256: sha256Hex(sent) }),
      }),
    );
    if (sent !== undefined) writeNewFile(files, `${folder}/request.body`, sent);
    writeNewFile(
      files,
      `${folder}/response.json`,
      readable({ status: 200, headers: { "content-type": "text/event-stream" }, ...response }),
    );
    writeNewFile(files, `${folder}/body`, body);
  }
  sealAs(files, path, {
    format: FIXTURE_FORMAT,
    created: "2026-11-21T20:18:00.000Z",
    provider: "openai",
    base_url: "https://api.openai.com/v1",
    models: ["gpt-5.6"],
    ...header,
  });
  return path;
}
