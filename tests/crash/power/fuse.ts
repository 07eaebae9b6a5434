/** The little of the FUSE protocol (include/uapi/linux/fuse.h, version 7.31) that a file system of two files needs. */

/** Requests that {@linkcode Request.opcode} may be. */
export const Opcode = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  setattr: 4,
  open: 14,
  read: 15,
  write: 16,
  statfs: 17,
  release: 18,
  fsync: 20,
  flush: 25,
  init: 26,
  opendir: 27,
  releasedir: 29,
  access: 34,
  interrupt: 36,
  batchForget: 42,
} as const;

/** Bytes of one write at most. */
export const MAX_WRITE = 1 << 20;
/** Room for the largest request. */
export const MAX_REQUEST = MAX_WRITE + 4096;

export const ENOENT = 2;
export const ENOSYS = 38;

/** Node of the file system's root. */
export const ROOT = 1n;

/** One request of the kernel. */
export interface Request {
  readonly opcode: number;
  readonly unique: bigint;
  readonly node: bigint;
  /** The bytes after the header. */
  readonly body: DataView<ArrayBuffer>;
}

const IN_HEADER = 40;
const OUT_HEADER = 16;

/** Splits what one read of /dev/fuse gave. */
export function parseRequest(bytes: Uint8Array<ArrayBuffer>): Request {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    opcode: view.getUint32(4, true),
    unique: view.getBigUint64(8, true),
    node: view.getBigUint64(16, true),
    body: new DataView(bytes.buffer, bytes.byteOffset + IN_HEADER, bytes.byteLength - IN_HEADER),
  };
}

/** The answer to a request, to be given to /dev/fuse in one write. `error` is an errno, 0 for success. */
export function reply(
  { unique }: Request,
  error: number,
  body: Uint8Array = new Uint8Array(),
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(OUT_HEADER + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setInt32(4, -error, true);
  view.setBigUint64(8, unique, true);
  bytes.set(body, OUT_HEADER);
  return bytes;
}

/** Body of the answer to `init`. */
export function initReply(): Uint8Array {
  const [bytes, view] = blank(64);
  view.setUint32(0, 7, true);
  view.setUint32(4, 31, true);
  view.setUint32(8, MAX_WRITE, true);
  // FUSE_BIG_WRITES, FUSE_MAX_PAGES
  view.setUint32(12, (1 << 5) | (1 << 22), true);
  view.setUint16(16, 16, true);
  view.setUint16(18, 12, true);
  view.setUint32(20, MAX_WRITE, true);
  view.setUint32(24, 1, true);
  view.setUint16(28, MAX_WRITE / 4096, true);
  return bytes;
}

/** Facts about a node. */
export interface NodeFacts {
  readonly node: bigint;
  readonly size: number;
}

function writeAttributes(view: DataView, at: number, { node, size }: NodeFacts): void {
  view.setBigUint64(at, node, true);
  view.setBigUint64(at + 8, BigInt(size), true);
  view.setBigUint64(at + 16, BigInt(Math.ceil(size / 512)), true);
  view.setUint32(at + 60, node === ROOT ? 0o040700 : 0o100600, true);
  view.setUint32(at + 64, 1, true);
  view.setUint32(at + 80, 4096, true);
}

/** Body of the answer to `lookup`. Nothing of it is cached. */
export function entryReply(facts: NodeFacts): Uint8Array {
  const [bytes, view] = blank(128);
  view.setBigUint64(0, facts.node, true);
  writeAttributes(view, 40, facts);
  return bytes;
}

/** Body of the answer to `getattr` and `setattr`. */
export function attributesReply(facts: NodeFacts): Uint8Array {
  const [bytes, view] = blank(104);
  writeAttributes(view, 16, facts);
  return bytes;
}

/** Body of the answer to `open`. `direct` keeps the kernel from caching the file. */
export function openReply(direct: boolean): Uint8Array {
  const [bytes, view] = blank(16);
  view.setUint32(8, direct ? 1 : 0, true);
  return bytes;
}

/** Body of the answer to `write`. */
export function writeReply(size: number): Uint8Array {
  const [bytes, view] = blank(8);
  view.setUint32(0, size, true);
  return bytes;
}

/** Body of the answer to `statfs`. */
export function statfsReply(): Uint8Array {
  const [bytes, view] = blank(80);
  view.setUint32(40, 4096, true);
  view.setUint32(44, 255, true);
  view.setUint32(48, 4096, true);
  return bytes;
}

function blank(length: number): [Uint8Array, DataView] {
  const bytes = new Uint8Array(length);
  return [bytes, new DataView(bytes.buffer)];
}
