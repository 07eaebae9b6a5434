/**
 * A disk that remembers: a FUSE file system with the file `disk`, which a loop device makes a block device of, and the
 * file `marks`, into which programs write what they acknowledge. Every write and every flush of the disk and every mark
 * goes to a log, in the order in which the kernel sent them, before it is answered.
 *
 * Its stdin and stderr are /dev/fuse: stdout is buffered by lines, and an answer must be one write.
 * Usage: disk_server.ts IMAGE LOG
 *
 * @module
 */
import { blockLogEntry } from "./block_log.ts";
import {
  attributesReply,
  ENOENT,
  ENOSYS,
  entryReply,
  initReply,
  MAX_REQUEST,
  type NodeFacts,
  Opcode,
  openReply,
  parseRequest,
  reply,
  type Request,
  statfsReply,
  writeReply,
} from "./fuse.ts";

const [imagePath, logPath] = Deno.args as [string, string];
const DISK = 2n;
const MARKS = 3n;
const disk = Deno.readFileSync(imagePath);
const log = Deno.openSync(logPath, { write: true, createNew: true });
let marked = 0;

function factsOf(node: bigint): NodeFacts {
  return { node, size: node === DISK ? disk.length : node === MARKS ? marked : 0 };
}

/** The body of the answer, or an errno. */
function answer({ opcode, node, body }: Request): Uint8Array | number {
  switch (opcode) {
    case Opcode.init:
      return initReply();
    case Opcode.lookup: {
      const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
      const name = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
      return name === "disk"
        ? entryReply(factsOf(DISK))
        : name === "marks"
        ? entryReply(factsOf(MARKS))
        : ENOENT;
    }
    case Opcode.getattr:
    case Opcode.setattr:
      return attributesReply(factsOf(node));
    case Opcode.open:
      return openReply(node === MARKS);
    case Opcode.opendir:
      return openReply(false);
    case Opcode.read: {
      const offset = Number(body.getBigUint64(8, true));
      return node === DISK ? disk.subarray(offset, offset + body.getUint32(16, true)) : new Uint8Array();
    }
    case Opcode.write: {
      const offset = Number(body.getBigUint64(8, true));
      const size = body.getUint32(16, true);
      const data = new Uint8Array(body.buffer, body.byteOffset + 40, size);
      if (node === DISK) {
        disk.set(data, offset);
        keep(blockLogEntry("write", offset, data));
      } else {
        marked += size;
        keep(blockLogEntry("mark", 0, data));
      }
      return writeReply(size);
    }
    case Opcode.fsync:
      if (node === DISK) keep(blockLogEntry("flush", 0, new Uint8Array()));
      return new Uint8Array();
    case Opcode.statfs:
      return statfsReply();
    case Opcode.flush:
    case Opcode.release:
    case Opcode.releasedir:
    case Opcode.access:
      return new Uint8Array();
    default:
      // The kernel then does without, as with FALLOCATE: zeroes are written out.
      return ENOSYS;
  }
}

function keep(entry: Uint8Array): void {
  for (let done = 0; done < entry.length;) done += log.writeSync(entry.subarray(done));
}

const NO_ANSWER: ReadonlySet<number> = new Set([Opcode.forget, Opcode.batchForget, Opcode.interrupt]);
const buffer = new Uint8Array(MAX_REQUEST);
for (;;) {
  let size: number | null;
  try {
    size = Deno.stdin.readSync(buffer);
  } catch {
    // ENODEV: it was unmounted.
    break;
  }
  if (size === null) break;
  const request = parseRequest(buffer.subarray(0, size));
  if (NO_ANSWER.has(request.opcode)) continue;
  const body = answer(request);
  Deno.stderr.writeSync(typeof body === "number" ? reply(request, body) : reply(request, 0, body));
}
