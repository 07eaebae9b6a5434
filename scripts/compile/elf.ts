import { RepriseError } from "../../src/domain/errors.ts";

const MAGIC = 0x7f454c46;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const HEADER_BYTES = 64;

/**
 * Where the section header table of a 64-bit little-endian ELF file ends, in bytes from the start. Linkers put
 * this table last, so whatever follows it was appended to the executable afterwards.
 *
 * @throws {RepriseError} `unexpected` when `bytes` is not such a file, or is shorter than its own header says.
 */
export function endOfSectionHeaders(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isElf = bytes.length >= HEADER_BYTES && view.getUint32(0) === MAGIC && bytes[4] === CLASS_64 &&
    bytes[5] === LITTLE_ENDIAN;
  if (!isElf) {
    throw new RepriseError(
      "unexpected",
      "Cannot find the end of the runtime: not a 64-bit little-endian ELF file",
    );
  }
  const tableOffset = Number(view.getBigUint64(0x28, true));
  const entryBytes = view.getUint16(0x3a, true);
  const entries = view.getUint16(0x3c, true);
  const end = tableOffset + entryBytes * entries;
  if (end > bytes.length) {
    throw new RepriseError(
      "unexpected",
      `Cannot find the end of the runtime: its header says byte ${end}, the file has ${bytes.length}`,
    );
  }
  return end;
}
