import { Buffer } from "node:buffer";
import { isJsonObject } from "../../../src/domain/json.ts";
import type { BlobJudge } from "../../../src/apis/responses/rules/ids.ts";
import type { Dialect } from "./dialect.ts";

/** The forms in which one item's encrypted content was sent. */
export interface IssuedReasoning {
  readonly added: string | null;
  /** The one to keep (protocol §4.1). */
  readonly done: string | null;
  readonly completed: string | null;
}

/** Ids and blobs of one server: counted, so that a script gives the same bytes each time. */
export class Issuer {
  readonly #dialect: Dialect;
  readonly #organization: string;
  #count: number;
  /** Issued blobs, by item id. */
  readonly blobs = new Map<string, IssuedReasoning>();
  /** Reasoning item before each item, by item id. */
  readonly reasoningOf = new Map<string, string>();

  /** Ids count from `idsFrom + 1`. */
  constructor(dialect: Dialect, organization: string, idsFrom = 0) {
    this.#dialect = dialect;
    this.#organization = organization;
    this.#count = idsFrom;
  }

  responseId(): string {
    const { responseIds } = this.#dialect;
    return responseIds === "uuid" ? this.#uuid() : this.#prefixed(responseIds === "gen" ? "gen-" : "resp_");
  }

  itemId(prefix: string): string {
    return this.#dialect.itemIds === "uuid" ? this.#uuid() : this.#prefixed(`${prefix}_`);
  }

  callId(): string {
    return this.#prefixed("call_");
  }

  /** A new id with the same beginning, for servers that change ids on every event. */
  rotated(id: string): string {
    return this.#prefixed(/^[a-z]+[_-]/.exec(id)?.[0] ?? "");
  }

  /** The encrypted content of a new item: short at `added`, other bytes of one length at `done` and `completed`. */
  seal(id: string, model: string, responseId: string): IssuedReasoning {
    const encrypt = (padding: number) => {
      const nonce = String(++this.#count).padStart(8, "0");
      const content = { id, organization: this.#organization, model, nonce, padding: "p".repeat(padding) };
      return `gAAAA${Buffer.from(JSON.stringify(content)).toString("base64url")}`;
    };
    const sealed = this.#issue(encrypt, responseId);
    this.blobs.set(id, sealed);
    return sealed;
  }

  #issue(encrypt: (padding: number) => string, responseId: string): IssuedReasoning {
    switch (this.#dialect.blobs) {
      case "rewritten":
        return { added: encrypt(30), done: encrypt(90), completed: encrypt(90) };
      case "constant": {
        const blob = encrypt(90);
        return { added: null, done: blob, completed: blob };
      }
      case "token":
        return { added: null, done: `${responseId}-0`, completed: `${responseId}-0` };
      case "none":
        return { added: null, done: null, completed: null };
    }
  }

  /** Reads blobs of any server of this kind: of another organization it says so. */
  readonly judge: BlobJudge = ({ id, encrypted_content, model }) => {
    if (
      [...this.blobs.values()].some(({ done }) =>
        done === encrypted_content && this.#dialect.blobs === "token"
      )
    ) {
      return "ok";
    }
    const content = decode(encrypted_content);
    if (content === null || (id !== undefined && content.id !== id)) return "undecodable";
    if (content.organization !== this.#organization) return "other_organization";
    return model === undefined || content.model === model ? "ok" : "other_model";
  };

  #prefixed(prefix: string): string {
    return `${prefix}${(++this.#count).toString(16).padStart(24, "0")}`;
  }

  #uuid(): string {
    return `00000000-0000-4000-8000-${(++this.#count).toString(16).padStart(12, "0")}`;
  }
}

function decode(blob: string): { id: unknown; organization: unknown; model: unknown } | null {
  if (!blob.startsWith("gAAAA")) return null;
  try {
    const content: unknown = JSON.parse(Buffer.from(blob.slice(5), "base64url").toString());
    return isJsonObject(content)
      ? { id: content.id, organization: content.organization, model: content.model }
      : null;
  } catch {
    return null;
  }
}
