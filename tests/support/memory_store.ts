/**
 * Object store in memory, which fails on request.
 *
 * @module
 */
import type { ListedObject, ObjectStore, PutAnswer, StoredObject } from "../../src/remote/object_store.ts";
import { RepriseError } from "../../src/domain/errors.ts";

/** One fault of {@linkcode MemoryStore.putNew}, used once for a key with `part`. */
export interface PutFault {
  readonly part: string;
  /** `before`: nothing is stored, no answer. `after`: stored, no answer. */
  readonly when: "before" | "after";
}

/** Keeps objects in a map, under conditional puts as S3 has them. */
export class MemoryStore implements ObjectStore {
  readonly name = "s3://memory/test";
  readonly objects = new Map<string, Uint8Array>();
  /** The keys of successful puts, in order. */
  readonly puts: string[] = [];
  readonly faults: PutFault[] = [];
  /** Ages of objects in milliseconds; 0 if absent. */
  readonly ages = new Map<string, number>();
  /** While true, nothing is answered. */
  isDown = false;
  /** Called before each conditional put. */
  beforePut: (key: string) => void = () => {};

  deadline(): number {
    return Infinity;
  }

  waitAfter(attempt: number): Promise<boolean> {
    return Promise.resolve(attempt < 5);
  }

  size(key: string): Promise<number | null> {
    if (this.isDown) return Promise.reject(this.#unreachable());
    return Promise.resolve(this.objects.get(key)?.length ?? null);
  }

  get(key: string): Promise<StoredObject | null> {
    if (this.isDown) return Promise.reject(this.#unreachable());
    const bytes = this.objects.get(key);
    return Promise.resolve(bytes === undefined ? null : { bytes, ageMs: this.ages.get(key) ?? 0 });
  }

  putNew(key: string, bytes: Uint8Array): Promise<PutAnswer> {
    if (this.isDown) return Promise.resolve("unknown");
    this.beforePut(key);
    const index = this.faults.findIndex(({ part }) => key.includes(part));
    const [fault] = index === -1 ? [] : this.faults.splice(index, 1);
    if (fault?.when === "before") return Promise.resolve("unknown");
    const isTaken = this.objects.has(key);
    if (!isTaken) {
      this.objects.set(key, bytes.slice());
      this.puts.push(key);
    }
    return Promise.resolve(fault !== undefined ? "unknown" : isTaken ? "taken" : "stored");
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    if (this.isDown) return Promise.reject(this.#unreachable());
    this.objects.set(key, bytes.slice());
    return Promise.resolve();
  }

  async *list(prefix: string, { after = "" }: { readonly after?: string } = {}): AsyncIterable<ListedObject> {
    if (this.isDown) throw this.#unreachable();
    for (const key of [...this.objects.keys()].sort()) {
      if (key.startsWith(prefix) && key > after) {
        yield await Promise.resolve({
          key,
          size: this.objects.get(key)?.length ?? 0,
          modified: Date.parse("2026-01-01T00:00:00Z") - (this.ages.get(key) ?? 0),
        });
      }
    }
  }

  remove(key: string): Promise<void> {
    this.objects.delete(key);
    return Promise.resolve();
  }

  #unreachable(): RepriseError {
    return new RepriseError("remote_unreachable", "Cannot reach the memory");
  }
}
